use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::{
    AtFlags, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags, chownat, fchmod, fchown, fgetxattr,
    flistxattr, fremovexattr, fsetxattr, futimens, lgetxattr, llistxattr, lsetxattr, utimensat,
};

use crate::{Errno, Meta, Os, Stamp};

/// Extended attributes: name and value, in the order of the file system.
pub type Named = Vec<(Vec<u8>, Vec<u8>)>;

/// Which extended attributes take part; the others are neither read, nor set, nor removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extended {
    /// POSIX ACLs.
    pub acls: bool,
    /// All others.
    pub others: bool,
}

impl Default for Extended {
    fn default() -> Self {
        Self { acls: true, others: true }
    }
}

impl Extended {
    fn takes(self, name: &[u8]) -> bool {
        let is_acl = name == ACL.as_bytes() || name == DEFAULT_ACL.as_bytes();
        is_portable(name) && if is_acl { self.acls } else { self.others }
    }

    /// Those of `named` that take part.
    pub fn of(self, mut named: Named) -> Named {
        named.retain(|(name, _)| self.takes(name));
        named
    }

    fn is_nothing(self) -> bool {
        !self.acls && !self.others
    }
}

/// What an entry has beside its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Permission bits, with set-user-ID, set-group-ID and sticky: 07777.
    pub mode: u32,
    /// Owner and group; `None` leaves them, for users who may not change them.
    pub owner: Option<(u32, u32)>,
    /// Last change of the content.
    pub mtime: Stamp,
    /// Last read.
    pub atime: Stamp,
    /// Extended attributes and ACLs.
    pub named: Named,
}

/// Names that mean something to one file system or one host only, and must not be carried to another.
const OF_THIS_PLACE: [&[u8]; 15] = [
    b"security.selinux",
    b"security.ima",
    b"security.evm",
    b"lustre.",
    b"trusted.lov",
    b"trusted.lma",
    b"trusted.link",
    b"trusted.fid",
    b"trusted.som",
    b"trusted.hsm",
    b"trusted.SGI_ACL_",
    b"trusted.overlay.",
    b"trusted.glusterfs",
    b"system.nfs4_acl",
    b"user.forebay.",
];
/// The list of names has this size at most on Linux (`XATTR_LIST_MAX`), and so has a value.
const MOST: usize = 64 << 10;
const ACL: &str = "system.posix_acl_access";
const DEFAULT_ACL: &str = "system.posix_acl_default";

impl Attributes {
    /// Those of `meta`, without extended ones; the owner only if `with_owner`.
    pub fn of(meta: &Meta, with_owner: bool) -> Self {
        Self {
            mode: meta.mode,
            owner: with_owner.then_some((meta.uid, meta.gid)),
            mtime: meta.mtime,
            atime: meta.atime,
            named: Named::new(),
        }
    }

    fn times(&self) -> Timestamps {
        Timestamps { last_access: timespec(self.atime), last_modification: timespec(self.mtime) }
    }
}

fn timespec(stamp: Stamp) -> Timespec {
    Timespec { tv_sec: stamp.seconds, tv_nsec: i64::from(stamp.nanos) }
}

/// Puts `wanted` on an open file or directory that has owner and mode as in `now`; a failure names the step. The order
/// matters: set-user-ID vanishes when the owner changes, an ACL changes the mode, and each of them the times.
pub fn apply(file: impl AsFd, wanted: &Attributes, now: &Meta) -> Result<(), (String, Errno)> {
    let mut mode = now.mode;
    if let Some(owner) = wanted.owner.filter(|owner| *owner != (now.uid, now.gid)) {
        own(&file, owner).map_err(|error| ("set the owner of".to_owned(), error))?;
        mode = u32::MAX;
    }
    if mode != wanted.mode {
        fchmod(&file, Mode::from_raw_mode(wanted.mode))
            .map_err(|error| ("set the mode of".to_owned(), error))?;
    }
    for (name, value) in &wanted.named {
        fsetxattr(&file, &name[..], value, XattrFlags::empty())
            .map_err(|error| (format!("set attribute `{}` of", crate::printable(name)), error))?;
    }
    futimens(&file, &wanted.times()).map_err(|error| ("set the times of".to_owned(), error))
}

fn own(file: impl AsFd, (uid, gid): (u32, u32)) -> Os<()> {
    fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))
}

/// The same for a symlink, fifo or device `name` in `dir`, whose mode it had from its making.
pub fn apply_to_link(dir: impl AsFd, name: &[u8], wanted: &Attributes) -> Result<(), (String, Errno)> {
    if let Some((uid, gid)) = wanted.owner {
        chownat(&dir, name, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)), AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| ("set the owner of".to_owned(), error))?;
    }
    for (key, value) in &wanted.named {
        lsetxattr(through_proc(&dir, name), &key[..], value, XattrFlags::empty())
            .map_err(|error| (format!("set attribute `{}` of", crate::printable(key)), error))?;
    }
    utimensat(&dir, name, &wanted.times(), AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| ("set the times of".to_owned(), error))
}

/// A path that names `name` in the open directory `dir`, for calls that know no directory descriptors. The last name is
/// not followed by the calls that it is given to.
fn through_proc(dir: impl AsFd, name: &[u8]) -> Vec<u8> {
    let mut path = format!("/proc/self/fd/{}/", dir.as_fd().as_raw_fd()).into_bytes();
    path.extend_from_slice(name);
    path
}

/// The extended attributes of an open file or directory that can be carried to another file system.
pub fn named(file: impl AsFd, extended: Extended) -> Os<Named> {
    if extended.is_nothing() {
        return Ok(Named::new());
    }
    let mut short = [0u8; 256];
    let get = |name: &[u8], buffer: &mut [u8]| fgetxattr(&file, name, buffer);
    match flistxattr(&file, &mut short[..]) {
        Ok(0) | Err(Errno::OPNOTSUPP) => Ok(Named::new()),
        Ok(length) => values(&short[..length], extended, get),
        Err(Errno::RANGE) => {
            let mut list = vec![0; MOST];
            let length = flistxattr(&file, &mut list[..])?;
            values(&list[..length], extended, get)
        }
        Err(error) => Err(error),
    }
}

/// The same of a symlink, fifo or device.
pub fn named_of_entry(dir: impl AsFd, name: &[u8], extended: Extended) -> Os<Named> {
    if extended.is_nothing() {
        return Ok(Named::new());
    }
    let path = through_proc(dir, name);
    let mut list = vec![0; MOST];
    match llistxattr(&path[..], &mut list[..]) {
        Ok(0) | Err(Errno::OPNOTSUPP) => Ok(Named::new()),
        Ok(length) => values(&list[..length], extended, |key, buffer| lgetxattr(&path[..], key, buffer)),
        Err(error) => Err(error),
    }
}

fn values(list: &[u8], extended: Extended, get: impl Fn(&[u8], &mut [u8]) -> Os<usize>) -> Os<Named> {
    let mut found = Named::new();
    let mut buffer = Vec::new();
    for name in list.split(|&byte| byte == 0).filter(|name| !name.is_empty() && extended.takes(name)) {
        buffer.resize(MOST, 0);
        match get(name, &mut buffer) {
            Ok(length) => found.push((name.to_vec(), buffer[..length].to_vec())),
            // Removed between the two calls.
            Err(Errno::NODATA) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn is_portable(name: &[u8]) -> bool {
    !OF_THIS_PLACE.iter().any(|start| name.starts_with(start))
}

/// Removes the extended attributes that an open file has and `wanted` has not.
pub fn clear_named(file: impl AsFd, wanted: &Named, extended: Extended) -> Os<()> {
    for (name, _) in named(&file, extended)? {
        if !wanted.iter().any(|(wanted, _)| *wanted == name) {
            match fremovexattr(&file, &name[..]) {
                Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Removes what a new entry inherited from its directory's default ACL. Returns whether there was something.
pub fn drop_inherited(file: impl AsFd) -> Os<bool> {
    let mut found = false;
    for name in [ACL, DEFAULT_ACL] {
        match fremovexattr(&file, name) {
            Ok(()) => found = true,
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::ACCESS | Errno::PERM | Errno::INVAL) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Root, meta_of};

    #[test]
    fn attributes_of_one_place_stay_there() {
        for name in [&b"security.selinux"[..], b"trusted.lov", b"lustre.lov", b"user.forebay.state"] {
            assert!(!is_portable(name));
        }
        for name in [&b"user.proj"[..], b"trusted.t", b"system.posix_acl_access", b"security.capability"] {
            assert!(is_portable(name));
        }
        let (acls, others) = (Extended { acls: true, others: false }, Extended { acls: false, others: true });
        assert!(acls.takes(b"system.posix_acl_default") && !acls.takes(b"user.proj"));
        assert!(others.takes(b"user.proj") && !others.takes(b"system.posix_acl_access"));
        assert!(!others.takes(b"trusted.lov"));
    }

    #[test]
    fn mode_times_and_attributes_are_put_on_a_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("f");
        let file = std::fs::File::create(&path).unwrap();
        let now = meta_of(&file).unwrap();
        let mut wanted = Attributes::of(&now, true);
        wanted.mode = 0o2640;
        wanted.mtime = Stamp { seconds: -86_400, nanos: 7 };
        wanted.atime = Stamp { seconds: 5_000_000_000, nanos: 9 };
        apply(&file, &wanted, &now).unwrap();
        let root = Root::open(place.path()).unwrap();
        let seen = crate::meta_of_entry(root.fd(), c"f").unwrap();
        assert_eq!((seen.mode, seen.mtime, seen.atime), (0o2640, wanted.mtime, wanted.atime));
    }
}
