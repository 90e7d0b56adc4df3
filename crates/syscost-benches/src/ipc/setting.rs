//! Shared: the kind of tasks, their placement, the size of messages, and the partner that takes them.

use syscost_harness::prelude::*;
use syscost_sys::partner::{Between, Shared};

use super::channel::{Channel, named};
use super::ledger::{Ledger, Tally};
use crate::syscall::Bad;

/// The setting that a case names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Whether the two tasks are processes or threads.
    between: Between,
    /// Where they run.
    pub(super) placement: Placement,
    /// Bytes per message.
    pub(super) bytes: usize,
    /// Whether every byte of a message is written and summed up: in the evidence pass, not in the timed one.
    pub(super) whole: bool,
}

impl Setting {
    /// A setting for the pass that `b` makes.
    pub(crate) fn new(b: &Bencher, between: Between, placement: Placement, bytes: usize) -> Self {
        Self {
            between,
            placement,
            bytes,
            whole: !b.is_timed(),
        }
    }

    /// The setting of the case to measure.
    pub(super) fn of(b: &Bencher) -> Result<Self, Failure> {
        let case = b.case();
        let between =
            Between::from_name(case.get("between")).ok_or_else(|| case.unknown("between"))?;
        let bytes = case.number("size") as usize;
        Ok(Self::new(b, between, Placement::of(case)?, bytes))
    }

    /// Maximum number of parts into which a stream may split a message.
    pub(super) fn parts(&self) -> f64 {
        self.bytes.div_ceil(4096) as f64
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
        named::expect::<C>(b, messages, self.parts(), least)
    }

    /// Starts the partner, which serves its end until the measurement is over.
    pub(super) fn partner<C: Channel>(
        &self,
        cpus: &[u32],
        mut end: C,
        ledger: &Shared<Ledger>,
        serve: impl FnOnce(Self, &mut C, &Ledger, &Stop) -> Result<Tally, Bad> + Send + 'static,
    ) -> Result<Follower<Tally>, Failure> {
        let (setting, ledger) = (*self, ledger.clone());
        let prepare = move || {
            end.begin();
            Ok(end)
        };
        let serve = move |end: &mut C, stop: &Stop| {
            serve(setting, end, &ledger, stop).inspect_err(|bad| ledger.fail(*bad))
        };
        Follower::start(self.between, cpus, prepare, serve, C::hang_up)
    }
}

/// The placements of the partner in most rows: the same CPU, and the nearest other one if there is any.
pub(crate) fn same_and_nearest() -> Vec<Placement> {
    let pinned = |placement: &Placement| *placement != Placement::Free;
    Placement::here()
        .into_iter()
        .filter(pinned)
        .take(2)
        .collect()
}

/// Minimum number of sleeps per turn of two tasks that wait for each other alternately. On one CPU
/// each must make way for the other; on two, one or the other may be served before it has fallen
/// asleep, but not always.
pub(crate) fn sleeps(placement: Placement) -> f64 {
    if placement.name() == "same" { 1.9 } else { 1.0 }
}

/// Whether people look at this case first: between processes, on the same CPU, or the nearest other
/// one for tasks that spin.
pub(super) fn is_plain(case: &Case) -> bool {
    let near = same_and_nearest();
    let place = match case.find("via") {
        Some("shared_spin") => near.last(),
        _ => near.first(),
    };
    case.get("between") == Between::Processes.name()
        && place.is_some_and(|place| place.name() == case.get(Placement::KEY))
}

/// A case with these parameters, in the order of the row's name.
pub(super) fn case(via: &str, between: Between, placement: Placement, bytes: u32) -> Case {
    Case::new([
        ("via", via.to_owned()),
        ("between", between.name().to_owned()),
        (Placement::KEY, placement.name().to_owned()),
        ("size", size_name(bytes as usize)),
    ])
}

/// Whether a case is between processes whose CPUs are given.
pub(super) fn is_usual(case: &Case) -> bool {
    case.get("between") == Between::Processes.name() && case.get(Placement::KEY) != "free"
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
                placement: Placement::Free,
                bytes: 64,
                whole: true,
            };
            test(setting, &cpus);
        }
    }
}
