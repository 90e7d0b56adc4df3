//! Shared: the rows of benchmarks of messages, what their two tasks are, and the partner that takes
//! the messages.

use syscost_harness::prelude::*;
use syscost_sys::partner::{Between, Shared};

use super::channel::{self, Channel, Mechanism, Rows, Via, named};
use super::ledger::{Ledger, Tally};
use crate::syscall::Bad;

/// A row of a benchmark of messages.
#[derive(Params, Debug, Clone, Copy)]
pub(super) struct Row {
    via: Via,
    between: Between,
    cpus: Placement,
    /// Bytes of a message.
    size: Bytes,
}

/// What two tasks do with messages.
pub(crate) trait Traffic: 'static {
    /// The rows that a mechanism has of it.
    fn rows(of: &'static Mechanism) -> &'static Rows;

    /// Measures it over such a channel.
    fn measure<C: Channel>(plan: Plan<'_>, spec: MessageSpec) -> Result<Outcome<'_>, Failure>;
}

impl<T: Traffic> Measured<T> for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        let placements = Placement::among(&here.allowed);
        let of = |via: Via| {
            let places = T::rows(via.mechanism()).by_place(&placements).into_iter();
            let rows = places.map(move |(between, cpus, sizes)| {
                rows!(Row {
                    via: [via],
                    between: [between],
                    cpus: [cpus],
                    size: sizes.iter().copied()
                })
            });
            rows.flatten()
        };
        Via::ALL.into_iter().flat_map(of).collect()
    }

    fn profile(&self, here: &Here) -> Profile {
        let Row {
            via,
            between,
            cpus,
            size,
        } = *self;
        let is_first = is_plain(here, via.mechanism().mark.spins(), between, cpus);
        T::rows(via.mechanism()).profile_of(size, between, cpus, is_first)
    }

    fn support(&self, _: &Here) -> Result<(), Unsupported> {
        self.via.carries(self.size)
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let spec = MessageSpec {
            via: Some(self.via),
            between: self.between,
            placement: self.cpus,
            size: self.size,
            whole: !plan.is_timed(),
        };
        channel::measure::<T>(self.via, plan, spec)
    }
}

/// What the messages and the two tasks are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageSpec {
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

impl MessageSpec {
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
        plan: &mut Plan,
        messages: f64,
        least: f64,
    ) -> Result<(), Failure> {
        for expect in C::calls(messages, self.parts()) {
            plan.expect(expect);
        }
        // Newly allocated memory for each message would fault once per page.
        plan.expect(at_most(Counter::MinorFaults, 0.01 * self.parts()));
        // A tenth is allowed for other tasks of the machine, and for a side that is woken in the
        // middle of a part.
        let most = 2.3 * C::WAITS * self.parts();
        plan.expect(within(Counter::Switches, least, most));
        if !C::SLEEPS {
            plan.expect(at_most(Counter::VoluntarySwitches, 0.05));
        }
        named::expect::<C>(plan, self.via, messages, self.parts(), least)
    }

    /// Starts the partner, which serves its end until the measurement is over.
    pub(super) fn partner<C: Channel>(
        &self,
        cpus: &[u32],
        mut end: C,
        ledger: &Shared<Ledger>,
        serve: impl FnOnce(Self, &mut C, &Ledger, &Stop) -> Result<Tally, Bad> + Send + 'static,
    ) -> Result<Responder<Tally>, Failure> {
        let (spec, ledger) = (*self, ledger.clone());
        let prepare = move || {
            end.begin();
            Ok(end)
        };
        let serve = move |end: &mut C, stop: &Stop| {
            serve(spec, end, &ledger, stop).inspect_err(|bad| ledger.fail(*bad))
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

    /// Runs a test with small messages between processes and between threads, on the available CPUs.
    pub(in crate::ipc) fn each(test: impl Fn(MessageSpec, &[u32])) {
        let cpus = syscost_sys::cpu::allowed().unwrap();
        for between in Between::ALL {
            let spec = MessageSpec {
                between,
                via: None,
                placement: Placement::Free,
                size: Bytes(64),
                whole: true,
            };
            test(spec, &cpus);
        }
    }
}
