use std::io::{self, Read};
use std::rc::Rc;

use fault::{Fault, Kind};
use ureq::BodyReader;

use super::client::Rest;
use super::trouble::Trouble;
use super::{Address, Client};
use crate::refresh::Watch;

/// A connection that brought this much was a good one: the count of failures starts again.
const PROGRESS: u64 = 64 << 10;

/// A large file as a stream. A connection that is cut is made again from the byte where it ended, as long as the server
/// still has the same version of the file.
pub struct Stream<'a> {
    client: Rc<Client>,
    url: Address,
    watch: &'a dyn Watch,
    body: Option<BodyReader<'static>>,
    at: u64,
    connected_at: u64,
    length: Option<u64>,
    version: Option<String>,
    failures: u32,
}

impl<'a> Stream<'a> {
    /// The file from byte `from` of the version that the bytes before were of.
    pub fn new(
        client: Rc<Client>,
        url: Address,
        from: u64,
        version: Option<String>,
        watch: &'a dyn Watch,
    ) -> Self {
        let (body, length) = (None, None);
        Self { client, url, watch, body, at: from, connected_at: from, length, version, failures: 0 }
    }

    /// The version of the file, once the server has named it.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    fn connect(&mut self) -> Result<(), Trouble> {
        let rest = Rest { from: self.at, version: self.version.as_deref() };
        let (url, response) = self.client.open(&self.url, Some(rest))?;
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let version = header("etag").or_else(|| header("last-modified")).map(str::to_owned);
        if self.at > 0 && version != self.version {
            return Err(Trouble::Lasting(changed(&url)));
        }
        let partial = response.status().as_u16() == 206;
        let starts = if partial { range_start(header("content-range").unwrap_or_default()) } else { Some(0) };
        let length: Option<u64> = header("content-length").and_then(|text| text.parse().ok());
        let Some(starts) = starts.filter(|starts| *starts <= self.at) else {
            return Err(Trouble::Lasting(changed(&url)));
        };
        self.length = length.map(|length| starts + length);
        self.version = version;
        let mut body = response.into_body().into_reader();
        // A server that knows no ranges sends the file from its beginning.
        let known = self.at - starts;
        let skipped = io::copy(&mut (&mut body).take(known), &mut io::sink());
        if skipped.map_err(|error| Trouble::cut(&error))? < known {
            return Err(Trouble::cut(&io::ErrorKind::UnexpectedEof.into()));
        }
        self.connected_at = self.at;
        self.body = Some(body);
        Ok(())
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize, Trouble> {
        if self.body.is_none() {
            self.connect()?;
        }
        let Some(body) = self.body.as_mut() else { return Ok(0) };
        let count = body.read(buffer).map_err(|error| Trouble::cut(&error))?;
        self.at += count as u64;
        if count == 0 && self.length.is_some_and(|length| self.at < length) {
            return Err(Trouble::cut(&io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(count)
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let trouble = match self.try_read(buffer) {
                Ok(count) => return Ok(count),
                Err(trouble) => trouble,
            };
            self.body = None;
            self.failures = if self.at - self.connected_at >= PROGRESS { 1 } else { self.failures + 1 };
            self.connected_at = self.at;
            self.client.pause(trouble, self.failures, &self.url, self.watch).map_err(io::Error::other)?;
        }
    }
}

/// The file is not the one whose beginning we have.
fn changed(url: &Address) -> Fault {
    Fault::new(Kind::Io, format!("the price list of {} changed while it was being read", url.authority()))
        .hint("run the command again")
        .temporary()
}

/// `bytes 100-199/200` starts at 100.
fn range_start(text: &str) -> Option<u64> {
    text.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}
