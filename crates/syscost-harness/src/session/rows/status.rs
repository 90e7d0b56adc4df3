//! The status of a row.

use syscost_results::{Estimate, Evidence, Status, Verdict};

use super::RowState;
use crate::failure::Failure;

impl RowState {
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
            return (Status::Withheld, Some(refuted.to_string()));
        }
        if self.rounds.is_empty() {
            return (Status::Skipped, Some(missing.to_owned()));
        }
        if evidence.iter().all(Evidence::is_note) {
            let defect = Failure::Broken("claims nothing that could be wrong".to_owned());
            return (Status::Failed, Some(defect.to_string()));
        }
        if self.proof.is_none() {
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
        let larger: Vec<&String> = self
            .timed
            .iter()
            .filter_map(|one| one.larger.as_ref())
            .collect();
        if let Some(why) = larger
            .first()
            .filter(|_| 2 * larger.len() > self.rounds.len())
        {
            return (Status::AboveRange, Some((*why).clone()));
        }
        (Status::Ok, None)
    }
}
