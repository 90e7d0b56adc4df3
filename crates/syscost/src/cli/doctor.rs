//! Arguments of `doctor`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::{Format, address, seconds};

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("metrics").args(["openmetrics", "listen"]).multiple(true))]
#[command(after_help = "\
Examples:
  syscost doctor
  syscost doctor --watch 60
  syscost doctor --watch --listen 9101")]
pub struct DoctorArguments {
    /// Also show what is good
    #[arg(short, long)]
    pub verbose: bool,
    /// Show live how much of the time each core is ours alone, until Ctrl-C or for this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, value_parser = seconds, conflicts_with = "format")]
    pub watch: Option<Option<Duration>>,
    /// With --watch: no display, but metrics of the last five minutes in this file, FILE.prom, for
    /// the node exporter's textfile collector; takes at most a thousandth of a core
    #[arg(long, value_name = "FILE", requires = "watch")]
    pub openmetrics: Option<PathBuf>,
    /// With --watch: the same metrics at http://ADDR:PORT/metrics; on loopback if only a port is given
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = address, requires = "watch")]
    pub listen: Option<SocketAddr>,
    /// Time between two sets of metrics, in seconds; 15 if not given
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "metrics")]
    pub interval: Option<Duration>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
