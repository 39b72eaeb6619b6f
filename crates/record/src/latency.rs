//! Latency distributions: HDR histograms in nanoseconds with at most 1 % error, merged and never averaged.

use std::borrow::Cow;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{
    Deserializer as HdrDeserializer, Serializer as _, V2DeflateSerializer, V2Serializer,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Two significant digits: a recorded value is off by at most 1 %.
pub const SIGNIFICANT_DIGITS: u8 = 2;
/// The longest operation told apart from longer ones: one hour, in ns.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The percentiles shown everywhere, in percent.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// A latency distribution.
///
/// In JSON: count, mean, the usual percentiles (for readers without an HDR library) and the histogram itself in
/// HdrHistogram's V2 compressed form, base64.
#[derive(Debug, Clone, PartialEq)]
pub struct Latency(Histogram<u64>);

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

impl Latency {
    /// An empty distribution. Allocates everything it will ever need.
    pub fn new() -> Self {
        // The bounds are constants that hdrhistogram accepts, so the fallback is never taken.
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS);
        Self(histogram.unwrap_or_else(|_| unreachable!("constant bounds are valid")))
    }

    /// Adds one operation of `nanoseconds`; longer than an hour counts as an hour. Never allocates.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.0.saturating_record(nanoseconds);
    }

    /// Adds `count` operations of `nanoseconds` each.
    pub fn record_many(&mut self, nanoseconds: u64, count: u64) {
        self.0.saturating_record_n(nanoseconds, count);
    }

    /// Adds all of another distribution.
    pub fn merge(&mut self, other: &Self) {
        // Same bounds and precision: adding can't fail.
        let _ = self.0.add(&other.0);
    }

    /// A copy that takes only as much memory as its largest value needs, and grows when merged into. An hour of
    /// per-second distributions must fit in memory; those that ranks record into must not allocate.
    pub fn compact(&self) -> Self {
        let mut copy = Self::compact_up_to(self.0.max());
        // Everything recorded here is within the bounds.
        let _ = copy.0.add(&self.0);
        copy
    }

    fn compact_up_to(largest: u64) -> Self {
        let histogram = Histogram::new_with_bounds(1, largest.max(2), SIGNIFICANT_DIGITS);
        let mut histogram = histogram.unwrap_or_else(|_| unreachable!("the bounds are those of a histogram"));
        histogram.auto(true);
        Self(histogram)
    }

    /// Number of operations.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Mean of the recorded values (within the 1 % of a bucket).
    pub fn mean(&self) -> Duration {
        Duration::from_nanos(self.0.mean() as u64)
    }

    /// Standard deviation of the recorded values (within the 1 % of a bucket).
    pub fn standard_deviation(&self) -> Duration {
        Duration::from_nanos(self.0.stdev() as u64)
    }

    /// Smallest.
    pub fn min(&self) -> Duration {
        Duration::from_nanos(self.0.min())
    }

    /// Largest.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.0.max())
    }

    /// The value that `percent` of the operations did not exceed.
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_percentile(percent))
    }

    /// Points of the distribution for a chart: (share of operations at or below, value), in rising order.
    pub fn quantiles(&self) -> Vec<(f64, Duration)> {
        self.0
            .iter_quantiles(2)
            .map(|step| (step.quantile(), Duration::from_nanos(step.value_iterated_to())))
            .collect()
    }

    /// The distribution in HdrHistogram's V2 form, for another process: some hundred bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory can't fail, and the bounds are within what the form can express.
        let _ = V2Serializer::new().serialize(&self.0, &mut bytes);
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; `None` if it is damaged.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let decoded: Histogram<u64> = HdrDeserializer::new().deserialize(&mut bytes).ok()?;
        if decoded.high() > LONGEST_NS || decoded.sigfig() != SIGNIFICANT_DIGITS {
            return None;
        }
        let mut latency = Self(decoded);
        latency.0.auto(true);
        Some(latency)
    }

    fn encode(&self) -> Result<String, String> {
        let mut buffer = Vec::new();
        V2DeflateSerializer::new().serialize(&self.0, &mut buffer).map_err(|error| error.to_string())?;
        Ok(BASE64.encode(buffer))
    }

    fn decode(text: &str) -> Result<Self, String> {
        let bytes = BASE64.decode(text).map_err(|error| error.to_string())?;
        let decoded: Histogram<u64> =
            HdrDeserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| error.to_string())?;
        // Through the full range: a foreign document with longer values is refused here, not later.
        let mut latency = Self::new();
        latency.0.add(&decoded).map_err(|error| error.to_string())?;
        Ok(latency.compact())
    }
}

/// Buckets below 2^8 are single nanoseconds; above, each power of two has 2^7 of them: two significant digits.
const LINEAR_BITS: u32 = 8;
const BUCKETS: usize = bucket_of(LONGEST_NS) + 1;

/// The bucket that HdrHistogram counts a value in.
#[inline]
const fn bucket_of(nanoseconds: u64) -> usize {
    let shift = u64::BITS - LINEAR_BITS - (nanoseconds | ((1 << LINEAR_BITS) - 1)).leading_zeros();
    ((shift as usize) << (LINEAR_BITS - 1)) + (nanoseconds >> shift) as usize
}

/// The smallest value of a bucket.
const fn smallest_of(bucket: usize) -> u64 {
    let half = 1 << (LINEAR_BITS - 1);
    let shift = (bucket / half).saturating_sub(1);
    ((bucket - shift * half) as u64) << shift
}

/// Where operations are counted while they happen: the buckets of a [`Latency`] and nothing else.
///
/// Adding costs 2 ns; HdrHistogram also keeps sums, extremes and saturation up to date and takes 10 (2.0 GHz Sapphire
/// Rapids vCPU). All of that follows from the buckets, once a second.
#[derive(Debug, Clone)]
pub struct Tally(Box<[u64; BUCKETS]>);

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

impl Tally {
    /// Empty. Allocates everything it will ever need.
    #[allow(clippy::large_stack_arrays, reason = "once per rank and kind, on the way to the heap")]
    pub fn new() -> Self {
        Self(Box::new([0; BUCKETS]))
    }

    /// Adds one operation of `nanoseconds`; longer than an hour counts as an hour.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.0[bucket_of(nanoseconds.min(LONGEST_NS))] += 1;
    }

    /// What was added since the last time; `None` if nothing was.
    pub fn take(&mut self) -> Option<Latency> {
        let highest = self.0.iter().rposition(|count| *count > 0)?;
        let mut latency = Latency::compact_up_to(smallest_of(highest));
        for (bucket, count) in self.0[..=highest].iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            // The bounds were chosen to hold all of them.
            let _ = latency.0.record_n(smallest_of(bucket), std::mem::take(count));
        }
        Some(latency)
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Document {
    count: u64,
    min_ns: u64,
    mean_ns: u64,
    p50_ns: u64,
    p90_ns: u64,
    p95_ns: u64,
    p99_ns: u64,
    p99_9_ns: u64,
    p99_99_ns: u64,
    max_ns: u64,
    /// HdrHistogram V2, deflate, base64.
    histogram: String,
}

impl Serialize for Latency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = |percent| self.0.value_at_percentile(percent);
        Document {
            count: self.count(),
            min_ns: if self.0.is_empty() { 0 } else { self.0.min() },
            mean_ns: self.0.mean() as u64,
            p50_ns: at(50.0),
            p90_ns: at(90.0),
            p95_ns: at(95.0),
            p99_ns: at(99.0),
            p99_9_ns: at(99.9),
            p99_99_ns: at(99.99),
            max_ns: self.0.max(),
            histogram: self.encode().map_err(S::Error::custom)?,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = Document::deserialize(deserializer)?;
        Self::decode(&document.histogram).map_err(D::Error::custom)
    }
}

impl JsonSchema for Latency {
    fn schema_name() -> Cow<'static, str> {
        "Latency".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = Document::json_schema(generator);
        json_schema!({ "title": "Latency", "description": "A latency distribution in nanoseconds", "allOf": [schema] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_value_is_off_by_at_most_one_percent(nanoseconds in 1u64..LONGEST_NS) {
            let mut latency = Latency::new();
            latency.record(nanoseconds);
            let seen = latency.percentile(50.0).as_nanos() as f64;
            let error = (seen - nanoseconds as f64).abs() / nanoseconds as f64;
            proptest::prop_assert!(error <= 0.01, "{nanoseconds} became {seen}");
        }

        #[test]
        fn a_tally_becomes_the_same_distribution(values in proptest::collection::vec(
            proptest::prop_oneof![0u64..1000, 0..1u64 << 33, proptest::prelude::any::<u64>()], 1..50)) {
            let (mut tally, mut latency) = (Tally::new(), Latency::new());
            for value in values { tally.record(value); latency.record(value); }
            let taken = tally.take().unwrap();
            proptest::prop_assert_eq!(&taken, &latency);
            proptest::prop_assert_eq!((taken.min(), taken.max()), (latency.min(), latency.max()));
            proptest::prop_assert!(tally.take().is_none());
        }

        #[test]
        fn merging_equals_recording_together(left in proptest::collection::vec(1u64..1_000_000_000, 0..50),
                                             right in proptest::collection::vec(1u64..1_000_000_000, 0..50)) {
            let (mut a, mut b, mut both) = (Latency::new(), Latency::new(), Latency::new());
            for v in left { a.record(v); both.record(v); }
            for v in right { b.record(v); both.record(v); }
            let mut compact = a.compact();
            a.merge(&b);
            compact.merge(&b.compact());
            proptest::prop_assert_eq!(&a, &both);
            proptest::prop_assert_eq!(&compact, &both);
        }
    }

    #[test]
    fn survives_a_document() {
        let mut latency = Latency::new();
        (1..10_000u64).for_each(|n| latency.record(n * 1000));
        let text = serde_json::to_string(&latency).unwrap();
        assert!(text.contains("\"p99_ns\""));
        assert_eq!(serde_json::from_str::<Latency>(&text).unwrap(), latency);
    }

    #[test]
    fn survives_the_way_to_another_process() {
        let mut latency = Latency::new();
        (1..1000u64).for_each(|n| latency.record(n * 1000));
        let compact = latency.compact();
        let bytes = compact.to_bytes();
        assert!(bytes.len() < 1500, "{}", bytes.len());
        let mut back = Latency::from_bytes(&bytes).unwrap();
        assert_eq!(back, compact);
        latency.record(LONGEST_NS);
        back.merge(&latency);
        assert_eq!((back.count(), back.max()), (1999, latency.max()));
        assert!(Latency::from_bytes(&bytes[..bytes.len() / 2]).is_none());
    }

    #[test]
    fn a_damaged_histogram_is_an_error_not_a_panic() {
        let mut value = serde_json::to_value(Latency::new()).unwrap();
        value["histogram"] = "AAAA".into();
        assert!(serde_json::from_value::<Latency>(value).is_err());
    }
}
