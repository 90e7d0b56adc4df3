//! Shared: several threads that all want to do one operation at the same time.

use std::fmt;
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use syscost_harness::prelude::*;

use super::{Padded, TAKERS, hand_over};

/// Adding one to a number that several threads add to.
pub(super) trait Adder: Send + Sync + 'static {
    /// The error of a failed addition.
    type Error: fmt::Display;

    /// Operations of an addition.
    const OPERATIONS: u64 = 1;

    /// Adds one; returns the number after that.
    fn add(&self) -> Result<u64, Self::Error>;

    /// The number, read without synchronisation.
    fn number(&self) -> u64;
}

/// A thread that makes fewer operations than this, in percent of an equal share, is served so
/// seldom that there is hardly any contention: without other programs 28 and more were seen.
const MIN_SHARE_PERCENT: f64 = 25.0;

/// Likewise in one batch, which lasts for some turns of each thread only.
const MIN_BATCH_PERCENT: f64 = 10.0;

/// A thread that had its CPU all the time and made fewer than this refutes the contention.
const NO_SHARE_PERCENT: f64 = 2.0;

/// The threads never sleep; the tick and other tasks of the machine preempt now and then.
pub(super) const KEEP_RUNNING: Expect = at_most(Counter::Switches, 0.01);

/// Where the threads are: in every relation of two CPUs that this machine has, and distinct.
pub(super) fn placements(here: &Testbed) -> impl Iterator<Item = Placement> + use<> {
    let pairs = hand_over::placements(here).filter(|at| *at != Placement::SAME);
    pairs.chain([Placement::Distinct])
}

/// How many threads there are so placed: two in a relation, else 4, 8, 16… if there are that many CPUs.
pub(super) fn threads(at: Placement, here: &Testbed) -> Vec<Copies> {
    let cpus = here.allowed.len();
    let larger = (2..7).map(|power| 1 << power).filter(|n| *n <= cpus);
    match at {
        Placement::Distinct => larger.map(|threads| Copies(threads as u32)).collect(),
        Placement::At(_) | Placement::Pair(..) | Placement::Free => vec![Copies(2)],
    }
}

/// What the threads share.
struct Ring<A> {
    adder: A,
    /// The number up to which the threads add.
    goal: Padded<AtomicU64>,
    /// How often a goal was set.
    round: Padded<AtomicU64>,
    /// How often partners have begun to wait for the next goal.
    waiting: Padded<AtomicU64>,
    /// How much each partner had added when it began to wait.
    added: Vec<Padded<AtomicU64>>,
}

impl<A: Adder> Ring<A> {
    fn new(adder: A, partners: usize) -> Self {
        Ring {
            added: (0..partners).map(|_| Padded::default()).collect(),
            adder,
            goal: Padded::default(),
            round: Padded::default(),
            waiting: Padded::default(),
        }
    }

    /// Adds until the goal is reached; returns the number of additions.
    fn add_up(&self) -> Result<u64, Failure> {
        let mut added = 1;
        while self.adder.add().map_err(failed)? < self.goal.0.load(Ordering::Relaxed) {
            added += 1;
        }
        Ok(added)
    }

    /// A partner's work: busy-waits for each new goal. Returns the number of its additions.
    fn take_part(&self, partner: usize, stop: &Stop) -> Result<u64, Failure> {
        let (mut round, mut added) = (0, 0);
        loop {
            self.added[partner].0.store(added, Ordering::Relaxed);
            self.waiting.0.fetch_add(1, Ordering::Release);
            round += 1;
            while self.round.0.load(Ordering::Acquire) < round {
                if stop.is_set() {
                    return Ok(added);
                }
                spin_loop();
            }
            added += self.add_up()?;
        }
    }
}

fn failed(error: impl fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// The measuring thread.
struct Leader<A> {
    ring: Arc<Ring<A>>,
    stop: Shared<Stop>,
    partners: u64,
    added: u64,
    /// How much it and each partner had added before the last batch.
    before: Vec<u64>,
    /// Whether a thread hardly took part in the last batch.
    lacked_one: bool,
}

impl<A> Leader<A> {
    /// How much each thread has added so far, this one first, once all wait.
    fn each(&self) -> Vec<u64> {
        let partners = self.ring.added.iter();
        let partners = partners.map(|added| added.0.load(Ordering::Relaxed));
        [self.added].into_iter().chain(partners).collect()
    }
}

impl<A: Adder> Driver for Leader<A> {
    const IS_PREPARED: bool = true;

    /// Returns when all partners wait for the next goal.
    fn prepare(&mut self) -> Result<(), Failure> {
        let all = self.partners * (self.ring.round.0.load(Ordering::Relaxed) + 1);
        while self.ring.waiting.0.load(Ordering::Acquire) < all {
            self.stop.check()?;
            spin_loop();
        }
        self.before = self.each();
        Ok(())
    }

    /// Looks whether all took part, once all have finished.
    fn check(&mut self) -> Result<(), Failure> {
        let before = std::mem::take(&mut self.before);
        self.prepare()?;
        let each = self.before.iter().zip(before);
        let each: Vec<u64> = each.map(|(now, then)| now - then).collect();
        self.lacked_one = shares(&each).0 < MIN_BATCH_PERCENT;
        Ok(())
    }

    fn was_disturbed(&self) -> bool {
        self.lacked_one
    }

    /// Makes these iterations together with all partners.
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let goal = self.ring.adder.number() + iterations;
        self.ring.goal.0.store(goal, Ordering::Relaxed);
        self.ring.round.0.fetch_add(1, Ordering::Release);
        self.added += self.ring.add_up()?;
        Ok(())
    }
}

/// How much each thread added, and the final number.
struct Sums {
    each: Vec<u64>,
    number: u64,
    /// How often a goal was set.
    rounds: u64,
}

impl Sums {
    fn of<A: Adder>(leader: &Leader<A>, partners: &[u64]) -> Sums {
        Sums {
            each: [&[leader.added], partners].concat(),
            number: leader.ring.adder.number(),
            rounds: leader.ring.round.0.load(Ordering::Relaxed),
        }
    }

    fn all(&self) -> u64 {
        self.each.iter().sum()
    }

    /// Claims that no addition was lost and that every thread was served, and details how fairly.
    fn judge(&self, outcome: &mut Outcome) {
        let (all, (least, most)) = (self.all(), shares(&self.each));
        let takers = self.each.iter().filter(|added| **added > 0).count();
        outcome.observe(&TAKERS, takers);
        let claim = "the number all threads added to";
        outcome.claim_equal(claim, all, self.number, "benchmark");
        // A thread that was never switched out had its CPU all the time.
        let was_disturbed = outcome
            .timed_switches()
            .is_none_or(|switches| switches > 0.0);
        let (verdict, reason) = match (least, was_disturbed) {
            (MIN_SHARE_PERCENT.., _) => (Verdict::Confirmed, None),
            (_, true) => {
                let reason = "other tasks of the machine may have kept a thread from its CPU";
                (Verdict::Unverified, Some(reason))
            }
            (NO_SHARE_PERCENT.., false) => {
                let reason = "one thread was served so seldom that there was little contention";
                (Verdict::Unverified, Some(reason))
            }
            (_, false) => (Verdict::Refuted, None),
        };
        outcome.claim_verdict(
            "least served thread in percent of an equal share",
            format!("at least {MIN_SHARE_PERCENT}"),
            least,
            "benchmark",
            verdict,
            reason,
        );
        outcome.detail_over(Over::Min, "least_share_percent", least);
        outcome.detail_over(Over::Max, "largest_share_percent", most);
    }
}

/// The shares of the least and the most served thread, in percent of an equal share.
fn shares(each: &[u64]) -> (f64, f64) {
    let equal = each.iter().sum::<u64>().max(1) as f64 / each.len().max(1) as f64;
    let percent = |added: Option<&u64>| 100.0 * added.map_or(0.0, |added| *added as f64) / equal;
    (percent(each.iter().min()), percent(each.iter().max()))
}

/// Measures additions by all these threads together: the elapsed time divided by the number of
/// additions.
pub(super) fn measure<A: Adder>(
    mut plan: Plan,
    placement: Placement,
    Copies(threads): Copies,
    make: impl Fn() -> A,
) -> Result<Outcome, Failure> {
    claim_nothing_else(&mut plan, make());
    let make = |cpus: &[u32]| team(cpus, make(), threads as usize - 1);
    let team = Together::of(placement, make).per_iteration(A::OPERATIONS);
    let (mut outcome, sums) = plan.measure(team)?.split();
    sums.judge(&mut outcome);
    // The divisor of the time. Each thread may exceed each goal by one addition.
    let operations = outcome.operations().max(1) as f64;
    let of = |additions: u64| (additions * A::OPERATIONS) as f64 / operations;
    let bound = Bound::Within(1.0, 1.0 + of(sums.rounds * u64::from(threads)));
    let claim = "operations by the number that came of them, of those that the time is divided by";
    outcome.claim_within(claim, bound, of(sums.number), "benchmark");
    Ok(outcome)
}

/// Additions that are timed beside nobody, and how often.
const ALONE: u64 = 256;
const ROUNDS: usize = 5;

/// Maximum ratio of the time of the threads' loop, which compares and branches as well, to that of its
/// additions.
const MAX_LOOP: f64 = 1.5;

/// Claims that a thread does nothing else between its additions, which would leave the others alone
/// meanwhile: beside nobody its loop takes hardly longer than bare additions.
fn claim_nothing_else<A: Adder>(plan: &mut Plan, adder: A) {
    let ring = Ring::new(adder, 0);
    let mut bare = || (0..ALONE).for_each(|_| drop(black_box(ring.adder.add())));
    let mut looped = || {
        let goal = ring.adder.number() + ALONE;
        ring.goal.0.store(goal, Ordering::Relaxed);
        drop(black_box(ring.add_up()));
    };
    let times = plan.min_times(ROUNDS, [&mut bare, &mut looped]);
    let ratio = times.ns[1] / times.ns[0];
    let (verdict, reason) = times.verdict(Bound::AtMost(MAX_LOOP).judge(ratio));
    let claim = Claim::by_most("time of the threads' loop alone, of that of its additions");
    let expected = format!("at most {MAX_LOOP}");
    plan.claim_verdict(claim, expected, ratio, "clock", verdict, reason);
}

fn team<'t, A: Adder>(cpus: &[u32], adder: A, partners: usize) -> Result<Team<'t, Sums>, Failure> {
    let ring = Arc::new(Ring::new(adder, partners));
    let mut workers = TaskGroup::new(Between::Threads)?;
    // If there is one CPU for all of them, it is listed once.
    for (partner, cpu) in cpus.iter().cycle().take(partners).enumerate() {
        let take_part = move |ring: &mut Arc<Ring<A>>, stop: &Stop| ring.take_part(partner, stop);
        let ring = Arc::clone(&ring);
        workers.add(&[*cpu], move || Ok(ring), take_part)?;
    }
    let stop = workers.stop();
    let leader = Leader {
        ring,
        stop,
        partners: partners as u64,
        added: 0,
        before: Vec::new(),
        lacked_one: false,
    };
    Ok(workers
        .driven_by(leader)
        .map(|(leader, added)| Sums::of(&leader, &added)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::judged;
    use std::convert::Infallible;

    /// Loses every tenth addition, as a lock without mutual exclusion might.
    #[derive(Default)]
    struct Leaky(AtomicU64);

    impl Adder for Leaky {
        type Error = Infallible;

        fn add(&self) -> Result<u64, Infallible> {
            let calls = self.0.fetch_add(1, Ordering::Relaxed) + 1;
            Ok(calls - calls / 10)
        }

        fn number(&self) -> u64 {
            let calls = self.0.load(Ordering::Relaxed);
            calls - calls / 10
        }
    }

    #[test]
    fn lost_additions_and_unserved_threads_are_seen() {
        let mut sums = team(&[], Leaky::default(), 0)
            .unwrap()
            .perform([90])
            .unwrap();
        sums.each.push(0);
        assert_eq!(sums.number, 90);
        assert_eq!(sums.all(), 99, "more was added than is there");
        assert_eq!(shares(&sums.each), (0.0, 200.0), "one thread alone added");
    }

    #[test]
    fn a_batch_in_which_one_thread_hardly_took_part_is_disturbed() {
        let ring = Arc::new(Ring::new(Leaky::default(), 1));
        let mut leader = Leader {
            ring: Arc::clone(&ring),
            stop: TaskGroup::<()>::new(Between::Threads).unwrap().stop(),
            partners: 1,
            added: 0,
            before: Vec::new(),
            lacked_one: false,
        };
        for (round, (theirs, is_disturbed)) in
            [(0, true), (2, true), (70, false)].iter().enumerate()
        {
            ring.waiting.0.store(round as u64 + 1, Ordering::Relaxed);
            leader.prepare().unwrap();
            leader.run(90).unwrap();
            ring.waiting.0.store(round as u64 + 2, Ordering::Relaxed);
            ring.added[0].0.fetch_add(*theirs, Ordering::Relaxed);
            leader.check().unwrap();
            assert_eq!(leader.was_disturbed(), *is_disturbed, "{theirs}");
        }
    }

    #[test]
    fn what_is_hardly_contended_is_not_confirmed() {
        let verdict = |least| {
            let sums = Sums {
                each: vec![1000, least],
                number: 1000 + least,
                rounds: 1,
            };
            let mut evidence = judged(Pass::Timed, |b| sums.judge(b)).evidence.into_iter();
            let served = evidence.find(|one| one.claim.sentence.starts_with("least served"));
            served.expect("judged").verdict
        };
        assert_eq!(
            verdict(110),
            Verdict::Unverified,
            "a fifth of an equal share"
        );
        assert_eq!(verdict(170), Verdict::Confirmed);
    }

    #[test]
    fn what_all_threads_added_comes_back() {
        let cpus = or_skip!(syscost_sys::cpu::allowed(), "no affinity here");
        let team = team(&cpus, Leaky::default(), 1).unwrap();
        let sums = team.perform([500, 500]).unwrap();
        // Each may exceed the goal once.
        assert!((1000..=1004).contains(&sums.number), "{}", sums.number);
        assert!(sums.all() * 9 / 10 <= sums.number, "{}", sums.all());
    }
}
