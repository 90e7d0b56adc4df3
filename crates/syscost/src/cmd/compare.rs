//! `syscost compare`.

use anyhow::{Result, bail};

use crate::cli::CompareArguments;

/// Runs the verb.
pub(crate) fn run(_arguments: &CompareArguments) -> Result<u8> {
    bail!("not built yet")
}
