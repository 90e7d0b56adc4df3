//! `syscost export`.

use anyhow::{Result, bail};

use crate::cli::ExportArguments;

/// Runs the verb.
pub(crate) fn run(_arguments: &ExportArguments) -> Result<u8> {
    bail!("not built yet")
}
