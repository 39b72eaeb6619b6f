use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// Where other file systems are mounted below `path`.
pub fn mounts_below(path: &Path) -> Vec<PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let points = table.split(|byte| *byte == b'\n').filter_map(mount_point);
    points.filter(|point| point != path && point.starts_with(path)).collect()
}

/// Where the file system that `path` lies on is mounted.
pub fn mount_of(path: &Path) -> Option<PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let points = table.split(|byte| *byte == b'\n').filter_map(mount_point);
    points.filter(|point| path.starts_with(point)).max_by_key(|point| point.as_os_str().len())
}

/// The fifth field of a line of mountinfo (proc(5)).
fn mount_point(line: &[u8]) -> Option<PathBuf> {
    let field = line.split(|byte| *byte == b' ').nth(4)?;
    Some(PathBuf::from(OsString::from_vec(plain(field))))
}

/// Spaces and the like are written as three octal digits.
fn plain(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| byte == b'\\').and_then(|digits| {
            std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 8).ok())
        });
        out.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_is_the_fifth_field() {
        let line = br"36 35 98:0 /mnt1 /mnt/a\040b\134c rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(mount_point(line).unwrap(), Path::new(r"/mnt/a b\c"));
        assert_eq!(mount_point(b""), None);
    }

    proptest::proptest! {
        #[test]
        fn no_line_panics(line: Vec<u8>) {
            let _ = mount_point(&line);
        }
    }
}
