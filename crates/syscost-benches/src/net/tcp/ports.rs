//! Shared: how many connections a case may make without using up the ephemeral ports.
//!
//! A connection in TIME_WAIT stays where it was closed first: at the far end, which has a port of
//! its own in each process, or in `net.tcp.close` at this end. Only connections to that far end
//! could collide with it. So those that earlier processes left take nothing from later ones.

use std::fs;

use syscost_harness::prelude::*;

const RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";
const SOCKETS: &str = "/proc/thread-self/net/sockstat";

/// The divisor of the free ports that gives the connections that a process may make.
const SHARE: u64 = 2;

/// The ports of this machine that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Ephemeral ports that no socket in use can hold.
    free: u64,
    made: u64,
}

impl Budget {
    /// The budget of a case that begins now.
    pub(crate) fn read() -> Result<Self, Failure> {
        let read = |path: &str| {
            fs::read_to_string(path)
                .map_err(|error| Failure::Unsupported(format!("{path}: {error}")))
        };
        let unclear = |path: &str| Failure::Unsupported(format!("{path} cannot be parsed"));
        let ports = ports_in(&read(RANGE)?).ok_or_else(|| unclear(RANGE))?;
        let in_use = in_use(&read(SOCKETS)?).ok_or_else(|| unclear(SOCKETS))?;
        Ok(Self::with(ports, in_use))
    }

    fn with(ports: u64, in_use: u64) -> Self {
        let free = ports.saturating_sub(in_use);
        Self { free, made: 0 }
    }

    fn limit(&self) -> u64 {
        self.free / SHARE
    }

    #[inline(always)]
    pub(crate) fn spend(&mut self) -> Result<(), Failure> {
        if self.made == self.limit() {
            return Err(self.is_spent());
        }
        self.made += 1;
        Ok(())
    }

    #[cold]
    fn is_spent(&self) -> Failure {
        let Self { free, made } = self;
        Failure::Failed(format!(
            "its limit of {made} connections is reached: {free} ephemeral ports were free; end programs \
             that hold many, or widen {RANGE}"
        ))
    }

    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    pub(crate) fn detail(&self, b: &mut Bencher) {
        if b.is_timed() {
            b.detail("connections_count", self.made as f64);
            b.detail("connections_budget_count", self.limit() as f64);
            b.detail("ports_free_count", self.free as f64);
        }
    }
}

/// The number of ports in a range given by its first and last port.
fn ports_in(range: &str) -> Option<u64> {
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some((last + 1).saturating_sub(first))
}

/// TCP sockets in use: `TCP: inuse 5 orphan 0 tw 2 alloc 7 mem 1`.
fn in_use(sockstat: &str) -> Option<u64> {
    let line = sockstat
        .lines()
        .find_map(|line| line.strip_prefix("TCP:"))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let pair = words.chunks_exact(2).find(|pair| pair[0] == "inuse")?;
    pair[1].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_figures_are_understood() {
        assert_eq!(ports_in("32768\t60999\n"), Some(28_232));
        assert_eq!(ports_in("32768"), None);
        // What waits after earlier runs (tw) takes no ports.
        let text = "sockets: used 18\nTCP: inuse 6 orphan 0 tw 27746 alloc 9 mem 1\nUDP: inuse 0\n";
        assert_eq!(in_use(text), Some(6));
        assert_eq!(in_use("UDP: inuse 0 mem 0\n"), None);
    }

    #[test]
    fn no_more_connections_are_made_than_half_of_the_free_ports() {
        let mut budget = Budget::with(9, 2);
        assert!((0..3).all(|_| budget.spend().is_ok()));
        let failure = budget.spend().unwrap_err().to_string();
        assert!(failure.contains("7 ephemeral ports were free"), "{failure}");
        assert_eq!(budget.made(), 3);
    }
}
