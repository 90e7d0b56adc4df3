//! A receiver that discards what arrives, uncopied, and claims to have received it.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be refuted: the bytes are as many as were sent, but the receiver does not know their content.
//! ## Source
//! None: it is made up. recv(2) with MSG_TRUNC discards a stream's bytes.

use std::net::TcpStream;

use rustix::io::retry_on_intr;
use rustix::net::{RecvFlags, recv};
use syscost_harness::prelude::*;
use syscost_net::Content;
use syscost_net::service::{Account, ServiceError};

use crate::net::far_end::{Family, Route};
use crate::net::tcp::bandwidth::{self, StreamSpec};
use crate::net::workers::IsOver;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Receiver that discards its bytes",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let partner = Route::Loopback(Placement::SAME, Family::Ipv4);
    let spec = StreamSpec::plain(partner, 1, &plan)?.received_by(discard);
    bandwidth::measure(plan, &spec)
}

fn discard(
    socket: &TcpStream,
    buffer: &mut [u8],
    _: Content,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let mut account = Account::default();
    loop {
        let came = retry_on_intr(|| recv(socket, &mut *buffer, RecvFlags::TRUNC));
        let (_, bytes) = came.map_err(|cause| ServiceError {
            operation: "recvfrom",
            messages: account.messages,
            cause: cause.into(),
        })?;
        account.messages += 1;
        account.bytes += bytes as u64;
        if bytes == 0 || is_over(&account) {
            return Ok(account);
        }
    }
}
