use fault::Result;

use crate::Aborted;

/// The reason to stop that a link gives by itself: a process is gone that may not be, or the root is.
pub const GONE: u8 = u8::MAX;

/// What joins the processes of a run. Process 0 is the root: it decides, and it keeps the record.
///
/// [`all_max`](Self::all_max), [`broadcast`](Self::broadcast), [`gather`](Self::gather) and [`clock`](Self::clock) are
/// collective: every process calls the same ones in the same order, one at a time (threads of a process take turns).
/// [`post`](Self::post), [`posts`](Self::posts), [`stop`](Self::stop) and [`stopped`](Self::stopped) are not, never wait,
/// and may be called while another thread is inside a collective call.
///
/// A call fails when the run can't go on for this process: the root is gone, or the launcher's library said so. A process
/// other than the root that is gone makes the collective calls of the others [`Aborted`] or leaves a gap in what is
/// gathered; [`lost`](Self::lost) names it.
pub trait Link: Send + Sync {
    /// Number of this process, from 0.
    fn process(&self) -> u32;

    /// How many there are.
    fn processes(&self) -> u32;

    /// How many ranks each process is to host, in their order. The root hosts none (0) where it only leads: on the host where
    /// `--hosts` was typed. A run's ranks are their sum.
    fn seats(&self) -> Vec<u32> {
        vec![1; self.processes() as usize]
    }

    /// The largest value of all processes. One that brings `None`, or that is gone and may not be, makes it [`Aborted`]
    /// for everyone.
    fn all_max(&self, value: Option<u64>) -> Result<std::result::Result<u64, Aborted>>;

    /// What the root brings, for everyone; what others bring is dropped.
    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>>;

    /// At the root: what each process brought, in their order, `None` for those that are gone. Empty elsewhere.
    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Option<Vec<u8>>>>;

    /// Tells the root something that need not arrive (progress).
    fn post(&self, bytes: Vec<u8>);

    /// At the root: what was posted since the last call, with the process that did. Empty elsewhere.
    fn posts(&self) -> Vec<(u32, Vec<u8>)>;

    /// Tells every process, soon, that ranks are to stop. The first reason counts until [`resume`](Self::resume).
    fn stop(&self, reason: u8);

    /// The reason why ranks are to stop, if one was told; [`GONE`] comes from the link itself.
    fn stopped(&self) -> Option<u8>;

    /// Forgets the reason to stop. Called by every process between two phases, after a gather and before a broadcast.
    fn resume(&self);

    /// Measures how far this process's monotonic clock is from the root's.
    fn clock(&self) -> Result<Clock>;

    /// At the root: processes that are gone.
    fn lost(&self) -> Vec<Lost>;
}

/// How far a process's monotonic clock is from the root's: `root = own + offset`, give or take the uncertainty.
///
/// From the ping with the shortest round trip of several (Cristian 1989): the root's answer was read between sending and
/// receiving, so the error is at most half the round trip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    /// To be added to the own clock, ns.
    pub offset_ns: i64,
    /// Half the shortest round trip, ns.
    pub uncertainty_ns: u64,
}

impl Clock {
    /// The root's time at `own`, both in ns.
    pub fn to_root(self, own: u64) -> u64 {
        own.saturating_add_signed(self.offset_ns)
    }

    /// The own time at the root's `root`, both in ns.
    pub fn to_own(self, root: u64) -> u64 {
        root.saturating_add_signed(self.offset_ns.saturating_neg())
    }
}

/// A process that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Its number.
    pub process: u32,
    /// The host it ran on.
    pub host: String,
    /// What is known of why.
    pub why: String,
}

/// The only process of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Link for Alone {
    fn process(&self) -> u32 {
        0
    }

    fn processes(&self) -> u32 {
        1
    }

    fn all_max(&self, value: Option<u64>) -> Result<std::result::Result<u64, Aborted>> {
        Ok(value.ok_or(Aborted))
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        Ok(bytes)
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Option<Vec<u8>>>> {
        Ok(vec![Some(bytes)])
    }

    fn post(&self, _: Vec<u8>) {}

    fn posts(&self) -> Vec<(u32, Vec<u8>)> {
        Vec::new()
    }

    fn stop(&self, _: u8) {}

    fn stopped(&self) -> Option<u8> {
        None
    }

    fn resume(&self) {}

    fn clock(&self) -> Result<Clock> {
        Ok(Clock::default())
    }

    fn lost(&self) -> Vec<Lost> {
        Vec::new()
    }
}
