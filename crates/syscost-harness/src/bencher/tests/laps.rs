//! Operations that are all timed individually: which of them are in the histogram.

use syscost_sys::clock::{Clock, mock};
use syscost_sys::or_skip;

use super::*;

/// Makes operations that take longer and longer in a cycle of ten; one in `lost_one_in` is lost.
struct Lapped {
    laps: Laps,
    made: u64,
    lost_one_in: u64,
}

impl Lapped {
    fn new(lost_one_in: u64) -> Self {
        Self {
            laps: Laps::new(Clock::mock()),
            made: 0,
            lost_one_in,
        }
    }
}

impl Driver for Lapped {
    const MAX_ITERATIONS: u64 = Laps::MAX_ITERATIONS;

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.laps.begin();
        for _ in 0..iterations {
            self.made += 1;
            if self.made.is_multiple_of(self.lost_one_in) {
                mock::advance_ns(1_000_000);
                self.laps.void();
            } else {
                mock::advance_ns(1_000 + 100 * (self.made % 10));
                self.laps.note();
            }
        }
        Ok(())
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        Some(&mut self.laps)
    }
}

/// What a measurement of them finds, on processor 0.
fn measured(lost_one_in: u64) -> Result<Findings, Failure> {
    let alone = Together::of(HERE, |_| {
        Ok(Team::new(Vec::new(), Lapped::new(lost_one_in)).map(drop))
    });
    timed(|plan| plan.measure(alone))
}

#[test]
fn every_operation_is_in_the_histogram() {
    or_skip!(syscost_sys::cpu::pin(0), "processor 0 is not ours");
    let findings = measured(u64::MAX);
    let findings = findings.expect("measured");
    let count = |bins: &[(f64, u64)]| bins.iter().map(|(_, count)| count).sum::<u64>();
    let of_samples = findings.samples.iterations * findings.samples.values.len() as u64;
    // Those of the samples, and as many of the batches after them as p99.99 needs.
    let all = count(&findings.histogram);
    assert!(all >= of_samples + 10_000, "{all} of {of_samples}");
    let slowest = findings.histogram.last().map(|(ns, _)| *ns);
    assert!(
        slowest.is_some_and(|ns| (1_900.0..1_930.0).contains(&ns)),
        "{slowest:?}"
    );
    let overhead = findings.details["overhead_bound_percent"].value;
    assert!(
        (0.13..0.17).contains(&overhead),
        "2 ns of 1450, and a little more: {overhead}"
    );
}

#[test]
fn a_lost_operation_is_in_no_sample() {
    or_skip!(syscost_sys::cpu::pin(0), "processor 0 is not ours");
    let findings = measured(50);
    let findings = findings.expect("measured");
    assert!(
        findings.samples.values.iter().all(|ns| *ns < 2_000.0),
        "{:?}",
        findings.samples.values
    );
    assert!(findings.histogram.iter().all(|(ns, _)| *ns < 2_000.0));
    let failure = measured(2).unwrap_err();
    assert!(
        failure.to_string().contains("an operation was lost"),
        "{failure}"
    );
}
