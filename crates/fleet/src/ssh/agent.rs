use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use fault::{Fault, Kind, Result};
use serde_json::Value;

use super::Tell;
use super::line::Line;
use super::start::Starter;
use crate::channel::{Channel, Trouble, Wait};
use crate::greeting::{Go, Hello, MAGIC, PROTOCOL, Ready, VERSION, Welcome};
use crate::node::Node;

/// For the one who started us to say what for: when all others that it starts have logged in.
const WELCOME: Duration = Duration::from_mins(5);
/// For everyone else to be there.
const GO: Duration = Duration::from_mins(10);

/// This process, as an agent of a run that another host leads.
#[derive(Debug)]
pub struct Agent {
    /// The way to the others.
    pub way: Way,
    /// What is to be done.
    pub task: Value,
}

/// How an agent reaches whoever leads it.
#[derive(Debug)]
pub enum Way {
    /// As one process of a run.
    Run(Node),
    /// By a connection that is the task's own.
    Line(Line),
}

/// Becomes an agent: speaks to whoever started this process over its standard input and output, and starts those below.
///
/// `facts` of this host go to the root. `tell` gets the lines that agents below say. `pushed` is the directory that this
/// program was copied to; it is removed first.
pub fn join(facts: Value, pushed: Option<&Path>, tell: &Tell) -> Result<Agent> {
    if let Some(directory) = pushed {
        remove_copy(directory)?;
    }
    let (reader, writer) = streams()?;
    let mut channel = Channel::new(reader, writer);
    let never = || false;
    let wait = |time| Wait { until: Instant::now() + time, cancelled: &never };
    let hostname = hostname();
    let hello = Hello { version: VERSION.to_owned(), protocol: PROTOCOL, hostname, facts };
    channel.write(MAGIC, wait(WELCOME)).and_then(|()| channel.send(&hello, wait(WELCOME))).map_err(gone)?;
    let welcome: Welcome = channel.receive(wait(WELCOME)).map_err(gone)?;
    let starter = Starter {
        remote: &welcome.remote,
        processes: welcome.processes,
        allowed: welcome.allowed,
        patience: welcome.patience,
        task: &welcome.task,
        direct: false,
        tell,
        cancelled: &never,
    };
    let mut below = starter.start(&welcome.below);
    let ready = Ready { up: below.up.clone(), failures: std::mem::take(&mut below.failures) };
    channel.send(&ready, wait(WELCOME)).map_err(gone)?;
    let Go {} = channel.receive(wait(GO)).map_err(gone)?;
    if welcome.direct {
        let (reader, writer, ahead) = channel.into_ends();
        let line = Line { reader, writer, ahead, host: String::new(), facts: Value::Null, ssh: None };
        return Ok(Agent { way: Way::Line(line), task: welcome.task });
    }
    below.parent = Some(channel.into_stream(Box::new(|| "its connection ended".to_owned())));
    let node = below.join(starter.place(welcome.number))?;
    Ok(Agent { way: Way::Run(node), task: welcome.task })
}

fn gone(trouble: Trouble) -> Fault {
    let what = match trouble {
        Trouble::Ended | Trouble::Cancelled => "it is gone".to_owned(),
        Trouble::Silent => "it says nothing".to_owned(),
        Trouble::Foreign(words) => format!("it is not understood: {words}"),
    };
    Fault::new(Kind::Io, format!("an agent is led by the process that started it: {what}"))
        .hint("`forebay agent` is started by `forebay ... --hosts`, over ssh")
}

/// Standard input and output for ourselves: whatever else reads there finds the end, and writes to standard error.
fn streams() -> Result<(OwnedFd, OwnedFd)> {
    let failed = |error: rustix::io::Errno| Fault::os("use", Path::new("standard input and output"), error);
    let reader = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(failed)?;
    let writer = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3).map_err(failed)?;
    let nothing =
        std::fs::File::open("/dev/null").map_err(|error| Fault::os("open", Path::new("/dev/null"), error))?;
    rustix::stdio::dup2_stdin(&nothing).map_err(failed)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr()).map_err(failed)?;
    Ok((reader, writer))
}

/// Removes the copy that we run from, and nothing else.
fn remove_copy(directory: &Path) -> Result<()> {
    let program = directory.join("forebay");
    let ours = std::fs::read_link("/proc/self/exe").is_ok_and(|path| path == program);
    let named =
        directory.file_name().is_some_and(|name| name.to_string_lossy().starts_with("forebay-agent."));
    if !ours || !named {
        return Err(Fault::new(
            Kind::Refused,
            format!("`{}` is no copy of this program", directory.display()),
        )
        .hint("`--pushed` is for copies that `--push` made"));
    }
    std::fs::remove_file(&program)
        .and_then(|()| std::fs::remove_dir(directory))
        .map_err(|error| Fault::os("remove", directory, error))
}

/// What this host calls itself.
pub(crate) fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
