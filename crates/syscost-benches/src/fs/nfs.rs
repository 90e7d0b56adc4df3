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

mod call;
mod caller;
mod connect;
mod echo;

use std::net::SocketAddr;

use syscost_harness::prelude::*;
use syscost_net::nfs::Export;

use self::call::Call;
use crate::witness::files::MOVED;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "NFS server round trip",
    tags: &[
        "network file system",
        "remote procedure call",
        "rpc",
        "getattr",
        "lookup",
        "lat_rpc",
        "nfsping",
        "nfsometer",
    ],
    ..Benchmark::of::<Row>()
};

/// Bytes of a READ, up to the maximum that servers usually return.
pub(super) const SIZES: [Bytes; 3] = [Bytes::kib(4), Bytes::kib(64), Bytes::mib(1)];

/// The operation, one step up the ladder from the one before.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Icmp,
    Connect,
    Null,
    Getattr,
    Lookup,
    Read,
}

#[derive(Params, Clone)]
pub(super) struct Row {
    pub(super) op: Step,
    /// Bytes of a read.
    pub(super) size: Option<Bytes>,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Here) -> Vec<Case<Self>> {
        let sizes = |op| match op {
            Step::Read => SIZES.map(Some).to_vec(),
            Step::Icmp | Step::Connect | Step::Null | Step::Getattr | Step::Lookup => vec![None],
        };
        rows!(Row {
            op: Step::ALL,
            size: sizes(op)
        })
    }

    fn support(&self, here: &Here) -> Result<(), Unsupported> {
        let server = server(here.targets.nfs()?)?;
        match self.op {
            Step::Icmp => echo::support(server.ip()),
            Step::Connect | Step::Null | Step::Getattr | Step::Lookup | Step::Read => Ok(()),
        }
    }

    fn proofs(&self) -> RowProofs<Proof> {
        let op = match self.op {
            Step::Icmp => Proof::counted([calls(Sysno::SENDTO), calls(Sysno::RECVFROM)]),
            Step::Connect => Proof::counted([calls(Sysno::SOCKET), calls(Sysno::CONNECT)]),
            Step::Null => caller::proof(Call::Null),
            Step::Getattr => caller::proof(Call::Getattr),
            Step::Lookup => caller::proof(Call::Lookup),
            Step::Read => caller::proof(Call::Read { bytes: 0 }),
        };
        let size = self.size.map(|size| MOVED.sees(size.0));
        RowProofs {
            op,
            size: size.unwrap_or_default(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let export = plan.targets().nfs()?;
        let server = server(export)?;
        let call = match (self.op, self.size) {
            (Step::Icmp, _) => return echo::measure(plan, server.ip()),
            (Step::Connect, _) => return connect::measure(plan, server),
            (Step::Null, _) => Call::Null,
            (Step::Getattr, _) => Call::Getattr,
            (Step::Lookup, _) => Call::Lookup,
            (Step::Read, Some(Bytes(bytes))) => Call::Read {
                bytes: bytes as u32,
            },
            (Step::Read, None) => return Err(Failure::Broken("lacks a size".to_owned())),
        };
        caller::measure(plan, export, call)
    }
}

/// The address of an export's server.
fn server(export: &Export) -> Result<SocketAddr, Unsupported> {
    let addresses = export.addresses();
    let (server, _) = addresses.ok_or_else(|| {
        Unsupported::new(format!("{export} was not looked up: it has no address"))
    })?;
    Ok(server)
}
