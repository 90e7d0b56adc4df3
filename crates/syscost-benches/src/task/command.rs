//! Shared: the command that a child executes.
#![allow(unsafe_code)] // execve and posix_spawn

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use syscost_harness::prelude::*;
use syscost_sys::raw::syscall3;

use super::child::Child;

/// A file to execute with its own name as its only argument, in an empty environment.
pub(crate) struct Command<'a> {
    path: &'a CStr,
    arguments: [*const c_char; 2],
    environment: [*const c_char; 1],
}

impl<'a> Command<'a> {
    /// This file.
    pub(crate) fn plain(path: &'a CStr) -> Self {
        Self {
            path,
            arguments: [path.as_ptr(), ptr::null()],
            environment: [ptr::null()],
        }
    }

    /// Becomes the program. If that fails, returns the exit status that shells use for a missing file.
    pub(crate) fn execute(&self) -> c_int {
        // SAFETY: a string and two lists of strings, each ended by a null pointer, that live as
        // long as `self`.
        unsafe {
            syscall3(
                Sysno::EXECVE,
                self.path.as_ptr().addr(),
                self.arguments.as_ptr().addr(),
                self.environment.as_ptr().addr(),
            )
        };
        127
    }

    /// Starts the program as a child by the C library's posix_spawn, which returns when it was
    /// executed or failed.
    pub(crate) fn spawn(&self) -> Result<Child, Failure> {
        let mut child = 0;
        // SAFETY: as above; the library only reads, but its declaration lacks `const` for historical reasons.
        let error = unsafe {
            libc::posix_spawn(
                &raw mut child,
                self.path.as_ptr(),
                ptr::null(),
                ptr::null(),
                self.arguments.as_ptr().cast::<*mut c_char>(),
                self.environment.as_ptr().cast::<*mut c_char>(),
            )
        };
        if error == 0 {
            Ok(Child::new(child))
        } else {
            Err(Failure::of(
                &format!("posix_spawn of {}", self.path.to_string_lossy()),
                std::io::Error::from_raw_os_error(error),
            ))
        }
    }
}
