//! Two threads that add to different words, by the distance between the words.
//!
//! ## Measures
//! One addition of a thread to its own word, while a second thread, on another CPU, adds as fast as
//! it can to another word, `distance` bytes further on. `op=fetch_add` adds by the atomic
//! instruction, `op=plain` by a load, an addition and a store, as code for a private counter does.
//! Both words lie on a fresh page, first touched by the measuring thread; the first one begins a
//! pair of lines.
//! ## Does not measure
//! Additions of several threads to the same word (`sync.atomic`), and lines that are only read.
//! ## Interpretation
//! At 8 bytes both words are on one line, which the cores must take from each other although
//! neither thread uses the other's word: false sharing. At 64 bytes they are on the two lines of a
//! pair: more expensive than 128 only where the processor fetches lines in pairs. 128 and 256 bytes
//! should cost the same as no neighbour at all. A plain addition suffers far less than an atomic
//! one, as its stores wait in the core's store buffer, and the next addition loads from there: in a
//! program that does something else in between it may lose more than here.
//! `neighbour_share_percent` is the share of all additions that the other thread made meanwhile.
//! ## Source
//! Torrellas, Lam and Hennessy, False Sharing and Spatial Locality in Multiprocessor Caches (1994).

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;
use syscost_sys::cpu;

use super::page::{Page, WRITTEN};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "False sharing: two threads writing nearby words",
    tags: "cache line contention, cache coherence, cache line bouncing, destructive interference, \
        perf c2c",
    // The tick and other tasks of the machine preempt now and then.
    expect: &[at_most(Counter::Switches, 0.01)],
    ..Benchmark::of::<FalseSharing>()
};

/// A placement that stands for the lack of another CPU.
const NOWHERE: Placement = Placement::SAME;

const DISTANCES: [Bytes; 4] = [Bytes(8), Bytes(64), Bytes(128), Bytes(256)];

/// Offset of the measuring thread's word on the page: the beginning of a pair of lines.
const OWN: usize = 1024;

/// Additions of the other thread between two checks whether it has to stop.
const BETWEEN_LOOKS: u64 = 64;

/// Minimum core cycles of an atomic addition; a plain one may take one cycle.
const ATOMIC: f64 = 2.0;

/// How a thread adds to its word.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    FetchAdd,
    Plain,
}

#[derive(Params, Clone)]
struct FalseSharing {
    op: Op,
    cpus: Placement,
    /// Bytes from one word to the other.
    distance: Bytes,
}

impl Measured for FalseSharing {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows_at(Placement::among(&here.allowed))
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.op, self.distance) {
            (_, Bytes(65..)) => Profile::Full,
            (Op::FetchAdd, _) => Profile::Quick,
            (Op::Plain, _) => Profile::Standard,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        match self.cpus == NOWHERE {
            true => Err(Unsupported::new(
                "this process may use no second CPU, or the system does not say where it is",
            )),
            false => Ok(()),
        }
    }

    fn proofs(&self) -> FalseSharingProofs<Proof> {
        FalseSharingProofs {
            op: match self.op {
                Op::FetchAdd => LOST.expects(0_u64),
                Op::Plain => LOST.within(Bound::AtLeast(1.0)),
            },
            cpus: Proof::by_tasks(),
            distance: WRITTEN.expects(format!("{OWN} and {}", OWN + self.distance.get())),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let is_atomic = self.op == Op::FetchAdd;
        if is_atomic {
            plan.expect(costs(Counter::CoreCycles, ATOMIC));
        }
        let distance = self.distance.get();
        let make = |cpus: &[u32]| team(is_atomic, distance, cpus);
        let measured = plan.measure(Together::of(self.cpus, make))?;
        let (mut outcome, (adding, neighbour)) = measured.split();
        let tally = &adding.tally;
        tally.judge(&mut outcome, &neighbour, is_atomic);
        outcome.observe(&WRITTEN, adding.place.page.written());
        if !outcome.is_timed() {
            look_at_losses(&mut outcome, is_atomic, self.cpus)?;
        }
        Ok(outcome)
    }
}

fn rows_at(mut placements: Vec<Placement>) -> Vec<Case<FalseSharing>> {
    placements.retain(|placement| matches!(placement, Placement::At(_)) && *placement != NOWHERE);
    if placements.is_empty() {
        // A placeholder row shows why there are none.
        return rows!(FalseSharing {
            op: [Op::FetchAdd],
            cpus: [NOWHERE],
            distance: [DISTANCES[0]]
        });
    }
    let at = |placement: Placement| {
        rows!(FalseSharing {
            op: Op::ALL,
            cpus: [placement],
            distance: DISTANCES
        })
    };
    placements.into_iter().flat_map(at).collect()
}

/// How often two threads must come upon each other's additions: more often than if one ran after
/// the other.
const TOGETHER: u64 = 1000;

/// How long they may take for that.
const PATIENCE: Duration = Duration::from_millis(100);

static LOST: Witness =
    Witness::of("additions that two threads lose of one number", "memory").only_in(Pass::Evidence);

/// Adds by both threads to one word: only atomic additions are all there in the end.
fn look_at_losses(b: &mut Bencher, is_atomic: bool, at: Placement) -> Result<(), Failure> {
    let place = Place {
        page: Page::touched_here()?,
        is_atomic,
        distance: 0,
    };
    let (stop, cpus) = (Stop::default(), at.cpus(b.cpu(), b.allowed())?);
    let [word, _] = place.words();
    let (added, together) = thread::scope(|scope| {
        let other = scope.spawn(|| {
            cpu::pin_to(&cpus)?;
            Ok::<_, Failure>(place.keep_adding(&stop))
        });
        let begun = Instant::now();
        let (mut added, mut together) = (0, 0);
        while together < TOGETHER && begun.elapsed() < PATIENCE {
            let before = word.load(Relaxed);
            place.add(word, BETWEEN_LOOKS);
            added += BETWEEN_LOOKS;
            together += u64::from(word.load(Relaxed) != before + BETWEEN_LOOKS);
        }
        stop.set();
        let other = other.join().unwrap_or_else(|_| Err(panicked()))?;
        Ok::<_, Failure>((added + other, together))
    })?;
    match together < TOGETHER {
        true => b.unobserved(&LOST, "the threads hardly ran at the same time"),
        false => b.observe(&LOST, added - word.load(Relaxed)),
    }
    Ok(())
}

fn panicked() -> Failure {
    Failure::Failed("a thread panicked".into())
}

/// The memory on which both threads work.
struct Place {
    page: Page,
    is_atomic: bool,
    distance: usize,
}

impl Place {
    /// The words of the measuring thread and of the other.
    fn words(&self) -> [&AtomicU64; 2] {
        [OWN, OWN + self.distance].map(|offset| self.page.word(offset))
    }

    /// Adds by the same instructions for both threads.
    #[inline(never)]
    fn add(&self, word: &AtomicU64, times: u64) {
        if self.is_atomic {
            for _ in 0..times {
                word.fetch_add(1, Relaxed);
            }
        } else {
            for _ in 0..times {
                // No other thread adds to this word.
                word.store(word.load(Relaxed) + 1, Relaxed);
            }
        }
    }

    /// Adds to the other word until stopped; returns how often.
    fn keep_adding(&self, stop: &Stop) -> u64 {
        let [_, word] = self.words();
        let mut added = 0;
        while !stop.is_set() {
            self.add(word, BETWEEN_LOOKS);
            added += BETWEEN_LOOKS;
        }
        added
    }
}

fn team<'t>(
    is_atomic: bool,
    distance: usize,
    cpus: &[u32],
) -> Result<Team<'t, (Adding, Neighbour)>, Failure> {
    let place = Arc::new(Place {
        page: Page::touched_here()?,
        is_atomic,
        distance,
    });
    let theirs = Arc::clone(&place);
    let responder = Responder::start(Between::Threads, cpus, || Ok(theirs), neighbour, |_| {})?;
    Ok(responder.driven_by(Adding {
        place,
        tally: Tally::default(),
    }))
}

fn neighbour(place: &mut Arc<Place>, stop: &Stop) -> Result<Neighbour, Failure> {
    let now = |clock| {
        let now = clock_gettime(clock);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    };
    let clocks = [ClockId::Monotonic, ClockId::ThreadCPUTime];
    let waits = || Usage::thread().map_or(0, |usage| usage.voluntary_switches);
    let (begun, waited) = (clocks.map(now), waits());
    let added = place.keep_adding(stop);
    let ended = clocks.map(now);
    Ok(Neighbour {
        added,
        lived_ns: ended[0] - begun[0],
        ran_ns: ended[1] - begun[1],
        waits: waits() - waited,
        found: place.words().map(|word| word.load(Relaxed)),
    })
}

/// The measuring thread.
struct Adding {
    place: Arc<Place>,
    tally: Tally,
}

impl Driver for Adding {
    const IS_PREPARED: bool = true;

    /// Waits until the other thread is at work.
    fn prepare(&mut self) -> Result<(), Failure> {
        let [_, other] = self.place.words();
        let before = other.load(Relaxed);
        while other.load(Relaxed) == before {
            spin_loop();
        }
        Ok(())
    }

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let [own, other] = self.place.words();
        let before = other.load(Relaxed);
        self.place.add(own, iterations);
        // Two looks at the other's word, each of which costs one addition at most: negligible in a batch.
        self.tally.meanwhile += other.load(Relaxed) - before;
        self.tally.added += iterations;
        Ok(())
    }
}

/// Minimum share of all additions that the neighbour must make, in percent, atomic and plain: if it
/// is as fast as the measuring thread it makes half. Plain additions depend more on which core gets
/// the line.
const MIN_OF_ALL_PERCENT: [f64; 2] = [25.0, 10.0];

/// Minimum share of its life in which the neighbour must have had its CPU to be undisturbed by other tasks.
const UNDISTURBED: f64 = 0.9;

/// Between this fraction of the minimum and the minimum itself the claim is unverified.
const PERHAPS: f64 = 0.4;

/// Maximum number of waits of a thread that spins: those for starting and ending it.
const FEW_WAITS: u64 = 2;

/// What the measuring thread counted.
#[derive(Debug, Default)]
struct Tally {
    added: u64,
    /// Additions of the other thread at the same time.
    meanwhile: u64,
}

/// What the other thread counted, and what it found in both words.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    added: u64,
    found: [u64; 2],
    /// Length of its life in ns, and how long it had a CPU in that time.
    lived_ns: u64,
    ran_ns: u64,
    waits: u64,
}

impl Tally {
    fn judge(&self, b: &mut Bencher, neighbour: &Neighbour, is_atomic: bool) {
        let [own, other] = neighbour.found;
        for (who, added, found) in [
            ("measuring", self.added, own),
            ("other", neighbour.added, other),
        ] {
            let what = format!("the word that the {who} thread added to");
            let holds = added == found && added > 0;
            b.claim(&what, added, found, "benchmark", holds);
        }
        let meanwhile = self.meanwhile as f64;
        let share = 100.0 * meanwhile / (meanwhile + self.added as f64).max(1.0);
        b.detail("neighbour_share_percent", share);
        let [atomic, plain] = MIN_OF_ALL_PERCENT;
        let least = if is_atomic { atomic } else { plain };
        // A thread that sleeps is not kept from its CPU by others.
        let ran = match neighbour.waits > FEW_WAITS {
            true => 1.0,
            false => neighbour.ran_ns as f64 / neighbour.lived_ns as f64,
        };
        let claim = "share of the other thread in all additions, in percent";
        claim_steady(b, claim, least, share, ran);
    }
}

/// Claims that a neighbour with this share kept adding, given the part of its life in which it had its CPU.
fn claim_steady(b: &mut Bencher, claim: &str, least: f64, share: f64, ran: f64) {
    let verdict = steady(share, least, ran);
    let reason = "others may have had the CPU of the other thread";
    b.claim_verdict(
        claim,
        format!("at least {least}"),
        share,
        "benchmark",
        verdict,
        (verdict == Verdict::Unverified).then_some(reason),
    );
}

/// Judges whether a neighbour with this share of all additions kept adding. Without
/// its CPU it could not do so all the time; and a share slightly below the minimum may be due to a
/// core that keeps the line longer, or to a host that took the CPU away unnoticed.
fn steady(share: f64, least: f64, ran: f64) -> Verdict {
    if share >= least {
        Verdict::Confirmed
    } else if ran < UNDISTURBED || share >= PERHAPS * least {
        Verdict::Unverified
    } else {
        Verdict::Refuted
    }
}

#[cfg(test)]
mod tests {
    use syscost_sys::perf::{Uses, Watch};
    use syscost_sys::topology::Relation;

    use super::*;

    #[test]
    fn without_a_second_cpu_one_case_says_so() {
        let distant = Placement::At(Relation::ALL[Relation::ALL.len() - 1]);
        let reasons = |cases: Vec<Case<FalseSharing>>| -> Vec<bool> {
            let support = |case: &Case<FalseSharing>| case.row.support(&Testbed::plain());
            cases.iter().map(|case| support(case).is_err()).collect()
        };
        assert_eq!(reasons(rows_at(vec![NOWHERE])), [true]);
        let placements = vec![NOWHERE, distant, Placement::Free];
        assert_eq!(reasons(rows_at(placements)), [false; 2 * DISTANCES.len()]);
    }

    #[test]
    fn either_way_of_adding_adds_to_its_own_word_only() {
        for is_atomic in [true, false] {
            let page = or_skip!(Page::touched_here());
            let place = Place {
                page,
                is_atomic,
                distance: 8,
            };
            let [own, other] = place.words();
            place.add(own, 5);
            place.add(other, 7);
            assert_eq!([own, other].map(|word| word.load(Relaxed)), [5, 7]);
            let stop = Stop::default();
            stop.set();
            assert_eq!(place.keep_adding(&stop), 0);
            // One at a time, whatever the compiler makes of it.
            let watch = or_skip!(Watch::of(TaskId::own(), other.as_ptr(), Uses::Stores));
            place.add(other, BETWEEN_LOOKS);
            assert_eq!(watch.count().unwrap(), BETWEEN_LOOKS);
        }
    }

    #[test]
    fn a_neighbour_that_pauses_is_none_unless_it_was_kept_from_its_cpu() {
        let [least, _] = MIN_OF_ALL_PERCENT;
        assert_eq!(steady(49.0, least, 1.0), Verdict::Confirmed);
        assert_eq!(steady(49.0, least, 0.5), Verdict::Confirmed);
        assert_eq!(steady(3.0, least, 1.0), Verdict::Refuted);
        assert_eq!(steady(3.0, least, 0.5), Verdict::Unverified);
        assert_eq!(steady(0.5 * least, least, 1.0), Verdict::Unverified);
    }
}
