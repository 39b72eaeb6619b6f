//! `<phase>.txt`: what IOR or mdtest would have printed of a phase.

use record::RunRecord;

use super::phases::{Meaning, Step};
use crate::languages::ior::Document;
use crate::languages::mdtest::{self, Head};

impl Step {
    /// Of the last test of a record, which was this one.
    pub fn printed(&self, record: &RunRecord, hosts: u32) -> String {
        let Some(mut test) = record.tests.last().cloned() else { return String::new() };
        let ranks = self.workload.ranks;
        for phase in test.repetitions.iter_mut().flat_map(|repetition| &mut repetition.phases) {
            if let Some((theirs, _)) = self.names.iter().find(|(_, own)| *own == phase.name) {
                phase.name.clone_from(theirs);
            }
        }
        match &self.meaning {
            Meaning::Ior(meant) => {
                let tests = vec![test];
                let record = RunRecord { tests, command: self.command.clone(), ..record.clone() };
                Document::new(&record, std::slice::from_ref(&**meant)).report().text
            }
            Meaning::Mdtest(meant) => {
                let now = record::local_time("%m/%d/%Y %H:%M:%S");
                let head = Head {
                    program: format!("mdtest-4.1 ({})", record.program),
                    words: self.command[1..].to_vec(),
                    ranks,
                    hosts,
                    started: now.clone(),
                    finished: now,
                    capacity: None,
                };
                mdtest::table(meant, &head, &[(ranks, &test)])
            }
        }
    }
}
