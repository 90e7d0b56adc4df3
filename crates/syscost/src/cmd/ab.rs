//! `syscost ab`.

use anyhow::{Result, bail};

use crate::cli::AbArguments;

/// Runs the verb.
pub(crate) fn run(_arguments: &AbArguments) -> Result<u8> {
    bail!("not built yet")
}
