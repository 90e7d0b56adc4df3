//! Wake-ups, each with evidence that there was a sleep before it.

use std::time::Instant;

use syscost_harness::prelude::*;
use syscost_stats::order::median;
use syscost_sys::counters::Usage;

use crate::implied::Implied;

/// Wake-ups before the first that counts; they also give the duration of one.
const WARM_UP: u32 = 8;

/// Minimum and maximum number of wake-ups of a sample.
const PER_SAMPLE: (f64, f64) = (5.0, 5_000.0);

/// Minimum share of tries that must have slept.
const MIN_SLEPT: f64 = 0.5;

/// Maximum share of the latencies in the time that they lie in: the run's clock and the kernel's
/// may differ by this much.
const MAX_BEYOND: f64 = 1.02;

/// What the wake-ups of one pass showed.
#[derive(Default)]
pub(super) struct Tally {
    /// Latencies in ns.
    latencies: Vec<f64>,
    /// Tries that did not sleep, because what they waited for had already happened.
    awake: usize,
}

impl Tally {
    /// Takes samples. Each is the median latency, in ns, of many wake-ups that followed a sleep; an
    /// operation of the evidence pass is one wake-up.
    pub(super) fn measure<'a>(
        &mut self,
        mut plan: Plan<'a>,
        mut wake_up: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<Outcome<'a>, Failure> {
        let is_timed = plan.is_timed();
        let per_sample = match is_timed {
            true => per_sample(plan.case_ns(), &mut wake_up)?,
            false => 1,
        };
        plan.warm_up(|| wake_up().map(drop))?;
        let mut one = Vec::with_capacity(per_sample);
        let wake_ups = || {
            one.clear();
            for _ in 0..per_sample {
                let before = Usage::thread()?;
                let latency = wake_up()?;
                let slept = Usage::thread()? - before;
                match slept.voluntary_switches {
                    0 => self.awake += 1,
                    _ => one.push(latency),
                }
            }
            self.latencies.extend(&one);
            match median(&one) {
                Some(median) => Ok(median),
                None if is_timed => {
                    let what = format!("none of {per_sample} wake-ups followed a sleep");
                    Err(Failure::Refuted(what))
                }
                // Under audit a call lasts longer than what it waits for.
                None => Ok(0.0),
            }
        };
        plan.measure(Observed::of(wake_ups).time_of_one_in(per_sample))
    }

    pub(super) fn tries(&self) -> usize {
        self.latencies.len() + self.awake
    }

    /// Reports all latencies to the bencher, and claims that there were sleeps and no early wake-ups.
    pub(super) fn report(&self, b: &mut Outcome) {
        let early = self.latencies.iter().filter(|ns| **ns < 0.0).count();
        b.report("early wake-ups", early as f64);
        self.latencies.iter().for_each(|ns| b.record_single(*ns));
        if let Some(typical) = median(&self.latencies) {
            Implied::of_values(b, typical).claim_typical(b);
        }
        b.detail_over(Over::Sum, "singles_without_sleep_count", self.awake as f64);
        let slept = self.latencies.len() as f64 / self.tries().max(1) as f64;
        let expected = format!("at least {MIN_SLEPT}");
        let claim = "sleeps per wake-up, each told from those it did not precede";
        b.claim(claim, expected, slept, "getrusage", slept >= MIN_SLEPT);
    }
}

/// Claims that the latencies are no longer than the time that passed beyond what each wake-up asked
/// for. A latency that is timed from the beginning, or is not in ns, is.
pub(super) fn claim_beyond(b: &mut Outcome, tally: &Tally, asked_ns: f64) {
    let took_ns: f64 = b.observed().iter().map(|(_, took_ns)| took_ns).sum();
    let beyond_ns = took_ns - asked_ns * tally.tries() as f64;
    if took_ns > 0.0 {
        let claim = "all latencies, of the time that passed beyond what was asked for";
        let share = tally.latencies.iter().sum::<f64>() / beyond_ns;
        b.claim_within(claim, Bound::Within(0.0, MAX_BEYOND), share, "run's clock");
    }
}

/// The number of wake-ups of a sample that takes as long as all of a case's should: the bencher
/// then takes the fewest samples, which is long enough for a tail. Fixed before the first sample:
/// one that ended when its time is over would end in a long wake-up too often.
fn per_sample(
    case_ns: f64,
    wake_up: &mut impl FnMut() -> Result<f64, Failure>,
) -> Result<usize, Failure> {
    let began = Instant::now();
    for _ in 0..WARM_UP {
        wake_up()?;
    }
    let typical_ns = began.elapsed().as_nanos() as f64 / f64::from(WARM_UP);
    let (least, most) = PER_SAMPLE;
    Ok((case_ns / typical_ns).clamp(least, most) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, claims};
    use syscost_harness::bencher::Findings;

    fn measured(
        pass: Pass,
        wake_up: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<Findings, Failure> {
        let expect = [exactly(Counter::Reported("early wake-ups"), 0.0)];
        testing::findings_by(&Case::default(), pass, &expect, |plan| {
            let mut tally = Tally::default();
            let mut outcome = tally.measure(plan, wake_up)?;
            tally.report(&mut outcome);
            Ok(outcome)
        })
    }

    fn refuted(findings: &Findings) -> Vec<String> {
        claims(findings, Verdict::Refuted)
    }

    fn slept() {
        std::thread::sleep(std::time::Duration::from_micros(50));
    }

    #[test]
    fn wake_ups_that_follow_a_sleep_are_all_in_the_histogram() {
        let findings = measured(Pass::Timed, || {
            slept();
            Ok(700.0)
        })
        .unwrap();
        assert_eq!(refuted(&findings), [""; 0]);
        assert!(findings.samples.values.iter().all(|ns| *ns == 700.0));
        let singles: u64 = findings.histogram.iter().map(|(_, count)| count).sum();
        let awake = findings.details["singles_without_sleep_count"].value;
        assert!(singles >= 5 * findings.samples.values.len() as u64 - awake as u64);
    }

    #[test]
    fn tries_without_a_sleep_are_no_wake_ups() {
        let awake = || Ok(0.1);
        let refusal = measured(Pass::Timed, awake).unwrap_err();
        assert!(matches!(refusal, Failure::Refuted(_)), "{refusal}");
        let counted = measured(Pass::Evidence, awake).unwrap();
        assert!(refuted(&counted)[0].starts_with("sleeps per wake-up"));
    }

    #[test]
    fn an_early_wake_up_refutes_all() {
        let mut number = 0;
        let findings = measured(Pass::Timed, || {
            slept();
            number += 1;
            // Not only while leading in.
            Ok(if number % 20 == 0 { -1.0 } else { 700.0 })
        });
        let findings = findings.unwrap();
        assert_eq!(refuted(&findings), ["early wake-ups per operation"]);
    }

    #[test]
    fn what_failed_is_no_wake_up() {
        let failing = || Err(Failure::Failed("nobody woke it".into()));
        for pass in [Pass::Timed, Pass::Evidence] {
            let failure = measured(pass, failing).unwrap_err();
            assert_eq!(failure.to_string(), "nobody woke it");
        }
    }
}
