use fault::{Fault, Kind, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::Workload;

/// How new files are spread over the servers of a Lustre file system. What is absent is as the directory above has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Striping {
    /// OSTs each file spreads over; -1 for all (lfs setstripe -c).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_count: Option<i32>,
    /// Bytes per OST in turn, a multiple of 64 KiB (lfs setstripe -S).
    #[serde(with = "units::text::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub stripe_size: Option<Bytes>,
    /// Number of the OST that each file begins on (lfs setstripe -i).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ost: Option<u32>,
    /// Pool of OSTs (lfs setstripe -p).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// A progressive layout: extents with a striping each, the last to the end of the file (lfs setstripe -E).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extents: Vec<StripedExtent>,
}

/// One extent of a progressive layout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StripedExtent {
    /// First byte behind it; to the end of the file when absent.
    #[serde(with = "units::text::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub end: Option<Bytes>,
    /// OSTs; -1 for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_count: Option<i32>,
    /// Bytes per OST in turn.
    #[serde(with = "units::text::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub stripe_size: Option<Bytes>,
}

/// What stripe sizes are multiples of (lfs-setstripe(1)).
const STRIPE_UNIT: u64 = 64 << 10;

impl Striping {
    /// The options of `lfs setstripe`.
    pub fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        for extent in &self.extents {
            let end = extent.end.map_or_else(|| "-1".to_owned(), |end| end.get().to_string());
            options.extend(["-E".to_owned(), end]);
            push(&mut options, extent.stripe_count, extent.stripe_size);
            options.extend(self.pool_option());
        }
        if self.extents.is_empty() {
            push(&mut options, self.stripe_count, self.stripe_size);
            options.extend(self.first_ost.iter().flat_map(|ost| ["-i".to_owned(), ost.to_string()]));
            options.extend(self.pool_option());
        }
        options
    }

    fn pool_option(&self) -> Vec<String> {
        self.pool.iter().flat_map(|pool| ["-p".to_owned(), pool.clone()]).collect()
    }
}

fn push(options: &mut Vec<String>, count: Option<i32>, size: Option<Bytes>) {
    options.extend(count.into_iter().flat_map(|count| ["-c".to_owned(), count.to_string()]));
    options.extend(size.into_iter().flat_map(|size| ["-S".to_owned(), size.get().to_string()]));
}

impl Workload {
    /// Stripings that Lustre would refuse half-way.
    pub(super) fn check_striping(&self) -> Result<()> {
        let Some(striping) = &self.files.striping else { return Ok(()) };
        let wrong = |message: String, hint: &str| Err(Fault::new(Kind::Spec, message).hint(hint));
        let plain =
            striping.stripe_count.is_some() || striping.stripe_size.is_some() || striping.first_ost.is_some();
        if plain && !striping.extents.is_empty() {
            return wrong(
                "`striping` has `extents` and a striping of its own".to_owned(),
                "give each extent its `stripe_count` and `stripe_size`",
            );
        }
        let own = (striping.stripe_count, striping.stripe_size);
        let all = striping.extents.iter().map(|extent| (extent.stripe_count, extent.stripe_size));
        for (count, size) in all.chain([own]) {
            if let Some(size) = size.filter(|size| size.get() == 0 || !size.get().is_multiple_of(STRIPE_UNIT))
            {
                return wrong(
                    format!("a stripe size of {size:#} is no multiple of 64 KiB"),
                    "Lustre has stripes of 64 KiB and multiples of it, such as 1 MiB",
                );
            }
            if count.is_some_and(|count| count < -1) {
                return wrong(
                    format!("a stripe count of {} means nothing", count.unwrap_or_default()),
                    "use a number of OSTs, 0 for the file system's default, or -1 for all",
                );
            }
        }
        let ends: Vec<u64> =
            striping.extents.iter().map(|extent| extent.end.map_or(u64::MAX, Bytes::get)).collect();
        if !ends.is_sorted_by(|one, next| one < next) || ends.last().is_some_and(|last| *last != u64::MAX) {
            return wrong(
                "the extents of `striping` do not follow each other to the end of the file".to_owned(),
                "give all but the last an `end`, each beyond the one before",
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_lfs() {
        let plain = Striping {
            stripe_count: Some(-1),
            stripe_size: Some(Bytes::mib(4)),
            first_ost: Some(3),
            pool: Some("flash".into()),
            ..Striping::default()
        };
        assert_eq!(plain.options(), ["-c", "-1", "-S", "4194304", "-i", "3", "-p", "flash"]);
        let extent = |end, count| StripedExtent { end, stripe_count: Some(count), stripe_size: None };
        let extents = vec![extent(Some(Bytes::mib(1)), 1), extent(None, 8)];
        let progressive = Striping { extents, ..Striping::default() };
        assert_eq!(progressive.options(), ["-E", "1048576", "-c", "1", "-E", "-1", "-c", "8"]);
    }
}
