//! Arguments of `numbers`.

use clap::Args;

use super::Format;

/// Arguments of `numbers`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost numbers [OPTIONS] [RUN]")]
pub struct NumbersArguments {
    /// The run: a document, `latest`, an id or a tag
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Show the figures of this run beside the numbers: a shipped reference (epyc-guest), a
    /// document, an id or a tag
    #[arg(long, value_name = "REFERENCE")]
    pub beside: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
