//! Rows that are computed from other rows of the same run instead of being measured.

use std::any::type_name;
use std::collections::BTreeMap;
use std::sync::Arc;

use syscost_params::Params;
use syscost_results::{Evidence, RoundSamples};
use syscost_sys::Unsupported;

use crate::benchmark::Benchmark;
use crate::case::Case;
use crate::catalogue::Row;
use crate::failure::Failure;
use crate::profile::Profile;
use crate::testbed::Testbed;

/// How the rows of a benchmark are computed.
///
/// The value is computed separately for every round, from the medians that its sources have in that
/// round, so that its interval comes from rounds like any other's. Its claims are judged once, on
/// the medians of the whole run.
pub struct Computation {
    /// Ids of the benchmarks it is computed from; they are measured, not computed themselves.
    pub from: &'static [&'static str],
    /// Whether a row of these benchmarks is a source of this case.
    pub takes: fn(&Case, &Row) -> bool,
    /// Computes a case from its sources.
    pub compute: fn(&Case, &[Source<'_>], &Testbed) -> Result<ComputedValue, Failure>,
    /// What of a round of its only source its samples are, such as another quantity
    /// ([`RoundSamples::also`]); then nothing is computed.
    pub series: Option<Series>,
}

/// Makes samples of a round of another row.
pub type Series = fn(&RoundSamples) -> RoundSamples;

/// A row from which another is computed.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Id of its benchmark.
    pub id: &'static str,
    /// Its case.
    pub case: &'a Case,
    /// Its median, of one round or of the whole run, in the unit of its benchmark.
    pub median: f64,
}

impl Source<'_> {
    /// Its row, which is of this type.
    ///
    /// # Errors
    /// [`Failure::Broken`] if it is not: what is computed would lack it without a word.
    pub fn row<R: Params>(&self) -> Result<&R, Failure> {
        let (id, case, wanted) = (self.id, self.case.suffix(), type_name::<R>());
        let other = || Failure::Broken(format!("takes {id}{case} for a row of type {wanted}"));
        self.case.row().ok_or_else(other)
    }
}

/// The medians of the rows of the benchmark `id` by the size that each has, from small to large.
pub fn points<R: Params>(
    id: &str,
    sources: &[Source<'_>],
    size: impl Fn(&R) -> u64,
) -> Result<Vec<(f64, f64)>, Failure> {
    let of_id = sources.iter().filter(|source| source.id == id);
    let points = of_id.map(|source| Ok((size(source.row()?) as f64, source.median)));
    let mut points: Vec<_> = points.collect::<Result<_, Failure>>()?;
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(points)
}

/// The result of a computation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComputedValue {
    /// The value, in the benchmark's unit.
    pub value: f64,
    /// Why there is no result after all, judged like claims: the law that does not fit. Nothing was
    /// claimed wrongly then, so nothing is refuted.
    pub misfit: Option<String>,
    /// Its claims: at least one that could be wrong.
    pub evidence: Vec<Evidence>,
    /// The bounds of the value as far as the method can resolve it, since sizes are not measured
    /// without gaps. The row's interval includes both.
    pub limits: Option<(f64, f64)>,
    /// Named numbers beside the main one.
    pub details: BTreeMap<String, f64>,
}

/// A row that is computed from others: of a benchmark that has parameters, or the only one of its benchmark.
pub trait Computed: Params {
    /// Ids of the benchmarks it is computed from; they are measured, not computed themselves.
    const FROM: &'static [&'static str];

    /// Whether it depends on the machine which rows there are.
    const DEPENDS_ON_MACHINE: bool = false;

    /// The rows that there are here, in order; see [`rows`](crate::rows).
    fn rows(here: &Testbed) -> Vec<Case<Self>>;

    /// The shortest profile that measures it when nothing is selected by name; longer ones do, too.
    fn profile(&self, _: &Testbed) -> Profile {
        Profile::Standard
    }

    /// Whether this machine can do it, found out without measuring.
    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Whether a row of these benchmarks is a source of this one. By default all are.
    fn takes(&self, _: &Row) -> bool {
        true
    }

    /// Computes it from its sources.
    fn compute(&self, _: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        Err(Failure::Broken("has nothing to compute".into()))
    }
}

impl Benchmark {
    /// What a benchmark of such rows has in common with others, and its rows.
    pub const fn computed<R: Computed>() -> Benchmark {
        Benchmark {
            cases: |here| {
                let complete = |case: Case<R>| {
                    let row = Arc::clone(&case.row);
                    let mut case = case.erased();
                    case.facts.profile.get_or_insert_with(|| row.profile(here));
                    case
                };
                R::rows(here).into_iter().map(complete).collect()
            },
            depends_on_machine: R::DEPENDS_ON_MACHINE,
            parameters: R::MEANINGS,
            support: |case, here| case.own_row::<R>().support(here),
            computation: Some(Computation {
                series: None,
                from: R::FROM,
                takes: |case, other| case.own_row::<R>().takes(other),
                compute: |case, sources, here| case.own_row::<R>().compute(sources, here),
            }),
            ..Benchmark::DEFAULT
        }
    }

    /// The same, whose samples are these of their only source; then nothing is computed.
    pub const fn taking(mut self, series: Series) -> Benchmark {
        if let Some(computation) = &mut self.computation {
            computation.series = Some(series);
        }
        self
    }
}

impl Row {
    /// Whether this row is computed from that one.
    pub fn is_computed_from(&self, other: &Row) -> bool {
        self.benchmark
            .computation
            .as_ref()
            .is_some_and(|computation| {
                computation.from.contains(&other.benchmark.id)
                    && (computation.takes)(&self.case, other)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    #[derive(Params, Clone)]
    struct Size {
        /// Its bytes.
        bytes: u64,
    }

    #[derive(Params, Clone)]
    struct Other;

    impl Computed for Size {
        const FROM: &'static [&'static str] = &["some.cost"];

        fn rows(_: &Testbed) -> Vec<Case<Self>> {
            let mut rows = rows!(Size { bytes: [1, 2] });
            let quick = rows.remove(0).in_profile(Profile::Quick);
            [vec![quick], rows].concat()
        }

        fn compute(&self, _: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
            Ok(ComputedValue::default())
        }
    }

    #[test]
    fn a_source_of_another_type_is_not_left_out_in_silence() {
        let [one, two] = [2, 1].map(|bytes| rows!(Size { bytes: [bytes] }).remove(0).erased());
        let other = Case::only(Other).erased();
        fn source<'a>(id: &'static str, case: &'a Case, median: f64) -> Source<'a> {
            Source { id, case, median }
        }
        let of = |last: &Case| {
            let last = source("some.cost", last, 3.0);
            let apart = source("some.other", &other, 9.0);
            let sources = [source("some.cost", &one, 5.0), last, apart];
            points("some.cost", &sources, |row: &Size| row.bytes)
        };
        assert_eq!(of(&two), Ok(vec![(1.0, 3.0), (2.0, 5.0)]));
        assert!(matches!(of(&other), Err(Failure::Broken(_))));
    }

    #[test]
    fn a_case_that_says_in_which_profile_it_is_stays_there() {
        const BENCHMARK: Benchmark = Benchmark::computed::<Size>();
        let profiles = (BENCHMARK.cases)(&Testbed::plain()).into_iter();
        let profiles: Vec<_> = profiles.map(|case| case.facts.profile).collect();
        assert_eq!(profiles, [Some(Profile::Quick), Some(Profile::Standard)]);
    }
}
