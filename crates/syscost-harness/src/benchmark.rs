//! A benchmark is data plus one function.

use std::collections::BTreeMap;
use std::ops::Deref;

use syscost_params::Params;
use syscost_results::{Better, Role, Unit, row_name};
use syscost_sys::Unsupported;

use crate::bencher::{Outcome, Plan};
use crate::case::Case;
use crate::computed::Computation;
use crate::expect::Expect;
use crate::failure::Failure;
use crate::profile::{Profile, Setup};
use crate::testbed::Testbed;

/// One operation whose cost is measured. The descriptors of a group stand in a const list, whose
/// order is the report's.
pub struct Benchmark {
    /// What it is, in a few words, for tables.
    pub title: &'static str,
    /// Other search terms: terms of the field in lower case, and the programs that measure the
    /// same, as they are spelled (`lat_ctx`, `netperf TCP_RR`); a comma and a blank between them.
    pub tags: &'static str,
    /// Raised when what is measured changes under the same id, so that old and new numbers are not compared.
    pub revision: u32,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Whether zero is a legal result.
    pub quantity: Quantity,
    /// The variants that there are here, each of which is measured as a separate row, in order.
    pub cases: fn(&Testbed) -> Vec<Case>,
    /// Whether it depends on the machine which variants there are: clocks, CPU pairs, directories.
    pub depends_on_machine: bool,
    /// The parameters of its rows, each with its meaning, in the order in which rows' names have them.
    pub parameters: &'static [(&'static str, &'static str)],
    /// What must be counted for its numbers to be shown, in addition to what the harness expects of
    /// every benchmark.
    pub expect: &'static [Expect],
    /// How expensive the set-up of each of its rows is; a row may say otherwise ([`Row::setup`](crate::Row::setup)).
    pub setup: Setup,
    /// Whether its cases are compared with each other: each has as many rounds as the one that needs most.
    pub settles_together: bool,
    /// Whether its cases are all measured on one CPU, since they reuse each other's memory, which
    /// is allocated near it.
    pub stays: bool,
    /// Whether the samples of all its cases are taken as they come, even on a shared core: it measures something
    /// other than the core's work, a device for instance, or what other programs take of it.
    pub ignores_interference: bool,
    /// The shortest profile that measures its cases when nothing is selected by name; a case may say otherwise.
    pub profile: Profile,
    /// Whether this machine can do it, found out without measuring.
    pub support: fn(&Case, &Testbed) -> Result<(), Unsupported>,
    /// Whether the first round begins with it: what people look at first is there however short the
    /// time is.
    pub comes_first: bool,
    /// What its rows stand for in reports; see [`roles`](crate::roles).
    pub roles: &'static [(Role, IsOfRole)],
    /// How its rows are computed from others at the end of a run; no worker is started for such a benchmark.
    pub computation: Option<Computation>,
    /// Sets up, measures by the [`Plan`], tears down by `Drop`.
    pub measure: fn(Plan) -> Result<Outcome, Failure>,
}

impl Benchmark {
    /// What most benchmarks have in common: a cost in nanoseconds, one case, cheap set-up,
    /// supported everywhere.
    pub const DEFAULT: Benchmark = Benchmark {
        title: "",
        tags: "",
        revision: 1,
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        quantity: Quantity::Cost,
        cases: |_| vec![Case::default()],
        depends_on_machine: false,
        parameters: &[],
        expect: &[],
        setup: Setup::Cheap,
        settles_together: false,
        stays: false,
        ignores_interference: false,
        profile: Profile::Standard,
        support: |_, _| Ok(()),
        comes_first: false,
        roles: &[],
        computation: None,
        measure: |_| Err(Failure::Broken("has nothing to measure by".into())),
    };

    /// Each of its search terms.
    pub fn tags(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.tags.split(", ").filter(|tag| !tag.is_empty())
    }

    /// As a list has it, with this id and source.
    pub const fn named(self, id: &'static str, source: &'static str) -> Entry {
        Entry {
            id,
            source,
            benchmark: self,
        }
    }

    pub(crate) fn disregards(&self, case: &Case) -> bool {
        self.ignores_interference || case.facts.ignores_interference
    }
}

/// Whether the row with these parameters, as a document has them, stands for something.
pub type IsOfRole = fn(&BTreeMap<String, String>) -> bool;

/// Declares what rows of a benchmark stand for in reports: a pattern of the row, then its role. A
/// row may match several. What holds for all rows of a benchmark is declared by `_`: also of the rows
/// of another version, whose parameters this one may not know.
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
/// let declared: &[_] = roles!(Row { fds: 10, size } if size == Bytes::kib(4) => Role::SystemCall);
/// let (role, is_of_role) = declared[0];
/// let case = |size: &str| [("fds", "10"), ("size", size)].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
/// assert_eq!(role, Role::SystemCall);
/// assert!(is_of_role(&case("4K")) && !is_of_role(&case("64")));
///
/// let declared: &[_] = roles!(_ => Role::Noise);
/// let (role, is_of_role) = declared[0];
/// assert!(role == Role::Noise && is_of_role(&case("of a newer version")));
/// ```
#[macro_export]
macro_rules! roles {
    (_ => $role:expr) => {
        &[($role, (|_| true) as $crate::IsOfRole)]
    };
    ($($row:ident { $($field:tt)* } $(if $guard:expr)? => $role:expr),+ $(,)?) => {
        &[$((
            $role,
            (|case| {
                $crate::row_of(case).is_some_and(|row| matches!(row, $row { $($field)* } $(if $guard)?))
            }) as $crate::IsOfRole,
        )),+]
    };
}

/// The row with these parameters; `None` if rows of this type have others.
#[doc(hidden)] // of the macro `roles`
pub fn row_of<R: Params>(case: &BTreeMap<String, String>) -> Option<R> {
    let is_known = |key: &String| R::MEANINGS.iter().any(|(known, _)| known == key);
    let text_of = |key: &str| case.get(key).map_or("", String::as_str);
    case.keys().all(is_known).then(|| R::read(text_of))?
}

/// A benchmark as its group's list has it.
pub struct Entry {
    /// `group.operation`, or `group.protocol.operation` where a group has folders within: with
    /// slashes for dots the path of the benchmark's file.
    pub id: &'static str,
    /// The doc comment of the benchmark's own file, which is its published explanation; of a published
    /// procedure, the whole program in C.
    pub source: &'static str,
    /// The benchmark.
    pub benchmark: Benchmark,
}

impl Entry {
    /// The group: the id up to its first dot.
    pub fn group(&self) -> &'static str {
        row_name::group(self.id)
    }

    /// Whether some row of it stands for this in reports.
    pub fn stands_for(&self, role: Role) -> bool {
        self.roles.iter().any(|(known, _)| *known == role)
    }

    /// What the row of it with these parameters stands for in reports.
    pub(crate) fn roles_of(&self, case: &BTreeMap<String, String>) -> Vec<Role> {
        let all = self.roles.iter();
        let own = all.filter(|(_, is_of_role)| is_of_role(case));
        own.map(|(role, _)| *role).collect()
    }
}

impl Deref for Entry {
    type Target = Benchmark;

    fn deref(&self) -> &Benchmark {
        &self.benchmark
    }
}

/// Whether zero is a legal result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A cost: an interval that touches zero is below resolution, and a negative cost is never shown.
    Cost,
    /// A cost or size that can only have a few values, so that a mean of two of them is meaningless.
    Choice,
    /// A level that may be zero or negative, e.g. a skew or a share of lost time.
    Level,
}

/// Benchmarks that belong together.
pub struct Group {
    /// The first part of its benchmarks' ids.
    pub name: &'static str,
    /// What the group is about, for headings.
    pub title: &'static str,
    /// The doc comment of the source file that lists it, which explains it.
    pub source: &'static str,
    /// The benchmarks, in the report's order.
    pub benchmarks: &'static [Entry],
    /// Left out of lists and runs unless named: the self-test's benchmarks.
    pub hidden: bool,
}
