//! Arguments of `doctor`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::{Format, seconds};

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

/// Parses an address to listen on; a port alone is one of loopback.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text
        .parse()
        .map(|port: u16| SocketAddr::from(([127, 0, 0, 1], port)));
    port.or_else(|_| text.parse())
        .map_err(|_| "give a port, or an address and a port, e.g. 10.0.0.7:9101".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_loopback() {
        assert_eq!(address("9101"), Ok(([127, 0, 0, 1], 9101).into()));
        assert_eq!(address("0.0.0.0:1"), Ok(([0, 0, 0, 0], 1).into()));
        assert!(address("[::1]:0").is_ok_and(|address| address.is_ipv6()));
        for text in ["", "x", "1.2.3.4", ":9101", "70000"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
