use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

use super::{BUCKET, Server, installed};
use crate::skip::{Need, can};

/// An account of the tests' own: the emulator's usual key is public and would be no secret.
const ACCOUNT: &str = "forebaytests";
const KEY: &[u8] = b"never to be shown: the key of the account of tests";

/// Azurite with an empty container. `None`, after saying why, where there is none.
#[track_caller]
pub fn azurite(what: &str) -> Option<Server> {
    if !can(what, &[Need::Program("node"), Need::Server("azurite")]) {
        return None;
    }
    let main = installed("azurite")?.join("node_modules/azurite/dist/src/blob/main.js");
    let key = BASE64_STANDARD.encode(KEY);
    let start = |dir: &tempfile::TempDir, port: u16| {
        let mut command = Command::new("node");
        command.arg(&main).args(["--silent", "--skipApiVersionCheck", "--disableTelemetry"]);
        command.args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string()]);
        command.arg("--location").arg(dir.path()).env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{key}"));
        command
    };
    let mut server = Server::start(start, "AZURE_STORAGE_BLOB_ENDPOINT");
    let made = server.ask(&create_container(&server));
    assert!(made.starts_with("HTTP/1.1 201"), "{made}");
    server.url = format!("az://{ACCOUNT}/{BUCKET}/");
    server.variables = vec![
        ("AZURE_STORAGE_BLOB_ENDPOINT".to_owned(), format!("http://{}/{ACCOUNT}", server.address)),
        ("AZURE_STORAGE_KEY".to_owned(), key.clone()),
    ];
    server.secrets = vec![key];
    Some(server)
}

/// The request that makes the container, signed with the account's key ("Authorize with Shared Key" of Azure's reference).
fn create_container(server: &Server) -> String {
    let date = date_of_now();
    let to_sign = format!(
        "PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:2021-12-02\n/{ACCOUNT}/{ACCOUNT}/{BUCKET}\nrestype:container"
    );
    let signature = BASE64_STANDARD.encode(hmac(KEY, to_sign.as_bytes()));
    format!(
        "PUT /{ACCOUNT}/{BUCKET}?restype=container HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nx-ms-date: {date}\r\n\
         x-ms-version: 2021-12-02\r\nAuthorization: SharedKey {ACCOUNT}:{signature}\r\nConnection: close\r\n\r\n",
        server.address
    )
}

/// HMAC-SHA256 (RFC 2104).
fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut block = [0u8; 64];
    block[..key.len()].copy_from_slice(key);
    let padded = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().to_vec()
}

/// As HTTP writes it (RFC 9110): `Sun, 22 Nov 2026 08:00:00 GMT`.
fn date_of_now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (days, of_day) = ((seconds / 86_400).cast_signed(), seconds % 86_400);
    // Days to a date, by eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * march + 2) / 5 + 1, if march < 10 { march + 3 } else { march - 9 });
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let names = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let month_name = &names[(month as usize - 1) * 3..month as usize * 3];
    let week = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days.rem_euclid(7)) as usize];
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{week}, {day:02} {month_name} {year} {hour:02}:{minute:02}:{second:02} GMT")
}
