//! Shared: the rows of benchmarks of messages, what proves them, and the partner that takes the
//! messages.

use syscost_harness::prelude::*;

use super::channel::{self, Channel, Ends, Mechanism, Open, Operation, Rows, Via};
use super::message::Message;
use crate::syscall::{Bad, must};
use crate::witness::descriptors;
use crate::witness::messages::{self, Moved};

/// How a side of a channel waits, which no call shows where nobody has to wait.
static WAITS: Witness = Witness::of("how a waiting side passes the time", "the channel's code");

/// A row of a benchmark of messages.
#[derive(Params, Debug, Clone, Copy)]
pub(super) struct IpcTraffic {
    pub(super) via: Via,
    pub(super) between: Between,
    pub(super) cpus: Placement,
    /// Bytes of a message.
    pub(super) size: Bytes,
}

/// What two tasks do with messages.
pub(crate) trait Traffic: 'static {
    /// Whether the partner answers each, so that both wait in turn.
    const IS_ANSWERED: bool;

    fn rows(of: &'static Mechanism) -> &'static Rows;

    fn measure<C: Channel>(
        plan: Plan<'_>,
        tasks: Tasks,
        open: Open<C>,
    ) -> Result<Outcome<'_>, Failure>;
}

impl<T: Traffic> Measured<T> for IpcTraffic {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let placements = Placement::among(&here.allowed);
        let of = |via: Via| {
            let places = T::rows(via.mechanism()).by_place(&placements).into_iter();
            let rows = places.map(move |(between, cpus, sizes)| {
                rows!(IpcTraffic {
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

    fn profile(&self, here: &Testbed) -> Profile {
        let IpcTraffic {
            via,
            between,
            cpus,
            size,
        } = *self;
        let mechanism = via.mechanism();
        let is_first = is_plain(here, !mechanism.sleeps, between, cpus);
        T::rows(mechanism).profile_of(size, between, cpus, is_first)
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        self.via.carries(self.size)
    }

    fn proofs(&self) -> IpcTrafficProofs<Proof> {
        let mechanism = self.via.mechanism();
        let via = descriptors::expects(mechanism.descriptors)
            .and(WAITS.expects(waits(mechanism.sleeps)))
            .and(Proof::counted(self.counts(mechanism, T::IS_ANSWERED)));
        IpcTrafficProofs {
            via,
            between: Proof::by_tasks(),
            cpus: Proof::by_tasks(),
            size: messages::size(self.size, mechanism.sends_by),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let tasks = Tasks {
            between: self.between,
            placement: self.cpus,
            size: self.size.get(),
            whole: plan.compares(),
        };
        channel::measure::<T>(self.via, plan, tasks)
    }
}

impl IpcTraffic {
    /// The calls, faults and switches of both tasks per operation: each side waits once for each
    /// part of a message, or as often as its mechanism says. A side that spins never waits, but may
    /// be preempted.
    fn counts(&self, mechanism: &Mechanism, is_answered: bool) -> Vec<Expect> {
        let parts = self.size.0.div_ceil(4096) as f64;
        let operation = Operation {
            messages: if is_answered { 2.0 } else { 1.0 },
            parts,
            sleeps: match is_answered && mechanism.sleeps {
                true => sleeps(self.cpus),
                false => 0.0,
            },
        };
        let mut all = (mechanism.calls)(&operation);
        // Newly allocated memory for each message would fault once per page.
        all.push(at_most(Counter::MinorFaults, 0.01 * parts));
        // A tenth is allowed for other tasks of the machine, and for a side that is woken in the
        // middle of a part.
        let most = 2.3 * mechanism.waits * parts;
        all.push(within(Counter::Switches, operation.sleeps, most));
        if !mechanism.sleeps {
            all.push(at_most(Counter::VoluntarySwitches, 0.05));
        }
        all
    }
}

fn waits(sleeps: bool) -> &'static str {
    if sleeps { "sleeping" } else { "spinning" }
}

/// The two tasks and their messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tasks {
    pub(crate) between: Between,
    pub(crate) placement: Placement,
    /// Bytes per message.
    pub(crate) size: usize,
    /// Whether every byte of a message is written and summed up: in the evidence pass, not in the
    /// timed one.
    pub(crate) whole: Compares,
}

impl Tasks {
    /// The team of the partner, which serves its end until the measurement is over, and what
    /// `driver` makes of this task's side.
    pub(super) fn team<'t, C: Channel, D: Driver + 't>(
        &self,
        cpus: &[u32],
        (mut own, mut theirs): Ends<C>,
        serve: impl FnOnce(&mut C, &Stop) -> Result<Moved, Failure> + Send + 'static,
        driver: impl FnOnce(Side<C>) -> D,
    ) -> Result<Team<'t, (D, Moved)>, Failure> {
        let prepare = move || {
            theirs.begin();
            Ok(theirs)
        };
        let responder = Responder::start(self.between, cpus, prepare, serve, C::wake_waiters)?;
        own.meet(responder.task());
        Ok(responder.driven_by(driver(Side {
            end: own,
            message: Message::new(self.size),
            whole: self.whole,
            sent: Moved::default(),
        })))
    }

    /// The partner's side: takes messages until it is stopped, and does something `then`. One that
    /// is not the next one fails.
    #[inline(always)]
    pub(super) fn take_all<C: Channel>(
        &self,
        end: &mut C,
        stop: &Stop,
        mut then: impl FnMut(&mut C, &Message, &Moved) -> Result<(), Bad>,
    ) -> Result<Moved, Failure> {
        let mut message = Message::new(self.size);
        let mut received = Moved::default();
        loop {
            let due = received.messages + 1;
            let failed = |bad| Failure::of(&format!("receive message {due}"), bad);
            let came = end.receive(&mut message).map_err(failed)?;
            // The last message does not count.
            if stop.is_set() {
                return Ok(received);
            }
            if came != message.bytes().len() || message.number() != message.part(due) {
                return Err(stray(due, came, &message));
            }
            received.add(came, &message, self.whole);
            then(end, &message, &received).map_err(failed)?;
        }
    }
}

#[cold]
fn stray(due: u64, came: usize, message: &Message) -> Failure {
    Failure::Failed(match came == message.bytes().len() {
        true => format!(
            "where the partner waited for message {due}, {} arrived instead: one was lost, sent \
             twice or damaged",
            message.number()
        ),
        false => format!("where the partner waited for message {due}, {came} bytes arrived"),
    })
}

/// The measuring task's side.
pub(super) struct Side<C> {
    pub(super) end: C,
    pub(super) message: Message,
    pub(super) whole: Compares,
    pub(super) sent: Moved,
}

impl<C: Channel> Side<C> {
    #[inline(always)]
    pub(super) fn send_next(&mut self) -> Result<usize, Bad> {
        self.end.settle()?;
        self.message.write(self.sent.messages + 1, self.whole);
        let went = self.end.send(&self.message)?;
        self.sent.add(went, &self.message, self.whole);
        // The partner would wait for the rest of a truncated message.
        must(went == self.message.bytes().len())?;
        Ok(went)
    }

    /// Wakes the partner with a message that does not count.
    pub(super) fn send_last(&mut self) -> Result<(), Failure> {
        let last = self.end.send(&self.message);
        last.map(drop).tried("send the last message")
    }

    /// Claims that what was sent came to the partner, and as much of it as the operations say, and
    /// reports what this end shows of its mechanism.
    pub(super) fn claim(&self, b: &mut Outcome, received: &Moved) {
        let what = "that came to the partner";
        messages::claim_same(b, what, &self.sent, received, <_>::default());
        messages::see_size(b, received);
        let each = received.messages as f64 / b.operations().max(1) as f64;
        let claim = Claim::by_most("messages that came to the partner per operation");
        b.claim_equal(claim, 1.0, each, "both ends");
        descriptors::see(b, self.end.descriptors());
        b.observe(&WAITS, waits(C::SLEEPS));
    }
}

/// The placements of the partner in most rows: the same CPU, and the nearest other one if there is
/// any.
pub(crate) fn same_and_nearest(here: &Testbed) -> Vec<Placement> {
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

/// Whether people look at such a row first: between processes, on the same CPU, or the nearest
/// other one for tasks that spin.
pub(super) fn is_plain(here: &Testbed, spins: bool, between: Between, cpus: Placement) -> bool {
    let near = same_and_nearest(here);
    let place = match spins {
        true => near.last(),
        false => near.first(),
    };
    between == Between::Processes && place == Some(&cpus)
}

#[cfg(test)]
impl Tasks {
    /// Two that are anywhere, with messages of this size.
    pub(super) fn small(between: Between, size: usize) -> Self {
        Self {
            between,
            placement: Placement::Free,
            size,
            whole: syscost_harness::bencher::Pass::Evidence.into(),
        }
    }
}
