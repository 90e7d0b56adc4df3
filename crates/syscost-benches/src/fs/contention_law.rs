//! The law by which reads take longer with the number of concurrent processes.
//!
//! ## Measures
//! Nothing by itself: it is computed from the `fs.contention` rows of one directory and kind of
//! file. With n processes a read takes n / X(n), X being the rate of all, to which the universal
//! scalability law (`scale.law`) is fitted. The number is how much longer a read takes for each
//! further process, where most of them read.
//! ## Does not measure
//! The cause. The device, its driver, the file system's locks and the CPUs that the processes share all
//! look the same from here.
//! ## Interpretation
//! With a saturated device, which serves one read after the other, a read's time grows along a line (`coherence` is
//! 0), and the number is the inverse of the device's rate: 2 ms per process at 500 reads per second. With
//! coherence reads also hinder each other in pairs. `relative_error_percent` is how far the rows
//! typically are from the law. Beyond 25 % it does not fit, and there is no number.
//! `fitted_8_per_s` is the rate that the law predicts for 8 processes.
//! ## Source
//! Gunther, Guerrilla Capacity Planning (2007).

use syscost_harness::prelude::*;
use syscost_results::details::fitted_detail;

use super::contention::{self, Whose};
use super::labels;
use crate::scale::usl::{self, MIN_POINTS};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Parallel reads: added latency per process",
    tags: "i/o contention, disk contention, scalability, universal scalability law, usl",
    quantity: Quantity::Level,
    roles: roles!(_ => Role::ReadersLaw),
    revision: 2,
    ..Benchmark::computed::<ContentionLaw>()
};

/// Maximum relative error of a law that fits its rows.
const MAX_ERROR: f64 = 0.25;

#[derive(Params, Clone)]
struct ContentionLaw {
    /// The directory's label.
    dir: String,
    file: Whose,
}

impl Computed for ContentionLaw {
    const FROM: &'static [&'static str] = &[id!(fs::contention)];
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(ContentionLaw {
            dir: labels(here),
            file: Whose::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        Profile::Full
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        let row = other.case.row::<contention::Contention>();
        row.is_some_and(|row| (&self.dir, self.file) == (&row.dir, row.file))
    }

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        fitted(sources)
    }
}

/// The law that fits the rates of these rows.
fn fitted(sources: &[Source<'_>]) -> Result<ComputedValue, Failure> {
    let rate = |source: &Source<'_>| {
        let row = source.row::<contention::Contention>()?;
        Ok((row.processes as f64, source.median))
    };
    let rates = sources.iter().map(rate);
    let rates: Vec<(f64, f64)> = rates.collect::<Result<_, Failure>>()?;
    let law = usl::fit(&rates).ok_or_else(|| {
        Failure::Unsupported(format!(
            "no law can be fitted to {} numbers of processes; it takes at least {MIN_POINTS}",
            rates.len()
        ))
    })?;
    let percent = 100.0 * law.relative_error;
    let misfit = (law.relative_error > MAX_ERROR)
        .then(|| format!("the rates follow no law: the nearest is {percent:.0} % off"));
    let most = rates
        .iter()
        .fold(1.0, |most, (processes, _)| processes.max(most));
    let fitted = rates
        .iter()
        .map(|&(processes, _)| (fitted_detail(processes), law.throughput(processes)));
    let terms = [
        ("relative_error_percent", percent),
        ("contention", law.sigma),
        ("coherence", law.kappa),
    ];
    let terms = terms.map(|(name, value)| (name.to_owned(), value));
    Ok(ComputedValue {
        misfit,
        value: 1e9 * law.added_time(most),
        evidence: vec![Evidence::new(
            "relative error of the fitted law",
            format!("at most {MAX_ERROR}"),
            law.relative_error,
            "least squares",
            Verdict::Confirmed,
        )],
        details: fitted.chain(terms).collect(),
        ..ComputedValue::default()
    })
}

#[cfg(test)]
mod tests {
    use syscost_harness::Catalogue;
    use syscost_harness::directory::DEFAULT;

    use super::*;
    use crate::CATALOGUE;

    const COUNTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 50];

    fn law_of(rate: impl Fn(f64) -> f64) -> Result<ComputedValue, Failure> {
        let cases = {
            use contention::Contention;
            rows!(Contention {
                dir: [DEFAULT.to_owned()],
                file: [Whose::Own],
                processes: COUNTS
            })
        };
        let cases: Vec<Case> = cases.into_iter().map(Case::erased).collect();
        let sources = cases.iter().zip(COUNTS).map(|(case, count)| Source {
            id: id!(fs::contention),
            case,
            median: rate(count as f64),
        });
        fitted(&sources.collect::<Vec<_>>())
    }

    /// One process achieves 300 reads per second, many of them almost 500.
    #[test]
    fn a_device_with_a_limit_adds_its_inverse() {
        let computed = law_of(|n| 500.0 * n / (n + 2.0 / 3.0)).unwrap();
        assert!((computed.value / 2e6 - 1.0).abs() < 0.01, "{computed:?}");
        assert!(computed.details["coherence"].abs() < 1e-9, "{computed:?}");
        assert!((computed.details["fitted_50_per_s"] / 500.0 - 1.0).abs() < 0.1);
        let mut evidence = computed.evidence.iter();
        assert!(evidence.all(|one| one.verdict == Verdict::Confirmed));
        let unlimited = law_of(|n| 10_000.0 * n).unwrap();
        assert!(unlimited.value.abs() < 1.0, "{unlimited:?}");
    }

    #[test]
    fn rates_that_follow_no_law_say_so() {
        let computed = law_of(|n| match [4.0, 16.0].contains(&n) {
            true => 100.0 * n,
            false => 1000.0 * n,
        });
        let misfit = computed.unwrap().misfit.unwrap_or_default();
        assert!(misfit.starts_with("the rates follow no law"), "{misfit}");
    }

    #[test]
    fn each_row_of_contention_belongs_to_one_law() {
        let rows_of = |id| Catalogue::rows(CATALOGUE.find(id), &Testbed::plain());
        let (rows, laws) = (
            rows_of(id!(fs::contention)),
            rows_of(id!(fs::contention_law)),
        );
        for row in &rows {
            let of = laws.iter().filter(|law| law.is_computed_from(row)).count();
            assert_eq!(of, 1, "{}", row.name());
        }
    }
}
