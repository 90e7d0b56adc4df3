//! Several runs of one state in the place of one.

use syscost_stats::level::Level;

use crate::{Estimate, Measurement, Run, Status};

impl Run {
    /// One run with what these have together, the last being the newest: of each row that has a
    /// number in several, the mean of these, with Student's 95 % interval of how they differ (of
    /// two runs, what both intervals span), and the samples of all. Own prices and prices in
    /// company are not mixed. What is no number is the newest run's.
    pub fn pooled(runs: &[Run]) -> Option<Run> {
        let (newest, older) = runs.split_last()?;
        let mut pooled = newest.clone();
        for row in &mut pooled.measurements {
            let others = older.iter().flat_map(|run| &run.measurements);
            let alike = others.filter(|other| is_like(other, row));
            pool(row, &alike.collect::<Vec<_>>());
        }
        Some(pooled)
    }
}

fn is_like(other: &Measurement, row: &Measurement) -> bool {
    other.name == row.name
        && other.revision == row.revision
        && other.unit == row.unit
        && other.is_in_company() == row.is_in_company()
        && [other, row].iter().all(|one| one.status == Status::Ok)
}

fn pool(row: &mut Measurement, others: &[&Measurement]) {
    if others.is_empty() {
        return;
    }
    let estimates = || {
        others
            .iter()
            .map(|other| &other.estimate)
            .chain([&row.estimate])
    };
    let medians: Vec<f64> = estimates().filter_map(|estimate| estimate.median).collect();
    let Some(level) = Level::of(&medians) else {
        return;
    };
    let (low, high) = match medians.len() {
        1 | 2 => {
            let ends = |of: fn(&Estimate) -> Option<f64>| estimates().filter_map(of);
            (
                ends(|one| one.ci95_low).reduce(f64::min),
                ends(|one| one.ci95_high).reduce(f64::max),
            )
        }
        _ => (
            Some(level.mean - level.reach()),
            Some(level.mean + level.reach()),
        ),
    };
    let rounds = others
        .iter()
        .filter_map(|other| other.samples.as_ref())
        .flatten();
    let rounds: Vec<_> = rounds.cloned().collect();
    let estimate = &mut row.estimate;
    (estimate.median, estimate.ci95_low, estimate.ci95_high) = (Some(level.mean), low, high);
    if let Some(samples) = &mut row.samples {
        samples.splice(0..0, rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run_of;

    #[test]
    fn a_row_of_several_runs_has_their_mean_and_how_they_differ() {
        let of = |ns: f64| run_of(&[vec![ns; 10], vec![ns + 1.0; 10], vec![ns - 1.0; 10]]);
        let row = |runs: &[Run]| Run::pooled(runs).expect("runs").measurements.remove(0);
        assert_eq!(Run::pooled(&[]), None);
        let one = row(&[of(100.0)]);
        assert_eq!(one, of(100.0).measurements[0]);
        let three = row(&[of(100.0), of(103.0), of(106.0)]);
        let estimate = &three.estimate;
        assert_eq!(estimate.median, Some(103.0));
        // 3 / sqrt(3) by Student's t of two degrees of freedom.
        let low = estimate.ci95_low.expect("an interval");
        assert!(
            (low - (103.0 - 4.303 * 3.0 / 3_f64.sqrt())).abs() < 0.01,
            "{low}"
        );
        assert_eq!(three.samples.map(|rounds| rounds.len()), Some(9));
        let mut other = of(50.0);
        other.measurements[0].revision += 1;
        assert_eq!(row(&[other, of(100.0)]), of(100.0).measurements[0]);
    }
}
