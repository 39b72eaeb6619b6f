//! Google's price list: tokens, machines in two parts, tiers, and the key that nobody sees.

use serde_json::{Value, json};

use crate::server::{Answer, Place, Request, Server};

const KEY: &str = "AIza-very-secret";

/// A SKU as the API has it: the documented sample with another description, unit and price.
fn sku(description: &str, unit: &str, rates: &[(f64, i64)]) -> Value {
    let sample = include_str!("../../../catalog/tests/samples/gcp_billing_skus.json");
    let sample: Value = serde_json::from_str(sample).unwrap();
    let mut sku = sample["skus"][0].clone();
    sku["description"] = description.into();
    sku["skuId"] = description.into();
    let expression = &mut sku["pricingInfo"][0]["pricingExpression"];
    expression["usageUnit"] = unit.into();
    let rate = |(start, nanos): &(f64, i64)| json!({ "startUsageAmount": start, "unitPrice": { "currencyCode": "USD", "units": "0", "nanos": nanos } });
    expression["tieredRates"] = rates.iter().map(rate).collect();
    sku
}

fn whole(request: &Request) -> Answer {
    let page = |skus: &[Value], next: &str| json!({ "skus": skus, "nextPageToken": next }).to_string();
    Answer::Page(
        if request.path.contains("/6F81-5844-456A/") && request.path.contains("pageToken=second/+") {
            page(
                &[
                    sku("N2 Instance Ram running in Americas", "GiBy.h", &[(0.0, 4_237_000)]),
                    sku("Regional Balanced PD Capacity", "GiBy.mo", &[(0.0, 200_000_000)]),
                    sku("Regional SSD backed PD Capacity", "GiBy.mo", &[(0.0, 340_000_000)]),
                    sku("Storage PD Capacity", "GiBy.mo", &[(0.0, 0), (30.0, 40_000_000)]),
                ],
                "",
            )
        } else if request.path.contains("/6F81-5844-456A/") {
            page(
                &[
                    sku("N2 Instance Core running in Americas", "h", &[(0.0, 31_611_000)]),
                    sku("N2 Custom Instance Core running in Americas", "h", &[(0.0, 99_000_000)]),
                    sku("SSD backed PD Capacity", "GiBy.mo", &[(0.0, 170_000_000)]),
                ],
                "second/+",
            )
        } else if request.path.contains("/services?") {
            json!({ "services": [{ "serviceId": "AAAA", "displayName": "Cloud Managed Lustre" }] })
                .to_string()
        } else if request.path.contains("/AAAA/") {
            page(&[sku("Managed Lustre 500 MB/s per TiB Iowa", "GiBy.h", &[(0.0, 300_000)])], "")
        } else {
            page(&[], "")
        },
    )
}

fn with_key(place: &Place, server: &Server, more: &[&str]) -> (i32, String) {
    let mut arguments =
        vec!["catalog", "refresh", "--to", "facts", "--cloud", "gcp", "--base-url", &server.url, "-vv"];
    arguments.extend(more);
    let output = place.command(&arguments).env("GOOGLE_API_KEY", KEY).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[test]
fn machines_are_cores_and_memory_and_a_regional_disk_is_another() {
    let server = Server::new(|request, _| whole(request));
    let place = Place::new();
    let (code, text) = with_key(&place, &server, &["--region", "us-central1"]);
    assert_eq!(code, 0, "{text}");
    let prices = place.prices();
    // 8 x 0.031611 + 32 x 0.004237
    for expected in [
        "vm:n2-standard-8 payg 0.388472 each-hour",
        "pd-ssd:capacity payg 0.17 GiB-month",
        "pd-standard:capacity payg 0.04 GiB-month 30",
        "service:Managed-Lustre-500:capacity payg 0.0003 GiB-hour",
    ] {
        assert!(prices.iter().any(|row| row == expected), "{expected} is not in {prices:#?}");
    }
}

#[test]
fn the_key_is_sent_and_never_shown_or_stored() {
    let server = Server::new(
        |request, before| if before < 2 { Answer::Status(503, String::new()) } else { whole(request) },
    );
    let place = Place::new();
    let (code, text) = with_key(&place, &server, &["--region", "us-central1"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains(KEY), "{text}");
    assert!(!place.read("prices.csv").contains(KEY));
    for request in server.seen() {
        assert_eq!(request.fields["x-goog-api-key"], KEY);
        assert!(!request.path.contains(KEY), "an address with the key is in every log on the way");
    }
    let refused = Server::new(|_, _| Answer::Status(403, String::new()));
    let (code, text) = with_key(&place, &refused, &["--region", "us-central1"]);
    assert!(code == 1 && text.contains("does not take the key") && !text.contains(KEY), "{text}");
    let partial = place.file("prices.csv.partial");
    assert!(!std::fs::read_to_string(partial).unwrap_or_default().contains(KEY));
}

#[test]
fn without_a_key_nothing_is_asked() {
    let place = Place::new();
    let call = place.call(&["catalog", "refresh", "--cloud", "gcp", "--to", "facts"]);
    assert_eq!(call.code, 2);
    assert!(
        call.err.contains("needs an API key") && call.err.contains("FOREBAY_GCP_API_KEY"),
        "{}",
        call.err
    );
}
