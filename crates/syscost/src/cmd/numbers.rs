//! `syscost numbers`.

use anyhow::{Result, bail};

use crate::cli::NumbersArguments;

/// Runs the verb.
pub(crate) fn run(_arguments: &NumbersArguments) -> Result<u8> {
    bail!("not built yet")
}
