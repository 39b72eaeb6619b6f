//! Processes that `mpirun`, `mpiexec` or `srun` started, joined by the MPI library that is installed.
//!
//! The library is loaded at run time: the same program runs where there is none. Frames travel as messages, by calls that
//! don't wait, from one thread; between two looks it sleeps, longer the longer nothing came, so that many ranks on few cores
//! leave those to the work.

mod abi;
mod calls;
mod library;
mod messages;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fault::{Fault, Kind, Result};

use crate::Link as _;
use crate::launcher::{Launch, Launcher};
use crate::node::{Branch, Node, Place};
use crate::ssh::hostname;
use library::Library;
pub use library::OVERRIDE;

/// Children of each process.
const FAN_OUT: u32 = 64;
/// mpirun ends all processes when one dies; silence is the slower sign.
const PATIENCE: Duration = Duration::from_secs(30);

/// A run that MPI joins.
#[derive(Debug)]
pub struct Joined {
    /// The way to the others.
    pub node: Node,
    /// What was found: `MPI: Open MPI 4.1.4, 480 processes on 20 hosts`. The hosts are known at the root.
    pub words: String,
}

/// Joins the processes of a launch. So many of them may be lost.
pub fn join(launch: &Launch, allowed: u32) -> Result<Joined> {
    let library = Library::find(launch.launcher)?;
    let Launch { number, processes, .. } = *launch;
    let name = library.name.clone();
    let branches = children(number, processes).map(|child| Branch { processes: below(child, processes) });
    let place = Place { number, processes, branches: branches.collect(), allowed, patience: PATIENCE };
    let parent = number.checked_sub(1).map(|before| before / FAN_OUT);
    let neighbours: Vec<u32> = children(number, processes).chain(parent).collect();
    let postman: Arc<OnceLock<std::thread::Thread>> = Arc::default();
    let bell = Arc::clone(&postman);
    let wake = Box::new(move || {
        if let Some(postman) = bell.get() {
            postman.unpark();
        }
    });
    let launch = launch.clone();
    // The thread that begins with MPI is the one that goes on with it: no library needs locks for that.
    let node = Node::start(place, wake, move || {
        let _ = postman.set(std::thread::current());
        library.begin(&launch, &neighbours)
    })?;
    let hostnames = node.gather(hostname().into_bytes())?;
    let hosts: Vec<String> =
        hostnames.into_iter().map(|name| String::from_utf8_lossy(&name.unwrap_or_default()).into()).collect();
    let mut different = hosts.clone();
    different.sort_unstable();
    different.dedup();
    let hosts_word = if different.len() == 1 { "host" } else { "hosts" };
    let words = format!("MPI: {name}, {processes} processes on {} {hosts_word}", different.len());
    node.name_hosts(hosts);
    Ok(Joined { node, words })
}

fn children(process: u32, processes: u32) -> impl Iterator<Item = u32> {
    (process * FAN_OUT + 1..=(process + 1) * FAN_OUT).filter(move |child| *child < processes)
}

fn below(process: u32, processes: u32) -> Vec<u32> {
    let further = children(process, processes).flat_map(|child| below(child, processes));
    std::iter::once(process).chain(further).collect()
}

/// The launcher of one MPI and the library of another: every process would believe to be alone, and what looked like one
/// run would be many at the same time.
fn wrong_pair(launch: &Launch, library: &Library, rank: u32, size: u32) -> Fault {
    let Launch { launcher, number, processes } = launch;
    let (name, path) = (&library.name, &library.path);
    Fault::new(
        Kind::Refused,
        format!(
            "{} started {processes} processes, but for {name} (`{path}`) this is process {rank} of {size}, not \
             {number} of {processes}: they would be independent runs",
            launcher.name()
        ),
    )
    .hint(match launcher {
        Launcher::Slurm(_) => format!(
            "name the library that belongs to this srun's MPI by {OVERRIDE}, use another `srun --mpi=`, or do without \
             MPI: `srun --mpi=none`"
        ),
        _ => format!(
            "use the launcher and the library of the same MPI: `mpirun` from {name}, or the launcher's own library \
             named by {OVERRIDE}=/path/to/libmpi.so"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_is_below_the_root_once() {
        for processes in [1, 2, 64, 65, 66, 480, 5000] {
            let mut all = below(0, processes);
            all.sort_unstable();
            assert_eq!(all, (0..processes).collect::<Vec<_>>());
            for process in 1..processes {
                assert!(children((process - 1) / FAN_OUT, processes).any(|child| child == process));
            }
        }
    }
}
