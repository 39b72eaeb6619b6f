//! Which PostgreSQL server, as whom: the URL, the PG* variables, and the file of passwords that psql reads.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fault::{Fault, Kind};
use postgres::Config;
use postgres::config::{Host, SslMode};

use super::tls::Tls;

/// How to log in to a server.
#[derive(Clone)]
pub struct Login {
    pub config: Config,
    pub tls: Tls,
    /// The server, without a password.
    pub shown: String,
}

impl Login {
    /// By this URL; what it leaves out comes from the environment. Passwords come from there alone.
    pub fn of(url: &str) -> fault::Result<Self> {
        let wrong = |error: &dyn std::fmt::Display| {
            Fault::new(Kind::Usage, format!("`{}` names no database: {error}", without_secret(url)))
                .hint("write for example `postgres://user@host/database`")
        };
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (tls, rest) = Tls::of(url, &variable)?;
        let mut config: Config = rest.parse().map_err(|error: postgres::Error| wrong(&error))?;
        if config.get_password().is_some() {
            let text = format!("`{}` has a password in it", without_secret(url));
            return Err(Fault::new(Kind::Usage, text).hint(
                "everybody on this host can read a command line: set PGPASSWORD, or write it to ~/.pgpass",
            ));
        }
        complete(&mut config, &variable);
        let is_socket = |host: &Host| matches!(host, Host::Unix(_));
        // As psql: nothing leaves this host through a socket, and none is encrypted.
        let local = config.get_hosts().iter().all(is_socket) && config.get_hostaddrs().is_empty();
        config.ssl_mode(if local { SslMode::Disable } else { tls.mode });
        if let Some(password) = password(&config) {
            config.password(password);
        }
        config.application_name("forebay");
        Ok(Self { config, tls, shown: without_secret(url) })
    }
}

/// What the URL leaves out, as psql takes it from the environment.
fn complete(config: &mut Config, variable: &dyn Fn(&str) -> Option<String>) {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        config.host(&variable("PGHOST").unwrap_or_else(|| "/var/run/postgresql".to_owned()));
    }
    if config.get_ports().is_empty()
        && let Some(port) = variable("PGPORT").and_then(|port| port.parse().ok())
    {
        config.port(port);
    }
    if config.get_user().is_none() {
        let user = variable("PGUSER").or_else(|| variable("USER")).unwrap_or_else(|| "root".to_owned());
        config.user(&user);
    }
    if config.get_dbname().is_none()
        && let Some(name) = variable("PGDATABASE").or_else(|| config.get_user().map(str::to_owned))
    {
        config.dbname(&name);
    }
}

fn password(config: &Config) -> Option<String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    set("PGPASSWORD").or_else(|| {
        let file = set("PGPASSFILE").map(PathBuf::from);
        let file = file.or_else(|| Some(PathBuf::from(set("HOME")?).join(".pgpass")))?;
        in_file(&readable(&file)?, config)
    })
}

/// The file's text, if it belongs to nobody else: psql passes over others, too.
fn readable(path: &Path) -> Option<String> {
    let seen = std::fs::metadata(path).ok()?;
    let others = rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO;
    let is_private = !rustix::fs::Mode::from_raw_mode(seen.mode()).intersects(others);
    (seen.is_file() && is_private).then(|| std::fs::read_to_string(path).ok())?
}

/// The first line that fits: `host:port:database:user:password`, `*` for any.
fn in_file(text: &str, config: &Config) -> Option<String> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        // As psql: every socket is this host.
        Some(Host::Unix(_)) | None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let wanted =
        [&host, &port, config.get_dbname().unwrap_or_default(), config.get_user().unwrap_or_default()];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let (password, keys) = fields.split_last()?;
        let fits = keys.len() == wanted.len()
            && keys.iter().zip(wanted).all(|(key, wanted)| key == "*" || key == wanted);
        fits.then(|| password.clone())
    })
}

/// The parts of a line between colons; a backslash takes the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => fields.push(String::new()),
            letter => {
                let letter = if letter == '\\' { letters.next().unwrap_or('\\') } else { letter };
                if let Some(last) = fields.last_mut() {
                    last.push(letter);
                }
            }
        }
    }
    fields
}

/// The URL without what may be a password.
fn without_secret(url: &str) -> String {
    let url = url.split('?').next().unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else { return "postgres://...".to_owned() };
    match rest.rsplit_once('@') {
        Some((user, host)) => format!("{scheme}://{}@{host}", user.split(':').next().unwrap_or_default()),
        None => format!("{scheme}://{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_the_url_is_refused_and_never_shown() {
        for url in ["postgres://me:secret@host/db", "postgres://host/db?user=me&password=secret"] {
            let fault = Login::of(url).err().unwrap();
            assert!(fault.message().contains("has a password"), "{fault}");
            assert!(!format!("{fault} {:?}", fault.hint_text()).contains("secret"), "{fault}");
        }
        assert!(!Login::of("postgres://me:secret@[").err().unwrap().message().contains("secret"));
    }

    #[test]
    fn what_the_url_leaves_out_comes_from_the_environment() {
        let mut config: Config = "postgres://".parse().unwrap();
        let variable = |name: &str| {
            (name != "PGDATABASE").then(|| if name == "PGPORT" { "5433" } else { "x" }.to_owned())
        };
        complete(&mut config, &variable);
        assert_eq!(
            (config.get_user(), config.get_dbname(), config.get_ports()),
            (Some("x"), Some("x"), &[5433][..])
        );
        let mut config: Config = "postgres://me@host:1/db".parse().unwrap();
        complete(&mut config, &variable);
        assert_eq!(
            (config.get_user(), config.get_dbname(), config.get_ports()),
            (Some("me"), Some("db"), &[1][..])
        );
    }

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let config: Config = "postgres://me@host:5433/db".parse().unwrap();
        let text =
            "# host:5433:db:me:comment\nhost:5432:db:me:other port\nhost:*:db:me:a\\:b:c\n*:*:*:*:any\n";
        assert_eq!(in_file(text, &config).as_deref(), Some("a:b:c"));
        let other: Config = "postgres://you@host:5433/db".parse().unwrap();
        assert_eq!(in_file(text, &other).as_deref(), Some("any"));
        assert_eq!(in_file("host:5433:db:me", &config), None);
    }
}
