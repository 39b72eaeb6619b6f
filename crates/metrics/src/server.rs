use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use fault::{Fault, Kind, Result};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tiny_http::{Header, Method, Request, Response};

const PATH: &str = "/metrics";
/// As the OpenMetrics specification has it.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Shows a registry over HTTP until it is dropped.
pub struct Server {
    http: Arc<tiny_http::Server>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Binds `address`; port 0 takes a free one.
    pub fn start(address: SocketAddr, registry: Registry) -> Result<Self> {
        let http = tiny_http::Server::http(address).map_err(|error| {
            Fault::new(Kind::Io, format!("cannot listen on {address} for metrics: {error}"))
                .hint("another program may use that port: choose another, or port 0 for any that is free")
        })?;
        let http = Arc::new(http);
        let serving = http.clone();
        let thread = std::thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || serving.incoming_requests().for_each(|request| answer(request, &registry)))
            .map_err(|error| Fault::new(Kind::Io, format!("cannot start a thread for metrics: {error}")))?;
        Ok(Self { http, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.http.server_addr().to_ip()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.http.unblock();
        if let Some(thread) = self.thread.take() {
            // A thread that died has nothing left to end.
            let _ = thread.join();
        }
    }
}

/// Whoever asks and goes away again is no concern of the run.
fn answer(request: Request, registry: &Registry) {
    let path = request.url().split('?').next().unwrap_or_default();
    let plain = |text: &str, status: u16| Response::from_string(text).with_status_code(status);
    let response = match (request.method(), path) {
        (Method::Get | Method::Head, PATH) => shown(registry),
        (Method::Get | Method::Head, _) => plain("the figures are at /metrics\n", 404),
        _ => plain("only GET\n", 405),
    };
    let _ = request.respond(response);
}

fn shown(registry: &Registry) -> Response<std::io::Cursor<Vec<u8>>> {
    let mut text = String::new();
    if encode(&mut text, registry).is_err() {
        return Response::from_string("the figures can't be written\n").with_status_code(500);
    }
    let response = Response::from_string(text);
    match Header::from_bytes("Content-Type", CONTENT_TYPE) {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

    use std::net::TcpStream;

    use super::*;
    use crate::Counter;

    fn started() -> (Server, Counter) {
        let mut registry = Registry::with_prefix("forebay");
        let counter = Counter::<u64>::default();
        registry.register("operations", "Operations done", counter.clone());
        (Server::start("127.0.0.1:0".parse().unwrap(), registry).unwrap(), counter)
    }

    #[test]
    fn figures_are_shown_as_they_are_now() {
        let (server, counter) = started();
        counter.inc_by(41);
        counter.inc();
        let mut response = ureq::get(format!("http://{}/metrics", server.address().unwrap())).call().unwrap();
        assert_eq!(response.headers()["Content-Type"], CONTENT_TYPE);
        let text = response.body_mut().read_to_string().unwrap();
        assert!(text.contains("# TYPE forebay_operations counter\nforebay_operations_total 42\n"), "{text}");
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn anything_else_is_refused() {
        let (server, _) = started();
        let address = server.address().unwrap();
        let status = |error: ureq::Error| match error {
            ureq::Error::StatusCode(status) => status,
            other => panic!("{other}"),
        };
        assert_eq!(status(ureq::get(format!("http://{address}/")).call().unwrap_err()), 404);
        assert_eq!(status(ureq::post(format!("http://{address}/metrics")).send_empty().unwrap_err()), 405);
    }

    #[test]
    fn a_taken_port_is_an_error_and_a_dropped_server_gives_it_back() {
        let (server, _) = started();
        let address = server.address().unwrap();
        let taken = Server::start(address, Registry::default()).err().unwrap();
        assert!(taken.message().contains(&address.to_string()), "{}", taken.message());
        drop(server);
        // The library closes the socket in a thread of its own.
        let refused = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            TcpStream::connect(address).is_err()
        });
        assert!(refused);
    }
}
