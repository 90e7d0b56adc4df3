//! Where and when a case is measured: on a CPU whose core works for nobody else now, put off while there is none.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use syscost_sys::clock::Clock;
use syscost_sys::cpu;
use syscost_sys::neighbour::Probe;

use super::Job;
use crate::benchmark::Benchmark;
use crate::case::Case;

/// Looks at a core before a case, in units of the shortest: some tens of microseconds.
const LOOKS: u32 = 64;

/// If as large a share of these find a core ours, it is taken.
const FREE: f64 = 0.9;

/// Where a case is measured.
pub(super) struct Place {
    /// The CPU.
    pub(super) cpu: u32,
    /// Whether its core was ours right now, as far as anybody can know.
    pub(super) is_free: bool,
}

/// Whether a case may be measured on another CPU than its worker was sent to: not where it names CPUs, which are those beside that one, or
/// where memory is lent from case to case, which lies near it.
pub(super) fn may_move(benchmark: &Benchmark, case: &Case) -> bool {
    let names = |parameter: &&str| !case.get(parameter).is_empty();
    let names_cpus = ["cpus", "cpu", "from", "threads", "copies"]
        .iter()
        .any(names);
    !benchmark.stays && (!names_cpus || case.get("cpus") == "same")
}

/// Moves this process to the worker's own CPU, or, if it `may_move`, to the first of all CPUs whose core works for nobody else now; to the best of them
/// where none does. A case is short beside the stretches in which somebody else works.
pub(super) fn go(job: &Job, clock: Clock, now: u32, may_move: bool) -> Place {
    let (first, others) = match may_move {
        true => (now, &job.candidates[..]),
        false => (job.cpu, &[][..]),
    };
    let Some(probe) = Probe::new(clock, job.cores.grain) else {
        return Place {
            cpu: moved_to(first, now),
            is_free: true,
        };
    };
    let looks = (LOOKS / probe.scale()).max(8);
    let share_ours = |cpu: u32| -> Option<f64> {
        let alone = job.cores.alone_or_alike(cpu)?;
        cpu::pin(cpu).ok()?;
        // The first one still pays for the way here.
        probe.look();
        let ours = (0..looks).filter(|_| alone.holds(&probe.look())).count();
        Some(ours as f64 / f64::from(looks))
    };
    let mut best: Option<(u32, f64)> = None;
    let others = others.iter().copied().filter(|other| *other != first);
    for candidate in std::iter::once(first).chain(others) {
        let Some(share) = share_ours(candidate) else {
            continue;
        };
        if best.is_none_or(|(_, most)| share > most) {
            best = Some((candidate, share));
        }
        if share >= FREE {
            break;
        }
    }
    // Pinned where it looked last.
    let (cpu, share) = best.unwrap_or((first, 1.0));
    Place {
        cpu: moved_to(cpu, now),
        is_free: share >= FREE,
    }
}

/// Moves this process there; returns where it is then.
pub(super) fn moved_to(cpu: u32, now: u32) -> u32 {
    match cpu::pin(cpu) {
        Ok(()) => cpu,
        Err(_) => cpu::current().unwrap_or(now),
    }
}

/// The cases of a job in the order in which they are measured: one whose core is somebody else's now is put off behind the others, once, and then waits.
pub(super) struct Queue {
    cases: VecDeque<Waiting>,
}

/// A case that is still to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Its index in the job.
    pub(super) index: usize,
    /// Whether it was put off before.
    was_put_off: bool,
}

impl Queue {
    /// As many cases, in their order.
    pub(super) fn new(cases: usize) -> Self {
        let new = |index| Waiting {
            index,
            was_put_off: false,
        };
        Self {
            cases: (0..cases).map(new).collect(),
        }
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Option<Waiting> {
        self.cases.pop_front()
    }

    /// Puts a case off, and returns whether it did: not the last one, nor one that was put off already.
    pub(super) fn put_off(&mut self, case: Waiting) -> bool {
        let puts_off = !case.was_put_off && !self.cases.is_empty();
        if puts_off {
            self.cases.push_back(Waiting {
                was_put_off: true,
                ..case
            });
        }
        puts_off
    }
}

/// Tries again and again, for as long at most, until `place` finds a core ours. Returns where the process is then, and how long that took.
pub(super) fn wait(limit: Duration, mut place: impl FnMut() -> Place) -> (Place, Duration) {
    let begun = Instant::now();
    loop {
        let found = place();
        let waited = begun.elapsed();
        if found.is_free || waited >= limit {
            return (found, waited);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_put_off_once_behind_the_others() {
        let mut queue = Queue::new(3);
        let mut order = Vec::new();
        while let Some(case) = queue.next() {
            // The cores are somebody else's until all cases were tried.
            if order.len() < 3 {
                order.push(case.index);
                if queue.put_off(case) {
                    continue;
                }
            }
            order.push(10 + case.index);
        }
        assert_eq!(order, [0, 1, 2, 10, 11, 12]);
        let mut queue = Queue::new(1);
        let only = queue.next().expect("one");
        assert!(!queue.put_off(only), "there is none to go before it");
    }

    #[test]
    fn waiting_ends_with_a_free_core_or_the_time() {
        let mut tries = 0;
        let (found, _) = wait(Duration::from_secs(60), || {
            tries += 1;
            Place {
                cpu: tries,
                is_free: tries == 3,
            }
        });
        assert!(found.is_free);
        assert_eq!(found.cpu, 3);
        let (found, waited) = wait(Duration::from_millis(1), || Place {
            cpu: 0,
            is_free: false,
        });
        assert!(!found.is_free);
        assert!(waited >= Duration::from_millis(1));
    }
}
