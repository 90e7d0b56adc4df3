//! Changing a page's mapping while other threads run on other CPUs.
//!
//! ## Measures
//! One call on one touched page, by how many other threads of the process run meanwhile, each on
//! its own CPU: munmap, mprotect that revokes write permission, or madvise that gives the page
//! back. Before each batch, untimed, the pages are written again and every thread reads them all;
//! then the threads spin.
//! ## Does not measure
//! What the interrupted threads lose. Threads that sleep: their CPUs learn of the change when they run again.
//! ## Interpretation
//! `threads=0` is the call alone. With others, the kernel must make every CPU that runs one of them
//! forget the page, by one interrupt each on x86-64, and wait until all have. On arm64, on AMD
//! processors with INVLPGB and under some hypervisors no interrupt is needed. So mappings should be
//! changed seldom, in large pieces, or before threads start.
//! ## Source
//! Linux's shootdown is described in its documentation of the x86 TLB.

mod stage;

use std::borrow::Cow;
use std::fs;

use rustix::param::page_size;
use syscost_harness::prelude::*;

use self::stage::{Call, MAX_CALLS, Stage, Tally};
use super::space::{ADDRESS, LENGTH};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "TLB shootdown",
    tags: "tlb flush, tlb invalidation, inter-processor interrupt, ipi, \
        translation lookaside buffer",
    ..Benchmark::of::<Row>()
};

/// Maximum number of threads that are measured.
const MAX_THREADS: u32 = 64;

/// Minimum share of the batches in which all threads must have run.
const RAN: f64 = 0.75;

/// Minimum number of batches without all threads that cannot be an accident.
const MIN_BATCHES: u64 = 10;

/// Numbers of threads: none, one, then doubled, up to all other CPUs.
fn counts_to(others: u32) -> Vec<u32> {
    let most = others.min(MAX_THREADS);
    let doubled = (0..).map(|power| 1 << power);
    let mut counts = vec![0];
    counts.extend(doubled.take_while(|count| *count < most));
    if most > 0 {
        counts.push(most);
    }
    counts
}

#[derive(Params, Clone)]
struct Row {
    via: Call,
    /// How many other threads run meanwhile, each on a separate CPU.
    threads: Others,
}

/// A number of threads, each of which has a CPU: it depends on that of the measuring one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Others(u32);

impl Value for Others {
    fn text(&self) -> Cow<'static, str> {
        self.0.text()
    }

    fn read(text: &str) -> Option<Self> {
        Value::read(text).map(Self)
    }

    fn task_role(&self) -> TaskRole {
        TaskRole::BindsCpus
    }
}

static RUNNING: Witness = Witness::of("other threads that run", "their own counts");

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        let others = here.allowed.len().saturating_sub(1);
        let counts = counts_to(others as u32);
        rows!(Row {
            via: Call::ALL,
            threads: counts.iter().copied().map(Others)
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        match (self.via, self.threads) {
            (Call::Madvise, Others(1)) => Profile::Quick,
            (Call::Madvise, _) => Profile::Standard,
            (Call::Munmap | Call::Mprotect, _) => Profile::Full,
        }
    }

    fn proofs(&self) -> RowProofs<Proof> {
        let argument = |argument, value| {
            Proof::argument(self.via.number(), argument, ArgumentValue::Always(value))
        };
        let call = Proof::counted([together(self.via.number(), 1.0)]);
        RowProofs {
            via: match self.via.asks() {
                Some((argument_of_it, value)) => call.and(argument(argument_of_it, value)),
                None => call,
            },
            threads: RUNNING.sees(self.threads.0),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let (call, threads) = (self.via, self.threads.0);
        let cpus = stage::others(plan.cpu(), plan.allowed(), threads as usize)?;
        plan.expect_argument(call.number(), ADDRESS, ArgumentValue::Different);
        plan.expect_argument(
            call.number(),
            LENGTH,
            ArgumentValue::Always(page_size() as u64),
        );
        let placement = match threads {
            // The call alone needs no other CPU.
            0 => Placement::SAME,
            1.. => Placement::Distinct,
        };
        let make = |_: &[u32]| {
            let (workers, stage) = Stage::start(call, &cpus)?;
            Ok(workers.driven_by(stage))
        };
        let measured = plan.measure(Together::of(placement, make))?;
        let (mut outcome, (stage, _)) = measured.split();
        outcome.saw(&RUNNING, stage.running());
        if threads > 0 {
            claim_running(&mut outcome, stage.tally());
        }
        if !outcome.is_timed() {
            claim_change(&mut outcome, call, &cpus)?;
        }
        Ok(outcome)
    }
}

/// Claims that the threads ran while the calls were made.
fn claim_running(b: &mut Bencher, tally: &Tally) {
    let share = tally.share();
    let claim = "share of batches in which all threads ran";
    let bound = Bound::AtLeast(RAN);
    let source = "their own counts";
    // A few batches on a busy machine may all lack a thread; many do only if threads never run.
    let never = share == 0.0 && tally.batches >= MIN_BATCHES;
    if bound.holds(share) || never {
        b.claim_within(claim, bound, share, source);
    } else {
        let reason = "other programs took their CPUs";
        b.claim_unverified(claim, bound.fact(), share, source, reason);
    }
}

/// Claims that the calls change their pages, and interrupt each other CPU, where the kernel counts
/// such interrupts.
fn claim_change(b: &mut Bencher, call: Call, cpus: &[u32]) -> Result<(), Failure> {
    let (workers, mut stage) = Stage::start(call, cpus)?;
    stage.prepare()?;
    let (already, claim) = (stage.changed()? as f64, "pages that were so before");
    b.claim(claim, 0.0, already, "/proc", already == 0.0);
    let before = interrupts();
    stage.run(MAX_CALLS)?;
    let after = interrupts();
    let changed = stage.changed()? as u64;
    b.claim_equal("pages that 256 calls changed", MAX_CALLS, changed, "/proc");
    workers.dismiss()?;
    if cpus.is_empty() {
        return Ok(());
    }
    let claim = Claim::by_most("TLB shootdown interrupts of all CPUs per operation");
    let bound = Bound::AtLeast(0.9 * cpus.len() as f64);
    let source = "/proc/interrupts";
    match (before, after) {
        (Ok(before), Ok(after)) => {
            let each = after.saturating_sub(before) as f64 / MAX_CALLS as f64;
            if bound.holds(each) {
                b.claim_within(claim, bound, each, source);
            } else {
                let reason = "a hypervisor or the processor may do it without, or other programs took the threads' CPUs";
                b.claim_unverified(claim, bound.fact(), each, source, reason);
            }
        }
        (Err(reason), _) | (_, Err(reason)) => {
            b.claim_unobserved(claim, bound.fact(), source, reason)
        }
    }
    Ok(())
}

/// How often CPUs were interrupted to forget pages so far: all CPUs, for all programs.
fn interrupts() -> Result<u64, Unsupported> {
    let path = "/proc/interrupts";
    let text = fs::read_to_string(path)
        .map_err(|cause| Unsupported::new(format!("reading {path}: {cause}")))?;
    interrupts_in(&text).ok_or_else(|| Unsupported::new("this kernel counts no such interrupts"))
}

fn interrupts_in(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("TLB:"))?;
    let counts = line.split_ascii_whitespace();
    Some(counts.map_while(|count| count.parse::<u64>().ok()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cpus_are_added_up() {
        let text = "      CPU0  CPU1\n  0:  7  0  IO-APIC\nTLB:  40  2  TLB shootdowns\n";
        assert_eq!(interrupts_in(text), Some(42));
        assert_eq!(
            interrupts_in("IPI0:  1  2  Rescheduling interrupts\n"),
            None
        );
    }
}
