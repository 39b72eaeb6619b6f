//! Tasks of a Slurm step, joined without MPI: by a Unix socket on one host, by TCP over several.
//!
//! Task 0 listens, because `srun` started the others to meet it, and only until all have come. Where it listens and a token
//! of 256 bits stand in a file that only its owner can read, in a directory that only its owner can enter; both are removed
//! as soon as all have come. Each side proves that it knows the token without sending it.

mod address;
mod rendezvous;
mod token;

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use fault::{Fault, Kind, Result};

use crate::Link as _;
use crate::channel::{Channel, Trouble, Wait};
use crate::greeting::{PROTOCOL, VERSION};
use crate::launcher::Launch;
use crate::node::{Branch, Node, Place};
use crate::ssh::hostname;
use crate::streams::{Stream, Streams};
use address::{Listeners, connect};
pub use rendezvous::OVERRIDE;
use rendezvous::{Invitation, Rendezvous};
use serde::{Deserialize, Serialize};
use token::{Nonce, Token};

/// For all tasks to come: srun starts them together, but large programs load slowly from a busy file system.
const GATHERING: Duration = Duration::from_mins(2);
/// For one side of a greeting: who says nothing must not hold up the others.
const GREETING: Duration = Duration::from_secs(5);
/// As for ssh.
const PATIENCE: Duration = Duration::from_secs(10);

/// A task's first words.
#[derive(Debug, Serialize, Deserialize)]
struct Knock {
    number: u32,
    version: String,
    protocol: u32,
    nonce: Nonce,
}

/// The answer: a nonce of its own, and the proof that it knows the token.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    nonce: Nonce,
    proof: [u8; 32],
    version: String,
    protocol: u32,
}

/// The task's proof.
#[derive(Debug, Serialize, Deserialize)]
struct Proof {
    proof: [u8; 32],
}

/// Joins the tasks of a step. So many of them may be lost.
pub fn join(launch: &Launch, allowed: u32, cancelled: &(dyn Fn() -> bool + Sync)) -> Result<Node> {
    let until = Instant::now() + GATHERING;
    let rendezvous = Rendezvous::here()?;
    let Launch { number, processes, .. } = *launch;
    let wait = Wait { until, cancelled };
    let (branches, streams) = if number == 0 {
        let came = welcome(&rendezvous, processes, wait)?;
        ((1..processes).map(|task| Branch { processes: vec![task] }).collect(), came)
    } else {
        (Vec::new(), vec![knock(&rendezvous, number, wait)?])
    };
    let place = Place { number, processes, branches, allowed, patience: PATIENCE };
    let (carrier, wake) = Streams::new(streams)?;
    let node = Node::start(place, wake, || Ok(Box::new(carrier)))?;
    let hosts = node.gather(hostname().into_bytes())?;
    let name = |name: Option<Vec<u8>>| String::from_utf8_lossy(&name.unwrap_or_default()).into();
    node.name_hosts(hosts.into_iter().map(name).collect());
    Ok(node)
}

/// Task 0: waits until all others have come.
fn welcome(rendezvous: &Rendezvous, processes: u32, wait: Wait<'_>) -> Result<Vec<Stream>> {
    raise_file_limit(u64::from(processes));
    let directory = rendezvous.make()?;
    let listeners = Listeners::open(&directory)?;
    let token = Token::fresh()?;
    directory.invite(&Invitation { addresses: listeners.addresses(), token: token.clone() })?;
    let mut came: Vec<Option<Channel>> = (1..processes).map(|_| None).collect();
    while came.iter().any(Option::is_none) {
        let missing = || came.iter().filter(|one| one.is_none()).count();
        if (wait.cancelled)() {
            return Err(Fault::new(Kind::Interrupted, "stopped while tasks were joining"));
        }
        if Instant::now() >= wait.until {
            return Err(not_all(missing(), processes));
        }
        let Some(end) = listeners.accept(Duration::from_millis(200)) else { continue };
        // Who does not know the token is nobody; who is of another version is told.
        if let Some((number, channel)) = greet(end, &token, wait)?
            && let Some(seat) = number.checked_sub(1).and_then(|place| came.get_mut(place as usize))
        {
            *seat = Some(channel);
        }
    }
    Ok(came.into_iter().flatten().map(stream).collect())
}

fn not_all(missing: usize, processes: u32) -> Fault {
    Fault::new(Kind::Io, format!("{missing} of {processes} tasks did not come within {} s", GATHERING.as_secs())).hint(
        format!(
            "tasks meet by a file in the directory where the job was submitted: it must be shared by all nodes, or name \
             one that is by {OVERRIDE}; and nodes must be able to connect to each other"
        ),
    )
}

/// Lets a task in if it knows the token.
fn greet(end: OwnedFd, token: &Token, wait: Wait<'_>) -> Result<Option<(u32, Channel)>> {
    let Ok(reader) = end.try_clone() else { return Ok(None) };
    let mut channel = Channel::new(reader, end);
    let soon = Wait { until: Instant::now() + GREETING, ..wait };
    let greeted = (|| -> std::result::Result<_, Trouble> {
        let knock: Knock = channel.receive(soon)?;
        let nonce = Nonce::fresh().map_err(|fault| Trouble::Foreign(fault.message().to_owned()))?;
        let proof = token.proof(*b"root", knock.number, &knock.nonce, &nonce);
        channel.send(&Answer { nonce, proof, version: VERSION.to_owned(), protocol: PROTOCOL }, soon)?;
        let Proof { proof } = channel.receive(soon)?;
        Ok(token.holds(&proof, *b"task", knock.number, &knock.nonce, &nonce).then_some(knock))
    })();
    let Ok(Some(knock)) = greeted else { return Ok(None) };
    if (knock.version.as_str(), knock.protocol) != (VERSION, PROTOCOL) {
        return Err(other_version(&format!("task {}", knock.number), &knock.version));
    }
    Ok(Some((knock.number, channel)))
}

fn other_version(who: &str, version: &str) -> Fault {
    Fault::new(Kind::Refused, format!("{who} is forebay {version}, and this is forebay {VERSION}"))
        .hint("let `srun` start the same program on every node")
}

/// Another task: finds task 0.
fn knock(rendezvous: &Rendezvous, number: u32, wait: Wait<'_>) -> Result<Stream> {
    loop {
        if let Some(invitation) = rendezvous.look()?
            && let Some(channel) = enter(&invitation, number, wait)?
        {
            return Ok(stream(channel));
        }
        if (wait.cancelled)() {
            return Err(Fault::new(Kind::Interrupted, "stopped while tasks were joining"));
        }
        if Instant::now() >= wait.until {
            let place = rendezvous.path().display();
            let what = format!("task {number} found no way to task 0 by `{place}`");
            return Err(Fault::new(Kind::Io, what).hint("the directory must be shared by all nodes"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Connects and proves; none if it is not (or no longer) task 0 that answers there.
fn enter(invitation: &Invitation, number: u32, wait: Wait<'_>) -> Result<Option<Channel>> {
    let Some(end) = invitation.addresses.iter().find_map(connect) else { return Ok(None) };
    let Ok(reader) = end.try_clone() else { return Ok(None) };
    let mut channel = Channel::new(reader, end);
    let nonce = Nonce::fresh()?;
    let token = &invitation.token;
    // Task 0 greets one after the other.
    let greeted = (|| -> std::result::Result<_, Trouble> {
        channel.send(&Knock { number, version: VERSION.to_owned(), protocol: PROTOCOL, nonce }, wait)?;
        let answer: Answer = channel.receive(wait)?;
        if !token.holds(&answer.proof, *b"root", number, &nonce, &answer.nonce) {
            return Ok(None);
        }
        channel.send(&Proof { proof: token.proof(*b"task", number, &nonce, &answer.nonce) }, wait)?;
        Ok(Some(answer))
    })();
    let Ok(Some(answer)) = greeted else { return Ok(None) };
    if (answer.version.as_str(), answer.protocol) != (VERSION, PROTOCOL) {
        return Err(other_version("task 0", &answer.version));
    }
    Ok(Some(channel))
}

fn stream(channel: Channel) -> Stream {
    channel.into_stream(Box::new(|| "its connection ended".to_owned()))
}

/// One connection per task.
fn raise_file_limit(tasks: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = tasks * 2 + 256;
    if limit.current.is_some_and(|current| current < wanted) {
        let current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum: limit.maximum });
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    const NEVER: &(dyn Fn() -> bool + Sync) = &|| false;

    fn soon() -> Wait<'static> {
        Wait { until: Instant::now() + Duration::from_secs(20), cancelled: NEVER }
    }

    fn place(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!(".forebay-test-{}-{name}", std::process::id()))
    }

    #[test]
    fn tasks_meet_and_nothing_is_left() {
        let path = place("meet");
        let came = std::thread::scope(|scope| {
            for number in [2, 1, 3] {
                let rendezvous = Rendezvous::at(path.clone(), true);
                scope.spawn(move || knock(&rendezvous, number, soon()).map(|_| ()).unwrap());
            }
            welcome(&Rendezvous::at(path.clone(), true), 4, soon()).unwrap().len()
        });
        assert_eq!(came, 3);
        assert!(!path.exists());
    }

    #[test]
    fn who_does_not_know_the_token_is_not_let_in() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (token, guess) = (Token::fresh().unwrap(), Token::fresh().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut channel = Channel::new(theirs.try_clone().unwrap().into(), theirs.into());
                let nonce = Nonce::fresh().unwrap();
                let knock = Knock { number: 1, version: VERSION.to_owned(), protocol: PROTOCOL, nonce };
                channel.send(&knock, soon()).unwrap();
                let answer: Answer = channel.receive(soon()).unwrap();
                assert!(!guess.holds(&answer.proof, *b"root", 1, &nonce, &answer.nonce));
                // Sending back what came is no proof either.
                channel.send(&Proof { proof: answer.proof }, soon()).unwrap();
            });
            assert!(greet(ours.into(), &token, soon()).unwrap().is_none());
        });
    }

    #[test]
    fn a_directory_that_others_can_enter_is_refused() {
        let path = place("open");
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let rendezvous = Rendezvous::at(path.clone(), true);
        assert!(rendezvous.look().unwrap_err().message().contains("not only yours"));
        assert!(rendezvous.make().unwrap_err().message().contains("not only yours"));
        std::fs::remove_dir(&path).unwrap();
    }
}
