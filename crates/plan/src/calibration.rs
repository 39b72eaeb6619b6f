//! What systems reach of their limits: the factors between a spec sheet and a measurement.

use std::collections::BTreeMap;

use catalog::Catalog;
use spec::Figures;

use crate::design::Family;

/// How the source of a factor begins that was fitted from the user's own runs: `runs 20261121-214226-3f9a1c, ...`.
pub const OWN_RUNS: &str = "runs ";

/// Where a factor comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The limits as printed: factor 1.
    SpecSheet,
    /// Nothing was measured on this kind of system: 0.9.
    Assumed,
    /// Fitted from published results.
    Published,
    /// Fitted from the user's own runs.
    Measured,
}

impl Basis {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SpecSheet => "spec sheet",
            Self::Assumed => "assumed",
            Self::Published => "published",
            Self::Measured => "measured",
        }
    }
}

/// What systems of a family reach of their limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    /// Reading.
    pub read: Share,
    /// Writing.
    pub write: Share,
}

/// A measured share of a limit, with its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The median of measured over model.
    pub value: f64,
    /// Smallest seen.
    pub min: f64,
    /// Largest seen.
    pub max: f64,
    /// Measurements it rests on.
    pub count: u32,
    /// Where it comes from.
    pub basis: Basis,
}

impl Share {
    /// The limits as printed.
    pub const EXACT: Self = Self { value: 1.0, min: 1.0, max: 1.0, count: 0, basis: Basis::SpecSheet };
    /// Used where nothing was measured: 0.9, in the range 0.85 to 1 that measured systems of other kinds showed.
    pub const ASSUMED: Self = Self { value: 0.9, min: 0.85, max: 1.0, count: 0, basis: Basis::Assumed };

    /// `0.95 (0.91-0.97, n=4, published)`
    pub fn text(&self) -> String {
        match self.basis {
            Basis::SpecSheet => "1 (spec sheet)".to_owned(),
            Basis::Assumed => format!("{} (assumed; {}-{} elsewhere)", self.value, self.min, self.max),
            basis => {
                let few = if self.count < 3 { ", few data" } else { "" };
                let (min, max, n) = (self.min, self.max, self.count);
                format!("{:.2} ({min:.2}-{max:.2}, n={n}, {}{few})", self.value, basis.name())
            }
        }
    }
}

impl Factor {
    /// The limits as printed.
    pub const EXACT: Self = Self { read: Share::EXACT, write: Share::EXACT };

    /// The share for a mix: by the bytes of each direction.
    pub fn mixed(&self, read_share: units::Ratio) -> f64 {
        self.read.value * read_share.get() + self.write.value * read_share.complement().get()
    }
}

/// Shares of limits reached, by family.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calibration {
    reads: BTreeMap<Family, Share>,
    writes: BTreeMap<Family, Share>,
}

impl Calibration {
    /// What the catalog knows: fitted from published results, or from the user's own runs where an overlay has them.
    pub fn of(catalog: &Catalog) -> Self {
        let mut known = Self::default();
        for fitted in &catalog.calibration {
            let Some(family) =
                Family::ALL.into_iter().find(|family| *family.as_str() == *fitted.architecture)
            else {
                continue;
            };
            let basis =
                if fitted.source.document.starts_with(OWN_RUNS) { Basis::Measured } else { Basis::Published };
            let (min, max, count) = (fitted.min, fitted.max, fitted.n);
            let share = Share { value: fitted.usable(), min, max, count, basis };
            match &*fitted.operation {
                "read" => known.set_read(family, share),
                "write" => known.set_write(family, share),
                _ => {}
            }
        }
        known
    }

    /// Sets what a family reaches when reading.
    pub fn set_read(&mut self, family: Family, share: Share) {
        self.reads.insert(family, share);
    }

    /// Sets what a family reaches when writing.
    pub fn set_write(&mut self, family: Family, share: Share) {
        self.writes.insert(family, share);
    }

    /// The factor by which a family's designs are judged.
    pub fn factor(&self, family: Family, figures: Figures) -> Factor {
        let share = |known: &BTreeMap<Family, Share>| known.get(&family).copied().unwrap_or(Share::ASSUMED);
        match figures {
            Figures::SpecSheet => Factor::EXACT,
            Figures::Calibrated => Factor { read: share(&self.reads), write: share(&self.writes) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_say_what_they_rest_on() {
        assert_eq!(Share::EXACT.text(), "1 (spec sheet)");
        assert_eq!(Share::ASSUMED.text(), "0.9 (assumed; 0.85-1 elsewhere)");
        let few = Share { value: 0.9002, min: 0.8889, max: 0.9115, count: 2, basis: Basis::Published };
        assert_eq!(few.text(), "0.90 (0.89-0.91, n=2, published, few data)");
        let own = Share { count: 4, basis: Basis::Measured, ..few };
        assert_eq!(own.text(), "0.90 (0.89-0.91, n=4, measured)");
    }

    #[test]
    fn what_was_measured_is_used_where_it_was() {
        let known = Calibration::of(&Catalog::embedded().unwrap());
        let lustre = known.factor(Family::LustreOnVms, Figures::Calibrated);
        assert_eq!((lustre.read.basis, lustre.write.count), (Basis::Published, 4));
        // A limit that was passed was stated too low: no factor is above 1.
        let nfs = known.factor(Family::NfsService, Figures::Calibrated);
        assert!((nfs.write.value - 1.0).abs() < 1e-12 && nfs.write.max > 1.0);
        let shared = known.factor(Family::SharedVolumes, Figures::Calibrated);
        assert_eq!(shared, Factor { read: Share::ASSUMED, write: Share::ASSUMED });
        assert_eq!(known.factor(Family::LustreOnVms, Figures::SpecSheet), Factor::EXACT);
    }

    #[test]
    fn a_mix_is_weighed_by_bytes() {
        let share = |value| Share { value, ..Share::ASSUMED };
        let factor = Factor { read: share(1.0), write: share(0.5) };
        assert!((factor.mixed(units::Ratio::percent(80.0)) - 0.9).abs() < 1e-12);
    }
}
