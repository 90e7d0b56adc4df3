//! Kernel objects that have a name and outlive their creator: SysV and POSIX queues, SysV semaphores.
#![allow(unsafe_code)] // none of these has a safe wrapper

use std::ffi::CStr;
use std::io;

/// Permissions of an object: for its owner to read and write.
const OWNER_ONLY: i32 = 0o600;

fn result(value: i32) -> io::Result<i32> {
    if value < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(value)
    }
}

/// A new SysV message queue; `AlreadyExists` when the key is in use.
pub(crate) fn make_message_queue(key: i32) -> io::Result<i32> {
    // SAFETY: takes numbers only.
    result(unsafe { libc::msgget(key, libc::IPC_CREAT | libc::IPC_EXCL | OWNER_ONLY) })
}

/// A new set of SysV semaphores, all 0; `AlreadyExists` when the key is in use.
pub(crate) fn make_semaphores(key: i32, count: u16) -> io::Result<i32> {
    let flags = libc::IPC_CREAT | libc::IPC_EXCL | OWNER_ONLY;
    // SAFETY: takes numbers only.
    result(unsafe { libc::semget(key, i32::from(count), flags) })
}

pub(crate) fn remove_message_queue(key: i32) -> io::Result<()> {
    // SAFETY: takes numbers only.
    let id = result(unsafe { libc::msgget(key, 0) })?;
    // SAFETY: removal needs no buffer.
    result(unsafe { libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()) }).map(drop)
}

pub(crate) fn remove_semaphores(key: i32) -> io::Result<()> {
    // SAFETY: takes numbers only.
    let id = result(unsafe { libc::semget(key, 0, 0) })?;
    // SAFETY: removal needs no fourth argument.
    result(unsafe { libc::semctl(id, 0, libc::IPC_RMID) }).map(drop)
}

pub(crate) fn remove_posix_queue(name: &CStr) -> io::Result<()> {
    // SAFETY: a string that ends in a zero byte.
    result(unsafe { libc::mq_unlink(name.as_ptr()) }).map(drop)
}

pub(crate) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}
