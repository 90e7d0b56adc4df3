//! Code written at run time, for kernels whose length is a parameter.

use std::mem::transmute;
use std::{ptr, slice};

use super::machine;
use crate::memory::{Memory, Pages};
use crate::{Unsupported, cold_code, os};

/// Code in small pages of its own, which nobody can write to any more.
#[derive(Debug)]
pub(super) struct Written {
    memory: Memory,
}

impl Written {
    /// Makes these instructions executable.
    ///
    /// # Errors
    /// `Unsupported` where the system does not let a process write code, or has no room for it.
    pub(super) fn new(code: &[u8]) -> Result<Self, Unsupported> {
        let memory = Memory::reserve(code.len(), Pages::Small)?;
        // SAFETY: the memory is at least so long, and nobody else knows it.
        let copy = unsafe {
            ptr::copy_nonoverlapping(code.as_ptr(), memory.start(), code.len());
            slice::from_raw_parts(memory.start(), code.len())
        };
        // No instruction cache may still hold what was at these addresses before.
        cold_code::evict(copy)?;
        let bytes = memory.bytes();
        os::make_executable(memory.start(), bytes).map_err(|cause| {
            Unsupported::new(format!(
                "execute {bytes} bytes of code written at run time: {cause}"
            ))
        })?;
        Ok(Self { memory })
    }

    /// How the code is entered, which must keep to the calling convention of kernels.
    #[inline]
    pub(super) fn entry(&self) -> machine::Entry {
        // SAFETY: the memory begins with code; calling it is unsafe all the same.
        unsafe { transmute::<*mut u8, machine::Entry>(self.memory.start()) }
    }

    /// The memory that it lies in, which can be read and executed only.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }
}
