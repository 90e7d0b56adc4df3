//! What limits a stream's rate, as the kernel of its sender reports it.

use std::fmt;
use std::net::TcpStream;

use syscost_net::service::TcpSide;
use syscost_stats::order::{iqr, median};
use syscost_sys::tcp::TcpInfo;

use crate::net::interface::Shaper;

/// What holds a stream back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Limiter {
    /// The sender gives the kernel no more to send: its CPU is busy, or it waits for something else.
    Sender,
    /// The receiver's window is full: it does not read faster, or its buffer is smaller than what
    /// is in flight.
    ReceiveWindow,
    /// The send buffer is full of what has not been acknowledged, and smaller than what could be in flight.
    SendBuffer,
    /// Everything else: the rate of the path, its losses, and what the congestion control makes of them.
    Network,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limiter::Sender => "sender",
            Limiter::ReceiveWindow => "receiver's window",
            Limiter::SendBuffer => "send buffer",
            Limiter::Network => "network",
        })
    }
}

/// Shares of a connection's time, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::net) struct Shares {
    /// Share in which there was something to send or to be acknowledged.
    pub(in crate::net) busy: f64,
    /// Share in which the receiver's window was full.
    pub(in crate::net) receive_window: f64,
    /// Share in which the send buffer was full.
    pub(in crate::net) send_buffer: f64,
    /// Share in which the sending task ran, if known.
    pub(in crate::net) sender_runs: Option<f64>,
}

/// A cause that takes at least this share of the time is the limiter.
const MAJORITY_OF_TIME: f64 = 0.5;

/// A task that runs for this share of the time has no more CPU to use.
const NEARLY_ALL_OF_TIME: f64 = 0.9;

impl Shares {
    /// The shares of connections that each lasted `lasted_us`; `sender_runs` is the share in which
    /// the sending tasks ran.
    pub(in crate::net) fn of(
        sender: &TcpSide,
        connections: usize,
        lasted_us: f64,
        sender_runs: Option<f64>,
    ) -> Self {
        let all_us = (lasted_us * connections.max(1) as f64).max(1.0);
        // The kernel counts in jiffies, so that a sum may slightly exceed the elapsed time.
        let share = |us: u64| (us as f64 / all_us).min(1.0);
        Self {
            busy: share(sender.busy_us),
            receive_window: share(sender.receive_window_limited_us),
            send_buffer: share(sender.send_buffer_limited_us),
            sender_runs,
        }
    }

    pub(in crate::net) fn limiter(&self) -> Limiter {
        if self.receive_window >= MAJORITY_OF_TIME {
            Limiter::ReceiveWindow
        } else if self.send_buffer >= MAJORITY_OF_TIME {
            Limiter::SendBuffer
        } else if self.busy < MAJORITY_OF_TIME
            || self
                .sender_runs
                .is_some_and(|runs| runs >= NEARLY_ALL_OF_TIME)
        {
            Limiter::Sender
        } else {
            Limiter::Network
        }
    }
}

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

/// A bottleneck: a path that holds streams to a rate, by a shaper, or because one of its links is slower than both ends.
///
/// A bottleneck that is always full passes the same amount in every window, while both ends have CPU time
/// left, and packets stand in a queue before it: the round trip is many times what it was without
/// them. From outside a token bucket and a slow link look the same. Which of them it is can be seen only
/// where the shaper is at this end's own interface: its qdisc counts how often it was over its
/// rate.
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

    fn side(busy_us: u64, receive_window_limited_us: u64, send_buffer_limited_us: u64) -> TcpSide {
        TcpSide {
            busy_us,
            receive_window_limited_us,
            send_buffer_limited_us,
            ..TcpSide::default()
        }
    }

    #[test]
    fn what_takes_most_of_the_time_limits() {
        // Two connections of a second each.
        for (side, runs, limiter) in [
            (
                side(2_000_000, 1_500_000, 0),
                Some(0.1),
                Limiter::ReceiveWindow,
            ),
            (
                side(2_000_000, 100_000, 1_200_000),
                None,
                Limiter::SendBuffer,
            ),
            // Its CPU is busy, or it is idle.
            (side(2_000_000, 0, 0), Some(0.97), Limiter::Sender),
            (side(500_000, 0, 0), Some(0.2), Limiter::Sender),
            (
                side(1_990_000, 300_000, 300_000),
                Some(0.3),
                Limiter::Network,
            ),
            (side(2_000_000, 0, 0), None, Limiter::Network),
        ] {
            let shares = Shares::of(&side, 2, 1e6, runs);
            assert_eq!(shares.limiter(), limiter, "{shares:?}");
        }
        // No share is more than all of the time.
        let shares = Shares::of(&side(1_004_000, 1_008_000, 0), 1, 1e6, None);
        assert_eq!((shares.busy, shares.receive_window), (1.0, 1.0));
    }

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
        let shaper = Shaper {
            interface: "link0".to_owned(),
            kind: "tbf".to_owned(),
            held_back: 12,
        };
        let named = |rates: &[f64]| Bottleneck::find(rates, None, Some(shaper.clone()));
        let text = named(&RATES).expect("it held packets back").to_string();
        let expected =
            "shaped by qdisc tbf of link0, over its rate 12 times: steady at 95.6 Mbit/s";
        assert_eq!(text, expected);
        assert_eq!(named(&[1e6, 2e6, 3e6, 4e6, 5e6]), None);
    }
}
