//! Arguments of `serve`.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use syscost_net::address::Endpoint;

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
On the far machine:
  syscost serve --listen 10.0.0.7 --token-file token
On the measuring machine, with a copy of that file:
  syscost run net --peer 10.0.0.7 --token-file token

Anyone with the token can make this machine send and receive as much as the limits allow. The traffic is not encrypted. \
docs/serve.md says what is exposed to whom.")]
pub struct ServeArguments {
    /// Address to listen on; may be repeated. The default is the loopback addresses, 127.0.0.1 and ::1
    #[arg(long, value_name = "ADDR[:PORT]", value_parser = endpoint)]
    pub listen: Vec<Endpoint>,
    /// File with the token that clients must know; a missing one is created with a new token,
    /// readable by its owner only. Without this option a new token is printed
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Ports of the measured connections, e.g. `8000-8009`, for a firewall to allow; the default is
    /// any free port
    #[arg(long, value_name = "A-B", value_parser = ports)]
    pub data_ports: Option<RangeInclusive<u16>>,
    /// Exit after the first session, that is, after one `syscost run`
    #[arg(long)]
    pub once: bool,
}

pub(crate) fn endpoint(text: &str) -> Result<Endpoint, String> {
    text.parse()
}

fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let complaint = || "give two port numbers, e.g. 8000-8009".to_owned();
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |digits: &str| digits.parse::<u16>().ok().filter(|port| *port > 0);
    let (first, last) = number(first).zip(number(last)).ok_or_else(complaint)?;
    match first <= last {
        true => Ok(first..=last),
        false => Err(complaint()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_one_or_a_range() {
        assert_eq!(ports("8000-8009"), Ok(8000..=8009));
        assert_eq!(ports("80"), Ok(80..=80));
        for nonsense in ["", "-", "0-5", "9-8", "1-65536", "a-b", "1-2-3"] {
            assert!(ports(nonsense).is_err(), "{nonsense}");
        }
    }
}
