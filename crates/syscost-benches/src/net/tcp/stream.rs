//! Shared: the near end of a connection, and what the kernels at both ends know of it.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, send};
use syscost_harness::prelude::*;
use syscost_net::Wait;
use syscost_net::service::{TcpSide, release};
use syscost_net::socket::Tcp;
use syscost_sys::tcp::TcpInfo;

use crate::ipc::message::Message;
use crate::net::exchange::Link;
use crate::net::interface::InterfaceCounters;
use crate::net::waiting::Waiting;

const SOURCE: &str = "TCP_INFO";

/// The options of both ends of a connection that carries messages: TCP_NODELAY, and the congestion
/// control that was chosen.
pub(crate) fn options(targets: &Targets) -> Tcp {
    Tcp {
        congestion: targets.congestion.clone(),
        ..Tcp::nodelay()
    }
}

/// The near end of a connection.
pub(crate) struct Stream {
    socket: TcpStream,
    waiting: Waiting,
    /// What both kernels reported before the first message and after the last.
    sides: Option<(TcpSide, TcpSide)>,
    mtu: Option<u32>,
}

impl Stream {
    /// The near end of an established connection, and what its interface counts.
    pub(crate) fn over(
        socket: TcpStream,
        wait: Wait,
    ) -> Result<(Self, InterfaceCounters), Failure> {
        let interface = InterfaceCounters::of(&socket)?;
        let stream = Self {
            waiting: Waiting::new(&socket, wait, RecvFlags::WAITALL, None)?,
            sides: TcpSide::of(&socket).map(|side| (side, side)),
            mtu: TcpInfo::of(&socket).ok().map(|info| info.path_mtu),
            socket,
        };
        Ok((stream, interface))
    }

    /// Claims what the kernels counted: that all bytes sent were acknowledged and nothing
    /// retransmitted, and that both ends have the expected options.
    pub(crate) fn claim(&self, b: &mut Bencher, sent: u64, received: u64, far: Option<&TcpSide>) {
        let Some(((before, after), far)) = self.sides.as_ref().zip(far) else {
            let reason = "this kernel, or that of the far end, has no TCP_INFO";
            b.claim_unobserved("bytes acknowledged", sent as f64, SOURCE, reason);
            return;
        };
        self.claim_options(b, Some(far));
        let acknowledged = after.bytes_acked.saturating_sub(before.bytes_acked);
        // The handshake counts as one, and may be acknowledged late.
        let bound = Bound::Within(sent as f64, sent as f64 + 1.0);
        b.claim_within("bytes acknowledged", bound, acknowledged as f64, SOURCE);
        let came = after.bytes_received.saturating_sub(before.bytes_received);
        b.claim_equal("bytes received", received as f64, came as f64, SOURCE);
        claim_retransmits(
            b,
            "segments retransmitted by either end",
            after.retransmits + far.retransmits,
            "the path lost segments or was late, and waiting for that is in the times",
        );
        b.detail("segment_bytes", f64::from(after.mss));
        if let Some(mtu) = self.mtu {
            b.detail("mtu_bytes", f64::from(mtu));
        }
    }

    /// Claims that both ends have the expected options.
    pub(crate) fn claim_options(&self, b: &mut Bencher, far: Option<&TcpSide>) {
        let Some(((_, near), far)) = self.sides.as_ref().zip(far) else {
            let reason = "this kernel, or that of the far end, has no TCP_INFO";
            return b.claim_unobserved("ends with TCP_NODELAY", 2.0, "getsockopt", reason);
        };
        let nodelay = near.nodelay + far.nodelay;
        b.claim_equal("ends with TCP_NODELAY", 2, nodelay, "getsockopt");
        claim_congestion(b, near, far);
    }
}

/// Claims that both ends have the chosen congestion control; without a choice, reports which one they
/// have.
pub(super) fn claim_congestion(b: &mut Bencher, near: &TcpSide, far: &TcpSide) {
    let has = match near.congestion == far.congestion {
        true => near.congestion.to_string(),
        false => format!("{} here and {} there", near.congestion, far.congestion),
    };
    let claim = "congestion control of both ends";
    match b.targets().congestion.clone() {
        Some(chosen) => b.claim_equal(claim, chosen, has, "getsockopt"),
        None => b.note(claim, has, "getsockopt"),
    }
}

/// Claims that nothing was retransmitted. What a path loses, or delivers late, is no defect of the
/// benchmark: then the claim is unverified, for this reason.
pub(super) fn claim_retransmits(b: &mut Bencher, claim: &str, segments: u64, reason: &str) {
    match segments {
        0 => b.claim_equal(claim, 0.0, 0.0, SOURCE),
        some => b.claim_unverified(claim, 0.0, some as f64, SOURCE, reason),
    }
    b.detail("retransmits_count", segments as f64);
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Link for Stream {
    #[inline]
    fn send(&mut self, message: &mut Message) -> Result<(), Errno> {
        let bytes = message.bytes();
        let mut done = 0;
        while done < bytes.len() {
            done += retry_on_intr(|| send(&self.socket, &bytes[done..], SendFlags::NOSIGNAL))?;
        }
        Ok(())
    }

    #[inline]
    fn receive(&mut self, answer: &mut Message) -> Result<Option<usize>, Errno> {
        let bytes = answer.bytes_mut();
        let mut done = 0;
        while done < bytes.len() {
            match self
                .waiting
                .receive(self.socket.as_fd(), &mut bytes[done..])?
            {
                Some(0) | None => break,
                Some(count) => done += count,
            }
        }
        Ok(Some(done))
    }

    fn end(&mut self) -> Result<(), Errno> {
        let now = TcpSide::of(&self.socket);
        self.sides = self
            .sides
            .take()
            .zip(now)
            .map(|((before, _), now)| (before, now));
        // Closing would not end the connection: the partner has inherited a copy of the descriptor.
        release(&self.socket);
        Ok(())
    }
}
