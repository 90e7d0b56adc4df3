//! `syscost fleet report`.

use anyhow::{Result, bail};

use crate::cli::fleet::FleetReportArguments;

/// Runs the command.
pub(super) fn run(arguments: &FleetReportArguments) -> Result<u8> {
    bail!("not built yet: {arguments:?}")
}
