//! liblustreapi, loaded when it is asked for, so that Forebay runs where there is no Lustre.

use std::ffi::{CStr, CString, c_char, c_int, c_longlong, c_void};
use std::path::Path;

use fault::{Fault, Kind};
use libloading::{Library, Symbol};
use store::Errno;

use super::record::{Fid, LONGEST_HEAD, length};

/// Bytes of the longest path that we ask for.
const PATH: c_int = 64 << 10;
/// More names than this of one file are not asked for.
const MOST_NAMES: c_int = 10_000;

type Start = unsafe extern "C" fn(*mut *mut c_void, c_int, *const c_char, c_longlong) -> c_int;
type Receive = unsafe extern "C" fn(*mut c_void, *mut *mut u8) -> c_int;
type Free = unsafe extern "C" fn(*mut *mut u8) -> c_int;
type Finish = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
type Clear = unsafe extern "C" fn(*const c_char, *const c_char, c_longlong) -> c_int;
type PathOf = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *mut c_char,
    c_int,
    *mut c_longlong,
    *mut c_int,
) -> c_int;

/// The functions of liblustreapi that we call.
#[derive(Debug)]
pub struct Lustre {
    library: Library,
}

impl Lustre {
    /// Loads it.
    pub fn load() -> fault::Result<Self> {
        let names = ["liblustreapi.so.1", "liblustreapi.so"];
        let mut why = String::new();
        for name in names {
            // SAFETY: liblustreapi's initialisers do nothing but set up its own logging.
            match unsafe { Library::new(name) } {
                Ok(library) => return Ok(Self { library }),
                Err(error) => why = error.to_string(),
            }
        }
        Err(Fault::new(Kind::Usage, format!("cannot load liblustreapi, which reads changelogs: {why}"))
            .hint("install the Lustre client, or watch with --watch-by best"))
    }

    fn symbol<T>(&self, name: &CStr) -> fault::Result<Symbol<'_, T>> {
        // SAFETY: the types above are those of lustreapi.h (2.12 to 2.17).
        unsafe { self.library.get(name.to_bytes_with_nul()) }.map_err(|error| {
            Fault::new(Kind::Usage, format!("liblustreapi has no {}: {error}", name.to_string_lossy()))
                .hint("use Lustre 2.12 or later")
        })
    }

    /// Gives every record of `mdt` from number `from` on to `each`, as bytes, until there are no more.
    pub fn records(&self, mdt: &CStr, from: u64, mut each: impl FnMut(&[u8])) -> fault::Result<()> {
        let start: Symbol<'_, Start> = self.symbol(c"llapi_changelog_start")?;
        let receive: Symbol<'_, Receive> = self.symbol(c"llapi_changelog_recv")?;
        let free: Symbol<'_, Free> = self.symbol(c"llapi_changelog_free")?;
        let finish: Symbol<'_, Finish> = self.symbol(c"llapi_changelog_fini")?;
        let mut log = std::ptr::null_mut();
        // SAFETY: `mdt` is a C string; `log` takes the reader, which `finish` gives back below.
        let code = unsafe { start(&raw mut log, 0, mdt.as_ptr(), from.cast_signed()) };
        check("read the changelog of", mdt, code)?;
        let result = loop {
            let mut record: *mut u8 = std::ptr::null_mut();
            // SAFETY: `log` is the reader that `start` made.
            let code = unsafe { receive(log, &raw mut record) };
            if code != 0 {
                // 1 is the end of the log as it is now.
                let ended = code > 0 || Errno::from_raw_os_error(-code) == Errno::AGAIN;
                break if ended { Ok(()) } else { check("read the changelog of", mdt, code) };
            }
            each(bytes_of(record));
            // SAFETY: `record` is what `receive` gave, and is not used afterwards.
            unsafe { free(&raw mut record) };
        };
        // SAFETY: `log` is the reader that `start` made, and is not used afterwards.
        unsafe { finish(&raw mut log) };
        result
    }

    /// Lets the MDT forget all records up to number `upto`, as far as `user` is concerned.
    pub fn clear(&self, mdt: &CStr, user: &CStr, upto: u64) -> fault::Result<()> {
        // Zero would mean: all of them, also those that nobody has read.
        if upto == 0 {
            return Ok(());
        }
        let clear: Symbol<'_, Clear> = self.symbol(c"llapi_changelog_clear")?;
        // SAFETY: both are C strings.
        let code = unsafe { clear(mdt.as_ptr(), user.as_ptr(), upto.cast_signed()) };
        check("clear the changelog of", mdt, code)
    }

    /// All paths of a file, relative to the root of what is mounted at `mount`.
    pub fn paths(&self, mount: &CStr, fid: Fid) -> fault::Result<Vec<Vec<u8>>> {
        let path_of: Symbol<'_, PathOf> = self.symbol(c"llapi_fid2path")?;
        let text = c_string(fid.to_string().as_bytes())?;
        let mut found = Vec::new();
        let mut link = 0;
        loop {
            let (mut buffer, mut record, before) = (vec![0u8; PATH as usize], -1, link);
            // SAFETY: the strings end with NUL; `buffer` has the size that is given; the numbers outlive the call.
            let code = unsafe {
                path_of(
                    mount.as_ptr(),
                    text.as_ptr(),
                    buffer.as_mut_ptr().cast::<c_char>(),
                    PATH,
                    &raw mut record,
                    &raw mut link,
                )
            };
            match Errno::from_raw_os_error(-code) {
                _ if code == 0 => {}
                Errno::NOENT | Errno::STALE => return Ok(found),
                error => return Err(Fault::os("find the path of", Path::new(&fid.to_string()), error)),
            }
            let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
            let start = buffer[..end].iter().position(|byte| *byte != b'/').unwrap_or(end);
            found.push(buffer[start..end].to_vec());
            // It counts up as long as there are more names.
            if link <= before || link >= MOST_NAMES {
                return Ok(found);
            }
        }
    }
}

/// The bytes of a record that the library gave.
fn bytes_of<'a>(record: *const u8) -> &'a [u8] {
    if record.is_null() {
        return &[];
    }
    // SAFETY: the library allocates records with CR_MAXSIZE (more than 8 KiB) bytes, so a head can always be read; then
    // the head says how many bytes there are, which is never more than that.
    unsafe {
        let head = std::slice::from_raw_parts(record, LONGEST_HEAD);
        std::slice::from_raw_parts(record, length(head).unwrap_or(0))
    }
}

/// Bytes as a C string.
pub fn c_string(bytes: &[u8]) -> fault::Result<CString> {
    CString::new(bytes)
        .map_err(|_| Fault::new(Kind::Usage, format!("`{}` has a NUL in it", store::printable(bytes))))
}

fn check(action: &str, mdt: &CStr, code: c_int) -> fault::Result<()> {
    if code >= 0 {
        return Ok(());
    }
    let error = Errno::from_raw_os_error(-code);
    let fault = Fault::os(action, Path::new(&*mdt.to_string_lossy()), error);
    Err(match error {
        Errno::NOENT | Errno::INVAL => {
            fault.hint("register a user on its server first: lctl --device MDT changelog_register")
        }
        Errno::ACCESS | Errno::PERM => fault.hint("changelogs are for root"),
        _ => fault,
    })
}
