use std::fmt;
use std::fmt::Write as _;
use std::net::IpAddr;

use fault::{Fault, Kind, Result};
use ureq::http::Uri;

/// A place on a price server. It is HTTPS, or plain HTTP on this machine alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Uri);

impl Address {
    /// Reads the address of a server: `https://prices.example.com`, `http://127.0.0.1:8080/mirror`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str, hint: &str| {
            Fault::new(Kind::Usage, format!("`{text}` is no address of a price server: {why}")).hint(hint)
        };
        let uri: Uri =
            text.parse().map_err(|_| wrong("not a URL", "write for example `https://prices.example.com`"))?;
        let Some(host) = uri.host() else {
            return Err(wrong("it names no host", "write for example `https://prices.example.com`"));
        };
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(wrong(
                "it holds a user name",
                "price lists need none; leave out what stands before the @",
            ));
        }
        match uri.scheme_str() {
            Some("https") => Ok(Self(uri)),
            Some("http") if is_loopback(host) => Ok(Self(uri)),
            Some("http") => {
                Err(wrong("prices are read over https", "plain http is for servers on this machine alone"))
            }
            _ => Err(wrong("prices are read over https", "write for example `https://prices.example.com`")),
        }
    }

    /// A path and query below this server's own path.
    pub fn join(&self, path_and_query: &str) -> Result<Self> {
        let own = self.0.path().trim_end_matches('/');
        let (scheme, authority) = (self.0.scheme_str().unwrap_or("https"), self.authority());
        Self::parse(&format!("{scheme}://{authority}{own}{path_and_query}"))
    }

    /// Where a link or redirect of an answer leads, if it stays with the same server.
    pub fn follow(&self, link: &str) -> Result<Self> {
        let target = if link.starts_with('/') && !link.starts_with("//") {
            let scheme = self.0.scheme_str().unwrap_or("https");
            Self::parse(&format!("{scheme}://{}{link}", self.authority()))
        } else {
            Self::parse(link)
        };
        target.ok().filter(|target| target.server() == self.server()).ok_or_else(|| {
            let shown: String = link.chars().take(200).collect();
            let message = format!("{} leads to another server: `{shown}`", self.authority());
            Fault::new(Kind::Refused, message).hint(
                "links and redirects are followed on the same server alone; name another one with --base-url",
            )
        })
    }

    /// The host and port, for messages.
    pub fn authority(&self) -> &str {
        self.0.authority().map_or("", |authority| authority.as_str())
    }

    /// Whether the server is this machine: no proxy is asked then.
    pub fn is_here(&self) -> bool {
        self.0.host().is_some_and(is_loopback)
    }

    /// As the HTTP client takes it.
    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }

    fn server(&self) -> (Option<&str>, Option<String>, u16) {
        let usual = if self.0.scheme_str() == Some("http") { 80 } else { 443 };
        let host = self.0.host().map(str::to_ascii_lowercase);
        (self.0.scheme_str(), host, self.0.port_u16().unwrap_or(usual))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// `text` as a value in a query.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string never fails.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_come_over_https_or_from_this_machine() {
        for good in
            ["https://prices.azure.com", "http://127.0.0.1:80/x", "http://[::1]:9", "http://localhost"]
        {
            assert!(Address::parse(good).is_ok(), "{good}");
        }
        for bad in
            ["http://prices.azure.com", "http://127.0.0.1.evil.com", "ftp://x", "x", "https://a:b@x", ""]
        {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn links_stay_with_the_server() {
        let here = Address::parse("https://prices.azure.com/api").unwrap();
        assert!(here.follow("https://prices.azure.com:443/api?skip=1000").is_ok());
        assert!(here.follow("https://PRICES.azure.com/x").is_ok());
        assert_eq!(here.follow("/x?y").unwrap().to_string(), "https://prices.azure.com/x?y");
        for away in [
            "https://evil.com/",
            "http://prices.azure.com/",
            "//evil.com/x",
            "https://prices.azure.com:8443/",
        ] {
            assert!(here.follow(away).is_err(), "{away}");
        }
        assert_eq!(here.join("/retail?a=b").unwrap().to_string(), "https://prices.azure.com/api/retail?a=b");
    }

    #[test]
    fn queries_are_encoded() {
        assert_eq!(encoded("a eq 'B/C'"), "a%20eq%20%27B%2FC%27");
    }
}
