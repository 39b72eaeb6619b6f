use std::io;
use std::time::Duration;

use fault::{Fault, Kind, plain};
use ureq::Body;
use ureq::http::Response;

use super::Address;

/// Why a try failed.
#[derive(Debug)]
pub enum Trouble {
    /// Another try may succeed.
    Passing {
        /// When the server asks to come back.
        after: Option<Duration>,
        /// What happened.
        why: String,
    },
    /// It will fail again.
    Lasting(Fault),
}

impl Trouble {
    /// An answer that ended before its end.
    pub fn cut(error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "the server fell silent".to_owned(),
            _ => format!("the connection was cut: {}", plain(error)),
        };
        Self::Passing { after: None, why }
    }

    fn passing(why: impl Into<String>) -> Self {
        Self::Passing { after: None, why: why.into() }
    }
}

/// What a request that got no answer means.
pub fn of_error(error: &ureq::Error, url: &Address) -> Trouble {
    match error {
        ureq::Error::HostNotFound => Trouble::passing(format!("no address is known for {}", url.authority())),
        ureq::Error::ConnectionFailed => Trouble::passing("no connection could be made"),
        ureq::Error::Timeout(_) => Trouble::passing("the server fell silent"),
        ureq::Error::Io(error) => match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Trouble::passing("the server fell silent"),
            _ => Trouble::passing(plain(error)),
        },
        ureq::Error::Protocol(error) => Trouble::passing(format!("the answer is no HTTP: {error}")),
        ureq::Error::ConnectProxyFailed(why) => Trouble::Lasting(lasting(
            url,
            &format!("the proxy refused: {why}"),
            "look at HTTPS_PROXY and NO_PROXY",
        )),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => Trouble::Lasting(lasting(
            url,
            &error.to_string(),
            "the server's certificate must be signed by an authority that this machine trusts",
        )),
        error => Trouble::Lasting(lasting(url, &error.to_string(), "is --base-url right?")),
    }
}

/// What is wrong with an answer by its status; `None` when it holds what was asked for.
pub fn of_status(response: &Response<Body>, url: &Address, with_key: bool) -> Option<Trouble> {
    let status = response.status().as_u16();
    let server = url.authority();
    let fault =
        |kind, message: String, hint: &str| Some(Trouble::Lasting(Fault::new(kind, message).hint(hint)));
    match status {
        200 | 206 => None,
        408 | 425 | 429 | 500 | 502..=504 => {
            let why = if status == 429 { "too many requests".to_owned() } else { format!("status {status}") };
            Some(Trouble::Passing { after: retry_after(response), why })
        }
        400 if with_key => fault(
            Kind::Denied,
            format!("{server} does not take the request (status 400)"),
            "is the key in FOREBAY_GCP_API_KEY or GOOGLE_API_KEY whole and of a project with the Cloud Billing API?",
        ),
        401 | 403 if with_key => fault(
            Kind::Denied,
            format!("{server} does not take the key (status {status})"),
            "enable the Cloud Billing API for the key's project, and set FOREBAY_GCP_API_KEY",
        ),
        401 | 403 | 407 => fault(
            Kind::Denied,
            format!("{server} does not let us in (status {status})"),
            "price lists are public: is a proxy in between, or --base-url wrong?",
        ),
        404 => fault(
            Kind::NotFound,
            format!("{server} has no `{}` (status 404)", url.uri().path()),
            "check the name of the region, and --base-url",
        ),
        _ => fault(
            Kind::Io,
            format!("{server} answered with status {status}"),
            "is --base-url the address of a price server?",
        ),
    }
}

/// When the server asks to come back: seconds, or a date.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let text = response.headers().get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let then = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let wait = then.duration_since(jiff::Timestamp::now());
    Some(wait.try_into().unwrap_or_default())
}

fn lasting(url: &Address, why: &str, hint: &str) -> Fault {
    Fault::new(Kind::Io, format!("cannot read {}: {why}", url.authority())).hint(hint)
}
