//! A connection whose far end answers each message with the same bytes.

use std::net::{IpAddr, Shutdown, TcpStream};

use rustix::net::{RecvFlags, SendFlags, recv, send};
use syscost_harness::peer::PeerAccess;
use syscost_harness::prelude::*;
use syscost_net::service::{ServiceError, TcpSide, Wait, stream};
use syscost_net::socket::Tcp;
use syscost_net::{Account, Service, Session, socket};

use crate::net::connection_cpus::ConnectionCpus;
use crate::net::far_end::{Family, PATIENCE, Route, listen};
use crate::net::interface::InterfaceCounters;
use crate::net::workers::{IsOver, Tally, Until, Workers};

/// Bytes of a message.
pub(super) const SIZE: usize = 64;

/// The answering end.
enum Answers {
    Here(Workers),
    There(Box<Session>),
}

/// The asking end.
pub(super) struct Echo {
    near: TcpStream,
    answers: Answers,
    interface: InterfaceCounters,
    seed: u64,
    message: [u8; SIZE],
    answer: [u8; SIZE],
    round_trips: u64,
    /// Sum of the first words of all messages.
    sum: u64,
}

impl Echo {
    /// Connects to a far end that answers, on its CPUs if it is on this machine.
    pub(super) fn start(
        route: &Route,
        family: Family,
        tcp: &Tcp,
        places: &ConnectionCpus,
        seed: u64,
    ) -> Result<Self, Failure> {
        let (near, answers) = match route {
            Route::Loopback(..) => Self::here(route.address(), tcp, places)?,
            Route::Remote(given) => Self::there(given, tcp)?,
        };
        Ok(Self {
            interface: InterfaceCounters::of(&near)?.named(family),
            near,
            answers,
            seed,
            message: [0; SIZE],
            answer: [0; SIZE],
            round_trips: 0,
            sum: 0,
        })
    }

    fn here(
        own: IpAddr,
        tcp: &Tcp,
        places: &ConnectionCpus,
    ) -> Result<(TcpStream, Answers), Failure> {
        let (listener, address) = listen(own, 1, tcp)?;
        let near = socket::connect(address, tcp, PATIENCE)?;
        let accepted = listener.accept();
        let (far, _) = accepted.map_err(|cause| Failure::of("accept a connection", cause))?;
        let serve = |far: &mut TcpStream, is_over: IsOver<'_>| -> Result<Tally, ServiceError> {
            Ok(stream::echo(&*far, &mut [0; SIZE], Wait::Block, is_over)?.into())
        };
        let mut workers = Workers::new()?;
        let meter = Workers::meter()?;
        workers.add(&places.far, Until::OtherEnd, meter, far, serve)?;
        Ok((near, Answers::Here(workers)))
    }

    fn there(given: &PeerAccess, tcp: &Tcp) -> Result<(TcpStream, Answers), Failure> {
        let mut session = Session::connect(given.address, &given.token, PATIENCE)?;
        let service = Service::StreamEcho {
            size: SIZE as u32,
            wait: Wait::Block,
            tcp: tcp.clone(),
        };
        let opened = session.open(&service)?;
        let near = opened.stream(tcp)?;
        Ok((near, Answers::There(Box::new(session))))
    }

    /// Sends a message that contains a nonce, and receives it back.
    #[inline]
    pub(super) fn round_trip(&mut self) -> Result<(), Failure> {
        // Odd, so that no two numbers are the same.
        let nonce = self.seed ^ (self.round_trips + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.message[..8].copy_from_slice(&nonce.to_le_bytes());
        let sent = send(&self.near, &self.message, SendFlags::NOSIGNAL);
        let sent = sent.map_err(|cause| Failure::of("send a message", cause))?;
        let came = recv(&self.near, &mut self.answer, RecvFlags::WAITALL);
        let (_, came) = came.map_err(|cause| Failure::of("receive an answer", cause))?;
        if (sent, came) != (SIZE, SIZE) {
            let what =
                format!("of a message of {SIZE} bytes {sent} were sent and {came} came back");
            return Err(Failure::Failed(what));
        }
        if self.answer != self.message {
            return Err(Failure::Refuted(
                "the answer differs from the message".into(),
            ));
        }
        self.round_trips += 1;
        self.sum = self.sum.wrapping_add(nonce);
        Ok(())
    }

    /// Ends the connection, and returns how much the far end reports to have answered.
    pub(super) fn finish(self) -> Result<Tally, Failure> {
        let ended = self.near.shutdown(Shutdown::Write);
        ended.map_err(|cause| Failure::of("end the stream", cause))?;
        match self.answers {
            Answers::Here(workers) => Ok(workers.dismiss()?.remove(0)),
            Answers::There(mut session) => {
                let account: Account = session.finish(None)?;
                Ok(account.into())
            }
        }
    }

    /// The number of round trips so far.
    pub(super) fn round_trips(&self) -> u64 {
        self.round_trips
    }

    /// Claims the properties of the connection: where its tasks run, which path it takes, and its options.
    fn claim_connection(&mut self, b: &mut Bencher) {
        if let Answers::Here(workers) = &self.answers {
            workers.claim_cpus(b);
        }
        self.interface.end();
        let bytes = self.round_trips * SIZE as u64;
        self.interface.claim(b, bytes, bytes);
        let Some(side) = TcpSide::of(&self.near) else {
            return;
        };
        let what = "ends of the measured connection with TCP_NODELAY";
        b.claim_equal(what, 1, side.nodelay, "getsockopt");
        let chosen = b.targets().congestion.clone();
        let expected = chosen.unwrap_or_else(|| side.congestion.clone());
        let what = "congestion control of the measured connection";
        b.claim_equal(what, expected, side.congestion, "TCP_CONGESTION");
        if b.is_timed() {
            b.detail("echo_retransmits_count", side.retransmits as f64);
        }
    }

    /// Ends the connection, and claims that the far end has answered what was asked.
    pub(super) fn claim(mut self, b: &mut Bencher) -> Result<(), Failure> {
        self.claim_connection(b);
        let (round_trips, sum) = (self.round_trips, self.sum);
        let echoed = self.finish()?;
        let claim = "messages that the far end answered";
        b.claim_equal(claim, round_trips, echoed.messages, "both ends");
        let bytes = round_trips * SIZE as u64;
        b.claim_equal("bytes in them", bytes, echoed.bytes, "both ends");
        let [expected, found] = [sum, echoed.checksum].map(|sum| format!("{sum:016x}"));
        b.claim_equal("sum of their nonces", expected, found, "both ends");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_far_end_answers_what_it_is_asked() {
        let allowed = syscost_sys::cpu::allowed().unwrap();
        let places = ConnectionCpus::here(Placement::Free, 1, allowed[0], &allowed).unwrap();
        let (family, tcp) = (Family::Ipv4, Tcp::nodelay());
        let route = Route::Loopback(Placement::Free, family);
        let mut echo = Echo::start(&route, family, &tcp, &places[0], 7).unwrap();
        for _ in 0..20 {
            echo.round_trip().unwrap();
        }
        let sum = echo.sum;
        let echoed = echo.finish().unwrap();
        assert_eq!((echoed.messages, echoed.bytes), (20, 20 * SIZE as u64));
        assert_eq!(echoed.checksum, sum);
    }
}
