//! Stripes of a point on Lustre: a directory in the target whose files get the layout, through `lfs setstripe`.

use std::path::{Path, PathBuf};
use std::process::Command;

use fault::{Fault, Kind, Result};
use host::System;
use record::SweepPoint;

/// A directory with a layout of its own; it goes when this is dropped.
#[derive(Debug)]
pub struct Striped {
    path: PathBuf,
}

impl Striped {
    /// The directory for `point` in `target`; `None` when the point says nothing about stripes. Refused where the target is
    /// not Lustre, before anything is made.
    pub fn make(target: &Path, point: &SweepPoint) -> Result<Option<Self>> {
        let arguments = arguments(point)?;
        if arguments.is_empty() {
            return Ok(None);
        }
        let mount = System::here().environment(Some(target))?.target;
        let kind = mount.map_or_else(|| "no file system that is known".to_owned(), |mount| mount.file_system);
        if kind != "lustre" {
            return Err(Fault::new(
                Kind::Unsupported,
                format!("`{}` is on {kind}, and stripes are Lustre's", target.display()),
            )
            .hint(
                "leave out `stripe_count`, `stripe_size` and `stripe_layout`, or name a target on Lustre",
            ));
        }
        let path = target.join(format!("forebay-stripes-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| Fault::os("make directory", &path, error))?;
        let striped = Self { path };
        let done = Command::new("lfs").arg("setstripe").args(&arguments).arg(&striped.path).output();
        match done {
            Ok(output) if output.status.success() => Ok(Some(striped)),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                Err(Fault::new(
                    Kind::Refused,
                    format!("`lfs setstripe {}` failed: {}", arguments.join(" "), said.trim()),
                )
                .hint("look at what `lfs df` says of the OSTs, and at the layout"))
            }
            Err(error) => Err(Fault::new(Kind::NotFound, format!("cannot run `lfs`: {error}"))
                .hint("install the Lustre client's tools, or leave out the stripe settings")),
        }
    }

    /// The target of the point.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Striped {
    fn drop(&mut self) {
        // What a run left in it is told by the run, and stays.
        let _ = std::fs::remove_dir(&self.path);
    }
}

/// Arguments of `lfs setstripe`.
fn arguments(point: &SweepPoint) -> Result<Vec<String>> {
    if let Some(layout) = point.get("stripe_layout") {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-.,: ".contains(c);
        if !layout.starts_with('-') || !layout.chars().all(plain) {
            return Err(Fault::new(Kind::Spec, format!("`{layout}` is no layout for `lfs setstripe`"))
                .hint("such as `-E 64M -c 1 -E -1 -c 8`"));
        }
        return Ok(layout.split_whitespace().map(str::to_owned).collect());
    }
    let mut arguments = Vec::new();
    if let Some(count) = point.get("stripe_count") {
        arguments.extend(["-c".to_owned(), count.to_owned()]);
    }
    if let Some(size) = point.get("stripe_size").and_then(|size| size.parse::<units::Bytes>().ok()) {
        arguments.extend(["-S".to_owned(), size.get().to_string()]);
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use record::SweepSetting;

    use super::*;

    fn point(settings: &[(&str, &str)]) -> SweepPoint {
        let setting = |(name, value): &(&str, &str)| SweepSetting {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        SweepPoint {
            sweep: "s".to_owned(),
            settings: settings.iter().map(setting).collect(),
            fingerprint: String::new(),
        }
    }

    #[test]
    fn settings_become_arguments_and_nothing_else_does() {
        let of = |settings: &[(&str, &str)]| arguments(&point(settings));
        assert_eq!(
            of(&[("stripe_count", "8"), ("stripe_size", "4 MiB")]).unwrap(),
            ["-c", "8", "-S", "4194304"]
        );
        assert_eq!(of(&[("stripe_layout", "-E 64M -c 1 -E -1 -c 8")]).unwrap().len(), 8);
        assert!(
            of(&[("stripe_layout", "-c 1; reboot")]).is_err() && of(&[("stripe_layout", "/etc")]).is_err()
        );
        assert!(of(&[("hosts", "1")]).unwrap().is_empty());
    }

    #[test]
    fn stripes_are_refused_where_there_is_no_lustre() {
        let dir = tempfile::tempdir().unwrap();
        let fault = Striped::make(dir.path(), &point(&[("stripe_count", "8")])).unwrap_err();
        assert_eq!(fault.kind(), Kind::Unsupported, "{fault}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(Striped::make(dir.path(), &point(&[("ranks", "8")])).unwrap().is_none());
    }
}
