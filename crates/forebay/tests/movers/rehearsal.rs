//! What movers would do is told by one process, which leaves nothing behind.

use std::path::Path;
use std::process::Command;

use testkit::skip::{Need, can};

use crate::place::Place;

fn some_tree(place: &Place) {
    for part in 0..6 {
        (0..5)
            .for_each(|number| place.write(&format!("source/{part}/d/{number}"), format!("{part}{number}")));
        place.write(&format!("source/{part}/gone/inside"), "x");
    }
    for number in 0..17_000 {
        let path = place.path(&format!("source/0/{number:05}-in-a-range"));
        std::fs::write(path, "one of many").unwrap();
    }
    place.write("source/loose", "one");
    std::fs::hard_link(place.path("source/1/d/1"), place.path("source/2/other")).unwrap();
}

fn change(place: &Place) {
    for path in ["source/3/d/2", "source/0/07777-in-a-range", "source/loose"] {
        std::fs::remove_file(place.path(path)).unwrap();
    }
    std::fs::remove_dir_all(place.path("source/4/gone")).unwrap();
    for path in ["source/5/new/file", "source/0/16999-in-a-range", "source/1/d/1", "source/0/08000-new"] {
        place.write(path, "changed now");
    }
    std::fs::hard_link(place.path("source/5/d/1"), place.path("source/0/link")).unwrap();
}

/// The steps that a dry run tells, sorted.
fn plan(command: &mut Command) -> Vec<String> {
    let output = command.args(["--delete", "--dry-run", "--format", "jsonl"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut steps: Vec<String> =
        text.lines().filter(|line| line.contains(r#""event":"planned""#)).map(str::to_owned).collect();
    steps.sort();
    steps
}

fn by_movers(place: &Place) -> Command {
    let mut command = place.plain_command();
    command.arg(place.destination()).args(["--state", &place.url()]);
    command
}

fn alone(place: &Place) -> Command {
    let mut command = place.plain_command();
    command.arg(place.path("alone")).arg("--state").arg(place.path("state-of-one"));
    command
}

/// All that the queue has, in words.
fn queue(place: &Place) -> Vec<u8> {
    let Some(server) = &place.server else {
        return std::fs::read(place.path("queue.db")).unwrap_or_default();
    };
    let tables = server.ask("SELECT coalesce(string_agg(tablename, ',' ORDER BY 1), '') FROM pg_tables WHERE tablename LIKE 'forebay%'");
    let mut all = tables.clone();
    for table in tables.split(',').filter(|table| !table.is_empty()) {
        let sql = format!("SELECT coalesce(string_agg(t::text, ';' ORDER BY t::text), '') FROM {table} t");
        all.push_str(&server.ask(&sql));
    }
    all.into_bytes()
}

fn nothing_is_left(place: &Place) {
    some_tree(place);
    let first = plan(&mut by_movers(place));
    assert_eq!(first, plan(&mut alone(place)));
    assert!(first.len() > 17_030 && queue(place).is_empty() && !place.destination().exists());
    assert!(!Path::new(&place.path("queue.db")).exists());
    place.move_by(2, &["--delete"]);
    assert!(alone(place).arg("--delete").output().unwrap().status.success());
    assert_eq!(plan(&mut by_movers(place)), Vec::<String>::new());
    change(place);
    // What only the destination has is known where it was listed.
    let before = queue(place);
    let steps = plan(&mut by_movers(place));
    assert_eq!(steps, plan(&mut alone(place)));
    assert!(steps.len() >= 10 && steps.iter().any(|step| step.contains("delete")), "{steps:?}");
    assert_eq!(queue(place), before, "a dry run writes nothing");
    assert!(place.destination().join("loose").exists());
    // And that is what is done.
    place.move_by(2, &["--delete"]);
    place.assert_equal();
    assert_eq!(plan(&mut by_movers(place)), Vec::<String>::new());
}

#[test]
fn a_dry_run_of_movers_of_one_host_leaves_nothing() {
    nothing_is_left(&Place::on_one_host());
}

#[test]
fn a_dry_run_of_movers_of_several_hosts_leaves_nothing() {
    if can("PostgreSQL", &[Need::Server("postgres")]) {
        nothing_is_left(&Place::over_hosts());
    }
}
