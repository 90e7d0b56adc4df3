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

mod exchange;
mod skew;

use syscost_harness::bencher::Over;
use syscost_harness::prelude::*;

use self::exchange::exchange;
use self::skew::{Skew, both_ways};
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
        at_least(Counter::VoluntarySwitches, 0.5),
    ],
    ..Benchmark::of::<Row>()
};

/// Maximum number of pairs that are measured.
const MAX_PAIRS: usize = 8;

#[derive(Params, Clone)]
struct Row {
    /// The number of the CPU that it is compared with.
    against: Cpu,
    cpu: Cpu,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        let (first, others) = match here.allowed[..] {
            [only] => (only, vec![only]),
            [first, ref others @ ..] => (first, super::spread(others, MAX_PAIRS)),
            [] => return Vec::new(),
        };
        rows!(Row {
            against: [Cpu(first)],
            cpu: others.iter().copied().map(Cpu)
        })
    }

    fn support(&self, _: &Here) -> Result<(), Unsupported> {
        match self.cpu == self.against {
            true => Err(Unsupported::new("this process may use one processor only")),
            false => Ok(()),
        }
    }

    fn proofs(&self) -> RowProofs<Proof> {
        let both = super::runs_on([self.against, self.cpu]);
        RowProofs {
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
