use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid, XattrFlags, chownat, fsetxattr, mkdirat,
    mknodat, open, openat, symlinkat, utimensat,
};

/// ACL of version 2 that gives user 1234 `rw-` beside `rw-` for the owner and `r--` for group and others.
const ACL: &[u8] = &[
    2, 0, 0, 0, // version
    0x01, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, // owner
    0x02, 0, 6, 0, 0xd2, 0x04, 0, 0, // user 1234
    0x04, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, // group
    0x10, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, // mask
    0x20, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, // others
];

/// Makes a tree at `root` of what tools that copy lose: owners, set-user-ID, hard links, holes, attributes, ACLs, names
/// that are no text, links to nowhere, times beyond 32 bits, a path longer than 4,096 bytes, directories nobody may write
/// to. Needs root.
///
/// # Panics
///
/// If anything can't be made.
pub fn trap_tree(root: &Path) {
    std::fs::create_dir(root).unwrap();
    let dir = open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    names(&dir);
    attributes(&dir);
    links(&dir);
    sparse(&dir);
    directories(&dir);
    deep(&dir);
    times(&dir);
}

fn file(dir: &OwnedFd, name: &[u8], content: &[u8]) -> OwnedFd {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(dir, name, flags, Mode::from_raw_mode(0o644)).unwrap();
    rustix::io::write(&file, content).unwrap();
    file
}

fn names(dir: &OwnedFd) {
    let odd: [&[u8]; 16] = [
        b"plain",
        b"bad\xff\xfeutf8",
        b"new\nline",
        "NFC-\u{e9}".as_bytes(),
        "NFD-e\u{301}".as_bytes(),
        b"Case",
        b"case",
        b"-dash",
        b"a#b%23?c",
        b".hidden",
        b"trail ",
        b"back\\slash",
        b"*",
        b"~",
        b"$(x)",
        b"..a",
    ];
    odd.iter().for_each(|name| drop(file(dir, name, b"hello\n")));
    file(dir, &[b'n'; 255], b"long name\n");
    file(dir, b"empty_file", b"");
}

fn attributes(dir: &OwnedFd) {
    let setuid = file(dir, b"mode4750", b"hello\n");
    rustix::fs::fchown(&setuid, Some(Uid::from_raw(1234)), Some(Gid::from_raw(2345))).unwrap();
    rustix::fs::fchmod(&setuid, Mode::from_raw_mode(0o4750)).unwrap();
    let named = file(dir, b"xattr", b"hello\n");
    fsetxattr(&named, "user.proj", b"v1", XattrFlags::empty()).unwrap();
    fsetxattr(&named, "user.binary", &[0, 255, 10], XattrFlags::empty()).unwrap();
    fsetxattr(&named, "trusted.t", b"v2", XattrFlags::empty()).unwrap();
    let acl = file(dir, b"acl", b"hello\n");
    fsetxattr(&acl, "system.posix_acl_access", ACL, XattrFlags::empty()).unwrap();
}

fn links(dir: &OwnedFd) {
    file(dir, b"hl1", b"one file\n");
    mkdirat(dir, "other", Mode::from_raw_mode(0o755)).unwrap();
    for name in ["hl2", "other/hl3"] {
        rustix::fs::linkat(dir, "hl1", dir, name, AtFlags::empty()).unwrap();
    }
    for (target, name) in
        [("plain", "sl"), ("/nonexistent/zz", "sl_broken"), (".", "sl_loop"), ("bad\n", "sl_odd")]
    {
        symlinkat(target, dir, name).unwrap();
    }
    let time = Timespec { tv_sec: 1_500_000_000, tv_nsec: 5 };
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(dir, "sl", &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    chownat(dir, "sl", Some(Uid::from_raw(77)), Some(Gid::from_raw(78)), AtFlags::SYMLINK_NOFOLLOW).unwrap();
    mknodat(dir, "fifo", FileType::Fifo, Mode::from_raw_mode(0o640), 0).unwrap();
    mknodat(dir, "null", FileType::CharacterDevice, Mode::from_raw_mode(0o600), rustix::fs::makedev(1, 3))
        .unwrap();
}

fn sparse(dir: &OwnedFd) {
    let sparse = file(dir, b"sparse", b"");
    rustix::fs::ftruncate(&sparse, 1 << 30).unwrap();
    rustix::io::pwrite(&sparse, &[b'x'; 4096], 512 << 20).unwrap();
    let ends_in_hole = file(dir, b"ends_in_hole", b"begin");
    rustix::fs::ftruncate(&ends_in_hole, 3_000_001).unwrap();
}

fn directories(dir: &OwnedFd) {
    for (name, mode) in
        [("empty", 0o755), ("dirm", 0o2750), ("ro", 0o555), ("sticky", 0o1777), ("defaults", 0o755)]
    {
        mkdirat(dir, name, Mode::from_raw_mode(0o755)).unwrap();
        let inner = openat(dir, name, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        if name != "empty" {
            file(&inner, b"f", b"inside\n");
        }
        rustix::fs::fchmod(&inner, Mode::from_raw_mode(mode)).unwrap();
    }
    let inner = openat(dir, "defaults", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    fsetxattr(&inner, "system.posix_acl_default", ACL, XattrFlags::empty()).unwrap();
}

fn deep(dir: &OwnedFd) {
    let name = [b'L'; 200];
    let mut at = openat(dir, ".", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    for _ in 0..25 {
        mkdirat(&at, &name[..], Mode::from_raw_mode(0o755)).unwrap();
        at = openat(&at, &name[..], OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    }
    file(&at, b"deep", b"deep\n");
}

fn times(dir: &OwnedFd) {
    let before = [("plain", 1_600_000_000, 987_654_321), ("old", -86_400, 0), ("future", 5_000_000_000, 0)];
    let directories = [("dirm", 1_400_000_000, 7), ("empty", 1_000_000_000, 1), ("ro", 1_200_000_000, 3)];
    for name in ["old", "future"] {
        file(dir, name.as_bytes(), b"time\n");
    }
    for (name, seconds, nanos) in before.into_iter().chain(directories) {
        let time = Timespec { tv_sec: seconds, tv_nsec: nanos };
        let times = Timestamps { last_access: time, last_modification: time };
        utimensat(dir, name, &times, AtFlags::empty()).unwrap();
    }
    let root = Timespec { tv_sec: 1_300_000_000, tv_nsec: 11 };
    utimensat(dir, ".", &Timestamps { last_access: root, last_modification: root }, AtFlags::empty())
        .unwrap();
}
