//! `syscost plot`.

use anyhow::{Result, bail};

use crate::cli::PlotArguments;

/// Runs the verb.
pub(crate) fn run(_arguments: &PlotArguments) -> Result<u8> {
    bail!("not built yet")
}
