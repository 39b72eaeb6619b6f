//! Uploads that outlive this process. OpenDAL keeps to itself under which id an S3 store gathers the parts of an object, and has no
//! call that takes such an id. So its requests are watched on their way: the id and the tags of parts that arrived are noted; and
//! what the store has already from an earlier process is not asked for again but answered here.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http::{HeaderMap, HeaderValue, Request, Response, Uri};
use opendal::raw::ServiceOperation;
use opendal::{Buffer, HttpBody, HttpTransport, HttpTransporter};

/// What a store has of an object that is being written in parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Begun {
    /// What the store calls the upload; empty as long as it has none.
    pub id: String,
    /// The tags of parts that it has, by their number; the first is 0.
    pub parts: BTreeMap<u32, String>,
}

/// What is known of an upload.
#[derive(Debug, Clone, Default)]
pub struct Notes(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    begun: Begun,
    /// Tags of parts that an earlier process sent.
    kept: BTreeMap<u32, String>,
}

impl Notes {
    /// Of an upload that goes on, or of a new one, which has no id.
    pub fn new(id: &str) -> Self {
        let begun = Begun { id: id.to_owned(), parts: BTreeMap::new() };
        Self(Arc::new(Mutex::new(Noted { begun, kept: BTreeMap::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the store has.
    pub fn begun(&self) -> Begun {
        self.lock().begun.clone()
    }

    /// The store has this part.
    pub fn keep(&self, number: u32, tag: &str) {
        let mut noted = self.lock();
        noted.kept.insert(number, tag.to_owned());
        noted.begun.parts.insert(number, tag.to_owned());
    }

    fn id(&self) -> Option<String> {
        Some(self.lock().begun.id.clone()).filter(|id| !id.is_empty())
    }

    fn kept(&self, uri: &Uri) -> Option<String> {
        self.lock().kept.get(&number_of(uri)?).cloned()
    }

    fn arrived(&self, uri: &Uri, headers: &HeaderMap) {
        let tag = headers.get(http::header::ETAG).and_then(|tag| tag.to_str().ok());
        if let (Some(number), Some(tag)) = (number_of(uri), tag) {
            self.lock().begun.parts.insert(number, tag.to_owned());
        }
    }

    /// The requests of one upload, watched.
    pub fn watching(&self, inner: HttpTransporter) -> HttpTransporter {
        HttpTransporter::new(Watched { inner, notes: self.clone() })
    }
}

struct Watched {
    inner: HttpTransporter,
    notes: Notes,
}

impl HttpTransport for Watched {
    async fn fetch(&self, request: Request<Buffer>) -> opendal::Result<Response<HttpBody>> {
        match request.extensions().get::<ServiceOperation>().map(|operation| operation.0) {
            Some("CreateMultipartUpload") => self.begin(request).await,
            Some("UploadPart") => self.part(request).await,
            _ => self.inner.fetch(request).await,
        }
    }
}

impl Watched {
    async fn begin(&self, request: Request<Buffer>) -> opendal::Result<Response<HttpBody>> {
        if let Some(id) = self.notes.id() {
            let text = format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            );
            return Ok(Response::new(body_of(Buffer::from(text.into_bytes()))));
        }
        let (parts, mut body) = self.inner.fetch(request).await?.into_parts();
        let body = body.to_buffer().await?;
        if parts.status.is_success() {
            let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
            id_of(&text).unwrap_or_default().clone_into(&mut self.notes.lock().begun.id);
        }
        Ok(Response::from_parts(parts, body_of(body)))
    }

    async fn part(&self, request: Request<Buffer>) -> opendal::Result<Response<HttpBody>> {
        let uri = request.uri().clone();
        if let Some(tag) = self.notes.kept(&uri).and_then(|tag| HeaderValue::from_str(&tag).ok()) {
            let mut response = Response::new(body_of(Buffer::new()));
            response.headers_mut().insert(http::header::ETAG, tag);
            return Ok(response);
        }
        let response = self.inner.fetch(request).await?;
        if response.status().is_success() {
            self.notes.arrived(&uri, response.headers());
        }
        Ok(response)
    }
}

/// The id in an answer, if it can be said again as it is.
fn id_of(answer: &str) -> Option<&str> {
    let (_, rest) = answer.split_once("<UploadId>")?;
    let (id, _) = rest.split_once("</UploadId>")?;
    Some(id).filter(|id| !id.contains(['&', '<']))
}

/// The number of a part, from 0; a store counts from 1.
fn number_of(uri: &Uri) -> Option<u32> {
    let mut pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let (_, number) = pairs.find(|(name, _)| *name == "partNumber")?;
    number.parse::<u32>().ok()?.checked_sub(1)
}

fn body_of(content: Buffer) -> HttpBody {
    HttpBody::new(Once(Some(content)), None)
}

struct Once(Option<Buffer>);

impl futures_core::Stream for Once {
    type Item = opendal::Result<Buffer>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_numbers_are_read() {
        let answer = "<?xml?><R><Bucket>b</Bucket><UploadId>a.b-_c=</UploadId></R>";
        assert_eq!(id_of(answer), Some("a.b-_c="));
        assert_eq!(id_of("<UploadId>a&amp;b</UploadId>"), None);
        assert_eq!(id_of("<Error/>"), None);
        let number = |uri: &str| number_of(&uri.parse().unwrap());
        assert_eq!(number("http://h/b/k?partNumber=7&uploadId=x"), Some(6));
        assert_eq!(number("http://h/b/k?uploadId=x&partNumber=1"), Some(0));
        assert_eq!(number("http://h/b/k?partNumber=0"), None);
        assert_eq!(number("http://h/b/partNumber=3"), None);
    }
}
