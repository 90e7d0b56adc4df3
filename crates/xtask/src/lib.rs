//! What the chores of this workspace have in common, those of the laboratory too: paths and files, the release, how they end.

#[cfg(feature = "program")]
pub mod cargo;
pub mod workspace;

use std::process::ExitCode;

use anyhow::Result;

/// A chore was asked to stop, and has said so.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// The exit code of a chore that ended like this; an error is printed, but that of one that was
/// interrupted.
pub fn ended(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<Interrupted>() => ExitCode::from(130),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
