//! `syscost fleet import` and `syscost fleet export`.

use anyhow::{Result, bail};

use crate::cli::fleet::{FleetExportArguments, FleetImportArguments};

/// Turns documents into tables.
pub(super) fn import(arguments: &FleetImportArguments) -> Result<u8> {
    bail!("not built yet: {arguments:?}")
}

/// Turns tables into documents.
pub(super) fn export(arguments: &FleetExportArguments) -> Result<u8> {
    bail!("not built yet: {arguments:?}")
}
