//! Lies about what is sent and received.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use rustix::io::{Errno, ioctl_fionbio, retry_on_intr};
use rustix::net::{RecvFlags, connect, recv};
use syscost_harness::prelude::*;
use syscost_net::service::ServiceError;
use syscost_net::socket::Tcp;
use syscost_net::{Account, Content, Wait};
use syscost_sys::process;

use crate::ipc::bandwidth::OneWay;
use crate::ipc::channel::streams::{Streams, pipes};
use crate::ipc::channel::{Channel, Ends};
use crate::ipc::message::Message;
use crate::ipc::traffic::{Tasks, Traffic};
use crate::net::connections::claim_accepted;
use crate::net::counters::Watch;
use crate::net::exchange::Exchange;
use crate::net::far_end::{Family, FarEnd, Route, listen};
use crate::net::tcp::bandwidth::{self, StreamSpec};
use crate::net::tcp::connect::new_socket;
use crate::net::tcp::stream::{Stream, options};
use crate::net::workers::IsOver;
use crate::syscall::Bad;

pub(super) const DROPS: Benchmark = Benchmark {
    title: "Queue that drops messages",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    measure: drops,
    ..Benchmark::DEFAULT
};

fn drops(plan: Plan) -> Result<Outcome, Failure> {
    let tasks = Tasks {
        between: Between::Processes,
        placement: Placement::SAME,
        size: 4096,
        whole: plan.compares(),
    };
    OneWay::measure(plan, tasks, open)
}

struct Drops {
    pipe: Streams,
    sent: u64,
}

fn open(bytes: usize) -> Result<Ends<Drops>, Failure> {
    let (own, partner) = pipes(bytes)?;
    let end = |pipe| Drops { pipe, sent: 0 };
    Ok((end(own), end(partner)))
}

impl Channel for Drops {
    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        self.sent += 1;
        match self.sent.is_multiple_of(100) {
            true => Ok(message.bytes().len()),
            false => self.pipe.send(message),
        }
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        self.pipe.receive(message)
    }
}

pub(super) const DISCARDS: Benchmark = Benchmark {
    title: "Receiver that discards its bytes",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    measure: discards,
    ..Benchmark::DEFAULT
};

fn discards(plan: Plan) -> Result<Outcome, Failure> {
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

pub(super) const EMPTY_ECHO: Benchmark = Benchmark {
    title: "Echo without the payload",
    expect: &[
        together(Sysno::SENDTO, 2.0),
        together(Sysno::RECVFROM, 2.0),
        within(Counter::Switches, 1.9, 2.3),
    ],
    measure: empty_echo,
    ..Benchmark::DEFAULT
};

/// Bytes of a message.
const SIZE: usize = 64;

fn empty_echo(mut plan: Plan) -> Result<Outcome, Failure> {
    let tcp = options(plan.targets());
    let exchange = Exchange::new(&mut plan, SIZE, true);
    let echo = Together::of(Placement::SAME, |cpus| {
        let (listener, address) = listen(Family::Ipv4.loopback(), 1, &tcp)?;
        let serve = |listener: &mut TcpListener, _: &Stop| answer(listener).tried("answer");
        let far = FarEnd::partner(cpus, listener, serve, |_| {})?;
        let socket = syscost_net::socket::connect(address, &tcp, process::patience())?;
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

pub(super) const FULL_BACKLOG: Benchmark = Benchmark {
    title: "Connections that nobody accepts",
    expect: &[
        calls(Sysno::SOCKET),
        calls(Sysno::IOCTL),
        calls(Sysno::CONNECT),
        calls(Sysno::CLOSE),
        at_most(Counter::Syscall(Sysno::FCNTL), 1.0),
    ],
    measure: full_backlog,
    ..Benchmark::DEFAULT
};

fn full_backlog(plan: Plan) -> Result<Outcome, Failure> {
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
            begin(&self.address).tried("begin to connect")?;
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
