//! Writing to a read-only page, and catching the signal.
//!
//! ## Measures
//! A store to a read-only page: the processor's fault, the kernel's check that it is not allowed,
//! SIGSEGV delivered to a handler that counts, and the return from it. The handler leaves the
//! protection alone, so the store is tried again and faults again. Every 256th time it lets the
//! store through, and the page is guarded anew.
//! ## Does not measure
//! Changes of protection: the two mprotect calls for 256 faults, which are counted, are included,
//! but make less than a hundredth of the result.
//! ## Interpretation
//! `signal.catch` with a fault in place of a kill call. Garbage collectors and user-space paging
//! pay this for each page they guard, and another mprotect to continue.
//! ## Source
//! lmbench `lat_sig prot`, whose handler returns to the same store as well.
#![allow(unsafe_code)] // mappings and signals

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

use libc::{c_int, c_void, siginfo_t};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use syscost_harness::prelude::*;

use super::own::Handler;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Protection fault, caught (SIGSEGV)",
    tags: "segmentation fault, segfault, signal handler, read-only page, page protection, lat_sig",
    expect: &[
        calls(Sysno::RT_SIGRETURN),
        exactly(
            Counter::Syscall(Sysno::MPROTECT),
            2.0 / FAULTS_PER_STORE as f64,
        ),
        exactly(Counter::Reported(CAUGHT), 1.0),
    ],
    measure,
    ..Benchmark::DEFAULT
};

/// Times a store faults before it is let through.
const FAULTS_PER_STORE: u64 = 256;

const CAUGHT: &str = "faults caught";

static PAGE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
/// Faults until the store is let through.
static TO_COME: AtomicU64 = AtomicU64::new(0);
static FAULTS: AtomicU64 = AtomicU64::new(0);

extern "C" fn caught(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let page = PAGE.load(Relaxed);
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid structure, which has an address
    // for this signal.
    let address = unsafe { (*info).si_addr() };
    if !ptr::eq(address.cast(), page) {
        // Another fault: die as without this handler, by returning to the faulting instruction.
        // SAFETY: the default action is always valid.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        return;
    }
    FAULTS.fetch_add(1, Relaxed);
    if TO_COME.fetch_sub(1, Relaxed) == 1 {
        // SAFETY: the page is this benchmark's; if this fails, the next fault's count underflows
        // and the limit on the worker's time ends it.
        let _ = unsafe {
            mprotect(
                page.cast(),
                SIZE,
                MprotectFlags::READ | MprotectFlags::WRITE,
            )
        };
    }
}

/// Bytes mapped, one page wherever pages are not larger than 64 KiB.
const SIZE: usize = 1 << 16;

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let page = Page::new()?;
    let _restore = Handler::install(libc::SIGSEGV, caught)?;
    let before = FAULTS.load(Relaxed);
    let mut outcome = plan.measure(Loop::batches(FAULTS_PER_STORE, |stores| {
        let count = FAULTS.load(Relaxed);
        for _ in 0..stores {
            TO_COME.store(FAULTS_PER_STORE, Relaxed);
            // SAFETY: the mapping is this benchmark's alone, and the handler lets the store through
            // in the end.
            unsafe {
                mprotect(page.0.as_ptr().cast(), SIZE, MprotectFlags::READ)
                    .tried("guard a page")?;
                page.0.as_ptr().write_volatile(1);
            }
        }
        match FAULTS.load(Relaxed) - count {
            faults if faults == stores * FAULTS_PER_STORE => Ok(()),
            faults => Err(Failure::Failed(format!(
                "{stores} stores faulted {faults} times"
            ))),
        }
    }))?;
    outcome.report(CAUGHT, (FAULTS.load(Relaxed) - before) as f64);
    Ok(outcome)
}

/// A separate mapping, known to the handler until dropped.
struct Page(NonNull<u8>);

impl Page {
    fn new() -> Result<Self, Failure> {
        // Shared, so that it never merges with a neighbouring mapping, from which each change would
        // have to split it. SAFETY: a fresh mapping that nothing else knows.
        let address = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                SIZE,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
            )
        }
        .tried("map a page")?;
        let address = NonNull::new(address.cast::<u8>())
            .ok_or_else(|| Failure::of("map a page", "got the null address"))?;
        // SAFETY: the mapping is writable. This makes the page present, so that the first fault is
        // one of protection only.
        unsafe { address.as_ptr().write_volatile(0) };
        PAGE.store(address.as_ptr(), Relaxed);
        Ok(Self(address))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        PAGE.store(ptr::null_mut(), Relaxed);
        // SAFETY: mapped by `new`, and not used again.
        let _ = unsafe { munmap(self.0.as_ptr().cast(), SIZE) };
    }
}
