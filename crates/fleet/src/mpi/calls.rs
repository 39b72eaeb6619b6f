use std::ffi::{c_char, c_int, c_void};

use fault::{Fault, Kind, Result};
use libloading::os::unix::Library;

use super::abi::{Abi, Handles, Status};

/// MPI_THREAD_FUNNELED, in both interfaces: the thread that begins is the one that goes on.
const FUNNELED: c_int = 1;
/// Of all our messages.
const TAG: c_int = 0;

type Init = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int;
type OfComm<H> = unsafe extern "C" fn(H, *mut c_int) -> c_int;
type SetHandler<H> = unsafe extern "C" fn(H, H) -> c_int;
type Isend<H> = unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int;
type Iprobe<H> = unsafe extern "C" fn(c_int, c_int, H, *mut c_int, *mut Status) -> c_int;
type Recv<H> = unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut Status) -> c_int;
type GetCount<H> = unsafe extern "C" fn(*const Status, H, *mut c_int) -> c_int;
type Test<H> = unsafe extern "C" fn(*mut H, *mut c_int, *mut Status) -> c_int;
type Finalize = unsafe extern "C" fn() -> c_int;

/// The calls of an MPI library, for one thread.
pub(super) struct Calls<A: Abi> {
    pub rank: u32,
    pub size: u32,
    handles: Handles<A::Handle>,
    isend: Isend<A::Handle>,
    iprobe: Iprobe<A::Handle>,
    recv: Recv<A::Handle>,
    get_count: GetCount<A::Handle>,
    test: Test<A::Handle>,
    finalize: Finalize,
}

// SAFETY: the handles are used by the thread that owns the calls and by no other.
unsafe impl<A: Abi> Send for Calls<A> {}

/// A message on its way; its bytes must stay where they are.
pub(super) struct Sending<A: Abi> {
    request: A::Handle,
    _bytes: Box<[u8]>,
}

// SAFETY: as for `Calls`.
unsafe impl<A: Abi> Send for Sending<A> {}

/// A call that did not succeed.
fn check(what: &str, code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(Fault::new(Kind::Io, format!("{what} failed with code {code}"))) }
}

fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T> {
    let terminated = format!("{name}\0");
    // SAFETY: `T` is the function's type by the MPI standard, with the handles of the library's interface.
    let found = unsafe { library.get::<T>(terminated.as_bytes()) };
    let missing =
        |error| Fault::new(Kind::Unsupported, format!("the MPI library has no `{name}`")).caused_by(error);
    found.map(|symbol| *symbol).map_err(missing)
}

impl<A: Abi> Calls<A> {
    /// MPI_Init_thread, and who we are.
    pub fn begin(library: &Library) -> Result<Self> {
        let init: Init = symbol(library, "MPI_Init_thread")?;
        let comm_rank: OfComm<A::Handle> = symbol(library, "MPI_Comm_rank")?;
        let comm_size: OfComm<A::Handle> = symbol(library, "MPI_Comm_size")?;
        let set_handler: SetHandler<A::Handle> = symbol(library, "MPI_Comm_set_errhandler")?;
        let handles = A::handles(library)?;
        let mut calls = Self {
            rank: 0,
            size: 0,
            handles,
            isend: symbol(library, "MPI_Isend")?,
            iprobe: symbol(library, "MPI_Iprobe")?,
            recv: symbol(library, "MPI_Recv")?,
            get_count: symbol(library, "MPI_Get_count")?,
            test: symbol(library, "MPI_Test")?,
            finalize: symbol(library, "MPI_Finalize")?,
        };
        let (mut provided, mut rank, mut size) = (0, 0, 0);
        // SAFETY: called once, first, with null for the arguments as the standard allows; the others after it succeeded.
        unsafe {
            check(
                "MPI_Init_thread",
                init(std::ptr::null_mut(), std::ptr::null_mut(), FUNNELED, &raw mut provided),
            )?;
            check("MPI_Comm_set_errhandler", set_handler(handles.world, handles.errors_return))?;
            check("MPI_Comm_rank", comm_rank(handles.world, &raw mut rank))?;
            check("MPI_Comm_size", comm_size(handles.world, &raw mut size))?;
        }
        (calls.rank, calls.size) = (rank.unsigned_abs(), size.unsigned_abs());
        Ok(calls)
    }

    /// Begins to send.
    pub fn send(&self, to: u32, bytes: Vec<u8>) -> Result<Sending<A>> {
        let bytes = bytes.into_boxed_slice();
        let mut request = A::no_request();
        let length = c_int::try_from(bytes.len())
            .map_err(|_| Fault::new(Kind::Bug, "a message of more than 2 GiB for MPI"))?;
        let Handles { world, byte, .. } = self.handles;
        // SAFETY: the bytes live in the returned value until the request is done.
        let code = unsafe {
            (self.isend)(bytes.as_ptr().cast(), length, byte, to.cast_signed(), TAG, world, &raw mut request)
        };
        check("MPI_Isend", code)?;
        Ok(Sending { request, _bytes: bytes })
    }

    /// Whether a message has left.
    pub fn is_sent(&self, sending: &mut Sending<A>) -> Result<bool> {
        let (mut flag, mut status) = (0, Status([0; 32]));
        // SAFETY: the request is one of `send`, and not done yet.
        check("MPI_Test", unsafe { (self.test)(&raw mut sending.request, &raw mut flag, &raw mut status) })?;
        Ok(flag != 0)
    }

    /// A message that has come, and who sent it.
    pub fn receive(&self) -> Result<Option<(u32, Vec<u8>)>> {
        let Handles { world, byte, .. } = self.handles;
        let (mut flag, mut length, mut status) = (0, 0, Status([0; 32]));
        // SAFETY: status has room for either interface's; flag and length are the out arguments.
        check("MPI_Iprobe", unsafe {
            (self.iprobe)(A::ANY_SOURCE, TAG, world, &raw mut flag, &raw mut status)
        })?;
        if flag == 0 {
            return Ok(None);
        }
        // SAFETY: status is that of a message.
        check("MPI_Get_count", unsafe { (self.get_count)(&raw const status, byte, &raw mut length) })?;
        let source = status.0[A::SOURCE_PLACE];
        let mut bytes = vec![0u8; length.unsigned_abs() as usize];
        // SAFETY: the buffer is as large as the message that was probed, and nobody else receives.
        check("MPI_Recv", unsafe {
            (self.recv)(bytes.as_mut_ptr().cast(), length, byte, source, TAG, world, &raw mut status)
        })?;
        Ok(Some((source.unsigned_abs(), bytes)))
    }

    /// MPI_Finalize: the last call.
    pub fn end(&self) {
        // SAFETY: nothing is called after it.
        unsafe { (self.finalize)() };
    }
}
