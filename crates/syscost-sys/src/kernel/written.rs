//! Code written at run time, for kernels whose length is a parameter.

use std::mem::transmute;
use std::{ptr, slice};

use super::machine;
use crate::{Unsupported, cold_code, os};

/// Code in pages of its own, which nobody can write to any more.
#[derive(Debug)]
pub(super) struct Written {
    start: *mut u8,
    bytes: usize,
}

impl Written {
    /// Makes these instructions executable.
    ///
    /// # Errors
    /// `Unsupported` where the system does not let a process write code.
    pub(super) fn new(code: &[u8]) -> Result<Self, Unsupported> {
        let bytes = code.len().next_multiple_of(os::page_size());
        let refused = |what: &str, cause| {
            Unsupported::new(format!(
                "{what} {bytes} bytes for code written at run time: {cause}"
            ))
        };
        let start = os::map(bytes, false).map_err(|cause| refused("map", cause))?;
        let written = Self { start, bytes };
        // SAFETY: the mapping is at least so long, and nobody else knows it.
        let copy = unsafe {
            ptr::copy_nonoverlapping(code.as_ptr(), start, code.len());
            slice::from_raw_parts(start, code.len())
        };
        // No instruction cache may still hold what was at these addresses before.
        cold_code::evict(copy)?;
        os::make_executable(start, bytes).map_err(|cause| refused("execute", cause))?;
        Ok(written)
    }

    /// How the code is entered, which must keep to the calling convention of kernels.
    #[inline]
    pub(super) fn entry(&self) -> machine::Entry {
        // SAFETY: the mapping begins with code; calling it is unsafe all the same.
        unsafe { transmute::<*mut u8, machine::Entry>(self.start) }
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        os::unmap(self.start, self.bytes);
    }
}
