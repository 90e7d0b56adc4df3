//! A TCP connection to the server's port of NFS.

use std::cell::RefCell;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, connect, recv};
use syscost_harness::prelude::*;
use syscost_sys::process;

use crate::net::counters::Watch;
use crate::net::tcp::connect::new_socket;
use crate::net::tcp::ports::Budget;

/// The kernel's count of the connections that this machine opened.
const OPENED: &str = "Tcp.ActiveOpens";

pub(super) fn measure(mut plan: Plan, server: SocketAddr) -> Result<Outcome, Failure> {
    // Where both ends are on this machine the handshake is over before the call would sleep.
    plan.expect(at_most(Counter::VoluntarySwitches, 1.15));
    // Calls that close the connection before, outside the time.
    for call in [
        Sysno::GETPEERNAME,
        Sysno::SHUTDOWN,
        Sysno::SETSOCKOPT,
        Sysno::RECVFROM,
        Sysno::CLOSE,
        // A debug build checks that a descriptor is open before it closes it.
        Sysno::FCNTL,
    ] {
        plan.expect(at_most(Counter::Syscall(call), 1.0));
    }
    let mut counters = Watch::begin();
    let connector = RefCell::new(Connector {
        server,
        open: None,
        ports: Budget::read()?,
        reached: 0,
    });
    let mut outcome = plan.measure(Single::of(
        || connector.borrow_mut().close(),
        || connector.borrow_mut().connect(),
    ))?;
    let mut connector = connector.into_inner();
    connector.close()?;
    let (made, reached) = (connector.ports.made(), connector.reached);
    let what = format!("connections to {server}");
    outcome.claim_equal(&what, made as f64, reached as f64, "getpeername");
    counters.end();
    counters.claim_risen(&mut outcome, OPENED, made);
    connector.ports.detail(&mut outcome);
    Ok(outcome)
}

/// Opens one connection after another.
struct Connector {
    server: SocketAddr,
    open: Option<TcpStream>,
    ports: Budget,
    /// Connections whose other end was the server, checked when they were closed.
    reached: u64,
}

impl Connector {
    fn connect(&mut self) -> Result<(), Failure> {
        self.ports.spend()?;
        let server = self.server;
        let failed = |errno: Errno| Failure::of(&format!("connect to {server}"), errno);
        let socket = new_socket(server).map_err(failed)?;
        connect(&socket, &server).map_err(failed)?;
        self.open = Some(socket.into());
        Ok(())
    }

    /// Closes the open connection, and waits for the server to close it, too, so that it has only
    /// one of them at a time.
    fn close(&mut self) -> Result<(), Failure> {
        let Some(connection) = self.open.take() else {
            return Ok(());
        };
        let failed = |error: io::Error| Failure::of("close a connection to the server", error);
        let is_server = connection.peer_addr().map_err(failed)? == self.server;
        self.reached += u64::from(is_server);
        connection.shutdown(Shutdown::Write).map_err(failed)?;
        let limit = Some(process::patience());
        set_socket_timeout(&connection, Timeout::Recv, limit)
            .map_err(|errno| failed(errno.into()))?;
        let mut byte = [0_u8];
        match retry_on_intr(|| recv(&connection, &mut byte[..], RecvFlags::empty())) {
            Ok((_, 0)) | Err(Errno::CONNRESET) => Ok(()),
            Ok(_) => Err(Failure::Failed(
                "the server spoke before it was asked".into(),
            )),
            Err(errno) => Err(failed(errno.into())),
        }
    }
}
