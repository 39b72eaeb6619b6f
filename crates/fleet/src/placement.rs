use std::ops::Range;

/// Which process hosts which ranks, and which host which processes.
///
/// Ranks are dealt to processes in contiguous blocks, in the order of the processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Ranks of each process.
    seats: Vec<u32>,
    /// Number of each process's host.
    host_of: Vec<usize>,
    hosts: Vec<String>,
}

/// The ranks of one process: some of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Number of the first.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// How many there are in all processes.
    pub all: u32,
}

impl Block {
    /// All ranks in one process.
    pub fn whole(ranks: u32) -> Self {
        Self { first: 0, count: ranks, all: ranks }
    }

    /// Their numbers.
    pub fn ranks(self) -> Range<u32> {
        self.first..self.first + self.count
    }

    /// Whether `rank` is one of them.
    pub fn has(self, rank: u32) -> bool {
        self.ranks().contains(&rank)
    }
}

impl Placement {
    /// Everything in one process.
    pub fn alone(host: &str, ranks: u32) -> Self {
        Self { seats: vec![ranks], host_of: vec![0], hosts: vec![host.to_owned()] }
    }

    /// `ranks` over processes with so many seats each, on hosts that are told apart by their `hosts` (a name, and what else
    /// makes a host one). With fewer ranks than seats, or more, every process gets its part of them.
    pub fn new<K: PartialEq>(ranks: u32, seats: &[u32], hosts: &[(String, K)]) -> Self {
        let mut known: Vec<usize> = Vec::new();
        let host_of = hosts.iter().enumerate().map(|(process, host)| {
            known.iter().position(|first| hosts[*first] == *host).unwrap_or_else(|| {
                known.push(process);
                known.len() - 1
            })
        });
        let host_of = host_of.collect();
        let hosts = known.iter().map(|process| hosts[*process].0.clone()).collect();
        Self { seats: dealt(ranks, seats), host_of, hosts }
    }

    /// All ranks.
    pub fn ranks(&self) -> u32 {
        self.seats.iter().sum()
    }

    /// Number of processes.
    pub fn processes(&self) -> usize {
        self.seats.len()
    }

    /// Names of the hosts, in the order of their first processes.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The ranks of a process.
    pub fn block(&self, process: usize) -> Block {
        let first = self.seats[..process].iter().sum();
        Block { first, count: self.seats[process], all: self.ranks() }
    }

    /// The process that hosts `rank`.
    pub fn process_of(&self, rank: u32) -> usize {
        (0..self.processes()).find(|process| self.block(*process).has(rank)).unwrap_or(0)
    }

    /// Number of a process's host.
    pub fn host_of(&self, process: usize) -> usize {
        self.host_of[process]
    }

    /// Processes on host number `host`.
    pub fn on_host(&self, host: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.processes()).filter(move |process| self.host_of[*process] == host)
    }

    /// Whether a host has any ranks.
    pub fn has_ranks(&self, host: usize) -> bool {
        self.on_host(host).any(|process| self.seats[process] > 0)
    }

    /// The number of each rank's host.
    pub fn hosts_of_ranks(&self) -> Vec<u32> {
        let of =
            |process: usize| std::iter::repeat_n(self.host_of[process] as u32, self.seats[process] as usize);
        (0..self.processes()).flat_map(of).collect()
    }

    /// Ranks on the host of the first rank: what IOR calls tasks per node.
    pub fn ranks_per_node(&self) -> u32 {
        let host = self.host_of[self.process_of(0)];
        self.on_host(host).map(|process| self.seats[process]).sum()
    }

    /// Ranks that earlier processes on the same host have: where this one's begin among those of its host.
    pub fn before_on_host(&self, process: usize) -> u32 {
        let host = self.host_of[process];
        self.on_host(host).filter(|other| *other < process).map(|other| self.seats[other]).sum()
    }

    /// The process whose word counts where one speaks for all: that of the first rank.
    pub fn lead(&self) -> usize {
        self.process_of(0)
    }
}

/// `ranks` in proportion to `seats`; what does not come out even goes to the first processes that are short of most.
fn dealt(ranks: u32, seats: &[u32]) -> Vec<u32> {
    let all: u64 = seats.iter().map(|seats| u64::from(*seats)).sum();
    if all == 0 {
        return dealt(ranks, &vec![1; seats.len()]);
    }
    let exact = |seats: &u32| (u64::from(*seats) * u64::from(ranks), all);
    let mut dealt: Vec<u32> = seats.iter().map(exact).map(|(part, all)| (part / all) as u32).collect();
    let mut short: Vec<(u64, usize)> =
        seats.iter().map(exact).enumerate().map(|(process, (part, all))| (part % all, process)).collect();
    short.sort_by_key(|(rest, process)| (std::cmp::Reverse(*rest), *process));
    let left = ranks - dealt.iter().sum::<u32>();
    short.iter().take(left as usize).for_each(|(_, process)| dealt[*process] += 1);
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(names: &[&str]) -> Vec<(String, u8)> {
        names.iter().map(|name| ((*name).to_owned(), 0)).collect()
    }

    #[test]
    fn ranks_are_dealt_by_seats_in_blocks() {
        assert_eq!(dealt(8, &[4, 4]), [4, 4]);
        assert_eq!(dealt(5, &[4, 4]), [3, 2]);
        assert_eq!(dealt(9, &[0, 6, 3]), [0, 6, 3]);
        assert_eq!(dealt(3, &[0, 6, 3]), [0, 2, 1]);
        assert_eq!(dealt(3, &[1, 1, 1, 1]), [1, 1, 1, 0]);
        assert_eq!(dealt(4, &[0, 0]), [2, 2]);
        let placement = Placement::new(9, &[0, 6, 3], &on(&["login", "a", "b"]));
        assert_eq!(placement.block(2), Block { first: 6, count: 3, all: 9 });
        assert_eq!((placement.process_of(5), placement.process_of(6), placement.lead()), (1, 2, 1));
        assert_eq!(placement.hosts_of_ranks(), [1, 1, 1, 1, 1, 1, 2, 2, 2]);
        assert_eq!(placement.ranks_per_node(), 6);
    }

    #[test]
    fn processes_of_one_host_count_together() {
        let placement = Placement::new(6, &[1; 6], &on(&["a", "b", "a", "b", "a", "b"]));
        assert_eq!(
            (placement.hosts(), placement.ranks_per_node()),
            (&["a".to_owned(), "b".to_owned()][..], 3)
        );
        assert_eq!((placement.before_on_host(4), placement.before_on_host(1)), (2, 0));
        let same_name = Placement::new(2, &[1, 1], &[("a".to_owned(), 1), ("a".to_owned(), 2)]);
        assert_eq!(same_name.hosts().len(), 2, "two machines may have one name");
    }
}
