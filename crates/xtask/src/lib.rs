//! What the chores of this workspace have in common, those of the laboratory too: paths and files, the release, how they end.

pub mod cargo;
pub mod workspace;

use std::process::ExitCode;

use anyhow::Result;

/// The exit code of a chore that ended like this; an error is printed.
pub fn ended(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
