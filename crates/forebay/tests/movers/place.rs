//! Trees of a test's own, and the movers that work on them.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::servers::Postgres;
use testkit::trees::{differences, picture};

/// Long enough for any machine; only what never happens takes it.
const PATIENCE: Duration = Duration::from_mins(3);

/// A source, a destination, and where movers meet.
pub struct Place {
    dir: tempfile::TempDir,
    pub server: Option<Postgres>,
}

/// A mover that goes.
pub struct Mover {
    pub child: Child,
    out: PathBuf,
}

impl Drop for Mover {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Place {
    /// Where movers of one host meet.
    pub fn on_one_host() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), server: None }
    }

    /// Where movers meet at this server.
    pub fn at(server: Postgres) -> Self {
        Self { server: Some(server), ..Self::on_one_host() }
    }

    /// Where movers of several hosts meet.
    pub fn over_hosts() -> Self {
        Self { server: Some(testkit::servers::postgres()), ..Self::on_one_host() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn source(&self) -> PathBuf {
        self.path("source")
    }

    pub fn destination(&self) -> PathBuf {
        self.path("destination")
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn url(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => format!("sqlite:{}", self.path("queue.db").display()),
        }
    }

    /// How many movers are at work in ranges of directories at this moment, as the queue has it.
    pub fn taken_ranges(&self) -> u64 {
        let sql = "SELECT count(*) FROM forebay_sync_piece WHERE state = 'taken' AND";
        if let Some(server) = &self.server {
            if server.ask("SELECT to_regclass('forebay_sync_piece') IS NULL") == "t" {
                return 0;
            }
            return server.ask(&format!("{sql} position('\\x00'::bytea in path) > 0")).parse().unwrap();
        }
        let queue = rusqlite::Connection::open(self.path("queue.db")).unwrap();
        queue.busy_timeout(PATIENCE).unwrap();
        let number =
            |sql: &str| queue.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap().cast_unsigned();
        match number("SELECT count(*) FROM sqlite_master WHERE name = 'forebay_sync_piece'") {
            0 => 0,
            _ => number(&format!("{sql} instr(path, x'00') > 0")),
        }
    }

    /// A sync from the source; to where, is still to be said.
    pub fn plain_command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.arg("sync").arg(self.source());
        command.env("XDG_STATE_HOME", self.path("states")).stdin(Stdio::null());
        if let Some(server) = &self.server {
            command.env("PGPASSWORD", server.password());
        }
        command
    }

    pub fn command(&self, flags: &[&str]) -> Command {
        let mut command = self.plain_command();
        command.arg(self.destination()).args(["--state", &self.url(), "--format", "json"]).args(flags);
        command
    }

    /// Starts a mover.
    pub fn start(&self, flags: &[&str]) -> Mover {
        self.spawn(&mut self.command(flags))
    }

    /// Starts what prints a mover's record.
    pub fn spawn(&self, command: &mut Command) -> Mover {
        let out = self.path(&format!("out-{:016x}", fastrand::u64(..)));
        let file = |name: &str| std::fs::File::create(out.with_extension(name)).unwrap();
        let child = command.stdout(file("out")).stderr(file("err")).spawn().unwrap();
        Mover { child, out }
    }

    /// So many movers at once; their records.
    #[track_caller]
    pub fn move_by(&self, count: usize, flags: &[&str]) -> Vec<Value> {
        let movers: Vec<Mover> = (0..count).map(|_| self.start(flags)).collect();
        movers.into_iter().map(|mut mover| mover.record(0)).collect()
    }

    #[track_caller]
    pub fn assert_equal(&self) {
        let lines = differences(&picture(&self.source()), &picture(&self.destination()));
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }
}

impl Mover {
    /// Waits until it ended with this code; its record.
    #[track_caller]
    pub fn record(&mut self, code: i32) -> Value {
        self.ended(code);
        let text = std::fs::read_to_string(self.out.with_extension("out")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"))["data"].take()
    }

    /// Waits until it ended with this code; what it said.
    #[track_caller]
    pub fn ended(&mut self, code: i32) -> String {
        let began = Instant::now();
        loop {
            let said = self.said();
            if let Some(status) = self.child.try_wait().unwrap() {
                let said = self.said();
                assert_eq!(status.code(), Some(code), "{said}");
                return said;
            }
            assert!(began.elapsed() < PATIENCE, "it never ends: {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What it said so far.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.out.with_extension("err")).unwrap()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

/// Waits until it is so.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
