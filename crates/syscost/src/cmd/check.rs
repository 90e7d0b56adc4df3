//! `syscost check`: whether this machine is as it should be.

use anyhow::{Result, bail};

use crate::cli::CheckArguments;

/// Runs the command.
pub(crate) fn run(arguments: &CheckArguments) -> Result<u8> {
    bail!("not built yet: {}", arguments.baseline)
}
