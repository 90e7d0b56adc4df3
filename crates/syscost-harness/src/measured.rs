//! Benchmarks whose rows are typed: a struct with a field for each parameter.

use std::sync::Arc;

use syscost_params::Params;
use syscost_sys::Unsupported;

use crate::bencher::{Outcome, Plan};
use crate::benchmark::Benchmark;
use crate::case::Case;
use crate::failure::Failure;
use crate::profile::Profile;
use crate::profile::Setup;
use crate::proof::Proof;
use crate::testbed::Testbed;

/// A row of a benchmark that has parameters. Where several benchmarks have the same parameters,
/// `By` is what they measure by ([`Benchmark::by`]).
pub trait Measured<By = ()>: Params {
    /// Whether it depends on the machine which rows there are.
    const DEPENDS_ON_MACHINE: bool = false;

    /// The rows that there are here, in order; see [`rows`](crate::rows).
    fn rows(here: &Testbed) -> Vec<Case<Self>>;

    /// Sets up, measures by the [`Plan`], tears down by `Drop`.
    fn measure(self, plan: Plan) -> Result<Outcome, Failure>;

    /// The shortest profile that measures it when nothing is selected by name; longer ones do, too.
    fn profile(&self, _: &Testbed) -> Profile {
        Profile::Standard
    }

    /// What proves each of its parameters: `LseekProofs { .. }`, evaluated of the row that is named.
    fn proofs(&self) -> Self::Proofs<Proof>;

    /// How expensive its set-up is, if that differs from its benchmark's.
    fn setup(&self) -> Option<Setup> {
        None
    }

    /// Whether this machine can do it, found out without measuring.
    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Whether its samples are taken as they come, even on a shared core: it measures something other than
    /// the core's work, a device for instance, or what other programs take of it.
    fn ignores_interference(&self) -> bool {
        false
    }
}

impl Benchmark {
    /// What a benchmark of such rows has in common with others, and its rows.
    pub const fn of<R: Measured>() -> Benchmark {
        Self::by::<R, ()>()
    }

    /// What a benchmark of such rows has in common with others, and its rows, which are measured by this.
    pub const fn by<R: Measured<By>, By>() -> Benchmark {
        Benchmark {
            cases: |here| {
                let complete = |case: Case<R>| {
                    let (row, mut case) = (Arc::clone(&case.row), case.erased());
                    case.facts.setup = row.setup();
                    case.facts.profile.get_or_insert_with(|| row.profile(here));
                    case.facts.ignores_interference = row.ignores_interference();
                    case.facts.proofs = Some(|row| {
                        let proofs = row.downcast_ref::<R>().map(R::proofs);
                        proofs.map_or_else(Vec::new, R::in_order)
                    });
                    case
                };
                R::rows(here).into_iter().map(complete).collect()
            },
            depends_on_machine: R::DEPENDS_ON_MACHINE,
            parameters: R::MEANINGS,
            support: |case, here| case.own_row::<R>().support(here),
            measure: |plan| plan.measured().own_row::<R>().clone().measure(plan),
            ..Benchmark::DEFAULT
        }
    }
}

/// Lists rows: for each parameter its values, every combination is a row, and the last parameter varies fastest.
/// Values may depend on those before them.
///
/// ```
/// use syscost_harness::prelude::*;
///
/// #[derive(Params, Clone)]
/// struct Row {
///     /// Descriptors that are waited for.
///     fds: u32,
///     /// Bytes of a message.
///     size: Bytes,
/// }
///
/// let rows = rows!(Row { fds: [10, 500], size: [Bytes(64), Bytes::kib(4)] });
/// let names: Vec<String> = rows.iter().map(|row| row.suffix()).collect();
/// assert_eq!(names, ["{fds=10,size=64}", "{fds=10,size=4K}", "{fds=500,size=64}", "{fds=500,size=4K}"]);
/// ```
#[macro_export]
macro_rules! rows {
    ($row:ident { $($field:ident $(: $values:expr)?),+ $(,)? }) => {{
        let mut rows: Vec<$crate::Case<$row>> = Vec::new();
        $crate::rows!(@each rows $row [] $($field $(: $values)?,)+);
        rows
    }};
    (@each $rows:ident $row:ident [$($done:ident)*] $field:ident, $($more:tt)*) => {
        $crate::rows!(@each $rows $row [$($done)*] $field: $field.clone(), $($more)*);
    };
    (@each $rows:ident $row:ident [$($done:ident)*] $field:ident : $values:expr, $($more:tt)*) => {
        #[allow(clippy::unnecessary_to_owned)] // values are named in two ways, by text and as they are
        for $field in $values {
            $crate::rows!(@each $rows $row [$($done)* $field] $($more)*);
        }
    };
    (@each $rows:ident $row:ident [$($done:ident)+]) => {
        let parameters = [$($crate::case::Parameter::new(stringify!($done), &$done)),+];
        $rows.push($crate::Case::of($row { $($done: $done.clone()),+ }, &parameters));
    };
}
