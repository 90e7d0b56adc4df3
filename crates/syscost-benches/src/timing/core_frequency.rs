//! The core's frequency, from chains of dependent instructions of known latency.
//!
//! ## Measures
//! How many links of a chain the core executes in a nanosecond: register additions, one cycle each,
//! and multiplications, three cycles each. The slope between a burst and one twice as long, so that
//! the clock's own cost cancels.
//! ## Does not measure
//! The counter's rate (`clock.ghz` of the run), which stays the same whatever the core does; nor other cores.
//! ## Interpretation
//! With turbo the core runs above its nominal frequency, and how far depends on heat and on its
//! neighbours. The two chains must agree within 5 %: if they do not, one of them does not take the
//! assumed number of cycles on this core, and both rows are withheld, as is every figure in core
//! cycles.
//! ## Source
//! lmbench `mhz`; the method of avx-turbo for measuring the frequency without privilege.

use std::cell::RefCell;

use syscost_harness::prelude::*;
use syscost_sys::frequency::{CoreFrequency, core_frequency};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Core frequency",
    tags: "clock speed, clock rate, cpu frequency, turbo, mhz, avx-turbo",
    unit: Unit::Gigahertz,
    better: Better::Higher,
    expect: &[within(Counter::Reported("plausible frequencies"), 0.5, 1.0)],
    roles: roles!(_ => Role::CoreFrequency),
    ..Benchmark::of::<TimingCoreFrequency>()
};

/// The frequencies, in GHz, of any core that can run this program.
const PLAUSIBLE_GHZ: std::ops::RangeInclusive<f64> = 0.1..=6.5;

/// Maximum relative difference of the chains where they are closest. The frequency may move between
/// them; a latency other than assumed makes them differ by a quarter or more.
const APART: f64 = 0.05;

static CHAIN: Witness = Witness::of("chain that gives the value", "both chains");

/// What the links of the chain are.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Add,
    Multiply,
}

#[derive(Params, Clone)]
struct TimingCoreFrequency {
    op: Op,
}

impl Measured for TimingCoreFrequency {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TimingCoreFrequency { op: Op::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.op {
            Op::Add => Profile::Quick,
            Op::Multiply => Profile::Standard,
        }
    }

    fn proofs(&self) -> TimingCoreFrequencyProofs<Proof> {
        TimingCoreFrequencyProofs {
            op: CHAIN.expects(match self.op {
                Op::Add => "additions",
                Op::Multiply => "multiplications",
            }),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let clock = *plan.clock();
        let ghz_of = |core: &CoreFrequency| match self.op {
            Op::Add => core.add_ghz,
            Op::Multiply => core.mul_ghz,
        };
        let (seen, chain) = (RefCell::new(Vec::new()), RefCell::new(None));
        plan.disregard_frequency();
        let mut outcome = plan.measure(Observed::of(|| {
            let core = core_frequency(&clock);
            let ghz = ghz_of(&core);
            let none =
                || Failure::Unsupported("no such chain has been written for this processor".into());
            // Often both chains give exactly the same value.
            if core.add_ghz != core.mul_ghz {
                let of = [
                    (core.add_ghz, "additions"),
                    (core.mul_ghz, "multiplications"),
                ];
                let given = of.into_iter().find(|(value, _)| *value == ghz);
                chain.replace(Some(given.map_or("neither", |(_, name)| name)));
            }
            seen.borrow_mut().push(core);
            ghz.ok_or_else(none)
        }))?;

        let seen = seen.into_inner();
        let ghz = seen.iter().filter_map(ghz_of);
        let plausible = ghz.filter(|ghz| PLAUSIBLE_GHZ.contains(ghz)).count();
        outcome.report("plausible frequencies", plausible as f64);
        match chain.into_inner() {
            Some(chain) => outcome.observe(&CHAIN, chain),
            None => outcome.unobserved(&CHAIN, "both chains give the same value"),
        }
        claim_agreement(&mut outcome, &seen);
        Ok(outcome)
    }
}

fn claim_agreement(b: &mut Bencher, seen: &[CoreFrequency]) {
    let apart = seen
        .iter()
        .filter_map(|core| Some((core.mul_ghz? / core.add_ghz? - 1.0).abs()))
        .min_by(f64::total_cmp);
    // The closest of all observations, because the frequency may move between the two chains of
    // one; a latency other than assumed makes all of them differ, and by far more.
    if let Some(apart) = apart {
        let (verdict, reason) = b.verdict_of_times(agreement(apart));
        b.claim_verdict(
            "difference of the add and the multiply chain",
            format!("at most {:.0} %", 100.0 * APART),
            format!("{:.2} %", 100.0 * apart),
            "both chains",
            verdict,
            reason,
        );
    }
}

/// Judges whether chains with this difference agree.
fn agreement(apart: f64) -> Verdict {
    match apart <= APART {
        true => Verdict::Confirmed,
        false => Verdict::Refuted,
    }
}
