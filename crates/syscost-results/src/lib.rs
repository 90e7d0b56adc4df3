//! The run document, and what follows from it.
//!
//! Pure data and arithmetic: nothing here reads a file, a clock or a machine, so comparisons and
//! reports also work on another computer than the one that was measured.
//!
//! - [`run`]: the document a run produces, a contract with other tools (JSON Schema in `docs/`).
//! - [`mod@document`]: reads a run from bytes, or says in one line what is wrong and where.
//! - [`mod@commands`]: a user's own commands, compared.
//! - [`mod@compare`]: two sides of runs, row by row. [`history`]: a metric over time.
//! - [`mod@bound`]: what a count must be for a claim to hold.
//! - [`measurement`]: one row of the document: estimate, evidence, flags, raw samples.
//! - [`mod@numbers`]: the latency numbers every programmer should know.
//! - [`mod@beside`]: the figure of the same row in another run.
//! - [`mod@overview`]: what a machine is. [`mod@summary`]: the numbers people look for first. [`precision`]: how precise numbers are; [`mod@agreement`]: between runs.
//! - [`mod@study`]: published experiments.
//! - [`Role`]: what rows stand for in reports. [`mod@details`]: names that reports look up in them.
//! - [`row_name`]: the parts of a row's name.
//! - [`machine`]: the facts of the measured machine; [`Nearness`]: of its processor to another; [`mod@facts`]: what each is, whether strangers may see it, and what it can change. [`directory`]: those of a measured directory.
//! - [`simulate`]: noise models for checking the intervals.
//! - [`estimate`]: computes an [`Estimate`] and its flags from the samples of many rounds.

pub mod agreement;
mod anonymous;
mod asked;
pub mod beside;
pub mod bill;
pub mod bound;
pub mod commands;
pub mod compare;
pub mod details;
pub mod directory;
pub mod document;
pub mod estimate;
mod evidence;
pub mod facts;
pub mod fixture;
pub mod history;
mod known;
pub mod machine;
pub mod measurement;
mod nearness;
pub mod numbers;
pub mod overview;
mod pooled;
pub mod precision;
pub mod renamed;
mod role;
pub mod row_name;
pub mod run;
pub mod simulate;
pub mod study;
pub mod summary;
mod unit;

pub use bound::Bound;
pub use directory::Directory;
pub use known::Known;
pub use machine::Machine;
pub use measurement::{
    Better, Claim, ClaimId, Estimate, Evidence, Fact, Flag, LimitBasis, Measurement, RefutedBy,
    RoundSamples, Sharing, Status, Unit, Verdict,
};
pub use nearness::Nearness;
pub use role::Role;
pub use run::{Run, SCHEMA_VERSION};
