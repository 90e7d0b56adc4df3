//! Pages that another thread of the process provides.
#![allow(unsafe_code)] // ioctls of userfaultfd

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::topology::Relation;

use crate::memory::space::area::Area;

/// Maximum number of pages per batch; one more page ends the thread.
const MAX_PAGES: usize = 2048;

const COPIED: &str = "pages put in by the thread";

pub(super) const EXPECT: [Expect; 6] = [
    together(Sysno::READ, 1.0),
    together(Sysno::IOCTL, 1.0),
    switches(2.0),
    // In some kernels the access is retried, and then counts as a major fault.
    at_most(Counter::MinorFaults, 1.05),
    at_most(Counter::MajorFaults, 1.05),
    exactly(Counter::Reported(COPIED), 1.0),
];

pub(super) fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let measured = plan.measure(Together::of(Placement::At(Relation::SameCpu), team))?;
    let (mut outcome, (_, copied)) = measured.split();
    outcome.report(COPIED, copied as f64);
    Ok(outcome)
}

fn team<'t>(cpus: &[u32]) -> Result<Team<'t, (Absent, u64)>, Failure> {
    let page = page_size();
    let area = Area::reserve((MAX_PAGES + 1) * page, Pages::Small)?;
    let faults = Faults::of(&area)?;
    // After the pages of the longest batch: touching it ends the thread.
    let last_page = area.memory().start().addr() + MAX_PAGES * page;
    let mut source = vec![0_u64; page / 8 * 2];
    source.fill(0x5a5a);
    let serve = move |faults: &mut Faults, _: &Stop| -> Result<u64, Failure> {
        // A whole page within a buffer of twice its size.
        let from = source.as_ptr().addr().next_multiple_of(page);
        let mut copied = 0;
        loop {
            let address = faults.next().map_err(failed)?;
            let served = faults.copy(from, address - address % page, page);
            served.map_err(failed)?;
            if address >= last_page {
                return Ok(copied);
            }
            copied += 1;
        }
    };
    let responder = Responder::start(Between::Threads, cpus, || Ok(faults), serve, |_| {})?;
    Ok(responder.driven_by(Absent(area)))
}

fn failed(cause: io::Error) -> Failure {
    Failure::of("serve a page fault", cause)
}

/// The memory whose pages are made absent before each batch.
struct Absent(Area);

impl Driver for Absent {
    const MAX_ITERATIONS: u64 = MAX_PAGES as u64;
    const IS_PREPARED: bool = true;

    fn prepare(&mut self) -> Result<(), Failure> {
        self.0.forget()
    }

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.0.write(0..iterations as usize);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.0.read(MAX_PAGES..MAX_PAGES + 1);
        Ok(())
    }
}

/// The descriptor by which the kernel reports faults.
struct Faults(File);

/// `struct uffdio_api`.
#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

/// `struct uffdio_register`.
#[repr(C)]
struct Register {
    start: u64,
    length: u64,
    mode: u64,
    ioctls: u64,
}

/// `struct uffdio_copy`.
#[repr(C)]
struct Copy {
    to: u64,
    from: u64,
    length: u64,
    mode: u64,
    copied: i64,
}

/// Size of `struct uffd_msg`, number of the event, and offset of its address.
const MESSAGE: usize = 32;
const PAGE_FAULT: u8 = 0x12;
const ADDRESS_AT: usize = 16;

/// Report only faults in user mode, not those of the kernel on the program's behalf: that needs no privilege.
const USER_MODE_ONLY: libc::c_long = 1;
const VERSION: u64 = 0xaa;
const MODE_MISSING: u64 = 1;

/// `_IOWR(0xaa, number, size)`.
const fn request(number: u64, size: usize) -> u64 {
    (3 << 30) | ((size as u64) << 16) | (0xaa << 8) | number
}

impl Faults {
    /// Registers this memory, whose absent pages are then left to us.
    fn of(area: &Area) -> Result<Self, Failure> {
        let flags = libc::c_long::from(libc::O_CLOEXEC);
        let open = |flags| match make(flags) {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: a descriptor that the kernel just gave us.
            fd => Ok(unsafe { File::from_raw_fd(fd) }),
        };
        let file = open(flags | USER_MODE_ONLY)
            .or_else(|cause| match cause.raw_os_error() {
                // Before Linux 5.11.
                Some(libc::EINVAL) => open(flags),
                _ => Err(cause),
            })
            .map_err(|cause| Failure::Unsupported(format!("userfaultfd: {cause}")))?;
        let faults = Self(file);
        let failed = |cause: io::Error| Failure::Unsupported(format!("userfaultfd ioctl: {cause}"));
        let mut api = Api {
            api: VERSION,
            features: 0,
            ioctls: 0,
        };
        faults.ask(0x3f, &mut api).map_err(failed)?;
        let mut register = Register {
            start: area.memory().start().addr() as u64,
            length: area.memory().bytes() as u64,
            mode: MODE_MISSING,
            ioctls: 0,
        };
        faults.ask(0x00, &mut register).map_err(failed)?;
        Ok(faults)
    }

    /// Waits for the next fault, and returns its address.
    fn next(&self) -> io::Result<usize> {
        let mut message = [0; MESSAGE];
        (&self.0).read_exact(&mut message)?;
        if message[0] != PAGE_FAULT {
            return Err(io::Error::other(format!(
                "event {:#x} is no fault",
                message[0]
            )));
        }
        let mut address = [0; 8];
        address.copy_from_slice(&message[ADDRESS_AT..ADDRESS_AT + 8]);
        Ok(u64::from_ne_bytes(address) as usize)
    }

    /// Copies a page in, and wakes the thread that waits for it.
    fn copy(&self, from: usize, to: usize, length: usize) -> io::Result<()> {
        let mut copy = Copy {
            to: to as u64,
            from: from as u64,
            length: length as u64,
            mode: 0,
            copied: 0,
        };
        self.ask(0x03, &mut copy)
    }

    fn ask<T>(&self, number: u64, argument: &mut T) -> io::Result<()> {
        let request = request(number, size_of::<T>());
        // SAFETY: the structure is the one that this request takes, by its size in the request as
        // well; memory that a copy goes to is an area of ours, to which there is no reference.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), request as _, argument) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

/// userfaultfd(2), for which the C library has no function.
fn make(flags: libc::c_long) -> i32 {
    // SAFETY: returns a descriptor; nothing is registered yet.
    unsafe { libc::syscall(libc::SYS_userfaultfd, flags) as i32 }
}
