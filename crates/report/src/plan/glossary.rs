//! The words of a plan, for people who are new to them.

use maud::{Markup, html};

/// Word and meaning.
pub const WORDS: [(&str, &str); 9] = [
    ("Requirement", "What the grid needs of one storage: capacity, rates, and how reads and writes mix."),
    ("Design", "One concrete way to meet it: a service or servers, disks, clients and their layout."),
    (
        "Limit",
        "One bound on a design's throughput, with its cause and source. The smallest is the bottleneck.",
    ),
    ("Headroom", "How much higher the next limit is: what removing the bottleneck would gain."),
    ("Mixed", "Reads and writes at the same time, in the requirement's proportion of bytes."),
    ("pCore", "A physical core of a processor. Two vCPUs share one pCore where hyper-threading is on."),
    (
        "Calibrated, spec sheet",
        "Limits times what such systems were measured to reach, or as the provider prints them.",
    ),
    (
        "Assumed, published, measured",
        "Whether that share is a guess, from published results, or from your own runs.",
    ),
    ("OSS, OST, MDS", "Lustre's object servers, the disks behind them, and its metadata server."),
];

/// As a list.
pub fn html() -> Markup {
    html! { dl { @for (word, meaning) in WORDS { div { dt { (word) } dd { (meaning) } } } } }
}
