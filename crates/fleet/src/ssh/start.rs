use std::process::ChildStdin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::checksum::cksum;
use super::line::{Line, Ssh};
use super::trouble::{Scene, check_version, is_crowded, is_missing};
use super::watch::Watch;
use super::{Tell, command};
use crate::channel::{Channel, Trouble, Wait};
use crate::greeting::{Failure, Go, Hello, Order, Ready, Remote, Up, Welcome};
use crate::hosts::Host;
use crate::node::Place;
use crate::streams::Stream;

/// Logins at the same time: each costs this host a key exchange.
const AT_ONCE: usize = 16;
/// From the start of ssh to the agent's first words, at least: a login takes longer than a word.
const FIRST_WORDS: Duration = Duration::from_secs(30);
/// For a copy of the program.
const COPY: Duration = Duration::from_mins(3);
/// For those below an agent to be there.
const BELOW: Duration = Duration::from_mins(5);
/// How often a crowded sshd is asked again.
const TRIES: u32 = 4;

/// Starts agents.
pub(super) struct Starter<'a> {
    pub remote: &'a Remote,
    pub processes: u32,
    pub allowed: u32,
    pub patience: Duration,
    pub task: &'a Value,
    /// Connections are the task's own once all are there.
    pub direct: bool,
    pub tell: &'a Tell,
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// An agent that is there.
pub(super) struct Started {
    pub order: Order,
    channel: Channel,
    watch: Watch,
    hello: Hello,
}

/// All that is below a process.
pub(super) struct Below {
    pub started: Vec<Started>,
    pub up: Vec<Up>,
    pub failures: Vec<Failure>,
    pub parent: Option<Stream>,
}

impl Started {
    /// As a connection of the task's own.
    pub fn into_line(self) -> Line {
        let host = self.order.host.to_string();
        let (reader, writer, ahead) = self.channel.into_ends();
        Line { reader, writer, ahead, host, facts: self.hello.facts, ssh: Some(Ssh(self.watch)) }
    }

    pub fn into_stream(self) -> Stream {
        let watch = self.watch;
        self.channel.into_stream(Box::new(move || watch.why()))
    }

    /// What is known of an agent that fell silent.
    fn failure(&self, trouble: Trouble) -> Failure {
        failure(&self.order.host, &self.watch, trouble, "")
    }
}

impl Below {
    /// All are there: the run begins.
    pub fn go(&mut self) {
        let wait = Wait { until: Instant::now() + FIRST_WORDS, cancelled: &|| false };
        for child in &mut self.started {
            child.watch.speak();
            // One that is gone by now is noticed by the run.
            let _ = child.channel.send(&Go {}, wait);
        }
    }
}

impl Starter<'_> {
    /// Where the process `number` stands, without its children.
    pub fn place(&self, number: u32) -> Place {
        let Self { processes, allowed, patience, .. } = *self;
        Place { number, processes, branches: Vec::new(), allowed, patience }
    }

    /// For a word of an agent that is new.
    fn first_words(&self) -> Duration {
        FIRST_WORDS.max(self.patience)
    }

    fn wait(&self, time: Duration) -> Wait<'_> {
        Wait { until: Instant::now() + time, cancelled: self.cancelled }
    }

    /// Starts all that `orders` say, and waits until everyone is there.
    pub fn start(&self, orders: &[Order]) -> Below {
        let mut below = Below { started: Vec::new(), up: Vec::new(), failures: Vec::new(), parent: None };
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..orders.len().min(AT_ONCE) {
                scope.spawn(|| {
                    while let Some(order) = orders.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let outcome = self.greet(order);
                        if let Ok(mut done) = done.lock() {
                            done.push((order.number, outcome));
                        }
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_default();
        done.sort_by_key(|(number, _)| *number);
        for (_, outcome) in done {
            match outcome {
                Ok(started) => below.started.push(started),
                Err(failure) => below.failures.push(failure),
            }
        }
        self.welcome(&mut below);
        below
    }

    /// Tells everyone who they are, and waits for those below them.
    fn welcome(&self, below: &mut Below) {
        let Below { started, up, failures, .. } = below;
        started.retain_mut(|child| match self.welcome_one(child) {
            Ok(()) => true,
            Err(trouble) => {
                failures.push(child.failure(trouble));
                false
            }
        });
        for child in started {
            let wait = self.wait(if child.order.below.is_empty() { self.first_words() } else { BELOW });
            match child.channel.receive::<Ready>(wait) {
                Ok(ready) => {
                    up.push(child.up());
                    up.extend(ready.up);
                    failures.extend(ready.failures);
                }
                Err(trouble) => failures.push(child.failure(trouble)),
            }
        }
        up.sort_by_key(|up| up.number);
    }

    fn welcome_one(&self, child: &mut Started) -> Result<(), Trouble> {
        let welcome = Welcome {
            number: child.order.number,
            processes: self.processes,
            allowed: self.allowed,
            patience: self.patience,
            task: self.task.clone(),
            below: child.order.below.clone(),
            remote: self.remote.clone(),
            direct: self.direct,
        };
        child.channel.send(&welcome, self.wait(self.first_words()))
    }

    /// Starts one agent, by a copy of the program if need be.
    fn greet(&self, order: &Order) -> Result<Started, Failure> {
        let installed = self.attempt(order, None).and_then(|started| {
            check_version(&order.host, &started.hello).map(|()| started).map_err(|failure| (failure, true))
        });
        match installed {
            Ok(started) => Ok(started),
            Err((_, true)) if self.remote.push => self.push(order),
            Err((failure, _)) => Err(failure),
        }
    }

    fn push(&self, order: &Order) -> Result<Started, Failure> {
        let own = |error: std::io::Error| Failure {
            host: order.host.to_string(),
            what: format!("this program can't be read to be copied: {error}"),
            hint: "install it there by other means".to_owned(),
        };
        // Also when its file has been replaced or removed meanwhile.
        let program = std::fs::read("/proc/self/exe").map_err(own)?;
        let started = self.attempt(order, Some(&program)).map_err(|(failure, _)| failure)?;
        check_version(&order.host, &started.hello).map(|()| started)
    }

    /// Tries to start an agent; says of a failure whether a copy of the program may help.
    fn attempt(&self, order: &Order, program: Option<&[u8]>) -> Result<Started, (Failure, bool)> {
        let mut pause = Duration::from_millis(300);
        for _ in 1..TRIES {
            match self.attempt_once(order, program) {
                Err((_, _, true)) if !(self.cancelled)() => std::thread::sleep(pause),
                outcome => return outcome.map_err(|(failure, missing, _)| (failure, missing)),
            }
            pause *= 2;
        }
        self.attempt_once(order, program).map_err(|(failure, missing, _)| (failure, missing))
    }

    /// The last of a failure: whether sshd was crowded.
    fn attempt_once(&self, order: &Order, program: Option<&[u8]>) -> Result<Started, (Failure, bool, bool)> {
        let host = &order.host;
        let (mut channel, watch) = self.connect(host, program).map_err(|failure| (failure, false, false))?;
        let copied = program.map_or(Ok(()), |program| channel.write(program, self.wait(COPY)));
        let time = if program.is_some() { COPY } else { self.first_words() };
        let spoken = copied
            .map_err(|trouble| (trouble, String::new()))
            .and_then(|()| channel.find_agent(self.wait(time)))
            .and_then(|()| {
                channel.receive(self.wait(self.first_words())).map_err(|trouble| (trouble, String::new()))
            });
        match spoken {
            Ok(hello) => Ok(Started { order: order.clone(), channel, watch, hello }),
            Err((trouble, noise)) => {
                let failure = failure(host, &watch, trouble, &noise);
                let code = watch.status(Duration::ZERO).and_then(|status| status.code());
                Err((failure, is_missing(code), is_crowded(&watch.lines())))
            }
        }
    }

    /// Starts ssh.
    fn connect(&self, host: &Host, program: Option<&[u8]>) -> Result<(Channel, Watch), Failure> {
        let script = match program {
            Some(program) => command::pushed(program.len() as u64, cksum(program)),
            None => command::installed(self.remote),
        };
        let failed = |what: String, hint: String| Failure { host: host.to_string(), what, hint };
        let mut command = command::on_host(self.remote, host, &script).map_err(|fault| {
            failed(fault.message().to_owned(), fault.hint_text().unwrap_or_default().to_owned())
        })?;
        let mut child = command.spawn().map_err(|error| {
            let name = command.get_program().to_string_lossy().into_owned();
            let hint = "install OpenSSH's client, or name it with `--ssh`".to_owned();
            failed(format!("cannot start `{name}`: {}", fault::plain(&error)), hint)
        })?;
        let ends = child.stdout.take().zip(child.stdin.take());
        let watch = Watch::new(child, host.to_string(), self.tell.clone());
        let (stdout, stdin): (_, ChildStdin) =
            ends.ok_or_else(|| failed("ssh has no standard streams".to_owned(), String::new()))?;
        Ok((Channel::new(stdout.into(), stdin.into()), watch))
    }
}

impl Started {
    fn up(&self) -> Up {
        Up {
            number: self.order.number,
            host: self.order.host.to_string(),
            hostname: self.hello.hostname.clone(),
            facts: self.hello.facts.clone(),
        }
    }
}

fn failure(host: &Host, watch: &Watch, trouble: Trouble, noise: &str) -> Failure {
    // Its exit code and last words come a moment after its connection ended.
    let status = (trouble == Trouble::Ended).then(|| watch.status(Duration::from_secs(2))).flatten();
    if status.is_some() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let code = status.and_then(|status| status.code());
    Scene { host, trouble, code, lines: &watch.lines(), noise }.failure()
}
