//! Arguments of `fleet run` and `fleet net`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `fleet run`.
#[derive(Debug, Args)]
pub struct CollectArguments {
    /// The directory of the collection
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// Arguments of `fleet net`.
#[derive(Debug, Args)]
pub struct NetArguments {
    /// The directory of the collection
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}
