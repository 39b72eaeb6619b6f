//! Reading survives anything, and what is written reads back as the same spec.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

use std::sync::LazyLock;
use std::time::Duration;

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use spec::{
    Access, Cloud, Commitment, Constraints, Durability, Encryption, Engine, Figures, Filter, Grid, Role,
    Spec, Storage, Test, TestKind, VERSION, parse,
};
use units::{Bandwidth, Bytes, Ratio};

static VALIDATOR: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::validator_for(&spec::schema()).unwrap());

fn name() -> impl Strategy<Value = String> {
    r#"[a-zA-Z"'\\#\[\] €]{0,6}[a-z]"#
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![(1u64..1 << 52).prop_map(Bytes::new), (1u64..1 << 12).prop_map(Bytes::tib)]
}

fn bandwidth() -> impl Strategy<Value = Bandwidth> {
    prop_oneof![
        (1e-3..1e13f64).prop_map(Bandwidth::bytes_per_second),
        (1u32..100_000).prop_map(|rate| Bandwidth::mb_per_second(f64::from(rate))),
    ]
}

/// Per pCore, in total, or neither.
fn direction() -> impl Strategy<Value = (Option<Bandwidth>, Option<Bandwidth>)> {
    (of(bandwidth()), any::<bool>())
        .prop_map(|(rate, per_pcore)| if per_pcore { (rate, None) } else { (None, rate) })
}

fn grid() -> impl Strategy<Value = Grid> {
    (name(), 1u32..100_000, bytes(), of(0.0..1.0f64), of(name())).prop_map(
        |(name, pcores, memory_per_pcore, part, client_sku)| {
            let clients = part.map(|part| ((f64::from(pcores) * part) as u32).max(1));
            Grid { name, pcores, memory_per_pcore, clients, client_sku }
        },
    )
}

fn storage() -> impl Strategy<Value = Storage> {
    let role = prop::sample::select(vec![Role::Data, Role::Work, Role::Home, Role::Other]);
    let durability = prop::sample::select(vec![Durability::Scratch, Durability::Zone, Durability::Region]);
    let mix = of((0.0..=1.0f64).prop_map(Ratio::new));
    let io_size = (1u64..1 << 30).prop_map(Bytes::new);
    let access = prop::sample::select(vec![Access::Sequential, Access::Random]);
    (name(), role, of(bytes()), direction(), direction(), mix, io_size, access, of(bytes()), of(durability))
        .prop_map(|(name, role, capacity, read, write, mix, io_size, access, checkpoint, durability)| {
            Storage {
                name,
                role,
                capacity,
                read_per_pcore: read.0,
                read_aggregate: read.1,
                write_per_pcore: write.0,
                write_aggregate: write.1,
                mix,
                io_size,
                access,
                checkpoint,
                durability,
            }
        })
}

fn constraints() -> impl Strategy<Value = Constraints> {
    let clouds = vec(prop::sample::select(vec![Cloud::Azure, Cloud::Aws, Cloud::Gcp]), 0..3);
    let commitment =
        prop::sample::select(vec![Commitment::Payg, Commitment::OneYear, Commitment::ThreeYears]);
    let encryption = any::<[bool; 3]>().prop_map(|[at_rest, in_transit, customer_keys]| Encryption {
        at_rest,
        in_transit,
        customer_keys,
    });
    let filter = vec(name(), 0..3).prop_map(|allow| Filter { allow, deny: vec!["Denied*".to_owned()] });
    let figures = prop::sample::select(vec![Figures::Calibrated, Figures::SpecSheet]);
    (clouds, vec(name(), 0..3), commitment, figures, encryption, filter, of(1u32..10_000)).prop_map(
        |(clouds, regions, commitment, figures, encryption, skus, number)| Constraints {
            clouds,
            regions,
            commitment,
            figures,
            encryption,
            skus,
            tiers: Filter::default(),
            min_servers: number,
            max_osts: number,
            monthly_budget_usd: number,
        },
    )
}

fn test() -> impl Strategy<Value = Test> {
    let engine = prop::sample::select(vec![Engine::Auto, Engine::Psync, Engine::Uring]);
    let time = (1u64..1_000_000).prop_map(|millis| Duration::from_millis(1000 + millis));
    let transfer = of((1u64..1 << 18).prop_map(|sectors| Bytes::new(sectors * 512)));
    let workload = of(name());
    (name(), of(name()), of(1u32..=1000), of(1u32..999), transfer, of(time), of(engine), workload).prop_map(
        |(name, target, repetitions, pcores, transfer_size, time_boxed, engine, workload)| Test {
            test: if workload.is_some() { TestKind::Workload } else { TestKind::Iotest },
            target: target.map(Into::into),
            storage: None,
            repetitions,
            pcores,
            file_size: transfer_size.map(|_| Bytes::tib(1)),
            transfer_size,
            time_boxed,
            direct: transfer_size.map(|_| true),
            engine,
            expect_file_system: None,
            workload: workload.map(Into::into),
            name,
        },
    )
}

/// Names made unique, and every test pointed at a storage.
fn spec() -> impl Strategy<Value = Spec> {
    (grid(), vec(storage(), 1..4), constraints(), vec(test(), 0..4)).prop_map(
        |(grid, mut storage, constraints, mut test)| {
            for (index, storage) in storage.iter_mut().enumerate() {
                storage.name.push_str(&index.to_string());
            }
            for (index, test) in test.iter_mut().enumerate() {
                test.name.push_str(&index.to_string());
                test.storage = Some(storage[index % storage.len()].name.clone());
            }
            Spec { version: VERSION, grid, storage, constraints, test, sweep: Vec::new() }
        },
    )
}

/// Lines that look like parts of a spec, in any order.
fn almost() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("version = 1".to_owned()),
        r"\[\[?(grid|storage|test|constraints|constraints\.skus|grid\.name)\]?\]",
        "(name|pcores|clients|role|storage|test|workload|direct|deny|regions) = (1|'data'|true|-5|1e9|\\[\\]|\\{\\}|\\['a'\\])",
        "(capacity|mix|io_size|read_aggregate|read_per_pcore|time_boxed|file_size) = '[0-9]{0,3}[:.%]?[a-zA-Z/0-9 ]{0,5}'",
        ".{0,12}",
    ];
    vec(line, 0..16).prop_map(|lines| lines.join("\n"))
}

/// Every problem can be shown: its span is in the text, and it says something.
fn shown(text: &str) -> Result<(), TestCaseError> {
    if let Err(error) = parse("grid.toml", text) {
        prop_assert!(!error.problems.is_empty());
        for problem in &error.problems {
            prop_assert!(!problem.message.is_empty() && !problem.message.contains('\n'), "{problem:?}");
            if let Some(span) = problem.span.clone() {
                prop_assert!(
                    error.text.get(span).is_some() && error.position(problem).is_some(),
                    "{problem:?}"
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        shown(&text)?;
    }

    #[test]
    fn almost_a_spec_is_answered(text in almost()) {
        shown(&text)?;
    }

    #[test]
    fn a_written_spec_reads_back_equal(spec in spec()) {
        let text = toml::to_string(&spec).unwrap();
        let read = parse("grid.toml", text).map_err(|error| TestCaseError::fail(format!("{error:#?}")))?;
        prop_assert_eq!(&read.spec, &spec);
        let json = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
    }

    #[test]
    fn what_the_reader_accepts_fits_the_schema(spec in spec()) {
        let json = serde_json::to_value(&spec).unwrap();
        let errors: Vec<_> = VALIDATOR.iter_errors(&json).map(|error| error.to_string()).collect();
        prop_assert_eq!(errors, Vec::<String>::new());
    }

    #[test]
    fn accepted_quantities_fit_their_pattern(text in "[0-9]{1,3}[._]?[0-9]{0,2} ?(%|:[0-9 ]{1,4}|[kKmMgGtTpP]?[ibB]{0,2}(/s|it/s|ps)?|ms|us|s|h|5m)") {
        for (table, key) in [
            ("storage", "capacity"), ("storage", "read_aggregate"), ("storage", "mix"), ("test", "time_boxed"),
        ] {
            let mut root: toml::Table =
                "version=1\n[grid]\nname='g'\npcores=1\n[[storage]]\nname='s'\nrole='data'\n[[test]]\nname='t'\ntest='iotest'"
                    .parse().unwrap();
            root[table][0].as_table_mut().unwrap().insert(key.to_owned(), text.clone().into());
            if parse("grid.toml", toml::to_string(&root).unwrap()).is_ok() {
                prop_assert!(VALIDATOR.is_valid(&serde_json::to_value(&root).unwrap()), "{key} = {text}");
            }
        }
    }
}
