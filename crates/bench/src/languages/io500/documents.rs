//! The files and lines that IO500 writes.

use std::fmt::Write as _;

use record::PhaseResult;

use super::{Judged, Scores};

/// Stands above a hash of ours.
pub const OWN_HASH: &str =
    "; this hash is Forebay's own, over the text above it; IO500's is over other words and can't be compared";

/// `IO500 version ... (standard)`.
pub fn version_line(program: &str, extended: bool) -> String {
    let mode = if extended { "extended" } else { "standard" };
    format!("IO500 version {} ({mode})", program.replace(' ', "-"))
}

/// `[RESULT]       ior-easy-write        0.186620 GiB/s : time 0.027 seconds [INVALID]`, with the reasons in front.
pub fn result_line(judged: &Judged) -> String {
    let mut text = String::new();
    for reason in &judged.invalid {
        // Writing to a string can't fail.
        let _ = writeln!(text, "ERROR INVALID {reason}");
    }
    let invalid = if judged.invalid.is_empty() { "" } else { " [INVALID]" };
    let word = if judged.name == "timestamp" { "      " } else { "RESULT" };
    let score = format!("{:.6}", judged.score);
    let _ = write!(
        text,
        "[{word}] {:>20} {score:>15} {} : time {:.3} seconds{invalid}",
        judged.name,
        judged.unit(),
        judged.seconds
    );
    text
}

/// `[SCORE ] Bandwidth 0.172092 GiB/s : IOPS 292.625029 kiops : TOTAL 7.096374 [INVALID]`, with the reasons in front.
pub fn score_lines(scores: &Scores) -> String {
    let mut text = String::new();
    for reason in &scores.invalid {
        let _ = writeln!(text, "ERROR INVALID {reason}");
    }
    let invalid = if scores.invalid.is_empty() { "" } else { " [INVALID]" };
    let word = if scores.extended { "SCOREX" } else { "SCORE " };
    let _ = write!(
        text,
        "[{word}] Bandwidth {:.6} GiB/s : IOPS {:.6} kiops : TOTAL {:.6}{invalid}",
        scores.bandwidth, scores.metadata, scores.total
    );
    text
}

/// A phase with the times of its start and end, as `2026-11-21 21:22:38`.
#[derive(Debug, Clone, Copy)]
pub struct Timed<'a> {
    /// What came of it.
    pub judged: &'a Judged,
    /// When it began.
    pub start: &'a str,
    /// When it ended.
    pub end: &'a str,
    /// The command line.
    pub command: &'a str,
}

/// `result.txt`: sections of keys.
pub fn result_text(program: &str, directory: &str, phases: &[Timed], scores: &[Scores]) -> String {
    let mut text =
        format!("version         = {}\nresult-dir      = {directory}\n", program.replace(' ', "-"));
    for Timed { judged, start, end, command } in phases.iter().copied() {
        let _ = writeln!(text, "\n[{}]\nt_start         = {start}", judged.name);
        if !command.is_empty() {
            let _ = writeln!(text, "exe             = {command}");
        }
        for reason in &judged.invalid {
            let _ = writeln!(text, "; ERROR INVALID {reason}");
        }
        if let Some(rate) = judged.until_stonewall {
            let (key, digits) =
                if judged.is_bandwidth() { ("throughput-stonewall", 2) } else { ("rate-stonewall", 6) };
            let _ = writeln!(text, "{key} = {rate:.digits$}");
        }
        if let Some((found, all)) = judged.found {
            let _ = writeln!(text, "found           = {found}\ntotal-files     = {all}");
        }
        let _ = writeln!(
            text,
            "score           = {:.6}\nt_delta         = {:.4}\nt_end           = {end}",
            judged.score, judged.seconds
        );
    }
    for scores in scores {
        let _ = writeln!(text, "\n[{}]", if scores.extended { "SCOREX" } else { "SCORE" });
        for reason in &scores.invalid {
            let _ = writeln!(text, "; ERROR INVALID {reason}");
        }
        let (md, bw, score) = (scores.metadata, scores.bandwidth, scores.total);
        let _ = writeln!(
            text,
            "MD              = {md:.6}\nBW              = {bw:.6}\nSCORE           = {score:.6}"
        );
        let _ = writeln!(text, "{OWN_HASH}");
        let _ = writeln!(text, "hash            = {:X}", hash(&text));
    }
    text
}

/// FNV-1a over what stands above it: notices accidents, proves nothing.
pub fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811C_9DC5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// `<phase>.csv`: a line for each rank, in bytes per second.
pub fn csv(phase: &PhaseResult) -> String {
    let mut text =
        "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n".to_owned();
    let access = phase.main.first().map_or("", |kind| kind.word());
    for rank in &phase.ranks {
        let whole = rank.closed_ns as f64 / 1e9;
        let moving = rank.synced_ns.saturating_sub(rank.opened_ns) as f64 / 1e9;
        let amount = if rank.bytes.get() > 0 { rank.bytes.get() as f64 } else { rank.operations as f64 };
        let rate = |time: f64| if time > 0.0 { amount / time } else { 0.0 };
        let _ = writeln!(
            text,
            "{access},{},{whole:.10e},{moving:.10e},{:.10e},{:.10e}",
            rank.rank,
            rate(whole),
            rate(moving)
        );
    }
    text
}
