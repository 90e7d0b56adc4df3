//! One fresh process per benchmark and round.
//!
//! The coordinator re-executes its own binary with the single argument
//! [`ARGUMENT`], writes one [`Job`] as a line of JSON to its standard input and reads [`Reply`]
//! lines from its standard output. A worker that crashes, hangs or is killed costs the row it was
//! working on, and is itself a result.

mod child;
mod entry;
mod foundations;
mod place;
mod program;
mod protocol;
mod supervise;
#[cfg(test)]
mod tests;

pub use child::owner_variable;
pub(crate) use entry::is_of_tracer;
pub use entry::{print_about, run};
pub use program::{ABOUT, About, Program, ProgramError};
pub use protocol::{ClockSettings, Job, JobCase, Reply};
pub use supervise::{Interrupted, Launcher, Outcome};

/// The hidden first argument that makes the binary a worker.
pub const ARGUMENT: &str = "worker";
