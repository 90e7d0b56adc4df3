//! Connections to a listener that accepts none of them, and whose backlog overflows.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be refuted: the far end has accepted none, and the kernel has counted the overflows.
//! ## Source
//! None: it is made up.

use std::net::{SocketAddr, TcpListener};

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::connect;
use syscost_harness::prelude::*;
use syscost_net::Account;
use syscost_net::socket::Tcp;

use crate::net::connections::claim_accepted;
use crate::net::counters::Watch;
use crate::net::far_end::{Family, listen};
use crate::net::tcp::connect::new_socket;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Connections that nobody accepts",
    expect: &[
        calls(Sysno::SOCKET),
        calls(Sysno::IOCTL),
        calls(Sysno::CONNECT),
        calls(Sysno::CLOSE),
        at_most(Counter::Syscall(Sysno::FCNTL), 1.0),
    ],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let (mut outcome, connector) = plan
        .measure(Together::of(Placement::SAME, |_| {
            let (listener, address) = listen(Family::Ipv4.loopback(), 1, &Tcp::default())?;
            let connector = Connector {
                address,
                _listener: listener,
                begun: 0,
                counters: Watch::begin(),
            };
            Ok(Team::new(Vec::new(), connector))
        }))?
        .split();
    let no_account = Account::default();
    claim_accepted(
        &mut outcome,
        &connector.counters,
        connector.begun,
        &no_account,
    );
    Ok(outcome)
}

struct Connector {
    address: SocketAddr,
    _listener: TcpListener,
    begun: u64,
    counters: Watch,
}

impl Driver for Connector {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            begin(&self.address).map_err(|errno| Failure::of("begin to connect", errno))?;
            self.begun += 1;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.counters.end();
        Ok(())
    }
}

/// Starts to connect, without waiting for the result.
fn begin(address: &SocketAddr) -> Result<(), Errno> {
    let socket = new_socket(*address)?;
    ioctl_fionbio(&socket, true)?;
    match connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
        Err(errno) => Err(errno),
    }
}
