//! An echo that answers with as many bytes as it received, but not with those bytes.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be refuted: what comes back lacks the nonce of the message.
//! ## Source
//! None: it is made up.

use std::io::{Read, Write};
use std::net::TcpListener;

use syscost_harness::prelude::*;
use syscost_net::{Account, Wait};

use crate::net::exchange::Exchange;
use crate::net::far_end::{Family, FarEnd, PATIENCE, listen};
use crate::net::tcp::stream::{Stream, options};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Echo without the payload",
    expect: &[
        together(Sysno::SENDTO, 2.0),
        together(Sysno::RECVFROM, 2.0),
        within(Counter::Switches, 1.9, 2.3),
    ],
    measure,
    ..Benchmark::DEFAULT
};

const SIZE: usize = 64;

fn measure(mut plan: Plan) -> Result<Outcome, Failure> {
    let tcp = options(plan.targets());
    let exchange = Exchange::new(&mut plan, SIZE, true);
    let echo = Together::of(Placement::SAME, |cpus| {
        let (listener, address) = listen(Family::Ipv4.loopback(), 1, &tcp)?;
        let serve = |listener: &mut TcpListener, _: &Stop| {
            answer(listener).map_err(|error| Failure::of("answer", error))
        };
        let far = FarEnd::partner(cpus, listener, serve, |_| {})?;
        let socket = syscost_net::socket::connect(address, &tcp, PATIENCE)?;
        let (near, way) = Stream::over(socket, Wait::Block)?;
        Ok(far.driven_by(exchange.over(near, way)))
    });
    let (mut outcome, (caller, account)) = plan.measure(echo)?.split();
    caller.claim(&mut outcome, &account);
    Ok(outcome)
}

/// Receives each message, and sends as many zeros.
fn answer(listener: &TcpListener) -> std::io::Result<Account> {
    let (mut socket, _) = listener.accept()?;
    let mut account = Account::default();
    while socket.read_exact(&mut [0; SIZE]).is_ok() {
        socket.write_all(&[0; SIZE])?;
        account.messages += 1;
        account.bytes += SIZE as u64;
    }
    Ok(account)
}
