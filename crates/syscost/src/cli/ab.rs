//! Arguments of `ab`.

use clap::Args;

/// Arguments of `ab`.
#[derive(Debug, Args)]
pub struct AbArguments {
    /// What to measure: groups, ids, rows or patterns; everything if none is given
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
}
