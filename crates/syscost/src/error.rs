//! Exit codes and the errors that choose one.

use std::io;

use syscost_harness::session::SessionError;
use syscost_harness::session::journal::JournalError;
use syscost_harness::worker::ProgramError;
use syscost_store::StoreError;

/// Documented and stable exit codes.
pub(crate) mod exit {
    /// Done.
    pub(crate) const DONE: u8 = 0;
    /// It failed, or a gate had nothing to judge.
    pub(crate) const FAILURE: u8 = 1;
    /// The command line is wrong.
    pub(crate) const USAGE: u8 = 2;
    /// A gate failed: a regression was found, and `--fail-on` was given; or a number was withheld or a row failed, and `--strict` was.
    pub(crate) const GATE: u8 = 3;
    /// No row has a number, and none was withheld.
    pub(crate) const NOTHING: u8 = 4;
    /// A defect of the program, as everywhere in Rust.
    pub(crate) const PANICKED: u8 = 101;
    /// Ctrl-C; what was measured is saved.
    pub(crate) const INTERRUPTED: u8 = 130;
}

/// An error that chooses its exit code.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
}

/// The exit code of an error. A name that means nothing is bad usage: of a run or a row, a CPU, a journal, a program.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    let is_usage = error.is::<Failed>()
        || error
            .downcast_ref::<StoreError>()
            .is_some_and(StoreError::is_no_run)
        || matches!(
            error.downcast_ref::<SessionError>(),
            Some(SessionError::Cpu { .. } | SessionError::Journal(JournalError::Missing(_)))
        )
        || matches!(
            error.downcast_ref::<ProgramError>(),
            Some(ProgramError::Start { .. } | ProgramError::Stranger { .. })
        );
    match is_usage {
        true => exit::USAGE,
        false => exit::FAILURE,
    }
}

/// What came of printing, but that its reader has gone.
pub(crate) fn unless_broken_pipe(printed: anyhow::Result<()>) -> anyhow::Result<()> {
    match printed {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        printed => printed,
    }
}

/// Whether the reader of our output has gone, as in `syscost list | head`: no error of ours.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
