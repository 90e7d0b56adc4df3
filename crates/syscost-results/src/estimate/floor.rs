//! The claim that no execution is faster than physics: judged with the figure that it is about.

use super::Estimated;
use crate::Bound;
use crate::measurement::{Evidence, RoundSamples, Unit, Verdict};

/// The claim, about a row's figure.
const CLAIM: &str = "core cycles per operation";

/// Where core cycles come from.
const CHAINS: &str = "chains around the samples";

/// Maximum frequency of any core made so far, in GHz: it bounds the cycles where the frequency is unknown.
const FASTEST_CORE_GHZ: f64 = 6.5;

/// Minimum frequency of a working core, in GHz: an operation that waits for a device takes longer
/// than any floor, and the core is not looked at then.
const SLOWEST_CORE_GHZ: f64 = 0.1;

/// A floor under the cost of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Minimum cost of any real execution, in core cycles.
    pub cycles: f64,
    /// How many copies of the operation a rate is of.
    pub copies: u32,
    /// How many bytes an operation moves, if the figure is a rate in B/s.
    pub bytes: Option<f64>,
}

impl Floor {
    /// Judges a row's figure in this unit, of these rounds, by its core cycles or by their bounds.
    /// `None` where it says nothing of the time of an operation.
    pub fn judge(
        &self,
        figure: &Estimated,
        unit: Unit,
        rounds: &[RoundSamples],
    ) -> Option<Evidence> {
        let bound = Bound::AtLeast(self.cycles);
        let judged = |cycles: f64, source: &str| Evidence::judged(CLAIM, bound, cycles, source);
        // The time of an operation within each copy.
        let copies = f64::from(self.copies);
        let median = figure.estimate.median?;
        let ns = match (unit, self.bytes) {
            (Unit::Nanoseconds, _) => median,
            (Unit::OperationsPerSecond | Unit::FlopsPerSecond, _) => copies * 1e9 / median,
            (Unit::BytesPerSecond, Some(bytes)) => copies * bytes * 1e9 / median,
            _ => return None,
        };
        if let Some(cycles) = figure.core_cycles {
            return Some(judged(cycles, CHAINS));
        }
        // If the frequency is unsteady, the lowest that was seen still bounds the cycles from below.
        let seen = rounds.iter().filter_map(|round| round.core_ghz);
        // The median is at the usual one.
        let usual = rounds.iter().find_map(|round| round.usual_ghz);
        let slowest = seen.chain(usual).reduce(f64::min);
        if let Some(ghz) = slowest.filter(|ghz| bound.holds(ns * ghz)) {
            return Some(judged(ns * ghz, "slowest core frequency seen"));
        }
        if bound.holds(ns * SLOWEST_CORE_GHZ) {
            return Some(judged(ns * SLOWEST_CORE_GHZ, "clock, at least 0.1 GHz"));
        }
        // Without a frequency there is only an upper bound of the cycles: it can refute, not confirm.
        let most = judged(ns * FASTEST_CORE_GHZ, "clock, at most 6.5 GHz");
        Some(match most.verdict {
            Verdict::Refuted => most,
            _ => Evidence::unobserved(CLAIM, bound.fact(), CHAINS)
                .because("the core's frequency is not known"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Estimate;

    #[test]
    fn a_figure_below_the_floor_is_refuted_by_cycles_or_by_what_bounds_them() {
        let judged = |ns: f64, cycles: Option<f64>, ghz: Option<f64>| {
            let figure = Estimated {
                estimate: Estimate {
                    median: Some(ns),
                    ..Estimate::default()
                },
                core_cycles: cycles,
                ..Estimated::default()
            };
            let round = RoundSamples {
                core_ghz: ghz,
                ..RoundSamples::default()
            };
            let floor = Floor {
                cycles: 50.0,
                copies: 1,
                bytes: None,
            };
            let evidence = floor.judge(&figure, Unit::Nanoseconds, &[round]);
            let evidence = evidence.expect("a time");
            (evidence.verdict, evidence.source)
        };
        let of = |verdict, source: &str| (verdict, source.to_owned());
        assert_eq!(judged(1.0, Some(49.0), None), of(Verdict::Refuted, CHAINS));
        assert_eq!(
            judged(20.0, Some(60.0), None),
            of(Verdict::Confirmed, CHAINS)
        );
        assert_eq!(
            judged(20.0, None, Some(3.0)),
            of(Verdict::Confirmed, "slowest core frequency seen")
        );
        assert_eq!(
            judged(500.0, None, None),
            of(Verdict::Confirmed, "clock, at least 0.1 GHz")
        );
        assert_eq!(
            judged(7.0, None, None),
            of(Verdict::Refuted, "clock, at most 6.5 GHz")
        );
        assert_eq!(judged(20.0, None, None), of(Verdict::Unverified, CHAINS));
    }

    #[test]
    fn copies_and_bytes_make_a_rate_a_time() {
        let floor = Floor {
            cycles: 50.0,
            copies: 4,
            bytes: Some(64.0),
        };
        let figure = |rate| Estimated {
            estimate: Estimate {
                median: Some(rate),
                ..Estimate::default()
            },
            ..Estimated::default()
        };
        let verdict = |rate, unit| Some(floor.judge(&figure(rate), unit, &[])?.verdict);
        let rate = 4.0 * 64.0 * 1e9;
        assert_eq!(
            verdict(rate / 7.0, Unit::BytesPerSecond),
            Some(Verdict::Refuted)
        );
        assert_eq!(
            verdict(rate / 500.0, Unit::BytesPerSecond),
            Some(Verdict::Confirmed)
        );
        assert_eq!(
            verdict(4e9 / 7.0, Unit::OperationsPerSecond),
            Some(Verdict::Refuted)
        );
        assert_eq!(verdict(1.0, Unit::Gigahertz), None);
    }
}
