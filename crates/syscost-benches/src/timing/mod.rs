//! Reading time, and how the machine disturbs it.
//!
//! How long it takes to read a clock, how finely clocks step, how late sleepers wake, and how much
//! of the time the machine leaves a program alone. Everything else here is measured with the clock
//! that this group describes, so it is also the place to look when other numbers are odd.
//!
//! ## First look
//! - `timing.clock_read{source=monotonic}`: what a timestamp costs a program; much more than
//!   `source=tsc` means that the kernel does not trust the processor's counter.
//! - `timing.core_frequency{op=add}`: the frequency that times of work in the core follow.
//! - `timing.sleep{via=clock_nanosleep,delay=1ms,slack=default}`: by how much a sleeper is late.
//! - `timing.noise`: how much of the time something else ran.
//!
//! ## Benchmarks
//! `clock_read` and `clock_step` have a row for each clock. `loop` and `core_frequency` are work
//! of known length, by which the clock itself is judged. `sleep` is what timers and the scheduler
//! add. `noise`, `long_steps` and `shared_core` observe what takes a program's time away;
//! `tsc_skew`, whether the processors' counters agree.
//!
//! ## Disturbances
//! Frequency changes, other guests of a hypervisor, and a clock that is not the TSC. `syscost
//! doctor` says which clock this is and why.

pub(crate) mod clock_read;
mod clock_step;
mod core_frequency;
mod long_steps;
mod r#loop;
mod noise;
mod shared_core;
mod sleep;
mod tsc_skew;

use std::collections::BTreeSet;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    timing: "reading time, and what the machine does to it",
    clock_read,
    clock_step,
    long_steps,
    r#loop,
    core_frequency,
    tsc_skew,
    sleep,
    noise,
    shared_core,
};

static RAN_ON: Witness = Witness::of("processors that it ran on", "getcpu");

/// Proof that it ran on these processors and no others.
fn runs_on(cpus: impl IntoIterator<Item = Cpu>) -> Proof {
    RAN_ON.expects(list(cpus.into_iter().map(|Cpu(number)| number)))
}

fn show_cpus(b: &mut Bencher, cpus: impl IntoIterator<Item = u32>) {
    b.observe(&RAN_ON, list(cpus));
}

/// These in their order, each once.
fn list(cpus: impl IntoIterator<Item = u32>) -> String {
    let cpus: BTreeSet<u32> = cpus.into_iter().collect();
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    cpus.join(", ")
}

/// Maximum number of processors with rows of their own.
const MAX_CPUS: usize = 8;

/// The processors that have rows of their own.
fn spread_cpus(here: &Testbed) -> impl Iterator<Item = Cpu> + use<> {
    spread(&here.allowed, MAX_CPUS).into_iter().map(Cpu)
}

/// At most `most` of these, evenly spread, including the first and the last. Siblings, cores and
/// sockets are numbered in blocks, so that a spread includes them all.
pub(crate) fn spread(cpus: &[u32], most: usize) -> Vec<u32> {
    if cpus.len() <= most {
        return cpus.to_vec();
    }
    (0..most)
        .map(|index| cpus[index * (cpus.len() - 1) / (most - 1)])
        .collect()
}

#[cfg(test)]
mod tests {
    use syscost_harness::prelude::*;
    use syscost_sys::audit;

    use super::*;
    use crate::CATALOGUE;
    use crate::testing::{claims, findings_of_row};

    #[test]
    fn a_spread_reaches_from_the_first_to_the_last() {
        let many: Vec<u32> = (4..100).collect();
        let some = spread(&many, 8);
        assert_eq!((some.len(), some[0], some[7]), (8, 4, 99));
        assert!(
            some.windows(2)
                .all(|pair| (13..=14).contains(&(pair[1] - pair[0]))),
            "{some:?}"
        );
        assert_eq!(spread(&[0, 1], 8), [0, 1]);
    }

    #[test]
    fn another_clock_where_it_is_timed_alone_is_refuted() {
        or_skip!(audit::available());
        let here = Testbed::plain();
        for id in ["timing.clock_read", "timing.clock_step"] {
            let benchmark = CATALOGUE.find(id).expect("listed");
            let cases = (benchmark.cases)(&here);
            let of = |source| {
                cases
                    .iter()
                    .find(|case| case.find("source") == Some(source))
            };
            let named = of("monotonic").expect("a row");
            for (measured, is_refuted) in [("monotonic", false), ("monotonic_coarse", true)] {
                let pair = (named, of(measured).expect("a row"));
                let claim = "of 100 readings, those of CLOCK_MONOTONIC".to_owned();
                let found = match findings_of_row(benchmark, &here, pair, Pass::Timed) {
                    Ok(found) => claims(&found, Verdict::Refuted).contains(&claim),
                    Err(_) => true,
                };
                assert_eq!(found, is_refuted, "{id} {measured}");
            }
        }
    }
}
