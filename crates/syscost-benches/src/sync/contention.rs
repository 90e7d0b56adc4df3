//! Shared: several threads that all want to do one operation at the same time.

use std::cell::RefCell;
use std::fmt;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use syscost_harness::prelude::*;
use syscost_results::Verdict;
use syscost_sys::cpu;
use syscost_sys::partner::{Between, Partner};
use syscost_sys::topology::Relation;

use super::{Padded, hand_over};

/// Adding one to a number that several threads add to.
pub(super) trait Adder: Send + Sync + 'static {
    /// What can go wrong.
    type Error: fmt::Display;

    /// Adds one; what the number is then.
    fn add(&self) -> Result<u64, Self::Error>;

    /// The number, read without leave.
    fn number(&self) -> u64;
}

/// A thread that does less than this, in percent of an equal share of the operations, is served so seldom that nothing is contended.
const LEAST_SHARE_PERCENT: f64 = 2.0;

/// Nobody sleeps; the tick and other tasks of the machine preempt now and then.
pub(super) const KEEP_RUNNING: Expect = at_most(Counter::Switches, 0.01);

/// Two threads wherever two CPUs of this machine stand to each other, and 4, 8, 16… if it has this
/// many CPUs. `what` stands first in their names.
pub(super) fn cases(what: &[(&'static str, &str)], expect: &[Expect]) -> Vec<Case> {
    let pairs = hand_over::placements().filter(|at| *at != Placement::At(Relation::SameCpu));
    let cpus = cpu::allowed().map_or(1, |allowed| allowed.len());
    let larger = (2..7).map(|power| 1 << power).filter(|n| *n <= cpus);
    pairs
        .map(|placement| (placement, 2))
        .chain(larger.map(|threads| (Placement::Distinct, threads)))
        .map(|(placement, threads)| {
            let what = what.iter().map(|(key, value)| (*key, value.to_string()));
            let who = [
                (Placement::KEY, placement.name().to_owned()),
                ("threads", threads.to_string()),
            ];
            Case::new(what.chain(who)).expecting(expect.iter().copied())
        })
        .collect()
}

/// Where the threads meet.
struct Ring<A> {
    adder: A,
    /// The number up to which all shall add.
    goal: Padded<AtomicU64>,
    /// How often a goal was set.
    round: Padded<AtomicU64>,
    /// How often a partner has come to wait for the next goal.
    waiting: Padded<AtomicU64>,
    over: Padded<AtomicBool>,
    /// What each thread added.
    added: Vec<Padded<AtomicU64>>,
}

/// Tells the partners to end, also when the measurement failed: they spin.
struct Over<A>(Arc<Ring<A>>);

impl<A> Drop for Over<A> {
    fn drop(&mut self) {
        self.0.over.0.store(true, Ordering::Release);
    }
}

impl<A: Adder> Ring<A> {
    fn new(adder: A, threads: usize) -> Self {
        Ring {
            adder,
            goal: Padded::default(),
            round: Padded::default(),
            waiting: Padded::default(),
            over: Padded::default(),
            added: (0..threads).map(|_| Padded::default()).collect(),
        }
    }

    /// Adds as thread `number` until the goal is reached.
    fn add_up(&self, number: usize) -> Result<(), A::Error> {
        let mut added = 1;
        while self.adder.add()? < self.goal.0.load(Ordering::Relaxed) {
            added += 1;
        }
        self.added[number].0.fetch_add(added, Ordering::Relaxed);
        Ok(())
    }

    /// A partner's work: waits, awake, for each new goal.
    fn take_part(&self, number: usize) -> Result<(), A::Error> {
        let mut round = 0;
        loop {
            self.waiting.0.fetch_add(1, Ordering::Release);
            round += 1;
            while self.round.0.load(Ordering::Acquire) < round {
                if self.over.0.load(Ordering::Acquire) {
                    return Ok(());
                }
                spin_loop();
            }
            self.add_up(number)?;
        }
    }

    /// Returns when all partners wait for the next goal.
    fn gather(&self) -> Result<(), Failure> {
        let partners = self.added.len() as u64 - 1;
        let all = partners * (self.round.0.load(Ordering::Relaxed) + 1);
        while self.waiting.0.load(Ordering::Acquire) < all {
            if self.over.0.load(Ordering::Acquire) {
                return Err(Failure::Failed("a partner's lock failed".into()));
            }
            spin_loop();
        }
        Ok(())
    }

    /// Has all add `turns` together, as the measuring thread.
    fn lead(&self, turns: u64) -> Result<(), A::Error> {
        let goal = self.adder.number() + turns;
        self.goal.0.store(goal, Ordering::Relaxed);
        self.round.0.fetch_add(1, Ordering::Release);
        self.add_up(0)
    }
}

/// How much each thread added, and how much was there in the end.
struct Sums {
    each: Vec<u64>,
    number: u64,
}

impl Sums {
    fn of<A: Adder>(ring: &Ring<A>) -> Sums {
        let added = ring.added.iter();
        Sums {
            each: added.map(|own| own.0.load(Ordering::Relaxed)).collect(),
            number: ring.adder.number(),
        }
    }

    fn all(&self) -> u64 {
        self.each.iter().sum()
    }

    /// What the least and the most served thread did, in percent of an equal share.
    fn shares(&self) -> (f64, f64) {
        let equal = self.all().max(1) as f64 / self.each.len().max(1) as f64;
        let percent =
            |added: Option<&u64>| 100.0 * added.map_or(0.0, |added| *added as f64) / equal;
        (
            percent(self.each.iter().min()),
            percent(self.each.iter().max()),
        )
    }

    /// Claims that no addition was lost and that every thread was served, and tells how fairly.
    fn judge(&self, b: &mut Bencher) {
        let (all, (least, most)) = (self.all(), self.shares());
        let claim = "the number all threads added to";
        b.claim_equal(claim, all, self.number, "benchmark");
        // Who was never switched out had its CPU all the time.
        let was_disturbed = b.timed_switches().is_none_or(|switches| switches > 0.0);
        let (verdict, reason) = match (least >= LEAST_SHARE_PERCENT, was_disturbed) {
            (true, _) => (Verdict::Confirmed, None),
            (false, true) => {
                let reason = "other tasks of the machine may have kept a thread from its CPU";
                (Verdict::Unverified, Some(reason))
            }
            (false, false) => (Verdict::Refuted, None),
        };
        b.claim_verdict(
            "least served thread in percent of an equal share",
            format!("at least {LEAST_SHARE_PERCENT}"),
            least,
            "benchmark",
            verdict,
            reason,
        );
        b.detail("least_share_percent", least);
        b.detail("largest_share_percent", most);
    }
}

/// Measures additions by all threads of the case together: the time of each, were they made one after the other.
pub(super) fn measure<A: Adder>(b: &mut Bencher, make: impl Fn() -> A) -> Result<(), Failure> {
    let threads = b.case().number("threads") as usize;
    let last = RefCell::new(None);
    b.together(Placement::of(b.case())?, |cpus| {
        let ring = Arc::new(Ring::new(make(), threads));
        *last.borrow_mut() = Some(Arc::clone(&ring));
        team(cpus, ring)
    })?;
    let ring = last.borrow_mut().take();
    let ring = ring.ok_or_else(|| Failure::Broken("measured without a team".into()))?;
    Sums::of(&ring).judge(b);
    Ok(())
}

fn team<'t, A: Adder>(cpus: &[u32], ring: Arc<Ring<A>>) -> Result<Team<'t>, Failure> {
    let over = Over(Arc::clone(&ring));
    let partners = (1..ring.added.len())
        .map(|number| {
            let ring = Arc::clone(&ring);
            let work = move || {
                // Whose operation fails ends it for all.
                let _over = Over(Arc::clone(&ring));
                ring.take_part(number)
            };
            // With one CPU for all of them, there is one of them.
            let cpu = cpus[(number - 1) % cpus.len()];
            Ok(Partner::start(Between::Threads, &[cpu], work)?)
        })
        .collect::<Result<_, Failure>>()?;
    let leader = Arc::clone(&ring);
    let lead = move |turns| {
        let led = leader.lead(turns);
        led.map_err(|error| Failure::Failed(error.to_string()))
    };
    let end = move || {
        drop(over);
        Ok(())
    };
    Ok(Team::new(partners, lead, end).prepared_by(move || ring.gather()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Loses every tenth addition, as a lock that lets two in might.
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
        let ring = Arc::new(Ring::new(Leaky::default(), 2));
        ring.lead(90).unwrap();
        let sums = Sums::of(&ring);
        assert_eq!(sums.number, 90);
        assert_eq!(sums.all(), 99, "more was added than is there");
        assert_eq!(sums.shares(), (0.0, 200.0), "one thread alone added");
    }

    #[test]
    fn who_ends_early_is_not_waited_for() {
        let ring = Arc::new(Ring::new(Leaky::default(), 2));
        drop(Over(Arc::clone(&ring)));
        assert!(matches!(ring.gather(), Err(Failure::Failed(_))));
        ring.take_part(1).unwrap();
        assert!(ring.gather().is_ok(), "it came, once");
    }
}
