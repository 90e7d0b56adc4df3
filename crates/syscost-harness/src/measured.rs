//! Benchmarks whose rows are typed: a struct with a field for each parameter.

use std::borrow::Cow;

use syscost_params::{Params, Value, WrongValue};
use syscost_sys::Unsupported;

use crate::bencher::Bencher;
use crate::benchmark::{Benchmark, Setup};
use crate::case::Case;
use crate::expect::Expect;
use crate::failure::Failure;
use crate::here::Here;
use crate::session::Profile;

/// A row of a benchmark that has parameters.
pub trait Measured: Params {
    /// Whether it depends on the machine which rows there are.
    const DEPENDS_ON_MACHINE: bool = false;

    /// The rows that there are here, in order; see [`rows`](crate::rows).
    fn rows(here: &Here) -> Vec<Case>;

    /// Sets up, measures through the [`Bencher`], tears down by `Drop`.
    ///
    /// # Errors
    /// Why there is no number.
    fn run(self, b: &mut Bencher) -> Result<(), Failure>;

    /// The shortest profile that measures it when nothing is selected by name; longer ones do, too.
    fn profile(&self) -> Profile {
        Profile::Standard
    }

    /// What must be counted, in addition to the benchmark's own expectations.
    fn expect(&self) -> Vec<Expect> {
        Vec::new()
    }

    /// How expensive its set-up is, if that differs from its benchmark's.
    fn setup(&self) -> Option<Setup> {
        None
    }

    /// Whether this machine can do it, found out without measuring.
    ///
    /// # Errors
    /// Why it cannot.
    fn support(&self, _: &Here) -> Result<(), Unsupported> {
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
        Benchmark {
            cases: cases::<R>,
            depends_on_machine: R::DEPENDS_ON_MACHINE,
            parameters: R::MEANINGS,
            support: |case, here| listed::<R>(case).support(here),
            run: |b| b.case().row::<R>()?.run(b),
            ..Benchmark::DEFAULT
        }
    }
}

/// The cases of these rows.
fn cases<R: Measured>(here: &Here) -> Vec<Case> {
    let complete = |mut case: Case| {
        let row = listed::<R>(&case);
        case.setup = row.setup();
        case.profile = Some(row.profile());
        case.ignores_interference = row.ignores_interference();
        case.expecting(row.expect())
    };
    R::rows(here).into_iter().map(complete).collect()
}

/// The row of a case that [`Measured::rows`] has listed.
pub(crate) fn listed<R: Params>(case: &Case) -> R {
    let row = case.row();
    row.unwrap_or_else(|wrong| panic!("{}: {wrong}", case.suffix()))
}

/// A parameter with its value, for [`rows`](crate::rows).
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Parameter {
    key: &'static str,
    text: Cow<'static, str>,
    binds_cpus: bool,
}

impl Parameter {
    /// The parameter of this field with this value.
    pub fn new(field: &'static str, value: &impl Value) -> Self {
        Self {
            key: field.trim_start_matches("r#"),
            text: value.text(),
            binds_cpus: value.binds_cpus(),
        }
    }
}

impl Case {
    /// The case of these parameters, in the order of the row's. A parameter without a value is left out.
    #[doc(hidden)] // of the macro `rows`
    pub fn of<R: Params>(parameters: &[Parameter]) -> Self {
        let of = |key: &&'static str| {
            let one = parameters.iter().find(|one| one.key == *key)?;
            (!one.text.is_empty()).then(|| (*key, one.text.clone()))
        };
        let mut case = Case::new(R::KEYS.iter().filter_map(of));
        case.binds_cpus = parameters.iter().any(|one| one.binds_cpus);
        case
    }

    /// The parameters as the row that they are.
    ///
    /// # Errors
    /// The first parameter that has no such value.
    pub fn row<R: Params>(&self) -> Result<R, WrongValue> {
        R::read(&|key| self.find(key).map(str::to_owned))
    }
}

/// Lists rows: for each parameter its values, every combination is a row, and the last parameter varies fastest.
/// Values may depend on those before them.
///
/// ```
/// use syscost_harness::prelude::*;
///
/// #[derive(Params)]
/// struct Row {
///     /// Descriptors that are waited for.
///     fds: u32,
///     /// Bytes of a message.
///     size: Bytes,
/// }
///
/// let rows = rows!(Row { fds: [10, 500], size: [Bytes(64), Bytes::kib(4)] });
/// let names: Vec<String> = rows.iter().map(Case::suffix).collect();
/// assert_eq!(names, ["{fds=10,size=64}", "{fds=10,size=4K}", "{fds=500,size=64}", "{fds=500,size=4K}"]);
/// ```
#[macro_export]
macro_rules! rows {
    ($row:ident { $($field:ident $(: $values:expr)?),+ $(,)? }) => {{
        let mut rows: Vec<$crate::Case> = Vec::new();
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
        let parameters = [$($crate::measured::Parameter::new(stringify!($done), &$done)),+];
        $rows.push($crate::Case::of::<$row>(&parameters));
        // All parameters, and each of its type.
        let _ = || $row { $($done: $done.clone()),+ };
    };
}
