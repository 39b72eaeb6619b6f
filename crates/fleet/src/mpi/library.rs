use std::ffi::{c_char, c_int};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use libloading::os::unix::{Library as Dynamic, RTLD_GLOBAL, RTLD_NOW};

use super::abi::{Mpich, OpenMpi};
use super::calls::Calls;
use super::messages::Messages;
use super::wrong_pair;
use crate::carrier::Carrier;
use crate::launcher::{Launch, Launcher, Pmi};

/// Names the MPI library to be used.
pub const OVERRIDE: &str = "FOREBAY_MPI_LIBRARY";

/// File names of the families' libraries. Each family's version in the name has been the same for ten years and more.
const OPEN_MPI: [&str; 1] = ["libmpi.so.40"];
const MPICH: [&str; 3] = ["libmpich.so.12", "libmpi.so.12", "libmpi_cray.so.12"];

/// Where installations put them, beside where the system looks anyway (`LD_LIBRARY_PATH`, `module load`).
const FOLDERS: [&str; 8] = [
    "/usr/lib64/openmpi/lib",
    "/usr/lib64/mpich/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/local/lib",
    "/opt/openmpi/lib",
    "/opt/mpich/lib",
    "/opt/cray/pe/lib64",
];

/// Variables that name where an MPI is installed.
const HOMES: [&str; 4] = ["OPAL_PREFIX", "MPI_HOME", "I_MPI_ROOT", "MPI_ROOT"];

/// A loaded MPI library.
pub(super) struct Library {
    dynamic: Dynamic,
    /// `Open MPI 4.1.4`.
    pub name: String,
    /// Where it was loaded from.
    pub path: String,
}

impl Library {
    /// The library that belongs to a launcher.
    pub fn find(launcher: Launcher) -> Result<Self> {
        if let Some(path) = std::env::var_os(OVERRIDE).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            return load(&path).map_err(|error| {
                Fault::new(
                    Kind::NotFound,
                    format!("cannot load the MPI library `{}`: {error}", path.display()),
                )
                .hint(format!("{OVERRIDE} must name an MPI library, such as /usr/lib/libmpi.so.40"))
            });
        }
        let tried = candidates(launcher);
        tried.iter().find_map(|path| load(path).ok()).ok_or_else(|| none(launcher))
    }

    /// Begins with MPI, in the calling thread, which is then the one that may use it.
    pub fn begin(self, launch: &Launch, neighbours: &[u32]) -> Result<Box<dyn Carrier>> {
        // SAFETY: only whether the symbol is there counts; it is not read.
        let open_mpi = unsafe { self.dynamic.get::<*const u8>(b"ompi_mpi_comm_world\0") }.is_ok();
        let (rank, size, carrier): (u32, u32, Box<dyn Carrier>) = if open_mpi {
            let calls = Calls::<OpenMpi>::begin(&self.dynamic)?;
            (calls.rank, calls.size, Box::new(Messages::new(calls, neighbours)))
        } else {
            let calls = Calls::<Mpich>::begin(&self.dynamic)?;
            (calls.rank, calls.size, Box::new(Messages::new(calls, neighbours)))
        };
        if (rank, size) == (launch.number, launch.processes) {
            // Unloading a library that has threads and handlers of its own ends badly.
            std::mem::forget(self.dynamic);
            return Ok(carrier);
        }
        let fault = wrong_pair(launch, &self, rank, size);
        let mut carrier = carrier;
        carrier.finish();
        std::mem::forget(self.dynamic);
        Err(fault)
    }
}

fn none(launcher: Launcher) -> Fault {
    let family = match launcher {
        Launcher::Mpich | Launcher::Slurm(Pmi::Pmi2) => "MPICH",
        Launcher::OpenMpi | Launcher::Slurm(_) => "Open MPI",
    };
    Fault::new(Kind::NotFound, format!("{} started this process, but no library of {family} is found", launcher.name()))
        .hint(format!(
            "`module load` the MPI of this launcher, or name its library by {OVERRIDE}=/path/to/libmpi.so; without any \
             MPI: `--hosts`, or `srun --mpi=none`"
        ))
}

/// Where the library of a launcher may be, the likeliest first.
fn candidates(launcher: Launcher) -> Vec<PathBuf> {
    let names: &[&str] = match launcher {
        Launcher::Mpich | Launcher::Slurm(Pmi::Pmi2) => &MPICH,
        Launcher::OpenMpi | Launcher::Slurm(_) => &OPEN_MPI,
    };
    let homes = HOMES.iter().filter_map(std::env::var_os).map(|home| PathBuf::from(home).join("lib"));
    let mut folders: Vec<PathBuf> = beside_launcher().into_iter().chain(homes).collect();
    folders.extend(FOLDERS.iter().map(PathBuf::from));
    let bare = names.iter().map(PathBuf::from);
    bare.chain(folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)))).collect()
}

/// The process that started us is the launcher or its daemon: its library is near.
fn beside_launcher() -> Option<PathBuf> {
    let parent = rustix::process::getppid()?;
    let program = std::fs::read_link(format!("/proc/{}/exe", parent.as_raw_nonzero())).ok()?;
    Some(program.parent()?.parent()?.join("lib"))
}

fn load(path: &Path) -> std::result::Result<Library, String> {
    // Plugins of Open MPI expect its symbols to be global.
    // SAFETY: MPI libraries may be loaded at any time before their first call; it is this thread's only library being loaded.
    let dynamic = unsafe { Dynamic::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        source.unwrap_or_else(|| error.to_string())
    })?;
    let name = version(&dynamic)?;
    Ok(Library { dynamic, name, path: loaded_from(path) })
}

/// The file that a bare name led to.
fn loaded_from(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let place = |line: &str| line.find('/').map(|place| line[place..].to_owned());
    let mut files = maps.lines().filter_map(place);
    files.find(|file| file.contains(&name)).unwrap_or_else(|| path.display().to_string())
}

fn version(dynamic: &Dynamic) -> std::result::Result<String, String> {
    type GetVersion = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    // SAFETY: the type is that of the MPI standard.
    let get = unsafe { dynamic.get::<GetVersion>(b"MPI_Get_library_version\0") }
        .map_err(|_| "it is no MPI library")?;
    // MPI_MAX_LIBRARY_VERSION_STRING is 256 in Open MPI and 8192 in MPICH.
    let mut text = vec![0u8; 16384];
    let mut length: c_int = 0;
    // SAFETY: the buffer is larger than any version string; the call is allowed before MPI_Init.
    let code = unsafe { get(text.as_mut_ptr().cast(), &raw mut length) };
    if code != 0 {
        return Err(format!("its MPI_Get_library_version failed with {code}"));
    }
    text.truncate(usize::try_from(length).unwrap_or(0));
    Ok(short_name(&String::from_utf8_lossy(&text)))
}

/// `Open MPI v4.1.4, package: ...` and `MPICH Version:\t4.0.2\n...`, in short.
fn short_name(text: &str) -> String {
    let line = text.trim_matches(['\0', ' ']).lines().next().unwrap_or_default();
    let line = line.split(", package").next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "Version:").collect();
    let plain = |word: &&str| match word.strip_prefix('v') {
        Some(number) if number.starts_with(|first: char| first.is_ascii_digit()) => {
            number.trim_end_matches(',').to_owned()
        }
        _ => word.trim_end_matches(',').to_owned(),
    };
    words.iter().map(plain).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_named_in_short() {
        let open_mpi =
            "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022";
        assert_eq!(short_name(open_mpi), "Open MPI 4.1.4");
        assert_eq!(short_name("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7\n"), "MPICH 4.0.2");
        assert_eq!(
            short_name("Intel(R) MPI Library 2021.9 for Linux* OS\n"),
            "Intel(R) MPI Library 2021.9 for Linux* OS"
        );
    }

    #[test]
    fn what_is_no_mpi_library_is_refused() {
        assert!(load(Path::new("libc.so.6")).err().unwrap().contains("no MPI library"));
        assert!(load(Path::new("/nowhere/libmpi.so.40")).is_err());
    }
}
