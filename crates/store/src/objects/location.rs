//! Where objects are, as people write it: `s3://bucket/prefix`.

use std::fmt;
use std::str::FromStr;

use fault::{Fault, Kind};

/// A kind of object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    /// Amazon S3 and what speaks its protocol.
    S3,
    /// Azure Blob Storage.
    Azure,
    /// Google Cloud Storage.
    Google,
    /// OpenStack Swift.
    Swift,
    /// The Hadoop file system, over WebHDFS.
    Hdfs,
}

/// A place in an object store. Never has a secret in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The kind of store.
    pub service: Service,
    /// The storage account (Azure), or the host of the name node with its port, if one was given (HDFS); otherwise empty.
    pub account: String,
    /// The bucket or container; empty for HDFS.
    pub bucket: String,
    /// What all keys begin with: empty, or ending with a slash.
    pub prefix: String,
}

const SCHEMES: [(&str, Service); 8] = [
    ("s3", Service::S3),
    ("az", Service::Azure),
    ("azure", Service::Azure),
    ("gs", Service::Google),
    ("gcs", Service::Google),
    ("swift", Service::Swift),
    ("hdfs", Service::Hdfs),
    ("webhdfs", Service::Hdfs),
];
const FORMS: &str = "write s3://BUCKET/PREFIX, az://ACCOUNT/CONTAINER/PREFIX, gs://BUCKET/PREFIX, swift://CONTAINER/PREFIX or hdfs://HOST/PATH; ssh://[USER@]HOST[:PORT]/PATH is a tree on another host, ./NAME a local path";

impl Service {
    /// How its URLs begin.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Azure => "az",
            Self::Google => "gs",
            Self::Swift => "swift",
            Self::Hdfs => "hdfs",
        }
    }
}

impl Location {
    /// Whether `text` is written as a URL, so that it can't be meant as a path.
    pub fn is_url(text: &str) -> bool {
        text.split_once("://").is_some_and(|(scheme, _)| {
            scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+.-".contains(letter))
        })
    }

    /// Whether one lies in the other: a sync between them would never end.
    pub fn overlaps(&self, other: &Self) -> bool {
        (self.service, &self.account, &self.bucket) == (other.service, &other.account, &other.bucket)
            && (self.prefix.starts_with(&other.prefix) || other.prefix.starts_with(&self.prefix))
    }
}

impl FromStr for Location {
    type Err = Fault;

    fn from_str(text: &str) -> fault::Result<Self> {
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("it is no URL"))?;
        let lower = scheme.to_ascii_lowercase();
        let (_, service) = SCHEMES.into_iter().find(|(name, _)| *name == lower).ok_or_else(|| {
            Fault::new(Kind::Usage, format!("no store is reached by `{}://`", printable(scheme))).hint(FORMS)
        })?;
        // The text is not repeated: it may have a secret.
        if rest.contains('@') && rest.split('/').next().is_some_and(|host| host.contains('@')) {
            return Err(wrong("a URL may not have credentials")
                .hint("credentials come from the environment, profiles, or the machine's identity"));
        }
        if rest.contains('?') && looks_signed(rest) {
            return Err(wrong("a URL may not have a signature or token").hint(
                "put a SAS token in AZURE_STORAGE_SAS_TOKEN, other credentials in their usual variables",
            ));
        }
        if rest.chars().any(char::is_control) {
            return Err(wrong("a URL has no control characters"));
        }
        let mut names = rest.split('/');
        let account = match service {
            Service::Azure | Service::Hdfs => names.next().unwrap_or_default(),
            _ => "",
        };
        let bucket = if service == Service::Hdfs { "" } else { names.next().unwrap_or_default() };
        let needs_account = matches!(service, Service::Azure | Service::Hdfs);
        if (needs_account && !is_host(account)) || (service != Service::Hdfs && !is_name(bucket)) {
            return Err(wrong("the name of a bucket, container, account or host is missing or wrong"));
        }
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        if let Some(odd) = names.iter().find(|name| matches!(**name, "." | "..") || name.trim() != **name) {
            return Err(wrong(&format!("a prefix has no `{}`", printable(odd))));
        }
        let mut prefix = names.join("/");
        if !prefix.is_empty() {
            prefix.push('/');
        }
        Ok(Self { service, account: account.to_owned(), bucket: bucket.to_owned(), prefix })
    }
}

fn wrong(why: &str) -> Fault {
    Fault::new(Kind::Usage, format!("this is no place in an object store: {why}")).hint(FORMS)
}

fn printable(text: &str) -> String {
    crate::printable(text.as_bytes())
}

fn looks_signed(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["sig=", "signature=", "x-amz-", "x-goog-", "token="].iter().any(|word| lower.contains(word))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !matches!(text, "." | "..")
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-$".contains(letter))
}

fn is_host(text: &str) -> bool {
    let (host, port) = text.split_once(':').unwrap_or((text, "1"));
    is_name(host) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.service.scheme();
        match self.service {
            Service::Azure => write!(f, "{scheme}://{}/{}/{}", self.account, self.bucket, self.prefix),
            Service::Hdfs => write!(f, "{scheme}://{}/{}", self.account, self.prefix),
            _ => write!(f, "{scheme}://{}/{}", self.bucket, self.prefix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Location {
        text.parse().unwrap()
    }

    #[test]
    fn places_as_people_write_them() {
        for (text, shown) in [
            ("s3://bucket", "s3://bucket/"),
            ("S3://bucket/a//b/", "s3://bucket/a/b/"),
            ("az://account/box/a b", "az://account/box/a b/"),
            ("azure://account/box", "az://account/box/"),
            ("gs://b.example.com/x", "gs://b.example.com/x/"),
            ("gcs://b/x", "gs://b/x/"),
            ("swift://box/x", "swift://box/x/"),
            ("hdfs://nn/user/x", "hdfs://nn/user/x/"),
            ("webhdfs://nn:9870/x", "hdfs://nn:9870/x/"),
            ("s3://b/what?", "s3://b/what?/"),
        ] {
            assert_eq!(parse(text).to_string(), shown);
        }
        assert!(Location::is_url("s3://x") && !Location::is_url("/a://b") && !Location::is_url("./s3://x"));
    }

    #[test]
    fn wrong_places_are_told_without_their_secrets() {
        for text in [
            "s3://",
            "s3:///x",
            "az://account",
            "az://account/",
            "ftp://host/x",
            "s3://key:hunter2@bucket/x",
            "az://a/c?sv=1&sig=hunter2",
            "s3://b/../c",
            "s3://b/ c",
            "hdfs://nn:0/x",
            "s3://b\n/x",
        ] {
            let fault = text.parse::<Location>().unwrap_err();
            assert!(fault.kind() == Kind::Usage && fault.hint_text().is_some(), "{text}");
            assert!(!format!("{fault} {fault:?}").contains("hunter2"), "{text}");
        }
    }

    #[test]
    fn places_overlap_by_whole_names() {
        assert!(parse("s3://b").overlaps(&parse("s3://b/a")));
        assert!(!parse("s3://b/ab").overlaps(&parse("s3://b/a")));
        assert!(!parse("s3://b/a").overlaps(&parse("gs://b/a")));
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics_and_what_is_shown_is_read_again(text in "((s3|az|gs|swift|hdfs)://)?[a-z0-9/:.@?=%& é\\n-]{0,40}") {
            if let Ok(location) = text.parse::<Location>() {
                proptest::prop_assert_eq!(parse(&location.to_string()), location);
            }
        }
    }
}
