//! Rows that are computed from other rows of the same run instead of being measured.

use std::collections::BTreeMap;

use syscost_results::Evidence;

use crate::case::Case;
use crate::catalogue::Row;
use crate::failure::Failure;

/// How the rows of a benchmark are computed.
///
/// The value is computed anew in every round, from the medians that its sources have in that round, so that its interval comes
/// from rounds like any other's. What is claimed of it is judged once, on the medians of the whole run.
pub struct Derive {
    /// Ids of the benchmarks it is computed from; they are measured, not derived themselves.
    pub from: &'static [&'static str],
    /// Whether a row of theirs takes part in this case.
    pub takes: fn(&Case, &Row) -> bool,
    /// Computes a case from the rows that take part.
    pub compute: fn(&Case, &[Source<'_>]) -> Result<Derived, Failure>,
}

/// A row that another is computed from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source<'a> {
    /// Id of its benchmark.
    pub id: &'static str,
    /// Its case.
    pub case: &'a Case,
    /// Its median, of one round or of the whole run, in the unit of its benchmark.
    pub median: f64,
}

/// What was computed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Derived {
    /// The value, in the benchmark's unit.
    pub value: f64,
    /// What it claims: at least one thing that could be wrong.
    pub evidence: Vec<Evidence>,
    /// Between which the value is as far as the method can tell: sizes are not measured without gaps. The row's interval has both.
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
