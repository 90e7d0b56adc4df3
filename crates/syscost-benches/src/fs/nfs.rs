//! The ladder to a file on an NFS server, without a mount: from the reply of its kernel to a READ.
//!
//! ## Measures
//! Round trips to the server that `syscost run --nfs nfs://HOST/EXPORT` names, each of which asks
//! more of it than the one before. `op=icmp`: its kernel answers an echo of 64 bytes.
//! `op=connect`: a socket is created and connected to the port of NFS. Then, over one connection
//! with TCP_NODELAY, calls of NFS version 3 (RFC 1813) by a client in this program: `op=null` is
//! the procedure that does nothing, `getattr` the attributes of a file, `lookup` a name in a
//! folder, and `read` this many bytes (`size`) of a file of 1 MiB, its blocks one after another,
//! cyclically. Each call is sent when the last one has been answered. The
//! value is the median of batches; each call is also timed individually. The file is in a folder
//! that is created in the export for each row and removed again.
//! ## Does not measure
//! The kernel's NFS client: it caches, reads ahead and keeps several calls in flight; give its mount
//! as `--dir`. The server's disk: what has just been written is in its memory. Name lookup, and
//! asking the port mapper and the mount service.
//! ## Interpretation
//! Each step less the one before is the cost of a layer: `connect` less `icmp` is TCP's handshake,
//! `null` less `icmp` waking the server's program and RPC, `getattr` less `null` its file system,
//! `read` its data and the path's bandwidth. The client is part of every call: encoding it, and of
//! a READ receiving its bytes into one buffer and copying them into another. No step takes long at
//! the server, so their common part is the network. `connect` closes each connection and waits
//! for the server to close it before the next; that is not in its time, but leaves ports in
//! TIME_WAIT, and a process makes no more connections than half of the free ports.
//! ## Source
//! nfsometer; nfsping; lmbench `lat_rpc`.

mod caller;
mod connect;

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use syscost_harness::prelude::*;
use syscost_net::nfs::Export;
use syscost_sys::files::stamp;

use crate::net::exchange::{Exchange, LOST_AFTER};
use crate::net::far_end::Family;
use crate::net::icmp::ping::{self, HEAD, Pinger};
use crate::witness::files::MOVED;

pub(super) use caller::Call;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "NFS server round trip",
    tags: "network file system, remote procedure call, rpc, getattr, lookup, lat_rpc, nfsping, \
        nfsometer",
    roles: roles!(_ => Role::NfsServer),
    ..Benchmark::of::<Nfs>()
};

/// Bytes of a READ, up to the maximum that servers usually return.
pub(super) const SIZES: [Bytes; 3] = [Bytes::kib(4), Bytes::kib(64), Bytes::mib(1)];

/// Content of an echo, in bytes.
const ECHO_BYTES: usize = 64;

/// What is asked of the server, one step up the ladder from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Icmp,
    Connect,
    Call(Call),
}

impl Step {
    const ALL: [Step; 6] = [
        Step::Icmp,
        Step::Connect,
        Step::Call(Call::Null),
        Step::Call(Call::Getattr),
        Step::Call(Call::Lookup),
        Step::Call(Call::Read),
    ];
}

impl Value for Step {
    const MEANING: &'static str = "The operation, one step up the ladder from the one before.";

    fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Step::Icmp => "icmp",
            Step::Connect => "connect",
            Step::Call(call) => call.name(),
        })
    }

    fn read(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.text() == text)
    }
}

/// Compares what was read from `offset` with what was written there: all of it, or only its ends.
pub(super) fn check(bytes: &[u8], offset: u64, seed: u64, is_whole: bool) -> Result<(), Failure> {
    if is_whole {
        return Ok(stamp::check(bytes, offset, seed)?);
    }
    let last = bytes.len() - stamp::BYTES;
    stamp::check(&bytes[..stamp::BYTES], offset, seed)?;
    Ok(stamp::check(&bytes[last..], offset + last as u64, seed)?)
}

#[derive(Params, Clone)]
pub(super) struct Nfs {
    pub(super) op: Step,
    /// Bytes of a read.
    pub(super) size: Option<Bytes>,
}

impl Measured for Nfs {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let sizes = |op| match op {
            Step::Call(Call::Read) => SIZES.map(Some).to_vec(),
            Step::Icmp | Step::Connect | Step::Call(Call::Null | Call::Getattr | Call::Lookup) => {
                vec![None]
            }
        };
        rows!(Nfs {
            op: Step::ALL,
            size: sizes(op)
        })
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
        let server = server(here.targets.nfs()?)?;
        match self.op {
            Step::Icmp => ping::support(Family::of_address(server.ip())),
            Step::Connect | Step::Call(_) => Ok(()),
        }
    }

    fn proofs(&self) -> NfsProofs<Proof> {
        let op = match self.op {
            Step::Icmp => Proof::counted([calls(Sysno::SENDTO), calls(Sysno::RECVFROM)]),
            Step::Connect => Proof::counted([calls(Sysno::SOCKET), calls(Sysno::CONNECT)]),
            Step::Call(call) => caller::proof(call),
        };
        let size = self.size.map(|size| MOVED.expects(size.0));
        NfsProofs {
            op,
            size: size.unwrap_or_default(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let export = plan.targets().nfs()?;
        let server = server(export)?;
        match self.op {
            Step::Icmp => measure_echo(plan, server.ip()),
            Step::Connect => connect::measure(plan, server),
            Step::Call(call) => {
                let bytes = self.size.map_or(0, Bytes::get);
                caller::measure(plan, export, call, bytes as u32)
            }
        }
    }
}

fn server(export: &Export) -> Result<SocketAddr, Unsupported> {
    let addresses = export.addresses();
    let (server, _) = addresses.ok_or_else(|| {
        Unsupported::new(format!("{export} was not looked up: it has no address"))
    })?;
    Ok(server)
}

fn measure_echo(mut plan: Plan, server: IpAddr) -> Result<Outcome, Failure> {
    // None where the reply comes from this kernel, two where packets of other programs wake a raw socket.
    plan.expect(at_most(Counter::Switches, 2.3));
    let bytes = ArgumentValue::Always((HEAD + ECHO_BYTES) as u64);
    plan.expect_argument(Sysno::SENDTO, Argument::at(2, "length"), bytes);
    let exchange = Exchange::new(&mut plan, ECHO_BYTES, false);
    let (mut outcome, pinger) = plan
        .measure(Together::of(Placement::SAME, |_| {
            let (pinger, way) = Pinger::open(server, ECHO_BYTES, Some(LOST_AFTER))?;
            Ok(Team::new(Vec::new(), exchange.over(pinger, way)))
        }))?
        .split();
    pinger.claim_deliveries(&mut outcome);
    pinger.claim_interface(&mut outcome);
    // No account of the server shows that it is this one.
    let claim = "address of the far end";
    let (named, source) = (server.to_string(), "getpeername");
    match pinger.link.asked() {
        Some(is) => outcome.claim_equal(claim, named, is.to_string(), source),
        None => outcome.claim_unobserved(claim, named, source, "the kernel does not say"),
    }
    pinger
        .link
        .claim(&mut outcome, pinger.tally.answered, false);
    Ok(outcome)
}
