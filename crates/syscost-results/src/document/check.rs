//! What a document's numbers must not say.

use super::{DocumentError, Place, TAKE_ANOTHER_COPY};
use crate::measurement::{Estimate, Verdict};
use crate::run::{Noise, Run};

/// Checks that no row has a number that its own evidence refutes: whoever printed it would print
/// what is known to be false.
pub(super) fn check_evidence(run: &Run) -> Result<(), DocumentError> {
    for (index, row) in run.measurements.iter().enumerate() {
        let refuted = row
            .evidence
            .iter()
            .position(|one| one.verdict == Verdict::Refuted);
        if let Some(claim) = refuted.filter(|_| row.status.has_figures()) {
            let path = format!("measurements[{index}].evidence[{claim}]");
            return Err(DocumentError::new(
                Place::Field { path, at: None },
                format!("`{}` has a number that this evidence refutes", row.name),
                TAKE_ANOTHER_COPY,
            ));
        }
    }
    Ok(())
}

/// Checks that shares of a whole are shares of a whole.
pub(super) fn check_noise(noise: &[Noise]) -> Result<(), DocumentError> {
    for (index, cpu) in noise.iter().enumerate() {
        for (field, percent) in [
            ("lost_percent", Some(cpu.lost_percent)),
            ("alone_percent", cpu.alone_percent),
            ("measured_alone_percent", cpu.measured_alone_percent),
        ] {
            if percent.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
                let path = format!("noise[{index}].{field}");
                return Err(DocumentError::new(
                    Place::Field { path, at: None },
                    "a share in percent is from 0 to 100",
                    TAKE_ANOTHER_COPY,
                ));
            }
        }
    }
    Ok(())
}

pub(super) fn check_samples(run: &Run) -> Result<(), DocumentError> {
    for (index, row) in run.measurements.iter().enumerate() {
        for (round, samples) in row.samples.iter().flatten().enumerate() {
            if samples.values.iter().any(|value| !value.is_finite()) {
                let path = format!("measurements[{index}].samples[{round}].values");
                return Err(DocumentError::new(
                    Place::Field { path, at: None },
                    "a sample is no finite number",
                    TAKE_ANOTHER_COPY,
                ));
            }
        }
    }
    Ok(())
}

pub(super) fn check_estimate(estimate: &Estimate) -> Result<(), String> {
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        min,
        best,
        mad,
        p99,
        raw_median,
        ..
    } = *estimate;
    let all = [median, ci95_low, ci95_high, min, best, mad, p99, raw_median];
    if all.iter().flatten().any(|value| !value.is_finite()) {
        return Err("a number is not finite".to_owned());
    }
    let ordered = |low: Option<f64>, high: Option<f64>| !matches!((low, high), (Some(low), Some(high)) if low > high);
    if !ordered(ci95_low, ci95_high) || !ordered(ci95_low, median) || !ordered(median, ci95_high) {
        return Err("the median is not within its interval".to_owned());
    }
    Ok(())
}
