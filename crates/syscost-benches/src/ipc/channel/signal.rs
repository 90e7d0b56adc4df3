//! Queued signals that carry a word each, taken without a handler.
#![allow(unsafe_code)] // raw system calls

use std::ptr;
use std::sync::Arc;

use rustix::event::Timespec;
use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::raw::{syscall3, syscall4};

use super::mechanism::Mechanism;
use super::{Channel, Ends};
use crate::ipc::message::Message;
use crate::signal::own::{Blocked, SET_BYTES, set_of};
use crate::syscall::{Bad, checked};

pub(super) const MECHANISM: Mechanism = Mechanism {
    calls: |of| of.each([Sysno::RT_SIGQUEUEINFO, Sysno::RT_SIGTIMEDWAIT]),
    ..Mechanism::word()
};

pub(super) struct Signals {
    /// The process of the other end.
    other: u32,
    info: Info,
    held: Arc<HeldBack>,
}

/// The siginfo_t of 64-bit kernels, as sigqueue(3) fills it.
#[repr(C)]
struct Info {
    signal: i32,
    errno: i32,
    code: i32,
    gap: i32,
    process: u32,
    user: u32,
    word: [u8; 8],
    rest: [u8; 96],
}

impl Info {
    fn new(signal: i32, process: u32, user: u32) -> Self {
        Self {
            signal,
            errno: 0,
            code: libc::SI_QUEUE,
            gap: 0,
            process,
            user,
            word: [0; 8],
            rest: [0; 96],
        }
    }
}

pub(super) fn open(_: usize) -> Result<Ends<Signals>, Failure> {
    if size_of::<usize>() != 8 {
        let why = "a signal carries 8 bytes on 64-bit systems only";
        return Err(Failure::Unsupported(why.into()));
    }
    // One of the queued signals, which the C library and debuggers do not use.
    let signal = libc::SIGRTMIN() + 1;
    let held = Arc::new(HeldBack {
        signal,
        _blocked: Blocked::one(signal)?,
    });
    let user = rustix::process::getuid().as_raw();
    let end = || Signals {
        other: std::process::id(),
        info: Info::new(signal, std::process::id(), user),
        held: Arc::clone(&held),
    };
    Ok((end(), end()))
}

impl Channel for Signals {
    fn meet(&mut self, partner: TaskId) {
        self.other = partner.process;
    }

    fn begin(&mut self) {
        self.info.process = std::process::id();
    }

    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        let word = message.bytes();
        self.info.word.copy_from_slice(word);
        let info = &raw const self.info;
        let (process, signal) = (self.other as usize, self.held.signal as usize);
        // SAFETY: the signal goes to the other end, which blocks it; its info outlives the call.
        checked(unsafe {
            syscall3(
                Sysno::RT_SIGQUEUEINFO,
                process,
                signal,
                info.expose_provenance(),
            )
        })?;
        Ok(word.len())
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        let info = take(self.held.signal, None)?;
        message.bytes_mut().copy_from_slice(&info.word);
        Ok(info.word.len())
    }

    fn wake_waiters(&mut self) {
        let mut none = Message::new(size_of::<u64>());
        none.bytes_mut().fill(0);
        // A word that no message has. If this fails, the time limit ends the wait.
        let _ = self.send(&none);
    }
}

/// Takes a blocked signal, waiting for it without a timeout if there is no limit.
fn take(signal: i32, limit: Option<Timespec>) -> Result<Info, Bad> {
    let set = set_of(signal);
    let mut info = Info::new(0, 0, 0);
    let (set_at, info_at) = (&raw const set, &raw mut info);
    let limit_at = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
    loop {
        // SAFETY: the set, the timeout and the info outlive the call and have the sizes that the
        // kernel expects.
        let taken = checked(unsafe {
            syscall4(
                Sysno::RT_SIGTIMEDWAIT,
                set_at.expose_provenance(),
                info_at.expose_provenance(),
                limit_at.expose_provenance(),
                SET_BYTES,
            )
        });
        match taken {
            Ok(_) => return Ok(info),
            Err(Bad::Refused(Errno::INTR)) => {}
            Err(bad) => return Err(bad),
        }
    }
}

/// The signal is blocked until this is dropped; pending ones are taken first, since they would end
/// the process.
struct HeldBack {
    signal: i32,
    _blocked: Blocked,
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        while take(self.signal, Some(now)).is_ok() {}
    }
}
