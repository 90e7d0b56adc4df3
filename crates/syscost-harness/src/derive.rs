//! Rows that are computed from other rows of the same run instead of being measured.

use std::collections::BTreeMap;

use syscost_params::Params;
use syscost_results::Evidence;
use syscost_sys::Unsupported;

use crate::benchmark::Benchmark;
use crate::case::Case;
use crate::catalogue::Row;
use crate::failure::Failure;
use crate::here::Here;
use crate::session::Profile;

/// How the rows of a benchmark are computed.
///
/// The value is computed separately for every round, from the medians that its sources have in that
/// round, so that its interval comes from rounds like any other's. Its claims are judged once, on
/// the medians of the whole run.
pub struct Derive {
    /// Ids of the benchmarks it is computed from; they are measured, not derived themselves.
    pub from: &'static [&'static str],
    /// Whether a row of these benchmarks is a source of this case.
    pub takes: fn(&Case, &Row) -> bool,
    /// Computes a case from its sources.
    pub compute: fn(&Case, &[Source<'_>], &Here) -> Result<Derived, Failure>,
}

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

/// The medians of the rows of this type by the size that each has, from small to large.
pub fn points<R: Params>(sources: &[Source<'_>], size: impl Fn(&R) -> u64) -> Vec<(f64, f64)> {
    let point = |source: &Source<'_>| Some((size(source.case.row()?) as f64, source.median));
    let mut points: Vec<_> = sources.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The result of a computation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Derived {
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
    fn rows(here: &Here) -> Vec<Case<Self>>;

    /// The shortest profile that measures it when nothing is selected by name; longer ones do, too.
    fn profile(&self, _: &Here) -> Profile {
        Profile::Standard
    }

    /// Whether this machine can do it, found out without measuring.
    ///
    /// # Errors
    /// Why it cannot.
    fn support(&self, _: &Here) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Whether a row of these benchmarks is a source of this one. By default all are.
    fn takes(&self, _: &Row) -> bool {
        true
    }

    /// Computes it from its sources.
    ///
    /// # Errors
    /// Why there is no number.
    fn compute(&self, sources: &[Source<'_>], here: &Here) -> Result<Derived, Failure>;
}

impl Benchmark {
    /// What a benchmark of such rows has in common with others, and its rows.
    pub const fn computed<R: Computed>() -> Benchmark {
        Benchmark {
            cases: |here| {
                let complete = |case: Case<R>| {
                    let profile = case.row.profile(here);
                    let mut case = case.erased();
                    case.facts.profile = Some(profile);
                    case
                };
                R::rows(here).into_iter().map(complete).collect()
            },
            depends_on_machine: R::DEPENDS_ON_MACHINE,
            parameters: R::MEANINGS,
            support: |case, here| case.own_row::<R>().support(here),
            derive: Some(Derive {
                from: R::FROM,
                takes: |case, other| case.own_row::<R>().takes(other),
                compute: |case, sources, here| case.own_row::<R>().compute(sources, here),
            }),
            ..Benchmark::DEFAULT
        }
    }
}

impl Row {
    /// Whether this row is computed from that one.
    pub fn is_computed_from(&self, other: &Row) -> bool {
        self.benchmark.derive.as_ref().is_some_and(|derive| {
            derive.from.contains(&other.benchmark.id) && (derive.takes)(&self.case, other)
        })
    }
}
