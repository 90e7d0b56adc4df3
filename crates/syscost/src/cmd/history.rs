//! `syscost history`.

use anyhow::{Result, bail};

use crate::cli::HistoryArguments;

/// Runs the verb.
pub(crate) fn run(_arguments: &HistoryArguments) -> Result<u8> {
    bail!("not built yet")
}
