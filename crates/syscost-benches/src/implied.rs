//! Shared: whether observed values are what their unit says, judged by the time that each implies.
//!
//! A benchmark that observes its values also divides by itself: a wrong divisor makes every
//! value wrong by the same factor, and leaves all counts as they are.

use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_stats::order::median;

/// The ranges of a share: inside the first it confirms, outside the second it refutes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    confirm: (f64, f64),
    refute: (f64, f64),
}

impl Shares {
    /// For values that contain everything that takes time.
    pub(crate) const WHOLE: Self = Self {
        confirm: (0.8, 1.1),
        refute: (0.67, 1.25),
    };

    /// For values with something before and after them that may be slower or faster.
    pub(crate) const INNER: Self = Self {
        confirm: (0.6, 1.5),
        refute: (0.3, 2.0),
    };
}

/// For each value, the time that it implies divided by the time that passed on another clock.
#[derive(Debug, Default)]
pub(crate) struct Implied(Vec<f64>);

impl FromIterator<f64> for Implied {
    fn from_iter<I: IntoIterator<Item = f64>>(shares: I) -> Self {
        Self(shares.into_iter().collect())
    }
}

impl Implied {
    /// Records a value: its operations take `implied_ns` at that rate, and took the time since
    /// `begun`.
    pub(crate) fn note(&mut self, implied_ns: f64, begun: Instant) {
        self.note_over(implied_ns, begun.elapsed());
    }

    /// As [`note`](Self::note), of what took this long.
    pub(crate) fn note_over(&mut self, implied_ns: f64, took: Duration) {
        self.0.push(implied_ns / took.as_nanos() as f64);
    }

    pub(crate) fn has_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Of values that are the time of their whole observation.
    pub(crate) fn of_whole(outcome: &Outcome) -> Self {
        let observed = outcome.observed().iter();
        observed.map(|(value, took_ns)| value / took_ns).collect()
    }

    /// Of observations that consist of parts which take this long together, in ns.
    pub(crate) fn of_parts(outcome: &Outcome, parts_ns: &[f64]) -> Self {
        let observed = outcome.observed().iter().zip(parts_ns);
        observed.map(|((_, took_ns), ns)| ns / took_ns).collect()
    }

    /// Of values that are the middle of what was seen in their observation, against that of all.
    pub(crate) fn of_values(outcome: &Outcome, typical: f64) -> Self {
        let observed = outcome.observed().iter();
        observed.map(|(value, _)| value / typical).collect()
    }

    /// Claims that the values are the middle of all that was seen; nothing in the evidence pass, which
    /// has no values.
    pub(crate) fn claim_typical(&self, b: &mut Bencher) {
        if let Some(share) = median(&self.0) {
            let claim = "typical value, of the middle of all that was seen";
            let reason = "or what was seen changed meanwhile";
            Shares::INNER.claim(b, claim, share, "all observations", reason);
        }
    }

    /// Claims that both times agree. The median is used, since preemption between the two clocks
    /// makes some of them differ. Without any value there is nothing to judge.
    pub(crate) fn claim(&self, b: &mut Bencher, shares: Shares) {
        let claim = "time that the value implies for what was done, of the time that it took";
        let source = "clock and count";
        match median(&self.0) {
            Some(share) => {
                let reason = "or this program was kept waiting between its readings of two clocks";
                shares.claim(b, claim, share, source, reason);
            }
            None => {
                let reason = "nothing was done in any window";
                b.claim_unobserved(claim, shares.expected(), source, reason);
            }
        }
    }
}

impl Shares {
    fn expected(self) -> String {
        let (least, most) = self.confirm;
        format!("{least} to {most}")
    }

    /// Claims that a share is inside the first of these ranges; between both this is the reason.
    pub(crate) fn claim(
        self,
        b: &mut Bencher,
        claim: impl Into<Claim>,
        share: f64,
        source: &str,
        reason: &str,
    ) {
        let verdict = judge(share, self);
        let reason = (verdict == Verdict::Unverified).then_some(reason);
        b.claim_verdict(claim, self.expected(), share, source, verdict, reason);
    }
}

fn judge(share: f64, shares: Shares) -> Verdict {
    let is_in = |(least, most): (f64, f64)| (least..=most).contains(&share);
    if is_in(shares.confirm) {
        Verdict::Confirmed
    } else if is_in(shares.refute) {
        Verdict::Unverified
    } else {
        Verdict::Refuted
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::findings_by;

    #[test]
    fn without_a_value_no_number_is_claimed() {
        let found = findings_by(&Case::default(), Pass::Timed, &[], |plan| {
            let mut outcome = plan.measure(Loop::infallible(|| 1))?;
            Implied::default().claim(&mut outcome, Shares::WHOLE);
            Ok(outcome)
        });
        let evidence = found.unwrap().evidence;
        let claimed = evidence.last().unwrap();
        assert_eq!(claimed.verdict, Verdict::Unverified);
        assert_eq!(claimed.observed, None);
    }

    #[test]
    fn values_that_are_not_the_middle_of_what_was_seen_are_told() {
        for (divisor, verdict) in [(1.0, Verdict::Confirmed), (2.0, Verdict::Unverified)] {
            let found = findings_by(&Case::default(), Pass::Timed, &[], |plan| {
                let mut outcome = plan.measure(Observed::of(|| Ok(10.0 / divisor)))?;
                Implied::of_values(&outcome, 10.0).claim_typical(&mut outcome);
                Ok(outcome)
            });
            let evidence = found.expect("observed").evidence;
            assert_eq!(evidence.last().expect("claimed").verdict, verdict);
        }
    }

    #[test]
    fn another_divisor_is_refuted_and_a_pause_is_not() {
        assert_eq!(judge(0.97, Shares::WHOLE), Verdict::Confirmed);
        assert_eq!(judge(0.7, Shares::WHOLE), Verdict::Unverified);
        for wrong in [0.5, 2.0, f64::NAN] {
            assert_eq!(judge(wrong, Shares::WHOLE), Verdict::Refuted, "{wrong}");
        }
        assert_eq!(judge(0.5, Shares::INNER), Verdict::Unverified);
        assert_eq!(judge(0.25, Shares::INNER), Verdict::Refuted);
    }
}
