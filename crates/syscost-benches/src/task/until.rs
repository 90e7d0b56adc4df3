//! Shared: a task that is made and then ended, timed up to either moment.
#![allow(unsafe_code)] // sched_setscheduler

use std::cell::Cell;

use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;
use syscost_sys::process;

/// How often the maker gave up its CPU within the timed call.
const PREEMPTED: &str = "involuntary switches within the call";

/// Measures `create` alone or `create` and `end` together (`until=reaped`). `ending` are the calls that
/// belong to the task's end: its own last one, and the wait.
///
/// Alone, the call must come back before the new task runs, which has the same CPU to run on: so the maker is of the
/// class SCHED_BATCH for so long, whose new tasks preempt nobody, and its involuntary switches are counted.
pub(super) fn measure<T>(
    b: &mut Bencher,
    ending: &[Sysno],
    mut create: impl FnMut() -> Result<T, Failure>,
    mut end: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    tell_size(b);
    if b.case().get("until") == "reaped" {
        ending.iter().for_each(|call| b.expect(calls(*call)));
        return b.try_iter(|| end(create()?));
    }
    // The last task of the audit is ended after it: 31 of 32 are counted, or all.
    let nearly_all = |call: &Sysno| within(Counter::Syscall(*call), 0.9, 1.0);
    ending.iter().for_each(|call| b.expect(nearly_all(call)));
    // None is made within the call; that the preparation waits is none of its business.
    b.expect(at_most(Counter::VoluntarySwitches, 0.02));
    b.expect(at_most(Counter::Reported(PREEMPTED), 0.25));
    let _policy = Batch::begin()?;
    let made = Cell::new(None);
    let (mut preempted, mut before) = (0, switches());
    b.single(
        || {
            let after = switches();
            if let Some(task) = made.take() {
                preempted += after - before;
                end(task)?;
            }
            before = switches();
            Ok(())
        },
        || {
            made.set(Some(create()?));
            Ok(())
        },
    )?;
    b.report(PREEMPTED, preempted as f64);
    made.take().map_or(Ok(()), end)
}

/// States how much memory the measuring process has: to copy its tables is most of what a fork costs.
pub(super) fn tell_size(b: &mut Bencher) {
    if let Ok(bytes) = process::resident_bytes() {
        b.detail("resident_bytes", bytes as f64);
    }
}

fn switches() -> u64 {
    Usage::thread().map_or(0, |usage| usage.involuntary_switches)
}

/// The scheduling class SCHED_BATCH, until it goes out of scope.
struct Batch(libc::c_int);

impl Batch {
    fn begin() -> Result<Self, Failure> {
        // SAFETY: asks about the calling thread.
        let before = unsafe { libc::sched_getscheduler(0) };
        set(libc::SCHED_BATCH)?;
        Ok(Self(before))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // Where the class could be changed it can be changed back.
        let _ = set(self.0);
    }
}

fn set(policy: libc::c_int) -> Result<(), Failure> {
    let none = libc::sched_param { sched_priority: 0 };
    // SAFETY: `none` is the parameter that these classes want.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const none) } {
        0 => Ok(()),
        _ => Err(Failure::last_os_error("sched_setscheduler")),
    }
}
