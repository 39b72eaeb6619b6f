//! A store across a network, through OpenDAL. Its futures run to their end on the thread that asks.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Kind};
use opendal::options::{ListOptions, ReadOptions, WriteOptions};
use opendal::raw::{OpDelete, OpRead, OpReader, OpStat, OpWrite, oio};
use opendal::{Buffer, BytesRange, EntryMode, ErrorKind, Metadata, Operator};
use tokio::runtime::Runtime;

use super::redact::redacted;
use super::watched::Notes;
use super::{
    Abilities, Begun, Bytes, Depth, Labels, Object, ObjectStore, Upload, cannot, changed, is_changed,
    missing, taken,
};
use crate::Stamp;

/// The slowest pace at which content may pass before a call counts as stuck, bytes per second.
const SLOWEST: u64 = 64 << 10;

/// An open location.
pub struct Remote {
    shown: String,
    abilities: Abilities,
    operator: Operator,
    /// The same, trying parts of large objects again.
    patient: Operator,
    runtime: Arc<Runtime>,
    timeout: Duration,
}

const NO_CREDENTIALS: &str = "give them where the provider's own tools look: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or ~/.aws, \
    AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, GOOGLE_APPLICATION_CREDENTIALS, or the machine's identity";

impl std::fmt::Debug for Remote {
    /// Without the operator: it knows credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl Remote {
    pub(super) fn new(
        shown: String,
        abilities: Abilities,
        operator: Operator,
        runtime: Arc<Runtime>,
        timeout: Duration,
        tries: u32,
    ) -> Self {
        let retry = opendal::layers::RetryLayer::new().with_max_times(tries as usize).with_jitter();
        let patient = operator.clone().layer(retry);
        Self { shown, abilities, operator, patient, runtime, timeout }
    }

    /// Runs a call that moves at most `bytes` of content.
    fn wait<T>(
        &self,
        (action, key, bytes): (&str, &str, u64),
        call: impl Future<Output = opendal::Result<T>>,
    ) -> fault::Result<T> {
        let most = self.timeout + Duration::from_secs(bytes / SLOWEST);
        if let Ok(result) = self.runtime.block_on(async { tokio::time::timeout(most, call).await }) {
            return result.map_err(|error| self.fault(action, key, &error));
        }
        let text = format!("cannot {action} `{}{key}`: no answer for {} s", self.shown, most.as_secs());
        Err(Fault::new(Kind::Io, text).hint("is the store reachable and healthy?").temporary())
    }

    /// What the store's failure means. Only its words go on, without anything that may be secret.
    fn fault(&self, action: &str, key: &str, error: &opendal::Error) -> Fault {
        let reason = reason(error);
        let says = |words: &[&str]| words.iter().any(|word| reason.contains(word));
        if says(&["NoSuchBucket", "ContainerNotFound"]) {
            let text = format!("cannot {action} `{}{key}`: there is no such bucket or container", self.shown);
            return Fault::new(Kind::NotFound, text)
                .hint("create it first, or check its name, the account and the region");
        }
        if says(&["failed to load signing credential"]) {
            let text = format!("cannot {action} `{}{key}`: there are no credentials", self.shown);
            return Fault::new(Kind::Denied, text).hint(NO_CREDENTIALS);
        }
        let (kind, hint) = match error.kind() {
            ErrorKind::NotFound => return missing(&self.shown, key),
            ErrorKind::ConditionNotMatch => return changed(&self.shown, key),
            ErrorKind::PermissionDenied => (
                Kind::Denied,
                "check the credentials (environment, profile, the machine's identity) and what they allow",
            ),
            ErrorKind::ConfigInvalid => (Kind::Usage, "check the variables that configure this store"),
            ErrorKind::Unsupported => (Kind::Unsupported, "this store can't do it"),
            ErrorKind::RateLimited => (Kind::Io, "the store asks for fewer calls: use fewer --workers"),
            _ => (Kind::Io, "is the store reachable and healthy?"),
        };
        let text = format!("cannot {action} `{}{key}`: {reason}", self.shown);
        let fault = Fault::new(kind, text).hint(hint);
        let may_pass = error.is_temporary() || error.kind() == ErrorKind::RateLimited;
        if may_pass { fault.temporary() } else { fault }
    }

    fn check_labels(&self, key: &str, labels: &Labels) -> fault::Result<()> {
        if !labels.is_empty() && !self.abilities.labels {
            return Err(cannot(&self.shown, "keep labels"));
        }
        if key.ends_with('/') && !self.abilities.directory_marks {
            return Err(cannot(&self.shown, "keep marks of directories"));
        }
        Ok(())
    }
}

fn object_of(key: &str, found: &Metadata) -> Object {
    let labels = found.user_metadata().map(|labels| {
        labels.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect()
    });
    Object {
        key: key.to_owned(),
        size: if key.ends_with('/') { 0 } else { found.content_length() },
        tag: found.etag().unwrap_or_default().to_owned(),
        modified: found.last_modified().map(stamp).unwrap_or_default(),
        labels: Some(labels.unwrap_or_default()),
    }
}

fn open_writer(
    operator: &Operator,
    key: &str,
    options: WriteOptions,
    notes: Option<&Notes>,
) -> opendal::Result<oio::Writer> {
    let (service, context) = (operator.service(), operator.context());
    let (arguments, _) = OpWrite::from_options(&service.capability_dyn(), options)?;
    let Some(notes) = notes else { return service.write_dyn(context, key, arguments) };
    let watching = notes.watching(context.http_transport().clone());
    service.write_dyn(&context.with_http_transport(watching), key, arguments)
}

/// The first of an error's words and of what caused it, redacted: sources name the connection's trouble.
fn reason(error: &opendal::Error) -> String {
    let mut text = error.message().to_owned();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    let line: String = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let line = redacted(&line);
    line.chars().take(300).collect()
}

fn stamp(time: opendal::raw::Timestamp) -> Stamp {
    let time = time.into_inner();
    Stamp { seconds: time.as_second(), nanos: time.subsec_nanosecond().unsigned_abs() }
}

fn options(labels: &Labels) -> WriteOptions {
    WriteOptions {
        user_metadata: (!labels.is_empty()).then(|| labels.clone().into_iter().collect()),
        ..WriteOptions::default()
    }
}

impl ObjectStore for Remote {
    fn shown(&self) -> String {
        self.shown.clone()
    }

    fn abilities(&self) -> Abilities {
        self.abilities
    }

    fn list(
        &self,
        prefix: &str,
        depth: Depth,
        each: &mut dyn FnMut(Object) -> fault::Result<()>,
    ) -> fault::Result<()> {
        let options = ListOptions { recursive: depth == Depth::All, ..ListOptions::default() };
        let path = if prefix.is_empty() { "/" } else { prefix };
        let what = ("list", prefix, 0);
        let lister = self.wait(what, self.operator.lister_options(path, options));
        let mut lister = match lister {
            Err(fault) if fault.kind() == Kind::NotFound && self.abilities.directory_marks => {
                return Err(fault);
            }
            Err(fault) if fault.kind() == Kind::NotFound => return Ok(()),
            lister => lister?,
        };
        loop {
            let next = self.wait(what, async { futures_next(&mut lister).await });
            let entry = match next {
                // A file system that has no such directory; a bucket that is not there is an error.
                Err(fault) if fault.kind() == Kind::NotFound && !self.abilities.directory_marks => {
                    return Ok(());
                }
                next => next?,
            };
            let Some(entry) = entry else { return Ok(()) };
            let found = entry.metadata();
            let mut key = entry.path().to_owned();
            if found.mode() == EntryMode::DIR && !key.ends_with('/') {
                key.push('/');
            }
            if key == "/" {
                continue;
            }
            each(Object { labels: None, ..object_of(&key, found) })?;
        }
    }

    fn stat(&self, key: &str) -> fault::Result<Object> {
        // The service itself: what stands above it takes a directory's mark for the directory.
        let asked = async {
            let (service, context) = (self.operator.base_service(), self.operator.base_context());
            service.stat_dyn(context, key, OpStat::new()).await.map(opendal::raw::RpStat::into_metadata)
        };
        let found = self.wait(("look at", key, 0), asked)?;
        Ok(object_of(key, &found))
    }

    fn read(&self, key: &str, range: Range<u64>, tag: Option<&str>) -> fault::Result<Bytes> {
        if tag.is_some() && !self.abilities.tied_reads {
            return Err(cannot(&self.shown, "tie a read to a tag"));
        }
        let length = range.end - range.start;
        if length == 0 {
            return Ok(Bytes::new());
        }
        let options = ReadOptions { if_match: tag.map(str::to_owned), ..ReadOptions::default() };
        let service = self.operator.service();
        let what = ("read", key, length);
        let bytes = self.wait(what, async {
            let (_, arguments, _) = <(BytesRange, OpRead, OpReader)>::from(options);
            let reader = service.read_dyn(self.operator.context(), key, arguments)?;
            reader.read_dyn(range.into()).await.map(|(_, buffer)| buffer.to_bytes())
        })?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(self.cut(key, bytes.len() as u64, length)) }
    }

    fn read_whole(&self, key: &str, most: u64) -> fault::Result<(Object, Bytes)> {
        let service = self.operator.service();
        let (found, bytes) = self.wait(("read", key, most), async {
            let reader = service.read_dyn(self.operator.context(), key, OpRead::new())?;
            let (found, mut stream) = reader.open_dyn((..).into()).await?;
            let mut bytes = Vec::new();
            loop {
                let piece = stream.read_dyn().await?;
                if piece.is_empty() {
                    return Ok((found.into_metadata(), Bytes::from(bytes)));
                }
                bytes.extend_from_slice(&piece.to_bytes());
                if bytes.len() as u64 > most {
                    return Ok((None, Bytes::new()));
                }
            }
        })?;
        let Some(found) = found else { return Err(changed(&self.shown, key)) };
        let mut object = object_of(key, &found);
        if !self.abilities.labels_with_content {
            object.labels = None;
        }
        if key.ends_with('/') {
            object.size = 0;
        }
        if object.size != bytes.len() as u64 {
            return Err(self.cut(key, bytes.len() as u64, object.size));
        }
        Ok((object, bytes))
    }

    fn write(&self, key: &str, content: Bytes, labels: &Labels) -> fault::Result<String> {
        self.check_labels(key, labels)?;
        self.write_as(key, content, options(labels))
    }

    fn write_new(&self, key: &str, content: Bytes) -> fault::Result<String> {
        if !self.abilities.writes_new {
            return Err(cannot(&self.shown, "write an object only where there is none"));
        }
        let options = WriteOptions { if_not_exists: true, ..WriteOptions::default() };
        self.write_as(key, content, options)
            .map_err(|fault| if is_changed(&fault) { taken(&self.shown, key) } else { fault })
    }

    fn begin(&self, key: &str, labels: &Labels, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        self.check_labels(key, labels)?;
        let options = WriteOptions { concurrent: at_once.max(1), ..options(labels) };
        self.parts(key, options, Notes::new(""))
    }

    fn go_on(&self, key: &str, id: &str, at_once: usize) -> fault::Result<Box<dyn Upload + '_>> {
        if !self.abilities.resumes {
            return Err(cannot(&self.shown, "go on with an object that was not finished"));
        }
        let options = WriteOptions { concurrent: at_once.max(1), ..WriteOptions::default() };
        self.parts(key, options, Notes::new(id))
    }

    fn delete(&self, keys: &[String]) -> fault::Result<()> {
        let service = self.operator.service();
        let first = keys.first().map_or("", String::as_str);
        self.wait(("remove", first, 0), async {
            let mut deleter = service.delete_dyn(self.operator.context())?;
            for key in keys {
                deleter.delete_dyn(key, OpDelete::new()).await?;
            }
            deleter.close_dyn().await
        })
    }

    fn copy(&self, from: &str, to: &str) -> fault::Result<()> {
        if !self.abilities.copies || from.ends_with('/') {
            return Err(cannot(&self.shown, "copy objects"));
        }
        self.wait(("copy", from, 0), self.operator.copy(from, to)).map(drop)
    }
}

impl Remote {
    fn parts(&self, key: &str, options: WriteOptions, notes: Notes) -> fault::Result<Box<dyn Upload + '_>> {
        let at_once = options.concurrent as u64;
        let watched = Some(&notes).filter(|_| self.abilities.resumes);
        let writer =
            self.wait(("write", key, 0), async { open_writer(&self.patient, key, options, watched) })?;
        Ok(Box::new(Parts { store: self, key: key.to_owned(), writer, at_once, notes, number: 0 }))
    }

    fn write_as(&self, key: &str, content: Bytes, options: WriteOptions) -> fault::Result<String> {
        let size = content.len() as u64;
        let found = self.wait(("write", key, size), async {
            let mut writer = open_writer(&self.operator, key, options, None)?;
            if !content.is_empty() {
                writer.write_dyn(Buffer::from(content)).await?;
            }
            writer.close_dyn().await
        })?;
        Ok(found.etag().unwrap_or_default().to_owned())
    }

    fn cut(&self, key: &str, got: u64, wanted: u64) -> Fault {
        let text = format!("cannot read `{}{key}`: {got} of {wanted} bytes came", self.shown);
        Fault::new(Kind::Io, text).hint("the connection was cut, or a proxy changes what passes").temporary()
    }
}

async fn futures_next(lister: &mut opendal::Lister) -> opendal::Result<Option<opendal::Entry>> {
    use std::pin::Pin;
    std::future::poll_fn(|context| futures_core::Stream::poll_next(Pin::new(&mut *lister), context))
        .await
        .transpose()
}

struct Parts<'a> {
    store: &'a Remote,
    key: String,
    writer: oio::Writer,
    at_once: u64,
    notes: Notes,
    /// Of the next part.
    number: u32,
}

impl Upload for Parts<'_> {
    fn part(&mut self, content: Bytes) -> fault::Result<()> {
        let size = content.len() as u64 * self.at_once;
        self.number += 1;
        self.store.wait(("write", &self.key, size), self.writer.write_dyn(Buffer::from(content)))
    }

    fn part_again(&mut self, content: Bytes, tag: &str) -> fault::Result<()> {
        if self.store.abilities.resumes {
            self.notes.keep(self.number, tag);
        }
        self.part(content)
    }

    fn begun(&self) -> Begun {
        self.notes.begun()
    }

    fn leave(self: Box<Self>) {}

    fn part_of(&mut self, from: &str, range: Range<u64>, tag: &str) -> fault::Result<()> {
        if !self.store.abilities.takes_parts {
            return Err(cannot(&self.store.shown, "make an object of parts of others"));
        }
        let options = ReadOptions { if_match: Some(tag.to_owned()), ..ReadOptions::default() };
        let (_, arguments, _) = <(BytesRange, OpRead, OpReader)>::from(options);
        let size = (range.end - range.start) * self.at_once;
        self.number += 1;
        self.store.wait(("copy", from, size), self.writer.copy_from_dyn(from, arguments, range.into()))
    }

    fn finish(mut self: Box<Self>) -> fault::Result<String> {
        let size = 64 << 20;
        let found = self.store.wait(("write", &self.key, size * self.at_once), self.writer.close_dyn())?;
        Ok(found.etag().unwrap_or_default().to_owned())
    }

    fn discard(mut self: Box<Self>) {
        // What it can't forget now, the store's own rules for unfinished uploads remove.
        if let Err(fault) = self.store.wait(("give up", &self.key, 0), self.writer.abort_dyn()) {
            tracing::debug!("{fault}");
        }
    }
}
