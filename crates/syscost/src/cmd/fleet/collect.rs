//! `syscost fleet collect`.

use anyhow::{Result, bail};

use crate::cli::fleet::CollectArguments;

/// Runs the command.
pub(super) fn run(arguments: &CollectArguments) -> Result<u8> {
    bail!("not built yet: {arguments:?}")
}
