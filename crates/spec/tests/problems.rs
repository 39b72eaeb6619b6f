//! What a person reads when a spec is wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

use std::fmt::Write as _;

/// `line:column text under the caret (label)`, the message, and the hint.
fn told(text: &str) -> String {
    let error = spec::parse("grid.toml", text).expect_err("this spec is wrong");
    let mut out = String::new();
    for problem in &error.problems {
        let marked = problem.span.clone().map_or("", |span| &error.text[span]);
        match error.position(problem) {
            Some(at) => writeln!(out, "{}:{} {marked} ({})", at.line, at.column, problem.label).unwrap(),
            None => writeln!(out, "the file ({})", problem.label).unwrap(),
        }
        writeln!(out, "  {problem}").unwrap();
        if let Some(hint) = &problem.hint {
            writeln!(out, "  hint: {hint}").unwrap();
        }
    }
    out
}

/// A right spec with `old` replaced by `new`.
fn with(old: &str, new: &str) -> String {
    let right = r#"version = 1

[grid]
name = "risk"
pcores = 48

[[storage]]
name = "data"
role = "data"
capacity = "100 TiB"
read_per_pcore = "150 MB/s"
mix = "80:20"

[[test]]
name = "sas"
test = "iotest"
"#;
    assert!(spec::parse("grid.toml", right).is_ok());
    assert!(right.contains(old), "nothing to replace");
    right.replacen(old, new, 1)
}

/// A right spec with `lines` added to its test.
fn with_in_test(lines: &str) -> String {
    with("\"iotest\"", &format!("\"iotest\"\n{lines}"))
}

#[test]
fn unknown_key() {
    insta::assert_snapshot!(told(&with("pcores = 48", "core = 48")), @r#"
    5:1 core (unknown key)
      unknown key `core`
      hint: did you mean `pcores`?
    "#);
    insta::assert_snapshot!(told(&with("mix =", "colour = 'red'\nmix =")), @r#"
    12:1 colour (unknown key)
      unknown key `colour`
      hint: accepted keys: `access`, `capacity`, `checkpoint`, `durability`, `io_size`, `mix`, `name`, `read_aggregate`, `read_per_pcore`, `role`, `write_aggregate`, `write_per_pcore`
    "#);
}

#[test]
fn a_key_in_the_wrong_section() {
    insta::assert_snapshot!(told(&with("pcores = 48", "pcores = 48\nio_size = '64k'")), @r#"
    6:1 io_size (unknown key)
      unknown key `io_size`
      hint: `io_size` belongs in `[[storage]]`
    "#);
}

#[test]
fn wrong_type() {
    insta::assert_snapshot!(told(&with("pcores = 48", "pcores = \"48\"")), @r#"
    5:10 "48" (expected an integer)
      `pcores` is the text `48`, but must be an integer
      hint: write for example `pcores = 48`
    "#);
    insta::assert_snapshot!(told(&with("\"100 TiB\"", "100")), @r#"
    10:12 100 (expected a size in bytes)
      `capacity` is the integer `100`, but must be a size in bytes
      hint: write for example `capacity = "100 TiB"`
    "#);
    insta::assert_snapshot!(told(&with("[[storage]]", "[storage]")), @r#"
    7:1 [storage] (expected a list)
      `storage` is a table, but must be a list
      hint: write it as a section `[[storage]]`
    "#);
}

#[test]
fn wrong_unit() {
    insta::assert_snapshot!(told(&with("150 MB/s", "150 MB")), @r#"
    11:18 "150 MB" (expected a bandwidth)
      `read_per_pcore` is `150 MB`, but `MB` is not a unit of bandwidth
      hint: did you mean `MB/s`?
    "#);
    insta::assert_snapshot!(told(&with("150 MB/s", "150")), @r#"
    11:18 "150" (expected a bandwidth)
      `read_per_pcore` is `150`, which has no unit
      hint: write for example `read_per_pcore = "150 MB/s"`
    "#);
    insta::assert_snapshot!(told(&with("100 TiB", "100 cubits")), @r#"
    10:12 "100 cubits" (expected a size in bytes)
      `capacity` is `100 cubits`, but `cubits` is not a unit of size in bytes
      hint: use one of B, k, m, g, t, p (binary), KiB, MiB, GiB, TiB, PiB, kB, MB, GB, TB, PB
    "#);
    insta::assert_snapshot!(told(&with("100 TiB", "0")), @r#"
    10:12 "0" (expected a size in bytes)
      `capacity` is `0`, but must be more than zero
    "#);
}

#[test]
fn bad_mix() {
    insta::assert_snapshot!(told(&with("80:20", "80")), @r#"
    12:7 "80" (expected a read:write mix)
      `mix` is `80`, which is not a share of a whole
      hint: write for example `80:20`, `80%` or `0.8`
    "#);
    insta::assert_snapshot!(told(&with("80:20", "0:0")), @r#"
    12:7 "0:0" (expected a read:write mix)
      `mix` is `0:0`, which is not a share of a whole
      hint: write for example `80:20`, `80%` or `0.8`
    "#);
    insta::assert_snapshot!(told(&with("80:20", "mostly reads")), @r#"
    12:7 "mostly reads" (expected a read:write mix)
      `mix` is `mostly reads`, which is not a read:write mix
      hint: write for example `mix = "80:20"`
    "#);
}

#[test]
fn a_mix_of_three() {
    insta::assert_snapshot!(told(&with("80:20", "80:20:5")), @r#"
    12:7 "80:20:5" (expected a read:write mix)
      `mix` is `80:20:5`, which is not a read:write mix
      hint: write for example `mix = "80:20"`
    "#);
}

#[test]
fn out_of_range() {
    insta::assert_snapshot!(told(&with("48", "0")), @r#"
    5:10 0 (must be at least 1)
      `pcores` is 0, but must be at least 1
    "#);
    insta::assert_snapshot!(told(&with_in_test("repetitions = 1001")), @r#"
    17:15 1001 (must be at most 1000)
      `repetitions` is 1001, but must be at most 1000
    "#);
}

#[test]
fn not_one_of_the_words() {
    insta::assert_snapshot!(told(&with("role = \"data\"", "role = \"dta\"")), @r#"
    9:8 "dta" (not one of the accepted words)
      `role` is `dta`, but must be one of `data`, `work`, `home`, `other`
      hint: did you mean `data`?
    "#);
    insta::assert_snapshot!(told(&with("role = \"data\"", "role = \"archive\"")), @r#"
    9:8 "archive" (not one of the accepted words)
      `role` is `archive`, but must be one of `data`, `work`, `home`, `other`
    "#);
}

#[test]
fn missing_keys_and_sections() {
    insta::assert_snapshot!(told("version = 1"), @r#"
    the file (missing)
      there is no `[grid]`
      hint: add a section `[grid]`
    the file (missing)
      there is no `[[storage]]`
      hint: add a section `[[storage]]`
    "#);
    insta::assert_snapshot!(told(&with("role = \"data\"", "")), @r#"
    7:1 [[storage]] (`role` is missing here)
      `role` is missing
      hint: add `role = ...` with one of `data`, `work`, `home`, `other`
    "#);
}

#[test]
fn dangling_storage() {
    insta::assert_snapshot!(told(&with_in_test("storage = \"date\"")), @r#"
    17:11 "date" (no such storage)
      `storage` is `date`, but no `[[storage]]` has this name
      hint: did you mean `data`?
    "#);
}

#[test]
fn version_2() {
    insta::assert_snapshot!(told("version = 2\nanything = 'goes'"), @r#"
    1:11 2 (not known)
      version 2 of the spec format is not known
      hint: this program reads version 1
    "#);
}

#[test]
fn empty_file() {
    insta::assert_snapshot!(told(" \n"), @r#"
    the file (empty)
      the file is empty
      hint: `forebay init` writes one with comments
    "#);
}

#[test]
fn duplicate_names() {
    let second = "[[storage]]\nname = \"data\"\nrole = \"work\"\n[[test]]\nstorage = \"data\"";
    insta::assert_snapshot!(told(&with("[[test]]", second)), @r#"
    15:8 "data" (name taken)
      two `[[storage]]` are named `data`
      hint: number 1 has this name already; choose another
    "#);
}

#[test]
fn not_toml() {
    insta::assert_snapshot!(told("version = 1\n[grid\n"), @r#"
    2:6  (here)
      not valid TOML: unclosed table
      hint: expected `]`
    "#);
    insta::assert_snapshot!(told(&with("\"risk\"", "risk")), @r#"
    4:8 risk (here)
      not valid TOML: string values must be quoted
      hint: put it in quotes: `"risk"`
    "#);
    insta::assert_snapshot!(told(&with("pcores = 48", "pcores = 48\npcores = 96")), @r#"
    6:1 pcores (here)
      not valid TOML: duplicate key
      hint: a key may appear once in its section
    "#);
}

#[test]
fn rules_between_keys() {
    insta::assert_snapshot!(told(&with("pcores = 48", "pcores = 48\nclients = 96")), @r#"
    6:11 96 (more clients than pCores)
      `clients` is 96, more than the 48 pCores they would share
      hint: `pcores` counts the physical cores of all clients together
    "#);
    insta::assert_snapshot!(told(&with("mix", "read_aggregate = \"5000 MB/s\"\nmix")), @r#"
    12:1 read_aggregate (the other way to state it)
      both `read_per_pcore` and `read_aggregate` are given
      hint: keep one: 48 pCores x 150 MB/s are 7200 MB/s, not 5000 MB/s
    "#);
    insta::assert_snapshot!(told(&with("\"iotest\"", "\"workload\"")), @r#"
    14:1 [[test]] (`workload` is missing here)
      `workload` is missing
      hint: a test of the kind `workload` needs its file: `workload = "checkpoint.toml"`
    "#);
    insta::assert_snapshot!(told(&with_in_test("workload = \"x.toml\"")), @r#"
    17:1 workload (not used)
      `workload` is not used by an `iotest`
      hint: write `test = "workload"`, or remove this line
    "#);
    insta::assert_snapshot!(told(&with_in_test("time_boxed = \"900ms\"")), @r#"
    17:14 "900ms" (too short)
      `time_boxed` is 900 ms, but must be at least 1 s
    "#);
    insta::assert_snapshot!(told(&with_in_test("file_size = \"4k\"")), @r#"
    17:13 "4k" (too small)
      `file_size` is 4 KiB, less than one transfer of 64 KiB
    "#);
    insta::assert_snapshot!(
        told(&with_in_test("direct = true\ntransfer_size = \"1000\"")), @r#"
    17:10 true (not possible with this transfer size)
      `direct` needs transfers in multiples of 512 B, not of 1000 B
      hint: use a multiple of 4 KiB, or remove `direct`
    "#);
    insta::assert_snapshot!(told(&with("mix", "io_size = \"2 GiB\"\nmix")), @r#"
    12:11 "2 GiB" (too large)
      `io_size` is 2 GiB, more than the 1 GiB of one I/O call
    "#);
    insta::assert_snapshot!(told(&with("\"risk\"", "\" \"")), @r#"
    4:8 " " (empty)
      `name` is empty
    "#);
    insta::assert_snapshot!(told(&with("[[test]]", "[constraints.skus]\nallow = ['a', 'b']\ndeny = ['b']\n[[test]]")), @r#"
    16:9 'b' (allowed above)
      `b` is both allowed and denied
      hint: take it out of one of the lists
    "#);
}

#[test]
fn several_storages_need_a_choice() {
    insta::assert_snapshot!(
        told(&with("[[test]]", "[[storage]]\nname = \"work\"\nrole = \"work\"\n[[test]]")), @r#"
    17:1 [[test]] (`storage` is missing here)
      test `sas` doesn't say which storage it judges
      hint: add `storage = ...` with one of `data`, `work`
    "#);
}

#[test]
fn everything_at_once() {
    let text = with("pcores = 48", "core = 48").replace("150 MB/s", "150").replace("80:20", "120%");
    insta::assert_snapshot!(told(&text), @r#"
    5:1 core (unknown key)
      unknown key `core`
      hint: did you mean `pcores`?
    11:18 "150" (expected a bandwidth)
      `read_per_pcore` is `150`, which has no unit
      hint: write for example `read_per_pcore = "150 MB/s"`
    12:7 "120%" (expected a read:write mix)
      `mix` is `120%`, which is not a share of a whole
      hint: write for example `80:20`, `80%` or `0.8`
    "#);
}

#[test]
fn a_wrong_table_is_not_blamed_for_what_was_taken_out() {
    // `workloda` is the only mistake: that `workload` is missing follows from it.
    let text = with("\"iotest\"", "\"workload\"\nworkloda = \"x.toml\"");
    insta::assert_snapshot!(told(&text), @r#"
    17:1 workloda (unknown key)
      unknown key `workloda`
      hint: did you mean `workload`?
    "#);
}

#[test]
fn one_problem_is_told_in_one_line() {
    let error = spec::parse("grid.toml", with("pcores = 48", "pcores = 48\ncore = 4")).unwrap_err();
    assert_eq!(error.to_string(), "cannot read spec `grid.toml`, line 6: unknown key `core`");
}
