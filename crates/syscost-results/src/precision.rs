//! The precision of numbers, from the half widths of their intervals.

use syscost_stats::order::quantile;

use crate::{Estimate, Run, Status};

/// The precision of a number: the half width of its 95 % interval in percent of the median.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Below 3 %.
    Fine,
    /// From 3 % to below 10 %.
    Fair,
    /// From 10 % to below 30 %.
    Rough,
    /// 30 % or more.
    Vague,
}

impl Grade {
    /// All grades, from the best.
    pub const ALL: [Grade; 4] = [Grade::Fine, Grade::Fair, Grade::Rough, Grade::Vague];

    /// The grade of an estimate; `None` without an interval.
    pub fn of(estimate: &Estimate) -> Option<Self> {
        let percent = half_width_percent(estimate)?;
        Some(match percent {
            below if below < 3.0 => Grade::Fine,
            below if below < 10.0 => Grade::Fair,
            below if below < 30.0 => Grade::Rough,
            _ => Grade::Vague,
        })
    }

    /// The sign in tables; empty for a fine number.
    pub fn sign(self) -> &'static str {
        match self {
            Grade::Fine => "",
            Grade::Fair => "~",
            Grade::Rough => "~~",
            Grade::Vague => "~~~",
        }
    }

    /// The sign's meaning, for legends.
    pub fn meaning(self) -> &'static str {
        match self {
            Grade::Fine => "within 3 %",
            Grade::Fair => "within 10 %",
            Grade::Rough => "within 30 %",
            Grade::Vague => "beyond 30 %",
        }
    }
}

/// The larger side of the 95 % interval in percent of the median; `None` without an interval, or if
/// the median is not positive.
pub fn half_width_percent(estimate: &Estimate) -> Option<f64> {
    let median = estimate.median.filter(|median| *median > 0.0)?;
    let (low, high) = estimate.ci95_low.zip(estimate.ci95_high)?;
    Some(100.0 * (high - median).max(median - low) / median)
}

/// The precision of a whole run: half widths in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Half width that half of the rows do not exceed.
    pub half: f64,
    /// Half width that nine of ten rows do not exceed.
    pub nine_of_ten: f64,
    /// Number of rows with an interval.
    pub rows: usize,
}

/// The precision of a run's numbers; `None` without any interval.
pub fn of(run: &Run) -> Option<Precision> {
    let rows = run.measurements.iter();
    let measured = rows.filter(|row| row.status == Status::Ok);
    let widths: Vec<f64> = measured
        .filter_map(|row| half_width_percent(&row.estimate))
        .collect();
    Some(Precision {
        half: quantile(&widths, 0.5)?,
        nine_of_ten: quantile(&widths, 0.9)?,
        rows: widths.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(median: f64, low: f64, high: f64) -> Estimate {
        Estimate {
            median: Some(median),
            ci95_low: Some(low),
            ci95_high: Some(high),
            ..Estimate::default()
        }
    }

    #[test]
    fn a_grade_is_by_the_larger_side() {
        for (high, grade) in [
            (102.9, Grade::Fine),
            (103.0, Grade::Fair),
            (110.0, Grade::Rough),
            (130.0, Grade::Vague),
        ] {
            assert_eq!(
                Grade::of(&estimate(100.0, 99.0, high)),
                Some(grade),
                "{high}"
            );
        }
        assert_eq!(Grade::of(&estimate(100.0, 60.0, 101.0)), Some(Grade::Vague));
        assert_eq!(Grade::of(&Estimate::default()), None);
        assert_eq!(Grade::of(&estimate(0.0, 0.0, 1.0)), None);
    }

    #[test]
    fn a_run_has_the_precision_of_its_rows() {
        let rows = (0..10).map(|index| {
            let mut row = crate::fixture::row("syscall.null", vec![vec![100.0; 2]; 6]);
            row.estimate = estimate(100.0, 100.0, 101.0 + f64::from(index));
            row
        });
        let precision = of(&crate::fixture::run("r", rows.collect())).expect("there are intervals");
        assert_eq!((precision.half, precision.rows), (5.5, 10));
        assert!(precision.nine_of_ten > 9.0);
        assert_eq!(of(&crate::fixture::run("r", Vec::new())), None);
    }
}
