//! The factors that come with the program follow from the published results.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;

use catalog::{Catalog, Pair, fit};

#[test]
fn the_factors_are_what_the_published_results_give() {
    let catalog = Catalog::embedded().unwrap();
    let mut groups: BTreeMap<(String, String), Vec<Pair>> = BTreeMap::new();
    for pair in csv::Reader::from_path("tests/calibration_pairs.csv").unwrap().records().map(Result::unwrap) {
        let result = catalog.published.iter().find(|result| *result.id == pair[0]);
        let result = result.unwrap_or_else(|| panic!("no result {}", &pair[0]));
        let measured = result.bandwidth().unwrap().as_mb();
        let pair = Pair { measured, model: pair[1].parse().unwrap(), cached: result.cached.is_some() };
        groups.entry((result.architecture.to_string(), result.operation.to_string())).or_default().push(pair);
    }
    assert_eq!(groups.len(), catalog.calibration.len());
    for ((architecture, operation), pairs) in groups {
        let (fitted, stored) = (fit(&pairs).unwrap(), catalog.factor(&architecture, &operation));
        let near = |a: f64, b: f64| (a - b).abs() < 0.00006;
        assert_eq!(fitted.n, stored.n, "{architecture} {operation}");
        let all = near(fitted.factor, stored.factor)
            && near(fitted.min, stored.min)
            && near(fitted.max, stored.max);
        assert!(all, "{architecture} {operation}: {fitted:?} is not {stored:?}");
    }
}

#[test]
fn what_nobody_measured_is_assumed_and_says_so() {
    let factor = Catalog::embedded().unwrap().factor("shared-volumes", "read");
    assert!(factor.few());
    assert_eq!(factor.text(), "0.9 (assumed; 0.85-1 elsewhere)");
}
