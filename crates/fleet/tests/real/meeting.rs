//! The program `meet`, running.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;
use testkit::lab::wait_until;

/// The example beside this test.
pub fn meet() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().unwrap().parent().unwrap().join("examples/meet");
    assert!(path.exists(), "{} is built together with the tests (`cargo test -p fleet`)", path.display());
    path.canonicalize().unwrap()
}

/// What a meeting came to.
#[derive(Debug)]
pub struct Came {
    pub code: i32,
    pub err: String,
    pub report: Value,
}

impl Came {
    fn new(output: &Output) -> Self {
        let out = String::from_utf8_lossy(&output.stdout);
        let report = out.lines().rev().find_map(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { code: output.status.code().unwrap_or(-1), err, report }
    }

    /// All came, and all did their rounds.
    #[track_caller]
    pub fn assert_whole(&self, processes: usize) -> &Value {
        assert_eq!(self.code, 0, "{self:?}");
        let all = self.report["all"].as_array().unwrap();
        assert_eq!(
            (all.len(), self.report["processes"].as_u64().unwrap()),
            (processes, processes as u64),
            "{self:?}"
        );
        assert!(all.iter().all(Value::is_object), "{self:?}");
        assert_eq!(self.report["lost"].as_array().unwrap().len(), 0, "{self:?}");
        &self.report
    }

    /// It was refused, with these words.
    #[track_caller]
    pub fn assert_refused(&self, words: &[&str]) {
        assert_eq!(self.code, 1, "{self:?}");
        assert!(self.report.is_null(), "{self:?}");
        assert!(self.err.contains("hint: "), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is missing in {}", self.err);
        }
    }
}

/// Runs it to its end.
pub fn run(command: &mut Command) -> Came {
    Came::new(&command.stdin(Stdio::null()).output().unwrap())
}

/// One that goes on until it is stopped.
pub struct Going {
    child: Child,
    heard: Arc<Mutex<String>>,
    ear: Option<JoinHandle<()>>,
}

impl Going {
    pub fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let heard = Arc::new(Mutex::new(String::new()));
        let (stderr, ear) = (child.stderr.take().unwrap(), Arc::clone(&heard));
        let ear = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                ear.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        Self { child, heard, ear: Some(ear) }
    }

    pub fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }

    /// Waits until so many processes say that they wait; their numbers as processes.
    pub fn wait_for(&mut self, processes: usize) -> Vec<(u32, u32)> {
        let heard = Arc::clone(&self.heard);
        let waiting = || -> Vec<(u32, u32)> {
            let heard = heard.lock().unwrap().clone();
            let lines = heard.lines().filter(|line| line.contains(" waits as process "));
            let numbers = |line: &str| {
                let words: Vec<&str> = line.split_whitespace().collect();
                // Launchers may cut lines of several processes into each other.
                let place = words.iter().position(|word| *word == "waits").filter(|place| *place > 0)?;
                Some((words.get(place + 3)?.parse().ok()?, words[place - 1].parse().ok()?))
            };
            lines.filter_map(numbers).collect()
        };
        wait_until(&format!("{processes} processes, after {}", self.heard()), || {
            waiting().len() >= processes
        });
        waiting()
    }

    /// Stops it in order.
    pub fn stop(&mut self) {
        let _ = self.child.stdin.take().unwrap().write_all(b"stop\n");
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its end.
    pub fn end(mut self) -> Came {
        let mut stdout = Vec::new();
        self.child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        wait_until("the end", || self.child.try_wait().unwrap().is_some());
        let status = self.child.wait().unwrap();
        self.ear.take().unwrap().join().unwrap();
        Came::new(&Output { status, stdout, stderr: self.heard().into_bytes() })
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// SIGKILL, to a process by this machine's number.
pub fn kill(process: u32) {
    let pid = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
