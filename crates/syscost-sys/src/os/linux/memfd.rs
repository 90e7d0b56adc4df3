//! A program that exists only in memory.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

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
