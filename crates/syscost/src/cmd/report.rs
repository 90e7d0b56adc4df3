//! `syscost report`.

use anyhow::{Result, bail};

use crate::cli::ReportArguments;

/// Runs the verb.
pub(crate) fn run(_arguments: &ReportArguments) -> Result<u8> {
    bail!("not built yet")
}
