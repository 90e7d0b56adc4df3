//! `syscost fleet template`.

use anyhow::{Result, bail};

use crate::cli::fleet::TemplateArguments;

/// Runs the command.
pub(super) fn run(arguments: &TemplateArguments) -> Result<u8> {
    bail!("not built yet: {arguments:?}")
}
