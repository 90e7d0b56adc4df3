//! `syscost compare`.

use anyhow::{Result, bail};

use crate::cli::CompareArguments;

/// A pair's comparison.
pub(crate) fn paired(
    _a: &syscost_results::Run,
    _b: &syscost_results::Run,
    _output: &crate::cli::CompareOutput,
) -> Result<u8> {
    bail!("not built yet")
}

/// Runs the verb.
pub(crate) fn run(_arguments: &CompareArguments) -> Result<u8> {
    bail!("not built yet")
}
