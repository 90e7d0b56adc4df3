//! The least times of works that a claim compares.

use syscost_results::Verdict;

use super::Bencher;

/// Rounds at most, as many times those that are asked for: none of the core's looks may have found it ours in the first.
const MAX_FACTOR: usize = 10;

/// Why what was timed beside others refutes nothing.
const SHARED: &str = "the core was never ours while it was timed";

/// The least time of each of some works, in ns.
#[derive(Debug, Clone, Copy)]
pub struct LeastTimes<const N: usize> {
    /// In the order of the works.
    pub ns: [f64; N],
    /// Whether all are of a core of our own, or nobody could look.
    is_undisturbed: bool,
}

impl<const N: usize> LeastTimes<N> {
    /// What a judgement of them is worth: a neighbour may lengthen some and spare the others, so only times of a core of our own refute. With the
    /// reason where they do not.
    #[must_use]
    pub fn verdict(&self, judged: Verdict) -> (Verdict, Option<&'static str>) {
        worth(judged, self.is_undisturbed)
    }
}

/// What a judgement of times is worth that were of a core of our own, or were not.
fn worth(judged: Verdict, is_undisturbed: bool) -> (Verdict, Option<&'static str>) {
    match judged {
        Verdict::Refuted if !is_undisturbed => (Verdict::Unverified, Some(SHARED)),
        judged => (judged, None),
    }
}

impl Bencher<'_> {
    /// What a judgement of times is worth that were taken by [`Bencher::observe`]: a neighbour lengthens some and spares
    /// others, so without a sample of a core of our own nothing is refuted. With the reason then.
    #[must_use]
    pub fn verdict_of_times(&self, judged: Verdict) -> (Verdict, Option<&'static str>) {
        let mut samples = 0..self.findings.values.len() as u32;
        let is_undisturbed = self.bracket.is_none() || samples.any(|one| !self.is_disturbed(one));
        worth(judged, is_undisturbed)
    }

    /// Times these works in turn, this many rounds, and more while none of the rounds of one was undisturbed: for claims that compare their times. Noise
    /// only lengthens, so the least counts; that of undisturbed rounds, where each work has one.
    pub fn least_times<const N: usize>(
        &mut self,
        rounds: usize,
        mut works: [&mut dyn FnMut(); N],
    ) -> LeastTimes<N> {
        let (mut own, mut any) = ([f64::INFINITY; N], [f64::INFINITY; N]);
        self.begin_looks();
        for round in 0..MAX_FACTOR * rounds {
            let is_undisturbed = own.iter().all(|ns| ns.is_finite());
            if round >= rounds && is_undisturbed {
                break;
            }
            for (number, work) in works.iter_mut().enumerate() {
                self.gate();
                self.take_seen();
                self.open();
                let start = self.clock.start();
                work();
                let ticks = self.clock.stop().ticks.saturating_sub(start);
                self.close();
                let ns = self.clock.to_ns(ticks);
                any[number] = any[number].min(ns);
                if self.take_seen().is_undisturbed() {
                    own[number] = own[number].min(ns);
                }
            }
        }
        let is_undisturbed = own.iter().all(|ns| ns.is_finite());
        LeastTimes {
            ns: if is_undisturbed { own } else { any },
            is_undisturbed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_times_of_a_core_of_our_own_refute() {
        let times = |is_undisturbed| LeastTimes {
            ns: [1.0, 2.0],
            is_undisturbed,
        };
        let (verdict, reason) = times(false).verdict(Verdict::Refuted);
        assert_eq!((verdict, reason), (Verdict::Unverified, Some(SHARED)));
        assert_eq!(
            times(true).verdict(Verdict::Refuted),
            (Verdict::Refuted, None)
        );
        assert_eq!(
            times(false).verdict(Verdict::Confirmed).0,
            Verdict::Confirmed
        );
    }
}
