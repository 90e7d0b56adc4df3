//! Rows that are computed from other rows of the same run instead of being measured.

use std::collections::BTreeMap;

use syscost_results::Evidence;

use crate::case::Case;
use crate::catalogue::Row;
use crate::failure::Failure;
use crate::here::Here;

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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source<'a> {
    /// Id of its benchmark.
    pub id: &'static str,
    /// Its case.
    pub case: &'a Case,
    /// Its median, of one round or of the whole run, in the unit of its benchmark.
    pub median: f64,
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

impl Row {
    /// Whether this row is computed from that one.
    pub fn is_computed_from(&self, other: &Row) -> bool {
        self.benchmark.derive.as_ref().is_some_and(|derive| {
            derive.from.contains(&other.benchmark.id) && (derive.takes)(&self.case, other)
        })
    }
}
