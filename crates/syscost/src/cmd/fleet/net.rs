//! `syscost fleet net`.

use anyhow::{Result, bail};

use crate::cli::fleet::NetArguments;

/// Runs the command.
pub(super) fn run(arguments: &NetArguments) -> Result<u8> {
    bail!("not built yet: {arguments:?}")
}
