//! A server of jobs in a place of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

/// Long enough for any machine; only what never happens takes it.
const PATIENCE: Duration = Duration::from_mins(2);

/// Trees, a job file and a state of a test's own.
pub struct Place {
    dir: tempfile::TempDir,
}

/// A server that runs; killed when the test ends.
pub struct Server {
    pub child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Place {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file, with the directories above it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    /// Writes the job file, so that nobody can take it for the one before.
    pub fn jobs(&self, text: &str) {
        let (path, before) = (self.path("sync.toml"), self.path("sync.toml.new"));
        std::fs::write(&before, format!("version = 1\n{text}")).unwrap();
        let old = std::fs::metadata(&path).and_then(|seen| seen.modified()).ok();
        let later = old.map_or_else(SystemTime::now, |old| old + Duration::from_secs(1));
        std::fs::File::options().write(true).open(&before).unwrap().set_modified(later).unwrap();
        std::fs::rename(before, path).unwrap();
    }

    /// `forebay sync` with these words, and the state of this place.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.arg("sync").args(words).arg("--state").arg(self.path("state"));
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    pub fn call(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs each job once.
    #[track_caller]
    pub fn once(&self, code: i32) -> String {
        let output = self.call(&["serve", "--once"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    }

    pub fn serve(&self) -> Server {
        let mut command = self.command(&["serve"]);
        Server { child: command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap() }
    }

    /// How the jobs stand.
    #[track_caller]
    pub fn view(&self) -> Value {
        let output = self.call(&["jobs", "--format", "json"]);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"].take()
    }

    /// How one job stands, with all its runs.
    #[track_caller]
    pub fn job(&self, name: &str) -> Value {
        let output = self.call(&["jobs", name, "--format", "json"]);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"].take()
    }

    /// Waits until the job stands so.
    #[track_caller]
    pub fn wait(&self, what: &str, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let view = self.view();
            let jobs = view["jobs"].as_array().unwrap();
            match jobs.iter().find(|job| job["name"] == name) {
                Some(job) if is_so(job) => return job.clone(),
                _ => assert!(began.elapsed() < PATIENCE, "{what}: {view:#}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    pub fn wait_for_state(&self, name: &str, state: &str) -> Value {
        self.wait(state, name, |job| job["state"] == state)
    }

    /// A tree that is copied so slowly that whoever wants to stop it comes in time.
    pub fn slow_job(&self, name: &str) -> String {
        for number in 0..20 {
            self.write(&format!("{name}/{number}/file"), vec![number; 200_000]);
        }
        format!(
            "[[job]]\nname = '{name}'\nsource = '{name}'\ndestination = 'to-{name}'\nbwlimit = '200kB/s'\n"
        )
    }
}

impl Server {
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until it ended; its exit code.
    pub fn ended(&mut self) -> Option<i32> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("it never ends");
    }
}

/// How many directories of such a tree have appeared.
pub fn files(path: &Path) -> usize {
    std::fs::read_dir(path).map_or(0, |entries| {
        let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.flatten().filter(|entry| !name(entry).starts_with(".forebay-")).count()
    })
}
