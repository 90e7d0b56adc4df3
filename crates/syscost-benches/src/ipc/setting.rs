//! Shared: the kind of tasks, their placement, the size of messages, and the partner that takes them.

use syscost_harness::prelude::*;
use syscost_sys::partner::{Between, Shared};

use super::channel::{Channel, Via, named};
use super::ledger::{Ledger, Tally};
use crate::syscall::Bad;

/// What both benchmarks of messages know of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// The mechanism; none of a negative control's, which has its own.
    pub(crate) via: Option<Via>,
    /// Whether the two tasks are processes or threads.
    pub(crate) between: Between,
    /// Where they run.
    pub(crate) placement: Placement,
    /// Bytes per message.
    pub(crate) size: Bytes,
    /// Whether every byte of a message is written and summed up: in the evidence pass, not in the timed one.
    pub(crate) whole: bool,
}

impl Setting {
    /// Maximum number of parts into which a stream may split a message.
    pub(super) fn parts(&self) -> f64 {
        self.size.0.div_ceil(4096) as f64
    }

    /// Expects the calls of an operation of this many messages, and the switches of both tasks: each
    /// side waits once for each part of a message, or as often as its mechanism says. A side that
    /// spins never waits, but may be preempted.
    ///
    /// # Errors
    /// When the row's name contradicts it.
    pub(super) fn expect<C: Channel>(
        &self,
        b: &mut Bencher,
        messages: f64,
        least: f64,
    ) -> Result<(), Failure> {
        for expect in C::calls(messages, self.parts()) {
            b.expect(expect);
        }
        // Newly allocated memory for each message would fault once per page.
        b.expect(at_most(Counter::MinorFaults, 0.01 * self.parts()));
        // A tenth is allowed for other tasks of the machine, and for a side that is woken in the
        // middle of a part.
        let most = 2.3 * C::WAITS * self.parts();
        b.expect(within(Counter::Switches, least, most));
        if !C::SLEEPS {
            b.expect(at_most(Counter::VoluntarySwitches, 0.05));
        }
        named::expect::<C>(b, self.via, messages, self.parts(), least)
    }

    /// Starts the partner, which serves its end until the measurement is over.
    pub(super) fn partner<C: Channel>(
        &self,
        cpus: &[u32],
        mut end: C,
        ledger: &Shared<Ledger>,
        serve: impl FnOnce(Self, &mut C, &Ledger, &Stop) -> Result<Tally, Bad> + Send + 'static,
    ) -> Result<Responder<Tally>, Failure> {
        let (setting, ledger) = (*self, ledger.clone());
        let prepare = move || {
            end.begin();
            Ok(end)
        };
        let serve = move |end: &mut C, stop: &Stop| {
            serve(setting, end, &ledger, stop).inspect_err(|bad| ledger.fail(*bad))
        };
        Responder::start(self.between, cpus, prepare, serve, C::wake_waiters)
    }
}

/// The placements of the partner in most rows: the same CPU, and the nearest other one if there is any.
pub(crate) fn same_and_nearest(here: &Here) -> Vec<Placement> {
    let pinned = |placement: &Placement| *placement != Placement::Free;
    Placement::among(&here.allowed)
        .into_iter()
        .filter(pinned)
        .take(2)
        .collect()
}

/// Minimum number of sleeps per iteration of two tasks that wait for each other alternately. On one
/// CPU each must make way for the other; on two, one or the other may be served before it has
/// fallen asleep, but not always.
pub(crate) fn sleeps(placement: Placement) -> f64 {
    if placement == Placement::SAME {
        1.9
    } else {
        1.0
    }
}

/// Whether people look at such a row first: between processes, on the same CPU, or the nearest other
/// one for tasks that spin.
pub(super) fn is_plain(here: &Here, spins: bool, between: Between, cpus: Placement) -> bool {
    let near = same_and_nearest(here);
    let place = match spins {
        true => near.last(),
        false => near.first(),
    };
    between == Between::Processes && place == Some(&cpus)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Runs a test with a small setting between processes and between threads, on the available CPUs.
    pub(in crate::ipc) fn each(test: impl Fn(Setting, &[u32])) {
        let Ok(cpus) = syscost_sys::cpu::allowed() else {
            println!("skipped: no affinity here");
            return;
        };
        for between in Between::ALL {
            let setting = Setting {
                between,
                via: None,
                placement: Placement::Free,
                size: Bytes(64),
                whole: true,
            };
            test(setting, &cpus);
        }
    }
}
