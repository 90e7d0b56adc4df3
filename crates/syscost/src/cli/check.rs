//! Arguments of `check`.

use clap::Args;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// What this machine should be like: a kept run of it, by its document, id or tag, or a baseline
    /// that `syscost fleet report --baseline` wrote
    #[arg(long, value_name = "RUN|FILE")]
    pub baseline: String,
}
