//! The receiver reads the sender's memory after it was woken by a futex.
#![allow(unsafe_code)] // reading another process's memory

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall6;

use super::gate::{self, Gate};
use super::mechanism::{ALL, Mechanism, Rows, SOME};
use super::{Channel, Ends, crossed};
use crate::ipc::message::Message;
use crate::syscall::{Bad, checked, must};

/// One direction: a message stays in the sender's memory until it is taken.
#[derive(Default)]
struct Desk {
    at: AtomicUsize,
    put: Gate,
    taken: Gate,
}

pub(super) const MECHANISM: Mechanism = Mechanism {
    calls: |of| {
        vec![
            together(Sysno::PROCESS_VM_READV, of.messages),
            // Each of two gates takes a wait and a wake, and twice that if the task that advanced
            // it was preempted before it woke the other: its late wake-up is useless.
            within(Counter::Syscall(gate::CALL), 0.0, 8.2 * of.messages),
        ]
    },
    round_trips: Rows {
        same: ALL,
        other: SOME,
        ..Rows::ROUND_TRIPS
    },
    bandwidths: Rows::LONG_BANDWIDTHS,
    ..Mechanism::PLAIN
};

pub(super) struct VmRead {
    from: Shared<Desk>,
    to: Shared<Desk>,
    other: u32,
    put: u32,
    taken: u32,
    _open: Arc<OpenToChildren>,
}

/// The word that the probe looks for.
const WORD: [u8; 8] = *b"in sight";

pub(super) fn open(_: usize) -> Result<Ends<VmRead>, Failure> {
    let desk = || {
        let desk = Shared::new(Desk::default()).tried("share memory")?;
        Ok((desk.clone(), desk))
    };
    let open = Arc::new(OpenToChildren::new());
    crossed(desk, |from, to| VmRead {
        from,
        to,
        other: std::process::id(),
        put: 0,
        taken: 0,
        _open: Arc::clone(&open),
    })
}

impl Channel for VmRead {
    /// Tries to read this process's memory from a child.
    fn probe() -> Result<(), Failure> {
        let word = WORD;
        let (process, at) = (std::process::id(), (&raw const word).expose_provenance());
        let _open = OpenToChildren::new();
        let cpus = syscost_sys::cpu::allowed()?;
        let read = move || {
            let mut seen = [0; WORD.len()];
            let came = read_from(process, at, &mut seen);
            came.and_then(|_| must(seen == WORD)).map_err(|bad| match bad {
                Bad::Refused(Errno::PERM | Errno::NOSYS) => Failure::Unsupported(format!(
                    "a process may not read its parent's memory here (kernel.yama.ptrace_scope, or a filter of system calls?): {bad}"
                )),
                bad => Failure::of("read a parent's memory", bad),
            })
        };
        TaskGroup::new(Between::Processes)?.add(&cpus, read, |(), _| Ok(()))
    }

    fn meet(&mut self, partner: TaskId) {
        self.other = partner.process;
    }

    fn settle(&mut self) -> Result<(), Bad> {
        loop {
            let taken = self.to.taken.get();
            if taken == self.put {
                return Ok(());
            }
            self.to.taken.past(taken)?;
        }
    }

    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        let bytes = message.bytes();
        self.to
            .at
            .store(bytes.as_ptr().expose_provenance(), Relaxed);
        self.put = self.put.wrapping_add(1);
        self.to.put.set(self.put);
        Ok(bytes.len())
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        self.from.put.past(self.taken)?;
        let at = self.from.at.load(Relaxed);
        let came = read_from(self.other, at, message.bytes_mut())?;
        self.taken = self.taken.wrapping_add(1);
        self.from.taken.set(self.taken);
        Ok(came)
    }

    fn wake_waiters(&mut self) {
        self.to.put.close();
        self.from.taken.close();
    }
}

/// Reads from an address in another process.
fn read_from(process: u32, address: usize, into: &mut [u8]) -> Result<usize, Bad> {
    let here = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let there = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(address),
        iov_len: into.len(),
    };
    let (here_at, there_at) = (&raw const here, &raw const there);
    // SAFETY: one range in this process, which we may write, and one in the other, which the kernel checks.
    checked(unsafe {
        syscall6(
            Sysno::PROCESS_VM_READV,
            process as usize,
            here_at.expose_provenance(),
            1,
            there_at.expose_provenance(),
            1,
            0,
        )
    })
}

/// Permits processes that this one starts to read its memory where Yama would not, while it lives.
struct OpenToChildren(u32);

impl OpenToChildren {
    fn new() -> Self {
        let process = std::process::id();
        allow_readers(process as libc::c_ulong);
        Self(process)
    }
}

impl Drop for OpenToChildren {
    fn drop(&mut self) {
        if self.0 == std::process::id() {
            allow_readers(0);
        }
    }
}

/// Permits all descendants of this process to read its memory; 0 withdraws the permission.
fn allow_readers(process: libc::c_ulong) {
    // Without Yama it is not necessary.
    // SAFETY: changes one setting of this process.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, process) };
}
