//! The cost of a branch misprediction.
//!
//! ## Measures
//! The same instructions with a table that the core can predict and with one that it cannot, in
//! iteration: unpredictable minus predictable, per misprediction. `conditional`: a branch on a bit
//! that is in a register long before, random against alternating, so that both take the same number
//! of branches. `conditional_on_load`: the same on a byte that is loaded for the branch, from the
//! first cache. `indirect`: a jump to one of sixteen targets, random against always the same.
//! ## Does not measure
//! How often a real program's branches are mispredicted, and what it loses besides: work begun on
//! the wrong path also displaces cache lines.
//! ## Interpretation
//! The misprediction rate is an assumption, not a count: 1/2 of the random directions and 15/16 of
//! the random targets, which is what any predictor gets wrong on fair bits that it has never seen.
//! The tables are created anew for every round; the checksum shows that the outcomes are fair, and
//! the alternating table must run as fast as a constant one, else the core would not predict it. 10
//! to 25 core cycles are usual: the length of the pipeline from the prediction to its check. Where
//! the branch depends on a load, the load's latency is added, since the next one begins only after
//! the last check (26.6 cycles instead of 20.5 on a Sapphire Rapids core): most branches of
//! programs are of this kind.
//! ## Source
//! The difference of batches of the same shape that alternate (A B B A).

use syscost_harness::prelude::*;
use syscost_sys::kernel::{self, Branch, Directions, TARGETS, Targets, branch};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Branch misprediction penalty",
    tags: "branch miss, branch prediction, branch predictor, pipeline flush",
    // Any core that predicts branches has at least as many stages between the prediction and its check.
    expect: &[costs(Counter::CoreCycles, 5.0)],
    roles: roles!(OpBranchMiss { branch: Kind::Conditional } => Role::BranchMiss),
    ..Benchmark::of::<OpBranchMiss>()
};

/// Iterations of the batches that support the claims: some ten thousand branches.
const TURNS: u64 = 1000;

/// Maximum relative deviation of the mean of this many fair outcomes from its expectation.
const FAIR: f64 = 0.05;

/// Maximum time of predicted directions, relative to the slower constant table.
const GUESSED: f64 = 1.25;

/// How often each table of directions is timed; the minimum counts.
const ROUNDS: usize = 5;

/// The kind of branch.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Conditional,
    ConditionalOnLoad,
    Indirect,
}

#[derive(Params, Clone)]
struct OpBranchMiss {
    branch: Kind,
}

impl Measured for OpBranchMiss {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(OpBranchMiss { branch: Kind::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        Profile::Quick
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let seed = plan.random().u64(..);
        match self.branch {
            Kind::Conditional => conditional(plan, seed, Branch::OnBit),
            Kind::ConditionalOnLoad => conditional(plan, seed, Branch::OnLoad),
            Kind::Indirect => indirect(plan, seed),
        }
    }

    fn proofs(&self) -> OpBranchMissProofs<Proof> {
        let branch = match self.branch {
            Kind::Conditional => Branch::OnBit(Directions::Random(0)),
            Kind::ConditionalOnLoad => Branch::OnLoad(Directions::Random(0)),
            Kind::Indirect => Branch::IndirectByTable(Targets::Random(0)),
        };
        OpBranchMissProofs {
            branch: code::consists_of(branch.instructions()),
        }
    }
}

fn conditional(
    mut plan: Plan,
    seed: u64,
    kind: fn(Directions) -> Branch,
) -> Result<Outcome, Failure> {
    let guessed = branch(kind(Directions::Alternating));
    let random = branch(kind(Directions::Random(seed)));
    // Half of the directions are taken, so any predictor is wrong half of the time.
    let wrong = claim_fairness(&mut plan, &random, 0.5);
    claim_guessed(&mut plan, &guessed, kind);
    code::show(&mut plan, &random);
    let share = claimed_share(&mut plan, 0.5, wrong);
    plan.measure(Kernel::of(&random).minus(&guessed, share))
}

fn indirect(mut plan: Plan, seed: u64) -> Result<Outcome, Failure> {
    let guessed = branch(Branch::IndirectByTable(Targets::Same));
    let random = branch(Branch::IndirectByTable(Targets::Random(seed)));
    let targets = TARGETS as f64;
    // Target k, from 0, adds k + 1.
    let mean = claim_fairness(&mut plan, &random, (targets + 1.0) / 2.0);
    code::show(&mut plan, &random);
    let share = claimed_share(
        &mut plan,
        1.0 - 1.0 / targets,
        1.0 - 1.0 / (2.0 * mean - 1.0),
    );
    plan.measure(Kernel::of(&random).minus(&guessed, share))
}

/// The share of branches that are mispredicted, by which the difference is divided; claims that the
/// outcomes have it.
fn claimed_share(plan: &mut Plan, share: f64, by_outcomes: f64) -> EventShare {
    let claim = "share of the branches that is guessed wrong, by the outcomes";
    plan.event_share(claim, share, FAIR, by_outcomes, "kernel's checksum")
}

/// Claims that the outcomes of the random kernel have the mean of fair ones; returns that mean.
fn claim_fairness(b: &mut Bencher, random: &kernel::Kernel, fair: f64) -> f64 {
    let mean = random.run(TURNS) as f64 / (TURNS * random.operations_per_iteration) as f64;
    b.claim(
        "mean of the random outcomes",
        format!("{fair} within {:.0} %", 100.0 * FAIR),
        mean,
        "kernel's checksum",
        (mean / fair - 1.0).abs() <= FAIR,
    );
    mean
}

/// Claims that the alternating directions take no longer than the slower of all-taken and
/// none-taken: else they would not be predicted, and the baseline would contain mispredictions
/// itself.
fn claim_guessed(b: &mut Plan, alternating: &kernel::Kernel, kind: fn(Directions) -> Branch) {
    let taken = branch(kind(Directions::Taken));
    let not_taken = branch(kind(Directions::NotTaken));
    let work = |kernel: &kernel::Kernel| {
        kernel.run(TURNS);
    };
    let times = b.min_times(
        ROUNDS,
        [&mut || work(alternating), &mut || work(&taken), &mut || {
            work(&not_taken)
        }],
    );
    let [alternating, taken, not_taken] = times.ns;
    let slowdown = alternating / taken.max(not_taken);
    let (verdict, reason) = times.verdict(guessed(slowdown));
    b.claim_verdict(
        Claim::by_most("time of alternating over constant directions"),
        format!("at most {GUESSED}"),
        slowdown,
        "clock",
        verdict,
        reason,
    );
}

/// Judges whether directions that take this many times as long as constant ones are predicted.
fn guessed(slowdown: f64) -> Verdict {
    match slowdown <= GUESSED {
        true => Verdict::Confirmed,
        false => Verdict::Refuted,
    }
}
