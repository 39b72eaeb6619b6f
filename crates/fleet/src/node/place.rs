use std::time::Duration;

/// A child and everything below it.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    /// The processes it brings, the child itself first.
    pub processes: Vec<u32>,
}

/// Where a process stands in the tree. Neighbours are numbered: children from 0, then the parent.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub number: u32,
    pub processes: u32,
    pub branches: Vec<Branch>,
    /// So many processes may be lost without ending the run.
    pub allowed: u32,
    /// A neighbour who says nothing for so long is gone.
    pub patience: Duration,
}

impl Place {
    pub fn is_root(&self) -> bool {
        self.number == 0
    }

    pub fn children(&self) -> std::ops::Range<usize> {
        0..self.branches.len()
    }

    pub fn parent(&self) -> Option<usize> {
        (!self.is_root()).then_some(self.branches.len())
    }

    pub fn neighbours(&self) -> usize {
        self.branches.len() + usize::from(!self.is_root())
    }
}
