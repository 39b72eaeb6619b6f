use fault::{Fault, Kind};
use serde::{Deserialize, Serialize};
use store::{Errno, Lister, Root, meta_of_entry};

/// Entries that are remembered of a directory.
const SOME: usize = 16;

/// What a directory looked like at one moment, so that somebody else can tell whether theirs is the same: the inode numbers
/// of itself and of some of its entries. Names come and go meanwhile, but not all of them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sight {
    inode: u64,
    entries: Vec<(Vec<u8>, u64)>,
}

impl Sight {
    /// Of this one, now.
    pub fn of(root: &Root) -> fault::Result<Self> {
        let unlisted = |error| Fault::os("list", root.path(), error);
        let dir = root.open_dir(b"").map_err(unlisted)?;
        let mut entries = Vec::new();
        let listed = Lister::default().list(&dir, |entry| -> store::Os<()> {
            let name = entry.name.to_bytes();
            if let Ok(meta) = meta_of_entry(&dir, name) {
                entries.push((name.to_vec(), meta.inode));
            }
            if entries.len() < SOME { Ok(()) } else { Err(Errno::CANCELED) }
        });
        match listed {
            Ok(()) | Err(Errno::CANCELED) => Ok(Self { inode: root.meta()?.inode, entries }),
            Err(error) => Err(unlisted(error)),
        }
    }

    /// As others read it.
    pub fn written(&self) -> fault::Result<String> {
        serde_json::to_string(self)
            .map_err(|error| Fault::new(Kind::Bug, "cannot describe a directory").caused_by(error))
    }

    /// As others wrote it.
    pub fn read(text: &str) -> fault::Result<Self> {
        serde_json::from_str(text).map_err(|error| {
            Fault::new(Kind::Refused, "the others are of another version")
                .hint("start the same program on every host")
                .caused_by(error)
        })
    }

    /// Whether this may be the same directory.
    pub fn is_seen_in(&self, root: &Root) -> fault::Result<bool> {
        let dir = root.open_dir(b"").map_err(|error| Fault::os("open", root.path(), error))?;
        let is_there =
            |(name, inode): &(Vec<u8>, u64)| meta_of_entry(&dir, name).is_ok_and(|meta| meta.inode == *inode);
        let any = self.entries.is_empty() || self.entries.iter().any(is_there);
        Ok(any && root.meta()?.inode == self.inode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_known_by_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::create_dir_all(dir.path().join(name)).unwrap();
        ["one/a", "one/b", "two/a", "two/b"].into_iter().for_each(make);
        let root = |name: &str| Root::open(&dir.path().join(name)).unwrap();
        let sight = Sight::read(&Sight::of(&root("one")).unwrap().written().unwrap()).unwrap();
        std::fs::remove_dir(dir.path().join("one/a")).unwrap();
        make("one/c");
        assert!(sight.is_seen_in(&root("one")).unwrap());
        assert!(!sight.is_seen_in(&root("two")).unwrap());
        let other = Sight { inode: root("two").meta().unwrap().inode, ..sight };
        assert!(!other.is_seen_in(&root("two")).unwrap(), "another tree on an inode of the same number");
        assert!(Sight::read("12345").is_err());
    }
}
