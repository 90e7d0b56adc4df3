//! The harness: what a benchmark is, how it is sampled, what proves it, and how a run goes.
//!
//! - [`benchmark`], [`case`], [`expect`], [`arguments`]: a benchmark as data plus one function.
//! - [`mod@computed`]: rows computed from other rows.
//! - [`proof`]: what proves the parameters of a row.
//! - [`placement`]: where the tasks of an operation run.
//! - [`bencher`]: what that function works with: set-up outside, the operation inside.
//! - [`variation`]: batches of other lengths, and other margins for what counts as an undisturbed core.
//! - [`targets`]: what a run measures against and in, and what it may do. [`peer`]: the far end of network
//!   measurements. [`congestion`]: their congestion control. [`directory`]: where file systems are measured.
//! - [`commands`]: the commands of a user that `syscost time` measures.
//! - [`testbed`]: what decides which rows there are.
//! - [`worker`]: one fresh process per benchmark and round, supervised from outside.
//! - [`session`]: the shuffled plan, the stop rule, the journal, the run document.
//! - [`machine`], [`noise`], [`doctor`]: what is measured on, and whether it is fit for it.
//! - [`cores`]: whether a core does other work as well.

pub mod arguments;
pub mod bencher;
pub mod benchmark;
pub mod case;
pub mod catalogue;
pub mod clock;
pub mod commands;
pub mod computed;
pub mod congestion;
pub mod cores;
pub mod directory;
pub mod doc;
pub mod doctor;
pub mod expect;
pub mod failure;
pub mod machine;
pub mod measured;
pub mod noise;
mod pass;
pub mod peer;
pub mod placement;
mod profile;
pub mod programs;
pub mod proof;
pub mod session;
pub mod targets;
pub mod testbed;
pub mod variation;
pub mod worker;

pub use bencher::Bencher;
pub use benchmark::{Benchmark, Entry, Group, IsOfRole, Quantity, row_of};
pub use case::Case;
pub use catalogue::{Catalogue, Row};
pub use computed::{Computation, Computed, ComputedValue, Source};
pub use expect::{Bound, Counter, Expect};
pub use failure::Failure;
pub use measured::Measured;
pub use profile::Setup;
pub use targets::Targets;
pub use testbed::Testbed;

/// What a benchmark's file needs, in one import.
pub mod prelude {
    pub use crate::arguments::{Argument, ArgumentValue, CALLED_FROM, Code};
    pub use crate::bencher::{
        Baseline, Bencher, Copied, Counted, Driver, EventShare, Execution, Executions, Kernel,
        Laps, Loop, Marked, Observed, OnceTimer, Outcome, Over, Pass, Plan, Published, Ran,
        Responder, Served, Single, Stop, TaskGroup, Team, Together, clocked,
    };
    pub use crate::benchmark::{Benchmark, Group, Quantity};
    pub use crate::case::Case;
    pub use crate::computed::{Computed, ComputedValue, Source};
    pub use crate::expect::{
        Bound, Counter, Expect, at_least, at_most, calls, costs, either, exactly, switches,
        together, within,
    };
    pub use crate::failure::{Failure, Tried};
    pub use crate::measured::Measured;
    pub use crate::pass::Compares;
    pub use crate::placement::{Placement, spread_from};
    pub use crate::profile::Profile;
    pub use crate::profile::Setup;
    pub use crate::proof::{Proof, Witness};
    pub use crate::targets::Targets;
    pub use crate::testbed::Testbed;
    pub use crate::{roles, rows};
    pub use syscost_params::{
        Bytes, Copies, Cpu, Nanoseconds, Params, TaskCount, TaskRole, Value, size_name,
    };
    pub use syscost_results::{Better, Claim, Evidence, Role, Unit, Verdict};
    pub use syscost_sys::counters::TaskId;
    pub use syscost_sys::memory::{Memory, Pages};
    pub use syscost_sys::partner::{Between, Shared};
    pub use syscost_sys::raw::Sysno;
    pub use syscost_sys::{Unsupported, or_skip};
}
