//! Whether a path holds streams to a rate: by a shaper, or because one of its links is slower than both ends.
//!
//! A bottleneck that is always full passes the same amount in every window, while both ends have CPU time
//! left, and packets stand in a queue before it: the round trip is many times what it was without
//! them. From outside a token bucket and a slow link look the same. Which of them it is can be seen only
//! where the shaper is at this end's own interface: its qdisc counts how often it was over its
//! rate.

use std::fmt;
use std::net::TcpStream;

use syscost_results::stats::order::{iqr, median};
use syscost_sys::tcp::TcpInfo;

use crate::net::interface::Shaper;

/// The rates of fewer windows do not show how steady they are.
const MIN_WINDOWS: usize = 5;

/// The middle half of steady rates lies within this share of their median.
const STEADY: f64 = 0.03;

/// A queue stands on the path where the round trip is this many times the shortest one.
const QUEUED: f64 = 4.0;

/// A shorter wait, in µs, is caused by the ends: waking a task, gathering segments. Between two namespaces,
/// where the shortest round trip is 4 µs, streams limited by the CPU have round trips of 69 µs.
const MIN_QUEUE_US: f64 = 500.0;

/// Round trips of streams, as their senders' kernel reports them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::net) struct RoundTrips {
    /// The shortest round trip of all.
    pub(in crate::net) min_us: f64,
    /// The smoothed round trip while the streams fill the path; of several streams the shortest.
    pub(in crate::net) loaded_us: f64,
}

impl RoundTrips {
    /// The round trips of the streams that these sockets send; `None` where the kernel does not report them.
    pub(in crate::net) fn of(senders: &[TcpStream]) -> Option<Self> {
        let all: Result<Vec<_>, _> = senders.iter().map(TcpInfo::of).collect();
        let all = all.ok()?;
        let shortest = |of: fn(&TcpInfo) -> u32| all.iter().map(of).min().map(f64::from);
        let min_us = shortest(|info| info.min_rtt_us)?;
        // Before the first measurement the kernel reports its largest number.
        (min_us < f64::from(u32::MAX)).then_some(Self {
            min_us,
            loaded_us: shortest(|info| info.rtt_us)?,
        })
    }
}

/// A bottleneck: a path that holds streams to a rate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bottleneck {
    /// In bytes per second.
    rate: f64,
    round_trips: Option<RoundTrips>,
    /// The shaper, if it is at this end's interface.
    shaper: Option<Shaper>,
}

impl Bottleneck {
    /// The bottleneck that shows in the rates of windows, in bytes per second, and in round trips
    /// or a shaper; `None` if there is no sign of one.
    pub(super) fn find(
        rates: &[f64],
        round_trips: Option<RoundTrips>,
        shaper: Option<Shaper>,
    ) -> Option<Self> {
        let (rate, spread) = (median(rates)?, iqr(rates)?);
        let is_steady = rates.len() >= MIN_WINDOWS && rate > 0.0 && spread <= STEADY * rate;
        let has_queue = round_trips.is_some_and(|it| {
            it.loaded_us >= QUEUED * it.min_us && it.loaded_us - it.min_us >= MIN_QUEUE_US
        });
        (is_steady && (shaper.is_some() || has_queue)).then_some(Self {
            rate,
            round_trips,
            shaper,
        })
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shaper {
            Some(shaper) => write!(f, "shaped by {shaper}")?,
            None => f.write_str("a shaper or a slow link with a standing queue")?,
        }
        write!(f, ": steady at {:.1} Mbit/s", self.rate * 8.0 / 1e6)?;
        match self.round_trips {
            Some(RoundTrips { min_us, loaded_us }) => {
                write!(f, ", round trip {loaded_us:.0} µs, at least {min_us:.0} µs")
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [f64; 6] = [11.9e6, 11.95e6, 11.95e6, 11.96e6, 8e6, 12.0e6];

    fn round_trips(min_us: f64, loaded_us: f64) -> Option<RoundTrips> {
        Some(RoundTrips { min_us, loaded_us })
    }

    #[test]
    fn a_full_bottleneck_is_steady_and_has_a_queue_before_it() {
        let find = |rates: &[f64], round_trips| {
            let found = Bottleneck::find(rates, round_trips, None)?;
            Some(found.to_string())
        };
        let found = find(&RATES, round_trips(60.0, 9800.0)).expect("one window may be odd");
        let expected = "a shaper or a slow link with a standing queue: steady at 95.6 Mbit/s, \
                        round trip 9800 µs, at least 60 µs";
        assert_eq!(found, expected);
        assert_eq!(find(&RATES, round_trips(60.0, 200.0)), None, "no queue");
        assert_eq!(find(&RATES, round_trips(4.0, 69.0)), None, "the ends' own");
        assert_eq!(find(&RATES, None), None, "nobody knows of a queue");
        assert_eq!(
            find(&RATES[..4], round_trips(60.0, 9800.0)),
            None,
            "too few"
        );
        let restless = [3e9, 2.5e9, 2.0e9, 3.1e9, 2.8e9];
        assert_eq!(find(&restless, round_trips(20.0, 400.0)), None);
        assert_eq!(find(&[0.0; 6], None), None);
    }

    #[test]
    fn the_shaper_of_the_own_interface_is_named() {
        let shaper = Shaper::new("link0", "tbf", 12);
        let named = |rates: &[f64]| Bottleneck::find(rates, None, Some(shaper.clone()));
        let text = named(&RATES).expect("it held packets back").to_string();
        let expected =
            "shaped by qdisc tbf of link0, over its rate 12 times: steady at 95.6 Mbit/s";
        assert_eq!(text, expected);
        assert_eq!(named(&[1e6, 2e6, 3e6, 4e6, 5e6]), None);
    }
}
