//! Arguments of `fleet template`.

use clap::Args;

/// Arguments of `fleet template`.
#[derive(Debug, Args)]
pub struct TemplateArguments {
    /// For which program
    pub name: String,
}
