//! How connections to PostgreSQL are encrypted: what the URL and the PGSSL* variables say, which certificates are believed,
//! and what went wrong in words.

use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use fault::{Fault, Kind};
use postgres::config::SslMode;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, ClientConfig, RootCertStore};

/// Whether a connection is encrypted, and who may vouch for the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    pub mode: SslMode,
    /// The certificates that are believed; those of this host where there are none.
    roots: Option<PathBuf>,
}

impl Tls {
    /// As the URL says, or else the environment; the URL without what it said of that.
    pub fn of(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> fault::Result<(Self, String)> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut kept = Vec::new();
        let (mut mode, mut roots) = (variable("PGSSLMODE"), variable("PGSSLROOTCERT").map(PathBuf::from));
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value.to_owned()),
                Some(("sslrootcert", value)) => roots = Some(decoded(value)),
                _ => kept.push(pair),
            }
        }
        let mode = mode_of(mode.as_deref().unwrap_or("prefer"))?;
        let roots = roots.filter(|path| path.as_os_str() != "system");
        let rest = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        Ok((Self { mode, roots }, format!("{base}{rest}")))
    }

    /// What rustls needs to know.
    pub fn client(&self) -> fault::Result<ClientConfig> {
        use rustls_platform_verifier::ConfigVerifierExt as _;
        // Fails where another part of the program has chosen one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        if let Some(path) = &self.roots {
            return Ok(ClientConfig::builder().with_root_certificates(roots_in(path)?).with_no_client_auth());
        }
        ClientConfig::with_platform_verifier().map_err(|error| {
            Fault::new(Kind::Io, format!("cannot read the certificates of this host: {error}"))
                .hint("install ca-certificates, name a file with ?sslrootcert=FILE, or go without: ?sslmode=disable")
        })
    }
}

/// The server's certificate and name are always checked where there is encryption: no mode is weaker than another in that.
fn mode_of(word: &str) -> fault::Result<SslMode> {
    match word {
        "disable" => Ok(SslMode::Disable),
        "prefer" => Ok(SslMode::Prefer),
        "require" | "verify-ca" | "verify-full" => Ok(SslMode::Require),
        other => Err(Fault::new(Kind::Usage, format!("`{other}` is no sslmode"))
            .hint("disable, prefer, require or verify-full")),
    }
}

fn roots_in(path: &Path) -> fault::Result<RootCertStore> {
    let unusable = |why: &dyn std::fmt::Display| {
        Fault::new(Kind::Usage, format!("cannot read certificates from `{}`: {why}", path.display()))
            .hint("sslrootcert names a file with those of the CA, in PEM")
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))? {
        let certificate = certificate.map_err(|error| unusable(&error))?;
        roots.add(certificate).map_err(|error| unusable(&error))?;
    }
    if roots.is_empty() { Err(unusable(&"it has none")) } else { Ok(roots) }
}

/// A value in a URL.
fn decoded(value: &str) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), value.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let digits =
            after.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Why no encrypted connection came about, and what helps; `None` where it is something else.
pub fn trouble(error: &postgres::Error) -> Option<(String, &'static str)> {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(words) = cause.downcast_ref::<rustls::Error>().map(words) {
            return Some(words);
        }
        // What is wrapped by an error of I/O is not its source.
        let inner = cause.downcast_ref::<std::io::Error>().and_then(|error| error.get_ref());
        source = match inner {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    let refuses = error.to_string().contains("does not support TLS")
        || std::error::Error::source(error)
            .is_some_and(|cause| cause.to_string().contains("does not support TLS"));
    refuses.then(|| {
        ("the server does not encrypt".to_owned(), "set `ssl = on` there; ?sslmode=disable goes without")
    })
}

fn words(error: &rustls::Error) -> (String, &'static str) {
    use CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext, UnknownIssuer,
    };
    match error {
        rustls::Error::InvalidCertificate(UnknownIssuer | BadSignature) => (
            "nobody whom this host trusts vouches for its certificate".to_owned(),
            "name the certificate of its CA with ?sslrootcert=FILE or PGSSLROOTCERT, or install it on this host",
        ),
        rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }) => (
            format!("its certificate is for another host: {error}"),
            "write the host as its certificate names it",
        ),
        rustls::Error::InvalidCertificate(Expired | ExpiredContext { .. }) => (
            format!("its certificate is over: {error}"),
            "it needs a new one; is the clock of this host right?",
        ),
        rustls::Error::InvalidCertificate(_) => {
            (format!("its certificate is not valid: {error}"), "the server needs another one")
        }
        other => {
            (format!("no encrypted connection: {other}"), "which versions of TLS does the server speak?")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_encryption_is_taken_out_of_the_url() {
        let none = |_: &str| None;
        let (tls, url) =
            Tls::of("postgres://a@b/c?sslmode=verify-full&x=1&sslrootcert=%2Fa%20b%2fca.pem", &none).unwrap();
        assert_eq!((tls.mode, tls.roots), (SslMode::Require, Some(PathBuf::from("/a b/ca.pem"))));
        assert_eq!(url, "postgres://a@b/c?x=1");
        let (tls, url) = Tls::of("postgres://a@b/c", &none).unwrap();
        assert_eq!((tls.mode, tls.roots, &url[..]), (SslMode::Prefer, None, "postgres://a@b/c"));
        let variable = |name: &str| Some(if name == "PGSSLMODE" { "require" } else { "system" }.to_owned());
        assert_eq!(Tls::of("postgres://", &variable).unwrap().0, Tls { mode: SslMode::Require, roots: None });
        let fault = Tls::of("postgres://?sslmode=allow", &none).unwrap_err();
        assert!(fault.message().contains("`allow` is no sslmode"), "{fault}");
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        for content in
            [None, Some(""), Some("-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n")]
        {
            content.iter().for_each(|content| std::fs::write(&path, content).unwrap());
            let tls = Tls { mode: SslMode::Require, roots: Some(path.clone()) };
            assert!(tls.client().unwrap_err().message().contains("cannot read certificates"));
        }
    }
}
