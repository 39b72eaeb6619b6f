//! Which host wrote what: a rank that reads what its own host wrote may read that host's page cache.

use fleet::Placement;

use crate::workload::{Activity, EntryOperation, Phase, Selection, Workload};

/// The host that last wrote or made what belongs to each rank.
#[derive(Debug)]
pub struct Writers {
    host_of_rank: Vec<u32>,
    writer: Vec<Option<u32>>,
    /// Hosts wrote to all of it.
    mixed: bool,
}

/// What a rank touches in a phase.
struct Touch {
    rank: u32,
    owner: u32,
    makes: bool,
    everywhere: bool,
}

impl Writers {
    /// Nobody has written anything.
    pub fn new(placement: &Placement) -> Self {
        let host_of_rank = placement.hosts_of_ranks();
        Self { writer: vec![None; host_of_rank.len()], host_of_rank, mixed: false }
    }

    /// Remembers what a phase wrote.
    pub fn remember(&mut self, workload: &Workload, phase: &Phase) {
        for touch in touches(workload, phase).filter(|touch| touch.makes) {
            self.mixed |= touch.everywhere;
            self.writer[touch.owner as usize] = Some(self.host_of_rank[touch.rank as usize]);
        }
    }

    /// Whether any rank of `host` works on what that host wrote or made.
    pub fn own(&self, host: u32, workload: &Workload, phase: &Phase) -> bool {
        let mine = |touch: &Touch| self.host_of_rank[touch.rank as usize] == host;
        touches(workload, phase)
            .filter(mine)
            .any(|touch| self.mixed || touch.everywhere || self.writer[touch.owner as usize] == Some(host))
    }

    /// The ranks whose shares those of `host` work on.
    pub fn owners(&self, host: u32, workload: &Workload, phase: &Phase) -> Vec<u32> {
        let mine = |touch: &Touch| self.host_of_rank[touch.rank as usize] == host;
        let mut owners: Vec<u32> = touches(workload, phase).filter(mine).map(|touch| touch.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }
}

fn touches<'a>(workload: &'a Workload, phase: &'a Phase) -> impl Iterator<Item = Touch> + 'a {
    let size = phase.size(workload.ranks);
    (0..workload.ranks).filter_map(move |rank| {
        let (job, _) = phase.job_of(rank, workload.ranks)?;
        let (shift, makes, everywhere) = match &job.activity {
            Activity::Transfer(transfer) => {
                (transfer.rank_shift, transfer.writes(), transfer.roams(workload.files.layout))
            }
            Activity::Entries(entries) => {
                let makes = matches!(
                    entries.operation,
                    EntryOperation::Create | EntryOperation::Write | EntryOperation::Rename
                );
                let shared = workload.files.tree.shared_items || entries.operation == EntryOperation::Find;
                (
                    entries.rank_shift,
                    makes,
                    shared || entries.select != Selection::Own || entries.first_rank_only,
                )
            }
        };
        let owner = shift.apply(rank, size);
        Some(Touch { rank, owner, makes, everywhere })
    })
}
