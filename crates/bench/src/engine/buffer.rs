use std::ffi::c_void;
use std::ptr::NonNull;

use fault::{Fault, Kind, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Page-aligned memory for I/O, in equal parts. Aligned for every `O_DIRECT` there is; never moved.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<c_void>,
    part: usize,
    stride: usize,
    parts: usize,
}

/// The largest page size of the supported machines, and more than any device's DMA alignment.
const ALIGNMENT: usize = 4096;

impl Buffer {
    /// `parts` pieces of `part` bytes.
    pub fn new(part: usize, parts: usize) -> Result<Self> {
        let stride = part.max(1).next_multiple_of(ALIGNMENT);
        let length = stride.checked_mul(parts).ok_or_else(|| too_large(part, parts))?;
        // SAFETY: a fresh anonymous mapping overlaps nothing; we own it until `drop`.
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )
        };
        let start = start.ok().and_then(NonNull::new).ok_or_else(|| too_large(part, parts))?;
        Ok(Self { start, part, stride, parts })
    }

    /// Piece number `index`.
    #[inline]
    pub fn part(&mut self, index: usize) -> &mut [u8] {
        assert!(index < self.parts);
        // SAFETY: the piece lies inside the mapping, is initialised (anonymous memory is zero), and is borrowed from
        // `self` exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.address(index), self.part) }
    }

    /// Address of piece `index`, for the kernel.
    #[inline]
    pub fn address(&self, index: usize) -> *mut u8 {
        // SAFETY: `index` is below `parts` in all callers, so the result stays inside the mapping.
        unsafe { self.start.as_ptr().cast::<u8>().add(index * self.stride) }
    }

    /// All pieces as the kernel's vectors, to register them.
    pub fn vectors(&self) -> Vec<libc::iovec> {
        (0..self.parts)
            .map(|index| libc::iovec { iov_base: self.address(index).cast(), iov_len: self.stride })
            .collect()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nobody borrows from it any more.
        let _ = unsafe { munmap(self.start.as_ptr(), self.stride * self.parts) };
    }
}

fn too_large(part: usize, parts: usize) -> Fault {
    Fault::new(Kind::NoSpace, format!("cannot reserve {parts} buffers of {part} bytes of memory"))
        .hint("use a smaller transfer size, queue depth or number of ranks")
}
