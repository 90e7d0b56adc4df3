//! Numbers beside the main one.

use syscost_stats::order;

use super::Bencher;
use super::findings::{Detail, Over};
use crate::failure::Failure;
use crate::proof::Witness;

impl Bencher<'_> {
    /// Adds a named number beside the main one; the name ends in its unit, e.g. `switch_ns`. The
    /// document has the median over processes. A value that is not finite, e.g. a share of nothing,
    /// cannot be represented in JSON and is left out.
    pub fn detail(&mut self, name: &str, value: f64) {
        self.detail_over(Over::Median, name, value);
    }

    /// As [`Bencher::detail`], combined over processes otherwise than by the median, e.g. the longest
    /// of all gaps.
    pub fn detail_over(&mut self, over: Over, name: &str, value: f64) {
        if value.is_finite() {
            let detail = Detail { value, over };
            self.findings.details.insert(name.to_owned(), detail);
        }
    }

    /// Adds a detail that is this many times the row's value; for the name see [`Bencher::detail`].
    pub fn detail_times(&mut self, name: &str, factor: f64) {
        self.detail_over(Over::Times, name, factor);
    }

    /// Adds a detail: the time of each of the things that this witness counted in an operation. The
    /// divisor is what it saw, and cannot be another one.
    ///
    /// # Errors
    /// It has not been seen.
    pub fn detail_each(&mut self, name: &str, counted: &'static Witness) -> Result<(), Failure> {
        let unseen = || {
            let what = format!("divides by `{}` before it is seen", counted.sentence());
            Failure::Broken(what)
        };
        let mut seen = self.observations.iter().rev();
        let (_, number) = seen
            .find(|(witness, _)| std::ptr::eq(*witness, counted))
            .ok_or_else(unseen)?;
        self.detail_times(name, 1.0 / number.unwrap_or(f64::NAN));
        Ok(())
    }

    /// Adds a detail per second: `amount` is processed in the time of the row's value, which is in ns.
    pub fn detail_per_second(&mut self, name: &str, amount: f64) {
        self.detail_over(Over::PerSecond, name, amount);
    }

    /// Whether a sample is tagged, for whatever cause, or its core was shared.
    pub(super) fn is_disturbed(&self, sample: u32) -> bool {
        let mut tags = self.findings.samples.disturbed.iter();
        let is_shared = self.shared.get(sample as usize).copied();
        is_shared == Some(true) || tags.any(|tag| tag.sample == sample)
    }

    /// The median of the undisturbed samples so far, or of all if there are none, in the
    /// benchmark's unit; `None` before the measurement and in the evidence pass.
    pub fn median(&self) -> Option<f64> {
        let all = &self.findings.samples.values;
        let values = || (0_u32..).zip(all.iter().copied());
        let undisturbed = values().filter(|(sample, _)| !self.is_disturbed(*sample));
        let undisturbed: Vec<f64> = undisturbed.map(|(_, value)| value).collect();
        order::median(&undisturbed).or_else(|| order::median(all))
    }
}
