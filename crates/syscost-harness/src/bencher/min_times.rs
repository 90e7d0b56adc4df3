//! Minimum times of pieces of work, for claims that compare them.

use syscost_results::Verdict;

use super::{Bencher, Plan};

/// Maximum rounds, as a multiple of those that are asked for: the core may be shared in the first
/// ones.
const MAX_FACTOR: usize = 10;

/// Why times from a shared core refute nothing.
const SHARED: &str = "the core was shared whenever it was timed";

/// The minimum time of each piece of work, in ns.
#[derive(Debug, Clone, Copy)]
pub struct MinTimes<const N: usize> {
    /// The times, in the order of the work.
    pub ns: [f64; N],
    /// Whether all were taken on an undisturbed core, or nothing is known of it.
    is_undisturbed: bool,
}

impl<const N: usize> MinTimes<N> {
    /// The verdict that they support: interference may lengthen some and spare the others, so only
    /// times of an undisturbed core refute. Includes the reason where they do not.
    #[must_use]
    pub fn verdict(&self, judged: Verdict) -> (Verdict, Option<&'static str>) {
        supported(judged, self.is_undisturbed)
    }
}

/// The verdict that times of an undisturbed core, or of a shared one, support.
fn supported(judged: Verdict, is_undisturbed: bool) -> (Verdict, Option<&'static str>) {
    match judged {
        Verdict::Refuted if !is_undisturbed => (Verdict::Unverified, Some(SHARED)),
        judged => (judged, None),
    }
}

impl Bencher<'_> {
    /// The verdict that times taken by an [`Observed`](super::Observed) support: interference may
    /// lengthen some and spare others, so without an undisturbed sample nothing is refuted.
    /// Includes the reason then.
    #[must_use]
    pub fn verdict_of_times(&self, judged: Verdict) -> (Verdict, Option<&'static str>) {
        let mut samples = 0..self.findings.samples.values.len() as u32;
        let is_unknown = || self.alone_core(self.cpu()).is_none();
        supported(
            judged,
            samples.any(|one| !self.is_disturbed(one)) || is_unknown(),
        )
    }
}

impl Plan<'_> {
    /// Times each piece of work in rotation, for this many rounds and more until each has an
    /// undisturbed one: for claims that compare their times. Noise only lengthens, so the minimum
    /// counts: that of undisturbed rounds, where each piece has one.
    pub fn min_times<const N: usize>(
        &mut self,
        rounds: usize,
        mut works: [&mut dyn FnMut(); N],
    ) -> MinTimes<N> {
        let (mut own, mut any) = ([f64::INFINITY; N], [f64::INFINITY; N]);
        self.begin_probes();
        for round in 0..MAX_FACTOR * rounds {
            let is_undisturbed = own.iter().all(|ns| ns.is_finite());
            if round >= rounds && is_undisturbed {
                break;
            }
            for (number, work) in works.iter_mut().enumerate() {
                self.wait_before_sample();
                self.take_seen();
                self.probe_before();
                let start = self.given.clock.start();
                work();
                let ticks = self.given.clock.stop().ticks.saturating_sub(start);
                self.probe_after();
                let ns = self.given.clock.to_ns(ticks);
                any[number] = any[number].min(ns);
                if self.take_seen().is_undisturbed() {
                    own[number] = own[number].min(ns);
                }
            }
        }
        let is_undisturbed = own.iter().all(|ns| ns.is_finite());
        MinTimes {
            ns: if is_undisturbed { own } else { any },
            is_undisturbed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_times_of_an_undisturbed_core_refute() {
        let times = |is_undisturbed| MinTimes {
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
