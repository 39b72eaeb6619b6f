//! Where the data of a file lies on the servers: Lustre's stripes (`lfs getstripe --yaml`), GlusterFS's brick
//! (`trusted.glusterfs.pathinfo`).

use std::path::Path;
use std::process::Command;

/// Where one file lies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileLayout {
    /// One per extent; a plain file has one.
    pub components: Vec<Component>,
}

/// One extent of a file and the targets it is spread over in turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Component {
    /// First byte.
    pub start: u64,
    /// First byte behind it; `u64::MAX` to the end of the file.
    pub end: u64,
    /// Bytes per target in turn.
    pub stripe_size: u64,
    /// How many targets it is, or will be, spread over.
    pub stripe_count: u32,
    /// Pool of targets.
    pub pool: String,
    /// On the metadata target.
    pub on_mdt: bool,
    /// Number of the mirror; copies of one extent have different ones.
    pub mirror: u32,
    /// The targets in their turn: `OST0003`, `server:/brick`; none before anything was written there.
    pub targets: Vec<String>,
}

impl FileLayout {
    /// Reads what `lfs getstripe --yaml` prints of one file (Lustre 2.10 and later). `None` if it is no layout.
    pub fn of_lustre(yaml: &str) -> Option<Self> {
        let mut components: Vec<Component> = Vec::new();
        // Whatever does not begin with a component is one.
        let mut plain = Component { end: u64::MAX, ..Component::default() };
        let mut seen = false;
        for line in yaml.lines() {
            let Some((key, value)) = line.trim().trim_start_matches("- ").split_once(':') else { continue };
            let value = value.trim();
            if key == "lcme_id" {
                components.push(Component { end: u64::MAX, ..Component::default() });
                continue;
            }
            let component = components.last_mut().unwrap_or(&mut plain);
            match key {
                "lcme_mirror_id" => component.mirror = value.parse().unwrap_or(0),
                "lcme_extent.e_start" => component.start = value.parse().ok()?,
                "lcme_extent.e_end" => component.end = value.parse().unwrap_or(u64::MAX),
                "lmm_stripe_count" => {
                    seen = true;
                    // -1 stands for all targets.
                    component.stripe_count = value.parse::<i64>().ok()?.max(0) as u32;
                }
                "lmm_stripe_size" => component.stripe_size = value.parse().ok()?,
                "lmm_pattern" => component.on_mdt = value.contains("mdt"),
                "lmm_pool" => value.clone_into(&mut component.pool),
                "l_ost_idx" => component.targets.push(format!("OST{:04x}", value.parse::<u32>().ok()?)),
                "lmm_mdt_index" => component.targets.push(format!("MDT{:04x}", value.parse::<u32>().ok()?)),
                _ => {}
            }
        }
        if components.is_empty() {
            components.push(plain);
        }
        seen.then_some(Self { components })
    }

    /// Reads the value of `trusted.glusterfs.pathinfo`: `(<DISTRIBUTE:vol-dht> <POSIX(/brick):server:/brick/d/f>)`. A
    /// replicated file names several bricks, each with all of it.
    pub fn of_gluster(pathinfo: &str) -> Option<Self> {
        let bricks = pathinfo.split("<POSIX(").skip(1).filter_map(|rest| {
            let (brick, rest) = rest.split_once("):")?;
            let (server, _) = rest.split_once(":/")?;
            Some(format!("{server}:{brick}"))
        });
        let whole = |(mirror, brick)| Component {
            end: u64::MAX,
            stripe_count: 1,
            mirror,
            targets: vec![brick],
            ..Component::default()
        };
        let components: Vec<Component> = (0..).zip(bricks).map(whole).collect();
        (!components.is_empty()).then_some(Self { components })
    }

    /// In words: `4 stripes of 1 MiB`, `3 extents, of 1, 1 and 4 stripes`, `2 copies`.
    pub fn words(&self) -> String {
        let one = |component: &Component| match component {
            Component { on_mdt: true, .. } => "on the MDT".to_owned(),
            Component { stripe_size: 0, .. } => "1 brick".to_owned(),
            Component { stripe_count, stripe_size, .. } => {
                let plural = if *stripe_count == 1 { "" } else { "s" };
                format!("{stripe_count} stripe{plural} of {}", units::Bytes::new(*stripe_size))
            }
        };
        let each: Vec<String> = self.components.iter().map(one).collect();
        let mirrors = self.components.iter().map(|component| component.mirror).max().unwrap_or(0) as usize;
        match &each[..] {
            [one] => one.clone(),
            _ if self.components.iter().all(|c| c.start == 0) => {
                format!("{} copies, {}", each.len(), each[0])
            }
            _ if mirrors > 1 => format!("{mirrors} mirrors: {}", each.join(" | ")),
            _ => each.join(" | "),
        }
    }

    /// Bytes of a file of `size` on each target, without holes: every stripe in turn, extent by extent.
    pub fn bytes_per_target(&self, size: u64) -> Vec<(String, u64)> {
        let mut sums: Vec<(String, u64)> = Vec::new();
        for component in &self.components {
            let length = size.min(component.end).saturating_sub(component.start);
            let count = component.targets.len() as u64;
            for (turn, target) in (0..).zip(&component.targets) {
                let bytes = share(length, component.stripe_size, count, turn);
                match sums.iter_mut().find(|(name, _)| name == target) {
                    Some((_, sum)) => *sum += bytes,
                    None => sums.push((target.clone(), bytes)),
                }
            }
        }
        sums.retain(|(_, bytes)| *bytes > 0 || size == 0);
        sums
    }
}

/// Of `length` bytes dealt in turns of `stripe` to `count` targets, what the one at `turn` gets.
fn share(length: u64, stripe: u64, count: u64, turn: u64) -> u64 {
    if stripe == 0 || count <= 1 {
        return length;
    }
    let round = stripe.saturating_mul(count);
    let rest = (length % round).saturating_sub(turn * stripe).min(stripe);
    (length / round) * stripe + rest
}

/// The layout of a file, as its file system tells it; `None` where it tells nothing, or may not be asked.
///
/// Lustre is asked through `lfs`, GlusterFS through an extended attribute that only root may read.
pub fn layout_of(file_system: &str, path: &Path) -> Option<FileLayout> {
    match file_system {
        "lustre" => {
            let output = Command::new("lfs").args(["getstripe", "--yaml"]).arg(path).output().ok()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            output.status.success().then(|| FileLayout::of_lustre(&text)).flatten()
        }
        "fuse.glusterfs" => {
            let mut value = vec![0u8; 4096];
            let length = rustix::fs::getxattr(path, "trusted.glusterfs.pathinfo", &mut value[..]).ok()?;
            FileLayout::of_gluster(&String::from_utf8_lossy(&value[..length]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lustre(name: &str) -> FileLayout {
        let path = format!("{}/tests/lustre/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        FileLayout::of_lustre(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn layouts_of_a_real_lustre_are_read() {
        let plain = lustre("getstripe_yaml_plain_f");
        assert_eq!(plain.words(), "1 stripe of 4 MiB");
        assert_eq!(plain.bytes_per_target(10), [("OST0000".to_owned(), 10)]);
        let dom = lustre("getstripe_yaml_dom_f");
        assert_eq!(dom.words(), "on the MDT | 2 stripes of 4 MiB");
        let at = |name: &str, bytes| (name.to_owned(), bytes);
        let mib = 1 << 20;
        assert_eq!(
            dom.bytes_per_target(10 * mib),
            [at("MDT0000", mib), at("OST0000", 5 * mib), at("OST0001", 4 * mib)]
        );
        let pfl = lustre("getstripe_yaml_pfl_f");
        assert_eq!(pfl.components.len(), 3);
        assert_eq!((pfl.components[1].start, pfl.components[1].end), (mib, 8 * mib));
        assert_eq!(pfl.bytes_per_target(20 * mib), [at("OST0000", 20 * mib)]);
        let empty = lustre("getstripe_yaml_pfl_empty");
        assert!(empty.components[1].targets.is_empty() && empty.components[2].stripe_count == 2);
        let mirrored = lustre("getstripe_yaml_mir");
        assert_eq!(mirrored.words(), "2 copies, 1 stripe of 4 MiB");
        assert_eq!(mirrored.bytes_per_target(7), [at("OST0001", 7), at("OST0000", 7)]);
        assert_eq!(FileLayout::of_lustre("lfs getstripe: cannot open"), None);
    }

    #[test]
    fn bricks_of_gluster_are_read() {
        let one = "(<DISTRIBUTE:vol-dht> <POSIX(/srv/b2):node2:/srv/b2/run/data.00000001>)";
        let layout = FileLayout::of_gluster(one).unwrap();
        assert_eq!(layout.bytes_per_target(5), [("node2:/srv/b2".to_owned(), 5)]);
        let two =
            "(<DISTRIBUTE:v-dht> (<REPLICATE:v-replicate-0> <POSIX(/b1):a:/b1/f> <POSIX(/b1):b:/b1/f>))";
        let layout = FileLayout::of_gluster(two).unwrap();
        assert_eq!((layout.words().as_str(), layout.components.len()), ("2 copies, 1 brick", 2));
        assert_eq!(FileLayout::of_gluster("nothing"), None);
    }

    #[test]
    fn every_byte_is_on_one_target() {
        for (length, stripe, count) in [(0, 4, 3), (1, 4, 3), (12, 4, 3), (13, 4, 3), (99, 7, 4)] {
            let all: u64 = (0..count).map(|turn| share(length, stripe, count, turn)).sum();
            assert_eq!(all, length, "{length} {stripe} {count}");
        }
    }
}
