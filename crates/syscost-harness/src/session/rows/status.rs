//! The status of a row, and what its core cycles prove.

use syscost_results::{Estimate, Evidence, Fact, Status, Unit, Verdict};

use super::RowState;
use crate::expect::{Counter, at_least};
use crate::failure::Failure;

/// Maximum frequency of any core made so far, in GHz: it bounds the cycles where the frequency is unknown.
const FASTEST_CORE_GHZ: f64 = 6.5;

/// Minimum frequency of a working core, in GHz: an operation that waits for a device takes longer
/// than any floor, and the core is not looked at then.
const SLOWEST_CORE_GHZ: f64 = 0.1;

impl RowState {
    /// Judges the floor that its benchmark claims by its core cycles, or by their bounds.
    pub(super) fn judge_floor(
        &self,
        estimate: &Estimate,
        core_cycles: Option<f64>,
        usual_ghz: Option<f64>,
    ) -> Option<Evidence> {
        let floor = at_least(Counter::CoreCycles, self.cycle_floor?);
        // The time of an operation within each copy.
        let copies = f64::from(self.copies.unwrap_or(1));
        let median = match (self.row.benchmark.unit, self.bytes) {
            (Unit::Nanoseconds, _) => estimate.median?,
            (Unit::OperationsPerSecond | Unit::FlopsPerSecond, _) => {
                copies * 1e9 / estimate.median?
            }
            (Unit::BytesPerSecond, Some(bytes)) => copies * bytes * 1e9 / estimate.median?,
            _ => return None,
        };
        if let Some(cycles) = core_cycles {
            return Some(floor.judge(cycles, "chains around the samples"));
        }
        // If the frequency is unsteady, the lowest that was seen still bounds the cycles from below.
        let slowest = self
            .rounds
            .iter()
            .filter_map(|round| round.core_ghz)
            // The median is at that one.
            .chain(usual_ghz)
            .reduce(f64::min);
        if let Some(ghz) = slowest.filter(|ghz| floor.bound.holds(median * ghz)) {
            return Some(floor.judge(median * ghz, "slowest core frequency seen"));
        }
        if floor.bound.holds(median * SLOWEST_CORE_GHZ) {
            return Some(floor.judge(median * SLOWEST_CORE_GHZ, "clock, at least 0.1 GHz"));
        }
        // Without a frequency there is only an upper bound of the cycles: it can refute, not confirm.
        let at_most = floor.judge(median * FASTEST_CORE_GHZ, "clock, at most 6.5 GHz");
        Some(match at_most.verdict {
            Verdict::Refuted => at_most,
            _ => floor.unverified(
                "chains around the samples",
                "the core's frequency is not known",
            ),
        })
    }

    /// The status of the row, and the reason if it has no number.
    pub(super) fn status(
        &self,
        estimate: &Estimate,
        below_resolution: bool,
        evidence: &[Evidence],
        missing: &str,
    ) -> (Status, Option<String>) {
        if let Some(failure) = &self.failure {
            let status = match failure {
                Failure::Unsupported(_) => Status::Unsupported,
                Failure::Refuted(_) => Status::Withheld,
                Failure::Failed(_) | Failure::Broken(_) | Failure::Deferred => Status::Failed,
            };
            return (status, Some(failure.to_string()));
        }
        if let Some(reason) = &self.skipped {
            return (Status::Skipped, Some(reason.clone()));
        }
        if let Some(refuted) = evidence.iter().find(|e| e.verdict == Verdict::Refuted) {
            return (Status::Withheld, Some(refutation(refuted)));
        }
        if self.rounds.is_empty() {
            return (Status::Skipped, Some(missing.to_owned()));
        }
        if evidence.iter().all(Evidence::is_note) {
            let defect = Failure::Broken("claims nothing that could be wrong".to_owned());
            return (Status::Failed, Some(defect.to_string()));
        }
        if !self.is_proved {
            let reason = "its evidence pass did not come back, so nothing proves the number";
            return (Status::Failed, Some(reason.to_owned()));
        }
        if below_resolution {
            let unit = self.row.benchmark.unit.symbol();
            let bound = estimate.ci95_high.map_or(
                "too few processes count to say how small it is".to_owned(),
                |bound| format!("less than {bound:.3} {unit}"),
            );
            let reason = format!("it cannot be distinguished from zero: {bound}");
            return (Status::BelowResolution, Some(reason));
        }
        // If other rounds did find it, the bounds of these rounds are among the values.
        if let Some(why) = self
            .larger
            .first()
            .filter(|_| 2 * self.larger.len() > self.rounds.len())
        {
            return (Status::AboveRange, Some(why.clone()));
        }
        (Status::Ok, None)
    }
}

fn refutation(evidence: &Evidence) -> String {
    let said = |fact: &Option<Fact>| {
        let fact = fact.as_ref();
        fact.map_or("nothing".to_owned(), Fact::to_string)
    };
    let (expected, observed) = (said(&evidence.expected), said(&evidence.observed));
    let (claim, source) = (&evidence.claim, &evidence.source);
    let mut text = format!("{claim}: expected {expected}, observed {observed} ({source})");
    if let Some(reason) = &evidence.reason {
        text.push_str(": ");
        text.push_str(reason);
    }
    text
}
