//! How large a change a comparison could have found.

use serde::Serialize;
use syscost_stats::{order, student};

use super::{FALSE_DISCOVERIES, Row};

/// Chance that a change of the size that is called detectable is called one.
pub const POWER: f64 = 0.8;

/// How large a change a comparison could have found in its rows, as shares: 0.02 is 2 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Power {
    /// Change that would have been found in half of the rows; null if any might have been missed in
    /// more than half.
    pub half: Option<f64>,
    /// Change that would have been found in nine of ten rows; null if any might have been missed in
    /// more than one of ten.
    pub nine_of_ten: Option<f64>,
}

impl Power {
    /// The power of a comparison of these rows; `None` without any. Rows without an interval, or that
    /// no gate judges, could not have shown any change.
    pub(super) fn of(rows: &[Row]) -> Option<Self> {
        let of = |row: &Row| row.detectable.filter(|_| row.is_own());
        let all = rows.iter().map(|row| of(row).unwrap_or(f64::INFINITY));
        let all: Vec<f64> = all.collect();
        let within = |share: f64| order::quantile(&all, share).filter(|one| one.is_finite());
        (!all.is_empty()).then(|| Power {
            half: within(0.5),
            nine_of_ten: within(0.9),
        })
    }
}

/// Sets the detectable change of each row among these.
pub(super) fn set(rows: &mut [Row]) {
    let count = rows.len() as f64;
    for row in rows {
        row.detectable = smallest(row, count);
    }
}

/// The smallest change of a row, as a share, that is called one with a chance of [`POWER`] if it is
/// the only one among `count` rows: so large that the near end of its interval lies beyond the
/// margin, and that it is significant by itself, each for as much bad luck as that chance allows.
fn smallest(row: &Row, count: f64) -> Option<f64> {
    let ((low, high), (error, freedom)) = row
        .ci95_low
        .zip(row.ci95_high)
        .zip(row.error.zip(row.freedom))?;
    let t = |chance: f64| student::quantile_two_sided(chance, freedom);
    let reach = (high / low).ln() / 2.0;
    let beyond_margin = row.margin.ln_1p() + reach;
    let significant = t(FALSE_DISCOVERIES / count) * error;
    let luck = t(2.0 * (1.0 - POWER)) * error;
    Some((beyond_margin.max(significant) + luck).exp_m1())
}
