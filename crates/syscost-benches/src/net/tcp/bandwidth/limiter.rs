//! What limits a stream's rate, as the kernel of its sender reports it.

use std::fmt;

use syscost_net::service::TcpSide;

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

    /// The limiter.
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
        let limiter = |side: TcpSide, runs| Shares::of(&side, 2, 1e6, runs).limiter();
        // Two connections of a second each.
        assert_eq!(
            limiter(side(2_000_000, 1_500_000, 0), Some(0.1)),
            Limiter::ReceiveWindow
        );
        assert_eq!(
            limiter(side(2_000_000, 100_000, 1_200_000), None),
            Limiter::SendBuffer
        );
        assert_eq!(
            limiter(side(2_000_000, 0, 0), Some(0.97)),
            Limiter::Sender,
            "its CPU"
        );
        assert_eq!(
            limiter(side(500_000, 0, 0), Some(0.2)),
            Limiter::Sender,
            "idle"
        );
        assert_eq!(
            limiter(side(1_990_000, 300_000, 300_000), Some(0.3)),
            Limiter::Network
        );
        assert_eq!(limiter(side(2_000_000, 0, 0), None), Limiter::Network);
    }

    #[test]
    fn no_share_is_more_than_all_of_the_time() {
        let shares = Shares::of(&side(1_004_000, 1_008_000, 0), 1, 1e6, None);
        assert_eq!((shares.busy, shares.receive_window), (1.0, 1.0));
    }
}
