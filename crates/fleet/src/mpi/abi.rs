//! The two binary interfaces of MPI: Open MPI's handles are addresses of its objects, those of MPICH and its relatives (the
//! "MPICH ABI", also Intel MPI, MVAPICH, Cray) are numbers.

use std::ffi::{c_int, c_void};

use fault::{Fault, Kind, Result};
use libloading::os::unix::Library;

/// The room for a status; both interfaces need less.
#[repr(C, align(8))]
pub(super) struct Status(pub [c_int; 32]);

/// What differs.
pub(super) trait Abi: Send + 'static {
    /// Of a communicator, a type, a request, an error handler.
    type Handle: Copy;
    /// For messages from whomever.
    const ANY_SOURCE: c_int;
    /// Where a status has the sender.
    const SOURCE_PLACE: usize;

    fn handles(library: &Library) -> Result<Handles<Self::Handle>>;
    fn no_request() -> Self::Handle;
}

/// The handles that are used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handles<H> {
    pub world: H,
    pub byte: H,
    /// Errors come back as codes, instead of ending everything.
    pub errors_return: H,
}

/// Of Open MPI.
pub(super) struct OpenMpi;

/// Of MPICH and its relatives; the numbers are those of its `mpi.h`, which the ABI agreement of 2013 fixes.
pub(super) struct Mpich;

impl Abi for OpenMpi {
    type Handle = *mut c_void;
    const ANY_SOURCE: c_int = -1;
    const SOURCE_PLACE: usize = 0;

    fn handles(library: &Library) -> Result<Handles<*mut c_void>> {
        let address = |name: &str| {
            let symbol = format!("{name}\0");
            // SAFETY: the symbol is a global object of the library; its address is the handle, nothing is read.
            let found = unsafe { library.get::<*mut c_void>(symbol.as_bytes()) };
            let missing = |error| {
                Fault::new(Kind::Unsupported, format!("the MPI library has no `{name}`")).caused_by(error)
            };
            found.map(libloading::os::unix::Symbol::into_raw).map_err(missing)
        };
        Ok(Handles {
            world: address("ompi_mpi_comm_world")?,
            byte: address("ompi_mpi_byte")?,
            errors_return: address("ompi_mpi_errors_return")?,
        })
    }

    fn no_request() -> *mut c_void {
        std::ptr::null_mut()
    }
}

impl Abi for Mpich {
    type Handle = c_int;
    const ANY_SOURCE: c_int = -2;
    const SOURCE_PLACE: usize = 2;

    fn handles(_: &Library) -> Result<Handles<c_int>> {
        Ok(Handles { world: 0x4400_0000, byte: 0x4c00_010d, errors_return: 0x5400_0001 })
    }

    fn no_request() -> c_int {
        0x2c00_0000
    }
}
