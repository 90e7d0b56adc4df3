//! `syscost completions`: prints the completion script of a shell.

use std::env;
use std::path::{Path, absolute};

use anyhow::{Result, anyhow};

use crate::cli::{CompletionsArguments, script};
use crate::error::exit;

/// Runs the command.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<u8> {
    let script = script(arguments.shell, &program()).map_err(|cause| anyhow!(cause))?;
    super::print_data(&script)?;
    Ok(exit::DONE)
}

/// The program that the script calls: this one, by its absolute path if it was called by a path.
fn program() -> String {
    let called = env::args_os().next().unwrap_or_default();
    let called = called.to_string_lossy().into_owned();
    match called.contains('/') {
        true => {
            absolute(Path::new(&called)).map_or(called, |path| path.to_string_lossy().into_owned())
        }
        false => "syscost".to_owned(),
    }
}
