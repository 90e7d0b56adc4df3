//! The law by which reads take longer with the number of concurrent processes.
//!
//! ## Measures
//! Nothing by itself: it is computed from the `fs.contention` rows of one directory and kind of
//! file. With n processes a read takes n / X(n), X being the rate of all. Three laws are fitted to
//! these times: *linear*, t(n) = a + b n, a device that serves one read after the other;
//! *exponential, then linear*; and the *universal scalability law* (`scale.law`), in which reads
//! also hinder each other in pairs. The number is how much longer a read takes for each further
//! process, where most of them read.
//! ## Does not measure
//! The cause. The device, its driver, the file system's locks and the CPUs that the processes share all
//! look the same from here.
//! ## Interpretation
//! The evidence names the law that was chosen: the one with the lowest Akaike information criterion,
//! corrected for few points, so that a law with more parameters must fit better by more than
//! chance. With a saturated device the number is the inverse of its rate: 2 ms per process at 500
//! reads per second. Points that were left out of a fit check the law: where their typical distance
//! from it exceeds a quarter, the rates follow none of these laws, and there is no number.
//! `fitted_8_per_s` is the rate that the law predicts for 8 processes.
//! ## Source
//! Hurvich and Tsai, Regression and time series model selection in small samples (1989); Gunther,
//! Guerrilla Capacity Planning (2007).

use std::collections::BTreeMap;

use syscost_harness::prelude::*;
use syscost_results::details::{CHOSEN_LAW, fitted_detail};
use syscost_results::stats::growth::{self, BestFit, LawKind, MIN_POINTS};
use syscost_results::{Evidence, Verdict};

use super::contention::{self, Whose};
use super::labels;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Parallel reads: added latency per process",
    tags: "i/o contention, disk contention, scalability, universal scalability law, usl",
    quantity: Quantity::Level,
    roles: roles!(_ => Role::ReadersLaw),
    ..Benchmark::computed::<ContentionLaw>()
};

/// Maximum typical distance of a law from points left out of the fit, relative to them.
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

/// The law that fits the times of these rows.
fn fitted(sources: &[Source<'_>]) -> Result<ComputedValue, Failure> {
    let time = |source: &Source<'_>| {
        let processes = source.row::<contention::Contention>()?.processes as f64;
        Ok((processes, processes * 1e9 / source.median))
    };
    let times = sources.iter().map(time);
    let times: Vec<(f64, f64)> = times.collect::<Result<_, Failure>>()?;
    let choice = growth::choose(&times).ok_or_else(|| {
        Failure::Unsupported(format!(
            "no law can be fitted to {} numbers of processes; it takes at least {MIN_POINTS}",
            times.len()
        ))
    })?;
    let error = choice.held_out_error;
    let misfit = (error > MAX_ERROR).then(|| {
        let (nearest, percent) = (choice.law.kind().name(), 100.0 * error);
        format!(
            "the rates follow no law: the nearest, {nearest}, is typically {percent:.0} % off at \
             points left out of its fit"
        )
    });
    let most = times
        .iter()
        .fold(1.0, |most, (processes, _)| processes.max(most));
    let mut details = BTreeMap::from([("held_out_error_percent".to_owned(), 100.0 * error)]);
    for (processes, _) in &times {
        let rate = processes * 1e9 / choice.law.time(*processes);
        details.insert(fitted_detail(*processes), rate);
    }
    for (kind, criterion) in &choice.criteria {
        details.insert(format!("aicc_{}", kind.word()), *criterion);
    }
    Ok(ComputedValue {
        misfit,
        value: choice.law.per_task(most),
        evidence: evidence(&choice),
        details,
        ..ComputedValue::default()
    })
}

/// The law that was chosen, and its distance from points left out.
fn evidence(choice: &BestFit) -> Vec<Evidence> {
    let is_of_all = choice.criteria.len() == LawKind::ALL.len();
    let chosen = Evidence::new(
        CHOSEN_LAW,
        LawKind::ALL.map(LawKind::name).join(" or "),
        choice.law.kind().name(),
        "Akaike information criterion",
        Verdict::Confirmed,
    )
    .unless((!is_of_all).then_some("too few numbers of processes for the others"));
    let near = Evidence::new(
        "relative error of the law at points left out of its fit",
        format!("at most {MAX_ERROR}"),
        choice.held_out_error,
        "least squares",
        Verdict::Confirmed,
    );
    vec![chosen, near]
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
        assert_eq!(computed.evidence[0].observed, Some("linear".into()));
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
