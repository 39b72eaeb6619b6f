//! The schema describes the text that people write: right files pass it, wrong ones don't.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

use std::path::{Path, PathBuf};

use serde_json::Value;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut specs: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .filter(|file| !file.to_string_lossy().ends_with(".design.toml"))
        // Designs are answers, not questions.
        .filter(|file| std::fs::read_to_string(file).unwrap().contains("[grid]"))
        .collect();
    specs.sort();
    assert!(specs.len() >= 3, "{specs:?}");
    specs
}

fn as_json(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap()
}

#[test]
fn every_example_loads() {
    for path in examples() {
        let document = spec::load(&path).unwrap_or_else(|error| panic!("{error}: {:#?}", error.problems));
        for test in &document.spec.test {
            assert!(document.spec.storage_of(test).is_some());
        }
    }
}

#[test]
fn every_example_fits_the_schema() {
    let validator = jsonschema::validator_for(&spec::schema()).unwrap();
    for path in examples() {
        let json = as_json(&std::fs::read_to_string(&path).unwrap());
        let errors: Vec<_> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{}", path.display());
    }
}

#[test]
fn wrong_specs_fit_neither_the_schema_nor_the_reader() {
    let validator = jsonschema::validator_for(&spec::schema()).unwrap();
    let right = "version = 1\n[grid]\nname = 'g'\npcores = 4\n[[storage]]\nname = 'data'\nrole = 'data'\n\
                 capacity = '1 TiB'\nread_per_pcore = '150 MB/s'\nmix = '80:20'\n\
                 [[test]]\nname = 't'\ntest = 'iotest'\ntime_boxed = '1m'\n";
    assert!(validator.is_valid(&as_json(right)) && spec::parse("g.toml", right).is_ok());
    for (old, new) in [
        ("version = 1", "version = 2"),
        ("version = 1", ""),
        ("pcores = 4", "pcores = 0"),
        ("pcores = 4", "cores = 4"),
        ("pcores = 4", "pcores = '4'"),
        ("'1 TiB'", "100"),
        ("'1 TiB'", "'1 TeraByte'"),
        ("150 MB/s", "150"),
        ("150 MB/s", "150 MB"),
        ("80:20", "mostly"),
        ("role = 'data'", "role = 'dta'"),
        ("'1m'", "'1 fortnight'"),
        ("'1m'", "'60'"),
        ("'iotest'", "'workload'"),
        ("'iotest'", "'iotest'\nworkload = 'x'"),
        ("'iotest'", "'iotest'\nrepetitions = 0"),
        ("mix =", "read_aggregate = '1 GB/s'\nmix ="),
    ] {
        let wrong = right.replacen(old, new, 1);
        assert!(!validator.is_valid(&as_json(&wrong)), "the schema accepts {new}");
        assert!(spec::parse("g.toml", wrong.as_str()).is_err(), "the reader accepts {new}");
    }
}

#[test]
fn the_schema_describes_every_key() {
    fn walk(path: &str, schema: &Value) {
        if let Some(keys) = schema["properties"].as_object() {
            assert_eq!(schema["additionalProperties"], false, "{path}");
            for (key, value) in keys {
                let path = format!("{path}.{key}");
                assert!(value["description"].as_str().is_some_and(|text| !text.is_empty()), "{path}");
                walk(&path, value);
            }
        }
        if let Some(items) = schema.get("items") {
            walk(path, items);
        }
    }
    walk("", &spec::schema());
    let capacity = &spec::schema()["properties"]["storage"]["items"]["properties"]["capacity"];
    assert_eq!((&capacity["type"], &capacity["examples"][0]), (&"string".into(), &"100 TiB".into()));
}

#[test]
fn the_schema_is_a_schema() {
    assert!(jsonschema::meta::is_valid(&spec::schema()));
}
