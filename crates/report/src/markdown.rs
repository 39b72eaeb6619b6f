//! The report as Markdown: the same facts in the same order, without charts.

use record::RunRecord;

use crate::facts::phases::{self, Phase};
use crate::facts::verdict::{self, Answer};
use crate::facts::{
    checks, design, ends, environment, glossary, hosts, latency, layouts, limits, matrix, ranks, search,
    series,
};
use crate::table::{Table, escape};
use crate::text::{self, line};

/// Ranks listed one by one; more are named by the slowest.
const MOST_RANKS: usize = 16;

/// The whole document.
pub fn document(record: &RunRecord) -> String {
    let mut out = String::new();
    line(&mut out, format!("# Forebay: {}\n", escape(record.label.as_deref().unwrap_or(&record.id))));
    verdict_part(&mut out, record);
    if let Some(own) = &record.search {
        heading(&mut out, "What the search found");
        line(&mut out, format!("**{}.**\n", escape(&own.sentence)));
        add(&mut out, &search::table(own));
    }
    for own in &record.matrices() {
        heading(&mut out, "Reads, seeks and transfer sizes");
        add(&mut out, &matrix::table(own));
        own.proof().iter().for_each(|words| line(&mut out, format!("{}.\n", escape(words))));
    }
    let phases = Phase::all(record);
    if !phases.is_empty() {
        over_time(&mut out, &phases);
        heading(&mut out, "Latency percentiles");
        line(&mut out, format!("{}\n", latency::basis(record)));
        add(&mut out, &latency::table(&phases));
        rank_part(&mut out, &phases);
        heading(&mut out, "When it was done");
        add(&mut out, &ends::tails(record));
        add(&mut out, &ends::of_writes(record));
        let found = layouts::all(record);
        if !found.is_empty() {
            heading(&mut out, "Where the files lie");
        }
        for one in &found {
            line(&mut out, format!("{}\n", escape(&one.sentence())));
            add(&mut out, &one.parts());
        }
    }
    belief(&mut out, record);
    heading(&mut out, "Environment");
    for table in environment::tables(record) {
        add(&mut out, &table);
    }
    repeat(&mut out, record);
    heading(&mut out, "Words");
    for (word, meaning) in glossary::WORDS {
        line(&mut out, format!("- **{word}**: {}", escape(meaning)));
    }
    out
}

fn heading(out: &mut String, title: &str) {
    line(out, format!("## {title}\n"));
}

fn add(out: &mut String, table: &Table) {
    out.push_str(&table.markdown());
}

fn verdict_part(out: &mut String, record: &RunRecord) {
    heading(out, "Does this storage feed the grid?");
    if let Some((title, message, hint)) = verdict::early_end(record) {
        let hint = hint.map_or_else(String::new, |hint| format!(" Hint: {}", escape(hint)));
        line(out, format!("> **! {title}**: {}{hint}\n", escape(&message)));
    }
    let answer = Answer::of(record);
    line(out, format!("**{} {}**: {}\n", answer.sign(), answer.word(), escape(&verdict::sentence(record))));
    line(
        out,
        format!(
            "Measurement: **{}**. {}\n",
            record.validity().words(),
            checks::sentence(&checks::groups(record))
        ),
    );
    add(out, &verdict::table(record));
    add(out, &environment::tests(record));
    add(out, &phases::table(record));
    add(out, &phases::errors(record));
}

fn over_time(out: &mut String, phases: &[Phase<'_>]) {
    heading(out, "Throughput and latency over time");
    for phase in phases {
        add(out, &series::table(phase));
        add(out, &series::latency_table(phase));
    }
}

fn rank_part(out: &mut String, phases: &[Phase<'_>]) {
    let several = |phase: &&Phase<'_>| phase.results.iter().any(|(_, result)| !result.hosts.is_empty());
    if phases.iter().any(|phase| several(&phase)) {
        heading(out, "Spread over the hosts");
    }
    for phase in phases.iter().filter(several) {
        let spreads = hosts::spreads(phase);
        line(out, format!("{}: {}\n", escape(&phase.title()), escape(&hosts::sentence(phase, &spreads))));
        add(out, &hosts::table(phase, &spreads, MOST_RANKS));
    }
    heading(out, "Spread over the ranks");
    for phase in phases {
        let spreads = ranks::spreads(phase);
        line(out, format!("{}: {}\n", escape(&phase.title()), escape(&ranks::sentence(phase, &spreads))));
        add(out, &ranks::table(phase, &spreads, MOST_RANKS));
    }
}

fn belief(out: &mut String, record: &RunRecord) {
    heading(out, "Can it be believed?");
    let groups = checks::groups(record);
    line(out, format!("{}\n", checks::sentence(&groups)));
    add(out, &phases::verification(record));
    add(out, &phases::searches(record));
    for group in &groups {
        add(out, &group.table);
    }
    if record.design.is_some() {
        measured_against_design(out, record);
    }
    heading(out, "What limited it");
    let table = limits::table(record);
    if table.is_empty() {
        line(out, "This host saw nothing that limited the run.\n");
    }
    add(out, &table);
    add(out, &limits::traffic(record));
    add(out, &limits::cpu(record));
}

fn measured_against_design(out: &mut String, record: &RunRecord) {
    heading(out, "Measured against the design");
    if let Some(design) = &record.design {
        line(out, format!("Design: {}\n", escape(&design.title)));
    }
    for sentence in design::sentences(record) {
        line(out, format!("- {}", escape(&sentence)));
    }
    line(out, "");
    let comparisons = record.design_comparisons();
    if let Some(extent) = comparisons.iter().find_map(|comparison| comparison.extent.as_ref()) {
        line(out, format!("{}\n", escape(extent)));
    }
    add(out, &design::summary(record));
    comparisons.iter().for_each(|comparison| add(out, &design::limits(comparison)));
}

fn repeat(out: &mut String, record: &RunRecord) {
    heading(out, "Repeat it");
    add(out, &environment::run(record));
    if !record.command.is_empty() {
        fenced(out, "sh", &text::shell(&record.command));
    }
    if let Some(spec) = &record.spec {
        line(out, format!("Spec {}:\n", escape(&spec.path.display().to_string())));
        fenced(out, "toml", &spec.text);
    }
}

/// A code block whose fence is longer than any run of backticks in it.
fn fenced(out: &mut String, language: &str, content: &str) {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    line(out, format!("{fence}{language}\n{}\n{fence}\n", content.trim_end()));
}
