use std::process::Command;

use super::{BUCKET, Server, installed};
use crate::skip::{Need, can};

/// Looks like a key, and must never be seen anywhere.
const SECRET: &str = "hunter2/EXAMPLEKEY/never-to-be-shown";

/// An S3 server with an empty bucket. `None`, after saying why, where there is none.
#[track_caller]
pub fn s3(what: &str) -> Option<Server> {
    if !can(what, &[Need::Server("s3")]) {
        return None;
    }
    let program = installed("s3")?.join("bin/python");
    let start = |_: &tempfile::TempDir, port: u16| {
        let mut command = Command::new(&program);
        command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()]);
        command
    };
    let mut server = Server::start(start, "AWS_ENDPOINT_URL");
    let address = server.address;
    let made = server.ask(&format!(
        "PUT /{BUCKET} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    ));
    assert!(made.starts_with("HTTP/1.1 200"), "{made}");
    server.url = format!("s3://{BUCKET}/");
    server.variables = [
        ("AWS_ENDPOINT_URL", format!("http://{address}")),
        ("AWS_ACCESS_KEY_ID", "AKIAFOREBAYTESTS".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    server.secrets = vec![SECRET.to_owned()];
    Some(server)
}

impl Server {
    /// How many objects are being written in parts, as an S3 server says.
    pub fn unfinished_uploads(&self) -> usize {
        let address = self.address;
        let request =
            format!("GET /{BUCKET}?uploads HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        let answer = self.ask(&request);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer.matches("<UploadId>").count()
    }
}
