//! The run document and the statistics behind it.
//!
//! Pure data and arithmetic: nothing here reads a file, a clock or a machine, so a comparison or a report works on
//! another computer than the one that was measured.
//!
//! - [`run`]: the document a run leaves behind, a contract with other tools (JSON Schema in `docs/`).
//! - [`mod@document`]: from bytes to a run, or to one line on what is wrong where.
//! - [`mod@compare`]: two sides of runs, row by row. [`history`]: a metric over time.
//! - [`measurement`]: one row of it: estimate, evidence, flags, raw samples.
//! - [`mod@numbers`]: the latency numbers every programmer should know.
//! - [`mod@beside`]: the figure of the same row in another run.
//! - [`mod@summary`]: the numbers people look for first. [`precision`]: how precise numbers are.
//! - [`mod@study`]: published experiments beside a run.
//! - [`mod@curve`]: names from which curves are drawn.
//! - [`row_name`]: the parts of a row's name.
//! - [`machine`]: the facts of the measured machine. [`directory`]: those of a measured directory.
//! - [`stats`]: medians, exact intervals, bootstrap, drift, modes.
//! - [`simulate`]: noise models that check the intervals.
//! - [`estimate`]: from the samples of many rounds to one [`Estimate`] and its flags.

mod anonymous;
pub mod beside;
pub mod compare;
pub mod curve;
pub mod directory;
pub mod document;
pub mod estimate;
#[cfg(test)]
mod fixture;
pub mod history;
pub mod machine;
pub mod measurement;
pub mod numbers;
pub mod precision;
pub mod row_name;
pub mod run;
pub mod simulate;
pub mod stats;
pub mod study;
pub mod summary;
mod unit;

pub use directory::Directory;
pub use machine::Machine;
pub use measurement::{
    Better, Estimate, Evidence, Fact, Flag, Measurement, RoundSamples, Status, Unit, Verdict,
};
pub use run::{Run, SCHEMA_VERSION};
