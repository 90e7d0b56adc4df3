//! Shared: between whom, where and how large the messages are, and the partner that takes them.

use syscost_harness::prelude::*;
use syscost_sys::partner::{Between, Shared};

use super::channel::{Channel, named};
use super::ledger::{Ledger, Tally};
use crate::syscall::Bad;

/// What a case asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// What the two tasks are to each other.
    between: Between,
    /// Where they run.
    pub(super) placement: Placement,
    /// Bytes of a message.
    pub(super) bytes: usize,
    /// Whether every byte of a message is written and summed up: where things are counted, not where they are timed.
    pub(super) whole: bool,
}

impl Setting {
    /// For the pass that `b` makes.
    pub(crate) fn new(b: &Bencher, between: Between, placement: Placement, bytes: usize) -> Self {
        Self {
            between,
            placement,
            bytes,
            whole: !b.is_timed(),
        }
    }

    /// That of the case to measure.
    pub(super) fn of(b: &Bencher) -> Result<Self, Failure> {
        let case = b.case();
        let between =
            Between::from_name(case.get("between")).ok_or_else(|| case.unknown("between"))?;
        let bytes = case.number("size") as usize;
        Ok(Self::new(b, between, Placement::of(case)?, bytes))
    }

    /// Into how many parts a stream may break a message.
    pub(super) fn parts(&self) -> f64 {
        self.bytes.div_ceil(4096) as f64
    }

    /// Expects what an operation of this many messages makes of calls, and switches of both: each
    /// side waits once for each part of a message, or as its way tells. One that spins never waits,
    /// but may be preempted.
    ///
    /// # Errors
    /// When the row's name says otherwise.
    pub(super) fn expect<C: Channel>(
        &self,
        b: &mut Bencher,
        messages: f64,
        least: f64,
    ) -> Result<(), Failure> {
        for expect in C::calls(messages, self.parts()) {
            b.expect(expect);
        }
        // Memory that came anew with each message would fault once a page.
        b.expect(at_most(Counter::MinorFaults, 0.01 * self.parts()));
        // A tenth for other tasks of the machine, and for a side that is woken in the middle of its part.
        let most = 2.3 * C::WAITS * self.parts();
        b.expect(within(Counter::Switches, least, most));
        if !C::SLEEPS {
            b.expect(at_most(Counter::VoluntarySwitches, 0.05));
        }
        named::expect::<C>(b, messages, self.parts(), least)
    }

    /// Starts the partner, which serves its end until it is over.
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

/// Where the partner of most rows stands: the same CPU, and the nearest other one if there is any.
pub(crate) fn same_and_nearest() -> Vec<Placement> {
    let pinned = |placement: &Placement| *placement != Placement::Free;
    Placement::here()
        .into_iter()
        .filter(pinned)
        .take(2)
        .collect()
}

/// How often two that wait for each other in turn fall asleep at least, per turn. On one CPU each must make way for the other; on
/// two, one or the other may be served before it has fallen asleep, but not always.
pub(crate) fn sleeps(placement: Placement) -> f64 {
    if placement.name() == "same" { 1.9 } else { 1.0 }
}

/// Whether people look at it first: between processes, on the same CPU, or the nearest other one for those that spin.
pub(super) fn is_plain(case: &Case) -> bool {
    let near = same_and_nearest();
    let place = match case.find("via") {
        Some("shared_spin") => near.last(),
        _ => near.first(),
    };
    case.get("between") == Between::Processes.name()
        && place.is_some_and(|place| place.name() == case.get(Placement::KEY))
}

/// One case. The parameters stand in the order of its name.
pub(super) fn case(via: &str, between: Between, placement: Placement, bytes: u32) -> Case {
    Case::new([
        ("via", via.to_owned()),
        ("between", between.name().to_owned()),
        (Placement::KEY, placement.name().to_owned()),
        ("size", size_name(bytes as usize)),
    ])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A small setting between processes and between threads, on the CPUs there are.
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
