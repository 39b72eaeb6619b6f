//! AWS's price lists: files of gigabytes, streamed.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use serde_json::{Value, json};

use crate::server::{Answer, Place, Request, Server};

/// The documented sample, with a machine and the third of three ways in which gp3 is sold.
fn list(machine: &str) -> Value {
    let sample = include_str!("../../../catalog/tests/samples/aws_price_list.json");
    let mut list: Value = serde_json::from_str(sample).unwrap();
    list["products"]["VM"] = product("VM", machine, "Linux");
    list["products"]["GP3"] = json!({
        "sku": "GP3", "productFamily": "Provisioned Throughput",
        "attributes": { "servicecode": "AmazonEC2", "volumeApiName": "gp3", "usagetype": "EBS:VolumeP-Throughput.gp3", "regionCode": "us-east-1" },
    });
    list["terms"]["OnDemand"]["VM"] = price("Hrs", "0.5000000000", &json!({}));
    list["terms"]["OnDemand"]["GP3"] = price("GiBps-mo", "40.9600000000", &json!({}));
    let lease =
        json!({ "LeaseContractLength": "1yr", "OfferingClass": "standard", "PurchaseOption": "No Upfront" });
    list["terms"]["Reserved"]["VM"] = price("Hrs", "0.3000000000", &lease);
    list
}

fn product(sku: &str, machine: &str, system: &str) -> Value {
    json!({ "sku": sku, "productFamily": "Compute Instance", "attributes": {
        "servicecode": "AmazonEC2", "regionCode": "us-east-1", "instanceType": machine, "operatingSystem": system,
        "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used", "operation": "RunInstances",
        "usagetype": format!("BoxUsage:{machine}"),
    }})
}

fn price(unit: &str, usd: &str, lease: &Value) -> Value {
    json!({ "X.Y": { "offerTermCode": "Y", "priceDimensions": { "X.Y.Z": {
        "unit": unit, "beginRange": "0", "endRange": "Inf", "pricePerUnit": { "USD": usd }, "appliesTo": [],
    }}, "termAttributes": lease }})
}

/// The list as text, in the order of the real ones: the date, products, terms.
fn text(machine: &str) -> String {
    let list = list(machine);
    let (date, products, terms) = (&list["publicationDate"], &list["products"], &list["terms"]);
    format!(
        "{{\"formatVersion\":\"v1.0\",\"publicationDate\":{date},\"products\":{products},\"terms\":{terms}}}"
    )
}

/// Sends `text` from where it is asked for, as much as `most` bytes at a time.
fn ranged(request: &Request, text: &str, most: usize) -> Answer {
    let from = usize::try_from(request.from()).unwrap();
    let rest = text.as_bytes()[from..].to_vec();
    let (length, total) = (rest.len(), text.len());
    let status = if from > 0 { "206 Partial Content" } else { "200 OK" };
    let fields = format!(
        "{status}\r\netag: \"v1\"\r\ncontent-length: {length}\r\ncontent-range: bytes {from}-{}/{total}\r\n",
        total - 1
    );
    Answer::Stream(fields, Box::new(move |stream| stream.write_all(&rest[..most.min(length)])))
}

const ARGUMENTS: [&str; 6] = ["--region", "us-east-1", "--items", "vm:*", "--items", "*3:*"];

#[test]
fn products_and_their_prices_are_joined() {
    let text = text("i3en.6xlarge");
    let server = Server::new(move |request, _| ranged(request, &text, usize::MAX));
    let place = Place::new();
    let call = place.refresh(
        &server,
        "aws",
        &["--region", "us-east-1", "--items", "vm:*", "--items", "io2:*", "--items", "gp3:*"],
    );
    assert_eq!(call.code, 0, "{}", call.err);
    let expected = [
        "gp3:throughput payg 0.04 MiBps-month 125",
        "io2:capacity payg 0.125 GB-month",
        "io2:iops payg 0.065 IOPS-month  32000",
        "io2:iops payg 0.046 IOPS-month 32000 64000",
        "io2:iops payg 0.032 IOPS-month 64000",
        "vm:i3en.6xlarge 1y 0.3 each-hour",
        "vm:i3en.6xlarge payg 0.5 each-hour",
    ];
    assert_eq!(place.prices(), expected);
    assert!(place.read("prices.csv").contains("2024-05-01"), "the date is that of the list");
    assert_eq!(server.seen()[0].path, "/offers/v1.0/aws/AmazonEC2/current/us-east-1/index.json");
}

#[test]
fn a_connection_that_is_cut_is_taken_up_where_it_ended() {
    let text = text("i3en.6xlarge");
    let parts = text.len() / 1000;
    let server = Server::new(move |request, _| {
        // With retries after a moment each, a server that cuts for ever would be given up: it holds after some.
        ranged(request, &text, if request.from() < 3000 { 1000 } else { usize::MAX })
    });
    let place = Place::new();
    let call = place.refresh(&server, "aws", &ARGUMENTS);
    assert_eq!(call.code, 0, "{}", call.err);
    let from: Vec<u64> = server.seen().iter().map(Request::from).collect();
    assert!(parts >= 3 && from == [0, 1000, 2000, 3000], "{from:?}");
    assert_eq!(server.seen()[1].fields["if-range"], "\"v1\"");
    assert_eq!(place.prices().len(), 3);
}

#[test]
fn a_list_that_changes_while_it_is_read_is_read_again() {
    let (old, new) = (text("i3en.6xlarge"), text("i3en.12xlarge"));
    let server = Server::new(move |request, before| {
        if before == 0 {
            return ranged(request, &old, 2000);
        }
        let text = new.clone();
        let fields = format!("200 OK\r\netag: \"v2\"\r\ncontent-length: {}\r\n", text.len());
        Answer::Stream(fields, Box::new(move |stream| stream.write_all(text.as_bytes())))
    });
    let place = Place::new();
    let call = place.refresh(&server, "aws", &ARGUMENTS);
    assert_eq!(call.code, 0, "{}", call.err);
    assert!(place.prices().iter().all(|row| !row.contains("i3en.6xlarge")), "{:?}", place.prices());
}

#[test]
fn what_is_no_price_list_is_named() {
    for (text, named) in [
        ("<html>", "`{` was expected"),
        ("{\"terms\":{}}", "`terms` come before `products`"),
        (
            "{\"publicationDate\":\"2024-05-01\",\"products\":{\"A\":{\"sku\":1}}}",
            "missing field `attributes`",
        ),
        ("{\"products\":{}}", "publicationDate"),
    ] {
        let server = Server::new(move |request, _| ranged(request, text, usize::MAX));
        let call = Place::new().refresh(&server, "aws", &ARGUMENTS);
        assert_eq!(call.code, 1);
        assert!(call.err.contains(named) && call.err.contains("hint:"), "{named}: {}", call.err);
    }
}

/// Bytes of filler products before and after those that matter.
const LARGE: u64 = 300 << 20;

/// Writes a list of hundreds of megabytes from byte `from`; every filler has the same length, so that any byte can be found.
struct Large {
    head: String,
    filler: String,
    fillers: u64,
    tail: String,
}

impl Large {
    fn new() -> Self {
        let list = list("i3en.6xlarge");
        let head = format!("{{\"publicationDate\":{},\"products\":{{", list["publicationDate"]);
        let products = list["products"].to_string();
        let filler = format!("\"F\":{},", product("F", "z9.none", &"x".repeat(2000)));
        let tail = format!("{},\"terms\":{}}}", &products[1..], list["terms"]);
        let fillers = LARGE / filler.len() as u64;
        Self { head, filler, fillers, tail }
    }

    fn length(&self) -> u64 {
        self.head.len() as u64 + self.fillers * self.filler.len() as u64 + self.tail.len() as u64
    }

    fn write(&self, mut from: u64, to: &mut impl std::io::Write) -> std::io::Result<()> {
        let parts = std::iter::once(&self.head)
            .chain(std::iter::repeat_n(&self.filler, usize::try_from(self.fillers).unwrap()))
            .chain([&self.tail]);
        let mut buffer = std::io::BufWriter::with_capacity(1 << 20, to);
        for part in parts {
            let skipped = from.min(part.len() as u64);
            from -= skipped;
            buffer.write_all(&part.as_bytes()[usize::try_from(skipped).unwrap()..])?;
        }
        buffer.flush()
    }

    fn answer(self: &Arc<Self>, from: u64) -> Answer {
        let large = self.clone();
        let (length, end) = (self.length() - from, self.length());
        let status = if from > 0 { "206 Partial Content" } else { "200 OK" };
        let fields = format!(
            "{status}\r\netag: \"v1\"\r\ncontent-length: {length}\r\ncontent-range: bytes {from}-{}/{end}\r\n",
            end - 1
        );
        Answer::Stream(fields, Box::new(move |stream| large.write(from, stream)))
    }
}

/// The most memory a process has had, in KiB, or what it had when it was last seen.
fn peak(process: u32, before: u64) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let now = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
    before.max(now)
}

#[test]
fn a_list_of_hundreds_of_megabytes_takes_little_memory() {
    let large = Arc::new(Large::new());
    let server = Server::new(move |request, _| large.answer(request.from()));
    let place = Place::new();
    let mut child = place.start(&server, "aws", &ARGUMENTS);
    let mut most = 0;
    let status = loop {
        most = peak(child.id(), most);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert!(status.success(), "{:?}", child.wait_with_output());
    assert_eq!(place.prices().len(), 3);
    assert!(most > 0 && most < 64 << 10, "{most} KiB");
}

#[test]
fn a_killed_refresh_of_a_large_list_reads_only_the_rest() {
    let large = Arc::new(Large::new());
    let (kept, seen) = mpsc::channel();
    let first = Arc::new(AtomicU64::new(0));
    let count = first.clone();
    let server = Server::new(move |request, _| {
        if count.fetch_add(1, Ordering::SeqCst) == 1 {
            kept.send(request.from()).unwrap();
        }
        large.answer(request.from())
    });
    let place = Place::new();
    let mut child = place.start(&server, "aws", &ARGUMENTS);
    let partial = place.file("prices.csv.partial");
    let lines = || std::fs::read_to_string(&partial).unwrap_or_default().lines().count();
    while lines() < 4 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.file("prices.csv").exists());
    let call = place.refresh(&server, "aws", &ARGUMENTS);
    assert_eq!(call.code, 0, "{}", call.err);
    assert!(seen.recv().unwrap() >= 64 << 20, "it went on behind what was kept");
    assert_eq!(place.prices().len(), 3);
}
