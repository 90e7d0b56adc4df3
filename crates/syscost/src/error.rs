//! Exit codes, and the errors that have their own.

use std::io;

use syscost_harness::session::SessionError;
use syscost_harness::session::journal::JournalError;
use syscost_harness::worker::ProgramError;
use syscost_net::token::TokenError;
use syscost_store::StoreError;

/// Documented and stable exit codes.
pub(crate) mod exit {
    /// Success.
    pub(crate) const DONE: u8 = 0;
    /// Failure, or a gate could not judge enough rows.
    pub(crate) const FAILURE: u8 = 1;
    /// The command line is wrong.
    pub(crate) const USAGE: u8 = 2;
    /// A gate failed: a regression with `--fail-on`, or a withheld number or failed row with
    /// `--strict`.
    pub(crate) const GATE: u8 = 3;
    /// No row has a number, and none was withheld.
    pub(crate) const NOTHING: u8 = 4;
    /// A study has no figure here for quantities whose figures are published, because its time was too
    /// short.
    pub(crate) const INCOMPLETE: u8 = 5;
    /// `check`: this machine is not as it should be.
    pub(crate) const NOT_AS_IT_SHOULD_BE: u8 = 1;
    /// `check`: it cannot be told whether it is.
    pub(crate) const CANNOT_TELL: u8 = 2;
    /// `check`: it could not be measured, for whatever reason; also bad usage.
    pub(crate) const NOT_CHECKED: u8 = 3;
    /// The program panicked; Rust's usual exit code.
    pub(crate) const PANICKED: u8 = 101;
    /// Interrupted by Ctrl-C; what was measured is saved.
    pub(crate) const INTERRUPTED: u8 = 130;
}

/// An error with its own exit code.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// Ctrl-C came before there was anything to keep.
    #[error("interrupted")]
    Interrupted,
}

/// Returns the exit code of an error. An unknown name of a run, row, CPU, journal, token file or
/// program is bad usage, as is a journal of another command.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    let failed = error.downcast_ref::<Failed>();
    if matches!(failed, Some(Failed::Interrupted)) {
        return exit::INTERRUPTED;
    }
    let is_usage = failed.is_some()
        || error
            .downcast_ref::<StoreError>()
            .is_some_and(StoreError::is_wrong_name)
        || error
            .downcast_ref::<TokenError>()
            .is_some_and(TokenError::is_missing)
        || matches!(
            error.downcast_ref::<SessionError>(),
            Some(
                SessionError::Cpu { .. }
                    | SessionError::Command { .. }
                    | SessionError::Journal(JournalError::Missing(_))
            )
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

/// Returns the result of printing, where a closed pipe counts as success.
pub(crate) fn unless_broken_pipe(printed: anyhow::Result<()>) -> anyhow::Result<()> {
    match printed {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        printed => printed,
    }
}

/// Whether the reader of the output has closed the pipe, as in `syscost list | head`.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
