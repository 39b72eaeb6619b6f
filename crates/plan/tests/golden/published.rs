//! What studies measured, set side by side.

use catalog::{Beside, Published};
use record::statistics::Io500Score;

use crate::ground::CATALOG;
use crate::row::{Answer, Row};

pub fn compute(row: &Row) -> Option<Answer> {
    Some(match row.subject.as_str() {
        "published value" => result(row.text("of")).right().into(),
        "published ratio" => (beside(row).ratio * 100.0).into(),
        "published difference" => beside(row).percent_more().into(),
        "published points" => beside(row).difference.into(),
        "published range" => range(row),
        "IO500 score" => io500(row).into(),
        "IO500 list" => {
            let of = |what: &str| result(&format!("io500-2018-11/{}/{what}", row.text("rank"))).right();
            let score = Io500Score::of_means(of("score-bandwidth"), of("score-metadata")).unwrap();
            assert!((of("score") - score.total).abs() < 0.02, "the catalog has another score");
            score.total.into()
        }
        _ => return None,
    })
}

fn result(id: &str) -> &'static Published {
    CATALOG.published.iter().find(|result| &*result.id == id).unwrap_or_else(|| panic!("no result {id}"))
}

fn beside(row: &Row) -> Beside {
    result(row.text("of")).beside(result(row.text("to"))).unwrap()
}

/// The least and the most by which a variant differs from its base, in percent.
fn range(row: &Row) -> Answer {
    let (variant, base, metric) = (row.text("variant"), row.text("to"), row.text("metric"));
    let of =
        CATALOG.published.iter().filter(|result| result.id.starts_with(variant) && &*result.metric == metric);
    let differences: Vec<f64> = of
        .map(|one| one.beside(result(&one.id.replace(variant, base))).unwrap().percent_more().abs())
        .collect();
    let least = differences.iter().copied().fold(f64::INFINITY, f64::min);
    Answer::Numbers(vec![least, differences.iter().copied().fold(0.0, f64::max)])
}

fn io500(row: &Row) -> f64 {
    let study = row.text("study");
    let phases = |metric: &str| -> Vec<f64> {
        let of = CATALOG.published.iter().filter(|result| {
            result.id.starts_with(study)
                && &*result.metric == metric
                && !result.operation.starts_with("score")
        });
        of.map(Published::right).collect()
    };
    let (bandwidths, metadata) = (phases("bandwidth"), phases("rate"));
    assert_eq!((bandwidths.len(), metadata.len()), (4, 8));
    let score = Io500Score::of(&bandwidths, &metadata).unwrap();
    match row.metric.as_str() {
        "bandwidth" => score.bandwidth * 1e9,
        "metadata" => score.metadata,
        _ => score.total,
    }
}
