//! A program that exists only in memory, and becoming one.
#![allow(unsafe_code)] // execve

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::{Errno, FdFlags, fcntl_setfd};

/// A file in memory that holds these bytes, can be executed but never changed, and stays open across exec.
pub(crate) fn program_in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::ALLOW_SEALING;
    let name = "syscost-tiny";
    let file = match memfd_create(name, flags | MemfdFlags::EXEC) {
        // Before Linux 6.3 there was no such flag, and every such file could be executed.
        Err(Errno::INVAL) => memfd_create(name, flags)?,
        other => other?,
    };
    let mut rest = bytes;
    while !rest.is_empty() {
        rest = &rest[rustix::io::write(&file, rest)?..];
    }
    let forever = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, forever)?;
    Ok(file)
}

/// Becomes a program that also has these descriptors, with its own name as its only argument and an
/// empty environment. Returns only if that fails.
pub(crate) fn execute(program: &CStr, kept: &[BorrowedFd<'_>]) -> io::Error {
    for descriptor in kept {
        if let Err(cause) = fcntl_setfd(descriptor, FdFlags::empty()) {
            return cause.into();
        }
    }
    let (arguments, environment) = ([program.as_ptr(), ptr::null()], [ptr::null()]);
    // SAFETY: a string and two lists of strings, each ended by a null pointer.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// The arguments of fcntl by which a descriptor is closed when another program is executed.
pub(crate) fn close_on_exec(descriptor: i32) -> [u64; 3] {
    [
        descriptor as u64,
        libc::F_SETFD as u64,
        libc::FD_CLOEXEC as u64,
    ]
}

/// The arguments of the call that maps this many bytes of private memory at an address.
pub(crate) fn private_pages_at(address: u64, bytes: u64) -> [u64; 6] {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    [address, bytes, access as u64, kind as u64, u64::MAX, 0]
}
