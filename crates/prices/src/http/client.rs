use std::fmt;
use std::io::Read as _;
use std::time::Duration;

use fault::{Fault, Kind, Result};
use ureq::Body;
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};

use super::Address;
use super::trouble::{Trouble, of_error, of_status};
use crate::refresh::Watch;

/// No page of a price list is larger.
const MAX_PAGE: u64 = 64 << 20;
/// More redirects in a row lead nowhere.
const REDIRECTS: usize = 5;
/// A name is resolved and a connection made in this time, or not at all.
const CONNECT: Duration = Duration::from_secs(20);

/// How long to wait, and how often to try again.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Tries of one page.
    pub tries: u32,
    /// Wait before the second try; it doubles from there.
    pub first_wait: Duration,
    /// Longest wait, also where the server asks for more.
    pub longest_wait: Duration,
    /// A server that says nothing for so long has gone.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            tries: 6,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_mins(2),
            silence: Duration::from_mins(1),
        }
    }
}

impl Patience {
    /// The wait before try `number` (the first is 1), unless the server named another.
    pub(super) fn wait(&self, number: u32, asked: Option<Duration>) -> Duration {
        let doubled = self.first_wait.saturating_mul(1 << number.saturating_sub(1).min(16));
        asked.unwrap_or(doubled).min(self.longest_wait)
    }
}

/// A text that is never shown.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text`.
    pub fn new(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(...)")
    }
}

/// The part of a file that is still wanted.
#[derive(Debug, Clone, Copy)]
pub struct Rest<'a> {
    /// The first byte.
    pub from: u64,
    /// The version of the file that the bytes before were of.
    pub version: Option<&'a str>,
}

/// Asks one price server, again and again where that may help.
#[derive(Debug)]
pub struct Client {
    agent: ureq::Agent,
    key: Option<Secret>,
    pub(super) patience: Patience,
}

impl Client {
    /// A client of the server at `base`. The proxy is the environment's, except for this machine itself.
    pub fn new(base: &Address, key: Option<Secret>, patience: Patience) -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let mut config = ureq::Agent::config_builder()
            .tls_config(tls)
            .user_agent(concat!("forebay/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT.min(patience.silence)))
            .timeout_recv_response(Some(patience.silence))
            .timeout_per_read(Some(patience.silence));
        if base.is_here() {
            config = config.proxy(None);
        }
        Self { agent: config.build().into(), key, patience }
    }

    /// A whole page.
    pub fn page(&self, url: &Address, watch: &dyn Watch) -> Result<Vec<u8>> {
        let mut number = 0;
        loop {
            number += 1;
            let trouble = match self.try_page(url) {
                Ok(page) => return Ok(page),
                Err(trouble) => trouble,
            };
            self.pause(trouble, number, url, watch)?;
        }
    }

    /// Waits before the next try, or gives up.
    pub(super) fn pause(
        &self,
        trouble: Trouble,
        number: u32,
        url: &Address,
        watch: &dyn Watch,
    ) -> Result<()> {
        let (after, why) = match trouble {
            Trouble::Lasting(fault) => return Err(fault),
            Trouble::Passing { after, why } => (after, why),
        };
        if after.is_some_and(|after| after > self.patience.longest_wait) {
            let after = after.unwrap_or_default().as_secs();
            let message = format!("{} asks to come back in {after} s: {why}", url.authority());
            return Err(Fault::new(Kind::Io, message)
                .hint("run the same command again then: it goes on where it was"));
        }
        if number >= self.patience.tries {
            let message = format!("cannot read {}: {why} ({number} tries)", url.authority());
            return Err(Fault::new(Kind::Io, message).hint(
                "check the network and its proxy (HTTPS_PROXY, NO_PROXY), then run the same command again: it goes on where it was",
            ));
        }
        let wait = self.patience.wait(number, after);
        watch.waiting(&why, wait);
        std::thread::sleep(wait);
        Ok(())
    }

    fn try_page(&self, url: &Address) -> std::result::Result<Vec<u8>, Trouble> {
        let (_, response) = self.open(url, None)?;
        let mut page = Vec::new();
        let body = response.into_body().into_reader();
        body.take(MAX_PAGE + 1).read_to_end(&mut page).map_err(|error| Trouble::cut(&error))?;
        if page.len() as u64 > MAX_PAGE {
            let message = format!("{} sent a page of more than 64 MiB", url.authority());
            return Err(Trouble::Lasting(
                Fault::new(Kind::Corrupt, message).hint("is --base-url the address of a price server?"),
            ));
        }
        Ok(page)
    }

    /// Sends the request, follows redirects on the same server, and takes answers that hold what was asked for.
    pub(super) fn open(
        &self,
        url: &Address,
        rest: Option<Rest<'_>>,
    ) -> std::result::Result<(Address, Response<Body>), Trouble> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let response = self.send(&url, rest).map_err(|error| of_error(&error, &url))?;
            if !response.status().is_redirection() {
                return match of_status(&response, &url, self.key.is_some()) {
                    Some(trouble) => Err(trouble),
                    None => Ok((url, response)),
                };
            }
            let target = response.headers().get("location").and_then(|value| value.to_str().ok());
            url = url.follow(target.unwrap_or_default()).map_err(Trouble::Lasting)?;
        }
        let message = format!("{} redirects again and again", url.authority());
        Err(Trouble::Lasting(Fault::new(Kind::Io, message).hint("is --base-url right?")))
    }

    fn send(
        &self,
        url: &Address,
        rest: Option<Rest<'_>>,
    ) -> std::result::Result<Response<Body>, ureq::Error> {
        let mut request = self.agent.get(url.uri()).header("accept", "application/json");
        if let Some(Secret(key)) = &self.key {
            // In a header, so that no log of addresses has it.
            request = request.header("x-goog-api-key", key);
        }
        if let Some(Rest { from, version }) = rest.filter(|rest| rest.from > 0) {
            request = request.header("range", format!("bytes={from}-"));
            if let Some(version) = version {
                request = request.header("if-range", version);
            }
        }
        request.call()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let patience = Patience::default();
        let wait = |number| patience.wait(number, None).as_millis();
        assert_eq!([wait(1), wait(2), wait(3)], [500, 1000, 2000]);
        assert_eq!(patience.wait(40, None), patience.longest_wait);
        assert_eq!(patience.wait(1, Some(Duration::ZERO)), Duration::ZERO);
    }

    #[test]
    fn a_secret_is_never_shown() {
        assert!(!format!("{:?}", Secret::new("AIza".to_owned())).contains("AIza"));
    }
}
