//! Where and when a case is measured: on a CPU whose core does no other work now, or later if there is
//! none.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use syscost_params::TaskRole;
use syscost_sys::clock::Clock;
use syscost_sys::cpu;

use super::Job;
use crate::benchmark::Entry;
use crate::case::Case;

/// Number of probes of a core before a case, with the shortest bursts: some tens of us.
const PROBES: u32 = 64;

/// A core is taken if at least this share of these probes finds it ours. No test fails with a quarter of it,
/// or if no core is taken.
const FREE: f64 = 0.9;

/// The place where a case is measured.
pub(super) struct Place {
    pub(super) cpu: u32,
    /// Whether its core was ours a moment ago, as far as is known.
    pub(super) is_free: bool,
}

/// Whether a case may be measured on another CPU than its worker was sent to: not if it names CPUs,
/// which are relative to that one, or if cases reuse memory, which is allocated near it.
pub(super) fn may_move(benchmark: &Entry, case: &Case) -> bool {
    let binds = |role: &TaskRole| matches!(role, TaskRole::BindsCpus | TaskRole::Copies(_));
    !benchmark.stays && !case.facts.roles.iter().any(binds)
}

/// Moves this process to the worker's own CPU or, if it `may_move`, to the first CPU whose core
/// does no other work now, or to the best of them if there is none. A case is short compared with
/// the stretches of other work.
pub(super) fn go(job: &Job, clock: Clock, now: u32, may_move: bool) -> Place {
    let (first, others) = match may_move {
        true => (now, &job.candidates[..]),
        false => (job.cpu, &[][..]),
    };
    let probe = job.cores.probe(clock);
    let probes = (PROBES / probe.scale()).max(8);
    let share_exclusive = |cpu: u32| -> Option<f64> {
        let alone = job.cores.alone_or_alike(cpu)?;
        cpu::pin(cpu).ok()?;
        // The first probe may still be slowed by the move.
        probe.read();
        let exclusive = (0..probes).filter(|_| alone.holds(&probe.read())).count();
        Some(exclusive as f64 / f64::from(probes))
    };
    let mut best: Option<(u32, f64)> = None;
    let others = others.iter().copied().filter(|other| *other != first);
    for candidate in std::iter::once(first).chain(others) {
        let Some(share) = share_exclusive(candidate) else {
            continue;
        };
        if best.is_none_or(|(_, max_share)| share > max_share) {
            best = Some((candidate, share));
        }
        if share >= FREE {
            break;
        }
    }
    // It is pinned to the CPU at which it looked last.
    let (cpu, share) = best.unwrap_or((first, 1.0));
    Place {
        cpu: moved_to(cpu),
        is_free: share >= FREE,
    }
}

/// Those of these CPUs that no task of this process may use any more. Looked for in a task of its own,
/// which may use all that are left.
pub(super) fn lost(cpus: &[u32]) -> Vec<u32> {
    let usable = || cpu::pin_to(cpus).and_then(|()| cpu::allowed());
    let usable = thread::scope(|scope| scope.spawn(usable).join());
    match usable {
        Ok(Ok(usable)) => cpus
            .iter()
            .copied()
            .filter(|cpu| !usable.contains(cpu))
            .collect(),
        // Not even one of them.
        Ok(Err(_)) => cpus.to_vec(),
        Err(_) => Vec::new(),
    }
}

/// Moves this process to this CPU; returns where it is then.
pub(super) fn moved_to(cpu: u32) -> u32 {
    match cpu::pin(cpu) {
        Ok(()) => cpu,
        Err(_) => cpu::current(),
    }
}

/// The cases of a job in the order in which they are measured.
pub(super) struct Queue {
    cases: VecDeque<Waiting>,
    keeps_order: bool,
}

/// A case that is still to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) index: usize,
    /// Whether it was already postponed once.
    was_put_off: bool,
}

/// The decision on a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Turn {
    /// It is measured, after waiting this long for an undisturbed core.
    Now(Duration),
    /// It is moved after the other cases.
    PutOff,
    /// It is left to a later round.
    Deferred,
}

impl Queue {
    /// A queue of this many cases; some jobs keep their order.
    pub(super) fn new(cases: usize, keeps_order: bool) -> Self {
        let new = |index| Waiting {
            index,
            was_put_off: false,
        };
        Self {
            cases: (0..cases).map(new).collect(),
            keeps_order,
        }
    }

    pub(super) fn next(&mut self) -> Option<Waiting> {
        self.cases.pop_front()
    }

    /// Decides on a case: it is measured immediately if `finds_core` finds a core that is ours;
    /// else it is moved after the others, once, then deferred if that is allowed, and otherwise
    /// waits for a core until its patience ends.
    pub(super) fn turn(
        &mut self,
        case: Waiting,
        may_defer: bool,
        patience: Duration,
        mut finds_core: impl FnMut() -> bool,
    ) -> Turn {
        let begun = Instant::now();
        if finds_core() {
            return Turn::Now(Duration::ZERO);
        }
        if !self.keeps_order && !case.was_put_off && !self.cases.is_empty() {
            self.cases.push_back(Waiting {
                was_put_off: true,
                ..case
            });
            return Turn::PutOff;
        }
        if may_defer {
            return Turn::Deferred;
        }
        while begun.elapsed() < patience && !finds_core() {}
        Turn::Now(begun.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(1);

    /// The decisions on three cases, in the order in which they come up, while no core is ours.
    fn busy(keeps_order: bool, may_defer: bool) -> Vec<(usize, Turn)> {
        let mut queue = Queue::new(3, keeps_order);
        let mut turns = Vec::new();
        while let Some(case) = queue.next() {
            let turn = queue.turn(case, may_defer, PATIENCE, || false);
            turns.push((case.index, turn));
        }
        turns
    }

    #[test]
    fn a_case_with_a_free_core_is_measured_at_once() {
        let mut queue = Queue::new(1, false);
        let case = queue.next().expect("one");
        let turn = queue.turn(case, true, PATIENCE, || true);
        assert_eq!(turn, Turn::Now(Duration::ZERO));
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn without_one_it_is_put_off_once_and_then_deferred() {
        let turns = busy(false, true);
        let order: Vec<usize> = turns.iter().map(|(index, _)| *index).collect();
        assert_eq!(order, [0, 1, 2, 0, 1, 2]);
        assert!(turns[..3].iter().all(|(_, turn)| *turn == Turn::PutOff));
        assert!(turns[3..].iter().all(|(_, turn)| *turn == Turn::Deferred));
    }

    #[test]
    fn where_the_order_matters_none_is_put_off() {
        let turns = busy(true, true);
        assert_eq!(turns.len(), 3);
        assert!(turns.iter().all(|(_, turn)| *turn == Turn::Deferred));
    }

    #[test]
    fn what_cannot_be_deferred_waits_until_a_core_is_free_or_its_patience_ends() {
        for (_, turn) in busy(true, false) {
            assert!(matches!(turn, Turn::Now(waited) if waited >= PATIENCE));
        }
        let mut queue = Queue::new(1, true);
        let case = queue.next().expect("one");
        let mut probes = 0;
        let turn = queue.turn(case, false, Duration::from_secs(60), || {
            probes += 1;
            probes == 3
        });
        assert!(matches!(turn, Turn::Now(_)) && probes == 3, "{turn:?}");
    }
}
