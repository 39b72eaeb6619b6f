//! Azure's price list: pages with links, what is Linux and what is not, terms and units.

use serde_json::{Value, json};

use crate::server::{Answer, Place, Request, Server};

/// An item as the API has it: the documented sample, in dollars, with `changes`.
pub fn item(changes: &Value) -> Value {
    let sample = include_str!("../../../catalog/tests/samples/azure_retail_prices.json");
    let sample: Value = serde_json::from_str(sample).unwrap();
    let mut item = sample["Items"][0].clone();
    item["currencyCode"] = "USD".into();
    item["armRegionName"] = "eastus".into();
    for (name, value) in changes.as_object().unwrap() {
        item[name] = value.clone();
    }
    item
}

pub fn machine(sku: &str, usd: f64) -> Value {
    item(&json!({
        "serviceName": "Virtual Machines", "productName": "Virtual Machines Esv5 Series", "armSkuName": sku,
        "skuName": sku, "meterName": sku, "unitOfMeasure": "1 Hour", "retailPrice": usd, "meterId": sku,
    }))
}

pub fn page(items: &[Value], next: Option<&str>) -> String {
    json!({ "BillingCurrency": "USD", "Items": items, "NextPageLink": next, "Count": items.len() })
        .to_string()
}

/// The base of the links in the answers: the server itself.
fn link(request: &Request, rest: &str) -> String {
    format!("http://{}{rest}", request.fields["host"])
}

/// Two pages of machines, reservations, one page of each of the rest.
pub fn whole(request: &Request) -> Answer {
    let path = &request.path;
    let reserved = path.contains("'Reservation'");
    Answer::Page(if path.contains("page=2") {
        page(&[machine("Standard_E16s_v5", 1.008), machine("Standard_Unknown", 5.0)], None)
    } else if path.contains("'Virtual Machines'") && reserved {
        let term = |term: &str, usd: f64| {
            let mut item = machine("Standard_E16s_v5", usd);
            item["type"] = "Reservation".into();
            item["reservationTerm"] = term.into();
            item
        };
        page(&[term("1 Year", 5200.0), term("3 Years", 10_500.0)], None)
    } else if path.contains("'Virtual Machines'") {
        let mut windows = machine("Standard_E8s_v5", 0.872);
        windows["productName"] = "Virtual Machines Esv5 Series Windows".into();
        windows["meterId"] = "w".into();
        page(&[machine("Standard_E8s_v5", 0.504), windows], Some(&link(request, "/api/retail/prices?page=2")))
    } else if path.contains("'Azure NetApp Files'") {
        let capacity = json!({
            "serviceName": "Azure NetApp Files", "meterName": "Ultra Capacity", "unitOfMeasure": "1 GiB/Hour", "retailPrice": 0.000_538,
        });
        page(&[item(&capacity)], None)
    } else if path.contains("'Storage'") && !reserved {
        let throughput = |from: f64, usd: f64| {
            item(&json!({
                "productName": "Azure Premium SSD v2", "meterName": "Premium LRS Provisioned Throughput (MBps)",
                "unitOfMeasure": "1/Hour", "tierMinimumUnits": from, "retailPrice": usd, "meterId": "t",
            }))
        };
        page(&[item(&json!({})), throughput(0.0, 0.0), throughput(125.0, 0.000_057)], None)
    } else {
        page(&[], None)
    })
}

#[test]
fn every_page_is_read_and_only_what_the_catalog_sells_is_kept() {
    let server = Server::new(|request, _| whole(request));
    let place = Place::new();
    let call = place.refresh(&server, "azure", &["--region", "eastus"]);
    assert_eq!(call.code, 0, "{}", call.err);
    let prices = place.prices();
    for expected in [
        "vm:Standard_E16s_v5 payg 1.008 each-hour",
        "vm:Standard_E16s_v5 1y 5200 each-year",
        "vm:Standard_E16s_v5 3y 3500 each-year",
        "vm:Standard_E8s_v5 payg 0.504 each-hour",
        "disk:P6 payg 9.613436 each-month",
        "service:ANF-Ultra:capacity payg 0.000538 GiB-hour",
        "PremiumV2:throughput payg 0.000057 MBps-hour 125",
    ] {
        assert!(prices.iter().any(|row| row == expected), "{expected} is not in {prices:#?}");
    }
    assert!(!place.read("prices.csv").contains("Windows") && !place.file("prices.csv.partial").exists());
    assert!(call.out.contains("new,") && call.out.contains("vm:Standard_E16s_v5 3y"), "{}", call.out);
    assert!(call.err.contains("7 pages read"), "{}", call.err);
    let list = place.call(&[
        "catalog",
        "list",
        "prices",
        "--catalog",
        "facts",
        "--filter",
        "disk:P6",
        "--format",
        "json",
    ]);
    assert!(list.out.contains("Azure Retail Prices API (Consumption, P6 LRS Disk)"), "{}", list.out);
    assert_eq!(place.call(&["catalog", "check", "--catalog", "facts"]).code, 0);
}

#[test]
fn a_second_refresh_says_what_changed() {
    let first = Server::new(|request, _| whole(request));
    let place = Place::new();
    place.write("prices.csv", "# mine\ncloud,region,item,unit,usd,term,source,as_of\nazure,westus,vm:Standard_E2s_v5,each-hour,9,payg,me,2020\n");
    assert_eq!(place.refresh(&first, "azure", &["--region", "eastus"]).code, 0);
    let second = Server::new(|request, _| match whole(request) {
        Answer::Page(text) => {
            Answer::Page(text.replace("1.008", "1.1").replace("P6 LRS Disk", "P6 LRS Disk Mount"))
        }
        other => other,
    });
    let call = place.refresh(&second, "azure", &["--region", "eastus", "--format", "json"]);
    let summary = &call.json()["data"]["summary"];
    let changes: Vec<(&str, &str)> = summary["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (change["item"].as_str().unwrap(), change["change"].as_str().unwrap()))
        .filter(|(item, _)| ["vm:Standard_E16s_v5", "disk:P6"].contains(item))
        .collect();
    assert_eq!(changes, [("disk:P6", "gone"), ("vm:Standard_E16s_v5", "changed")]);
    let text = place.read("prices.csv");
    assert!(
        text.starts_with("# mine\n") && text.contains("westus,vm:Standard_E2s_v5,each-hour,,9"),
        "{text}"
    );
    let gone = text.lines().find(|line| line.contains("disk:P6")).unwrap();
    assert!(gone.contains("no longer in the provider's price list"), "{gone}");
}

#[test]
fn items_choose_the_questions_that_are_asked() {
    let server = Server::new(|request, _| whole(request));
    let place = Place::new();
    let call = place.refresh(&server, "azure", &["--region", "eastus", "--items", "service:ANF-*"]);
    assert_eq!(call.code, 0, "{}", call.err);
    assert_eq!(server.seen().len(), 1);
    assert_eq!(place.prices().len(), 2);
    let none = place.refresh(&server, "azure", &["--region", "eastus", "--items", "vn:*"]);
    assert_eq!((none.code, none.err.contains("nothing in the catalog matches")), (2, true), "{}", none.err);
}

#[test]
fn other_currencies_and_empty_regions_change_nothing() {
    let place = Place::new();
    let pounds = Server::new(|request, _| match whole(request) {
        Answer::Page(text) => Answer::Page(text.replace("USD", "GBP")),
        other => other,
    });
    let call = place.refresh(&pounds, "azure", &["--region", "eastus"]);
    assert_eq!(call.code, 1);
    assert!(call.err.contains("the price list is in `GBP`, but `USD` was asked for"), "{}", call.err);
    let server = Server::new(|request, _| whole(request));
    let call = place.refresh(&server, "azure", &["--region", "esatus"]);
    assert!(
        call.err.contains("no price of azure was found in region `esatus`") && call.err.contains("hint:"),
        "{}",
        call.err
    );
    assert!(!place.file("prices.csv").exists());
}
