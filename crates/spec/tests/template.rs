//! What `forebay init` writes is right, and means what was answered.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

use spec::{Answers, Grid, Role, Storage, TestKind, parse, template};
use units::{Bandwidth, Bytes, Ratio};

#[test]
fn means_what_was_answered() {
    let mut grid = Grid::new("the \"risk\" grid \\ 'EU'\n2", 48);
    grid.memory_per_pcore = Bytes::gib(16);
    grid.clients = Some(6);
    let mut data = Storage::new("data\u{20ac}\"", Role::Data);
    data.capacity = Some(Bytes::tib(100));
    data.read_per_pcore = Some(Bandwidth::mb_per_second(120.0));
    data.write_aggregate = Some(Bandwidth::mb_per_second(4800.0));
    data.mix = Some(Ratio::percent(70.0));
    let work = Storage::new("work", Role::Work);
    let mut answers = Answers { grid, storage: vec![data, work], target: Some("/mnt/a \"b\"".to_owned()) };

    // a line break in a name is refused by the reader, so it can't be asked for
    let error = parse("grid.toml", template(&answers)).unwrap_err();
    assert_eq!(error.problems.len(), 1, "{error}");
    answers.grid.name = answers.grid.name.replace('\n', " ");

    let spec = parse("grid.toml", template(&answers)).unwrap().spec;
    assert_eq!(spec.grid, answers.grid);
    assert_eq!(spec.storage.len(), 2);
    for (written, answered) in spec.storage.iter().zip(&answers.storage) {
        assert_eq!((&written.name, written.role), (&answered.name, answered.role));
        assert_eq!((written.capacity, written.io_size), (answered.capacity, answered.io_size));
        let grid = &spec.grid;
        assert_eq!(written.required_read_per_pcore(grid), answered.required_read_per_pcore(grid));
        assert_eq!(written.required_write_aggregate(grid), answered.required_write_aggregate(grid));
        assert_eq!(written.read_share(), answered.read_share());
        assert_eq!(written.required_durability(), answered.required_durability());
    }
    assert_eq!(spec.constraints, spec::Constraints::default());
    let judged: Vec<_> = spec.test.iter().map(|test| test.storage.clone().unwrap()).collect();
    assert_eq!(judged, ["data\u{20ac}\"", "work"]);
    assert!(spec.test.iter().all(|test| test.test == TestKind::Iotest));
    assert_eq!(spec.test[0].target.as_deref(), Some(std::path::Path::new("/mnt/a \"b\"")));
    assert_eq!(spec.test[1].target, None);
}

#[test]
fn what_is_commented_out_is_right_too() {
    let answers =
        Answers { grid: Grid::new("g", 48), storage: vec![Storage::new("data", Role::Data)], target: None };
    let text = template(&answers);
    let all: String = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(setting) if setting.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')) => setting,
            _ => line,
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    assert_ne!(all, text);
    let spec = parse("grid.toml", all.as_str()).unwrap_or_else(|error| panic!("{:#?}", error.problems)).spec;
    assert_eq!(spec.grid.clients, Some(6));
    assert_eq!(spec.constraints.min_servers, Some(3));
    assert!(spec.constraints.encryption.at_rest && spec.test[0].direct == Some(true));
}

#[test]
fn explains_the_defaults() {
    let answers =
        Answers { grid: Grid::new("g", 8), storage: vec![Storage::new("data", Role::Data)], target: None };
    let text = template(&answers);
    for words in ["8 GiB", "100 to 150 MB/s per physical core", "rhel_iotest", "80:20", "2 vCPUs are 1 pCore"]
    {
        assert!(text.contains(words), "{words} is not explained in:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 110));
}
