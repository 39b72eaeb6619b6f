/// The JSON Schema (draft 2020-12) of a run document; also shipped as `docs/run-record.schema.json`.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(crate::RunRecord).to_value()
}

/// The JSON Schema (draft 2020-12) of a plan document; also shipped as `docs/plan-document.schema.json`.
pub fn plan_schema() -> serde_json::Value {
    schemars::schema_for!(crate::PlanDocument).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

    #[test]
    fn a_record_fits_its_schema_and_a_wrong_one_does_not() {
        let validator = jsonschema::validator_for(&schema()).unwrap();
        let mut document = serde_json::to_value(crate::sample::record()).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        document["state"] = "asleep".into();
        assert!(!validator.is_valid(&document));
    }

    #[test]
    fn the_shipped_schemas_are_current() {
        for (name, schema) in [("run-record", schema()), ("plan-document", plan_schema())] {
            let path = format!("{DOCS}/{name}.schema.json");
            let current = serde_json::to_string_pretty(&schema).unwrap() + "\n";
            if std::env::var_os("FOREBAY_UPDATE").is_some() {
                std::fs::create_dir_all(DOCS).unwrap();
                std::fs::write(&path, &current).unwrap();
            }
            let shipped = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                shipped == current,
                "docs/{name}.schema.json is old: run `FOREBAY_UPDATE=1 cargo test -p record`"
            );
        }
    }
}
