//! How far one processor's counter is ahead of another's.
//!
//! ## Measures
//! The counter of processor `cpu` minus that of processor `against`, at the same moment. Two pinned
//! threads pass a cache line back and forth: one reads its counter, the other answers with its own,
//! the first reads again. The answer lies in the middle, give or take half the round trip, so only
//! the shortest round trips count. Then the two exchange their roles, so that the difference
//! between asking and answering (`asymmetry_ns`) cancels. `uncertainty_ns` is half of the shortest
//! round trip.
//! ## Does not measure
//! Differences smaller than that uncertainty: it is a systematic one, which no repetition and no
//! narrow interval removes.
//! ## Interpretation
//! On a sound machine the offset lies within the uncertainty. One beyond it means that timestamps
//! of the two processors cannot be compared: one-way times between them are wrong by the offset,
//! and the counter is no clock for the machine. `disordered_percent` is the share of messages that
//! seem to be received before they were sent.
//! ## Source
//! The warp test of Linux's `tsc_sync.c`; the offset of the network time protocol.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_stats::order;
use syscost_sys::{arch, cpu};

use super::clock_read::Source;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "TSC skew between CPUs",
    tags: "clock skew, time stamp counter, counter skew, clock synchronization, warp",
    quantity: Quantity::Level,
    expect: &[
        exactly(
            Counter::Reported("exchanges that contradict the offset"),
            0.0,
        ),
        // The measuring thread sleeps while two others exchange.
        at_least(
            Counter::VoluntarySwitches,
            0.5,
            "it starts its helper, and waits for it",
        ),
    ],
    ..Benchmark::of::<TscSkew>()
};

/// Maximum number of CPUs that the first one is compared with.
const MAX_PAIRS: usize = 8;

#[derive(Params, Clone)]
struct TscSkew {
    /// The number of the CPU that it is compared with.
    against: Cpu,
    cpu: Cpu,
}

impl Measured for TscSkew {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let (first, others) = match here.allowed[..] {
            [only] => (only, vec![only]),
            [first, ref others @ ..] => (first, super::spread(others, MAX_PAIRS)),
            [] => return Vec::new(),
        };
        rows!(TscSkew {
            against: [Cpu(first)],
            cpu: others.iter().copied().map(Cpu)
        })
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        match self.cpu == self.against {
            true => Err(Unsupported::new("this process may use one processor only")),
            false => Ok(()),
        }
    }

    fn proofs(&self) -> TscSkewProofs<Proof> {
        let both = super::runs_on([self.against, self.cpu]);
        TscSkewProofs {
            against: both.clone(),
            cpu: both,
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let (Cpu(against), Cpu(other)) = (self.against, self.cpu);
        let ticks_per_ns = Source::TscFenced.units_per_ns(plan.clock());
        let (mut seen, mut cpus, mut asymmetries) = (Vec::new(), Vec::new(), Vec::new());
        let mut one_way = |from: u32, to: u32| -> Result<f64, Failure> {
            let (mut exchanges, ran_on) = exchange(from, to)?;
            cpus.extend(ran_on);
            let skew = Skew::of(&mut exchanges);
            let offset_ns = skew.offset / ticks_per_ns;
            seen.push(skew);
            Ok(offset_ns)
        };
        plan.disregard_frequency();
        let mut outcome = plan.measure(Observed::of(|| {
            // Asking and answering are not quite the same work; with the roles exchanged the difference cancels.
            let (forth, back) = (one_way(against, other)?, one_way(other, against)?);
            let (offset, asymmetry) = both_ways(forth, back);
            asymmetries.push(asymmetry);
            Ok(offset)
        }))?;

        let sum = |part: fn(&Skew) -> usize| seen.iter().map(part).sum::<usize>() as f64;
        outcome.report(
            "exchanges that contradict the offset",
            sum(|skew| skew.contradictions),
        );
        outcome.detail(
            "disordered_percent",
            100.0 * sum(|skew| skew.disordered) / sum(|skew| skew.exchanges),
        );
        let shortest =
            seen.iter().map(|skew| skew.shortest).min().unwrap_or(0) as f64 / ticks_per_ns;
        outcome.detail_over(Over::Min, "shortest_round_trip_ns", shortest);
        outcome.detail("uncertainty_ns", shortest / 2.0);
        outcome.detail(
            "asymmetry_ns",
            asymmetries.iter().sum::<f64>() / asymmetries.len() as f64,
        );
        super::show_cpus(&mut outcome, cpus);
        Ok(outcome)
    }
}

/// Number of exchanges of readings between two CPUs.
const EXCHANGES: usize = 1000;

/// Time limit, after which fewer exchanges are accepted.
const PATIENCE: Duration = Duration::from_millis(200);

/// The counter at the question, the other processor's counter at its answer, and the counter when
/// the answer had arrived.
type Exchange = [u64; 3];

/// The line that is passed back and forth; alone on its pair of lines, which processors fetch together.
#[derive(Default)]
#[repr(align(128))]
struct Line {
    /// If odd, it is the other side's turn to answer.
    turn: AtomicU64,
    stamp: AtomicU64,
}

/// The exchanges between two threads, and the processors that they were on in the end.
fn exchange(from: u32, to: u32) -> Result<(Vec<Exchange>, [u32; 2]), Failure> {
    let line = Line::default();
    let end = Instant::now() + PATIENCE;
    let ready = Barrier::new(2);
    let panicked = |_| Failure::Failed("a thread of the exchange panicked".into());
    // Separate threads, so that the measuring one stays where it is pinned; the first starts the
    // second, so that the measuring one sleeps meanwhile.
    let (asked, answered) = thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let answering = scope.spawn(|| on(to, &ready, || line.answer(end)));
            let asked = on(from, &ready, || line.ask(end));
            line.turn.store(OVER, Ordering::Release);
            (asked, answering.join().map_err(panicked))
        });
        asking.join().map_err(panicked)
    })?;
    let ((exchanges, from_seen), ((), to_seen)) = (asked?, answered??);
    if exchanges.is_empty() {
        let what = format!("processors {from} and {to} did not run at the same time");
        return Err(Failure::Failed(what));
    }
    Ok((exchanges, [from_seen, to_seen]))
}

/// Runs `side` pinned to this processor, when the other side is ready too; also returns the
/// processor that it was on in the end.
fn on<T>(number: u32, ready: &Barrier, side: impl FnOnce() -> T) -> Result<(T, u32), Failure> {
    let pinned = cpu::pin(number);
    // Sleeping, so that a thread that spins does not keep the other from leaving its processor.
    ready.wait();
    pinned.map_err(Unsupported::from)?;
    let result = side();
    let seen = cpu::current();
    Ok((result, seen))
}

/// The turn after the last.
const OVER: u64 = u64::MAX;

impl Line {
    fn ask(&self, end: Instant) -> Vec<Exchange> {
        let mut exchanges = Vec::with_capacity(EXCHANGES);
        for turn in (0..EXCHANGES as u64).map(|number| 2 * number + 1) {
            let sent = arch::cycle_counter_fenced();
            self.turn.store(turn, Ordering::Release);
            if !self.wait_for(turn + 1, end) {
                break;
            }
            let received = arch::cycle_counter_fenced();
            exchanges.push([sent, self.stamp.load(Ordering::Relaxed), received]);
        }
        exchanges
    }

    fn answer(&self, end: Instant) {
        let mut turn = 1;
        while self.wait_for(turn, end) {
            self.stamp
                .store(arch::cycle_counter_fenced(), Ordering::Relaxed);
            self.turn.store(turn + 1, Ordering::Release);
            turn += 2;
        }
    }

    /// Spins, without a pause that would lengthen the round trip; false if there is nothing more to wait for.
    fn wait_for(&self, turn: u64, end: Instant) -> bool {
        let mut spins = 0_u32;
        loop {
            match self.turn.load(Ordering::Acquire) {
                seen if seen == turn => return true,
                OVER => return false,
                _ => spins = spins.wrapping_add(1),
            }
            if spins.is_multiple_of(4096) && Instant::now() > end {
                return false;
            }
        }
    }
}

/// The results of the exchanges of one observation, in ticks.
struct Skew {
    /// The answering counter minus the asking one.
    offset: f64,
    shortest: u64,
    exchanges: usize,
    /// Answers that seem to come before their question, or after they were received.
    disordered: usize,
    /// Exchanges that the offset cannot explain: the offset was different at that moment.
    contradictions: usize,
}

impl Skew {
    /// Derives the offset as the median over the shortest round trips, one in 32.
    fn of(exchanges: &mut [Exchange]) -> Self {
        let length = |[sent, _, received]: &Exchange| received.saturating_sub(*sent);
        let offset = |[sent, answered, received]: &Exchange| {
            let there = answered.wrapping_sub(*sent).cast_signed() as f64;
            let back = answered.wrapping_sub(*received).cast_signed() as f64;
            (there + back) / 2.0
        };
        exchanges.sort_by_key(length);
        let best: Vec<f64> = exchanges[..exchanges.len().div_ceil(32)]
            .iter()
            .map(offset)
            .collect();
        let middle = order::high_median(&best).expect("there are exchanges");
        let shortest = length(&exchanges[0]);
        let slack = |exchange: &Exchange| (length(exchange) + shortest) as f64 / 2.0 + 1.0;
        Self {
            offset: middle,
            shortest,
            exchanges: exchanges.len(),
            disordered: exchanges
                .iter()
                .filter(|[sent, at, back]| at < sent || at > back)
                .count(),
            contradictions: exchanges
                .iter()
                .filter(|exchange| (offset(exchange) - middle).abs() > slack(exchange))
                .count(),
        }
    }
}

/// By how much a counter is ahead of another, and by how much later its questions are answered than
/// halfway, of the offsets that either saw of the other.
fn both_ways(forth: f64, back: f64) -> (f64, f64) {
    ((forth - back) / 2.0, (forth + back) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_processors_answer_each_other() {
        let [first, .., last] = syscost_harness::Testbed::plain().allowed[..] else {
            println!("skipped: one processor");
            return;
        };
        match exchange(first, last) {
            Ok((exchanges, seen)) => {
                assert_eq!(seen, [first, last]);
                assert!(exchanges.iter().all(|[sent, _, received]| received >= sent));
            }
            Err(busy) => println!("skipped: {busy}"),
        }
    }

    #[test]
    fn what_answers_take_longer_is_no_offset() {
        assert_eq!(both_ways(70.0 + 4.0, -70.0 + 4.0), (70.0, 4.0));
    }

    /// Exchanges of these lengths, answered in the middle by a counter that is 70 ahead.
    fn ahead(lengths: impl Iterator<Item = u64>) -> Vec<Exchange> {
        lengths
            .enumerate()
            .map(|(number, length)| {
                let sent = 1000 * number as u64;
                [sent, sent + length / 2 + 70, sent + length]
            })
            .collect()
    }

    #[test]
    fn the_offset_comes_from_the_shortest_round_trips() {
        let mut exchanges = ahead((0..320).map(|number| 100 + number));
        // A long one whose answer came late: not a contradiction, and not taken for the offset.
        exchanges.push([500_000, 500_590, 500_600]);
        let skew = Skew::of(&mut exchanges);
        assert!((skew.offset - 70.0).abs() <= 0.5, "{}", skew.offset);
        assert_eq!(
            (skew.shortest, skew.exchanges, skew.contradictions),
            (100, 321, 0)
        );
        // 70 ahead: up to a length of 138 the answer seems to come after it was received.
        assert_eq!(skew.disordered, 39);
    }

    #[test]
    fn an_offset_that_changes_contradicts_itself() {
        let mut exchanges = ahead(std::iter::repeat_n(100, 300));
        exchanges.push([500_000, 500_050 + 1_000, 500_100]);
        assert_eq!(Skew::of(&mut exchanges).contradictions, 1);
    }
}
