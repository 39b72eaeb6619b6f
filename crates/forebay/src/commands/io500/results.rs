//! The result directory: what IO500 writes, phase by phase, so that a run that is stopped leaves what it had.

use std::path::{Path, PathBuf};

use bench::languages::io500::{self as language, Config, Judged, Scores, Timed};
use fault::Fault;
use record::PhaseResult;

/// The files of one run.
pub struct Results {
    directory: PathBuf,
    program: String,
    extended: bool,
    judged: Vec<Judged>,
    /// When each phase began and ended, and its command line.
    times: Vec<(String, String, String)>,
    last: String,
}

/// What a phase left to be written.
#[derive(Debug, Default)]
pub struct Wrote {
    /// What IOR or mdtest would have printed.
    pub text: String,
    /// Their command line.
    pub command: String,
    /// The figures; the timestamp has none.
    pub phase: Option<PhaseResult>,
}

impl Results {
    /// Makes the directory with the configuration as it was given and as it is used.
    pub fn begin(
        directory: &Path,
        original: &str,
        config: &Config,
        (program, extended): (&str, bool),
    ) -> fault::Result<Self> {
        std::fs::create_dir_all(directory)
            .map_err(|error| Fault::os("create directory", directory, error))?;
        let results = Self {
            directory: directory.to_owned(),
            program: program.to_owned(),
            extended,
            judged: Vec::new(),
            times: Vec::new(),
            last: now(),
        };
        results.write("config-orig.ini", original)?;
        results.write("config.ini", &config.text_of_all())?;
        Ok(results)
    }

    /// Where the files are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Phases so far.
    pub fn judged(&self) -> &[Judged] {
        &self.judged
    }

    /// The file whose age finds compare with.
    pub fn mark(&self) -> fault::Result<()> {
        self.write("timestampfile", "")
    }

    /// Writes the files of a phase.
    pub fn add(&mut self, judged: &Judged, wrote: &Wrote) -> fault::Result<()> {
        let start = std::mem::replace(&mut self.last, now());
        self.times.push((start, self.last.clone(), wrote.command.clone()));
        self.judged.push(judged.clone());
        let name = judged.name;
        if let Some(phase) = &wrote.phase {
            self.write(&format!("{name}.txt"), &wrote.text)?;
            self.write(&format!("{name}.csv"), &language::csv(phase))?;
            if let Some(kind) = name.strip_suffix("-write") {
                let most = phase.ranks.iter().map(|rank| rank.operations).max().unwrap_or(0);
                self.write(&format!("{kind}.stonewall"), &format!("{most}\n"))?;
            }
        }
        self.write_summaries(&[])
    }

    /// Writes the summaries with their scores, if the run came to its end.
    pub fn end(&self, scores: &[Scores]) -> fault::Result<()> {
        self.write_summaries(scores)
    }

    fn write_summaries(&self, scores: &[Scores]) -> fault::Result<()> {
        let mut lines = vec![language::version_line(&self.program, self.extended)];
        lines.extend(self.judged.iter().map(language::result_line));
        lines.extend(scores.iter().map(language::score_lines));
        self.write("result_summary.txt", &(lines.join("\n") + "\n"))?;
        let timed = self.judged.iter().zip(&self.times);
        let phases: Vec<Timed> =
            timed.map(|(judged, (start, end, command))| Timed { judged, start, end, command }).collect();
        let directory = self.directory.display().to_string();
        self.write("result.txt", &language::result_text(&self.program, &directory, &phases, scores))
    }

    fn write(&self, name: &str, text: &str) -> fault::Result<()> {
        let path = self.directory.join(name);
        std::fs::write(&path, text).map_err(|error| Fault::os("write", &path, error))
    }
}

fn now() -> String {
    record::local_time("%Y-%m-%d %H:%M:%S")
}
