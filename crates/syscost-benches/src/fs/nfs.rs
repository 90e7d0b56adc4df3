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
mod step;

use std::net::SocketAddr;

use syscost_harness::prelude::*;
use syscost_net::nfs::Export;

use call::Call;
use step::Step;

use super::SIZE;
use crate::net::setting::positive;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.nfs",
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
    cases: Cases::Here(cases),
    support,
    run,
    source: include_str!("nfs.rs"),
    ..Benchmark::DEFAULT
};

/// Bytes of a READ, up to the maximum that servers usually return.
const SIZES: [usize; 3] = [4 << 10, 64 << 10, 1 << 20];

fn cases(_: &Here) -> Vec<Case> {
    let plain = Step::ALL.into_iter().filter(|step| *step != Step::Read);
    let plain = plain.map(|step| Case::new([(Step::KEY, step.name())]));
    let reads = SIZES.map(|size| {
        let parameters = [
            (Step::KEY, Step::Read.name().to_owned()),
            (SIZE, size_name(size)),
        ];
        Case::new(parameters)
    });
    plain.chain(reads).collect()
}

fn support(case: &Case, here: &Here) -> Result<(), Unsupported> {
    let server = server(here.targets.nfs()?)?;
    match Step::of(case) {
        Ok(Step::Icmp) => echo::support(server.ip()),
        Ok(_) => Ok(()),
        Err(failure) => Err(Unsupported::new(failure.to_string())),
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

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let export = b.targets().nfs()?;
    let server = server(&export)?;
    let call = match Step::of(b.case())? {
        Step::Icmp => return echo::measure(b, server.ip()),
        Step::Connect => return connect::measure(b, server),
        Step::Null => Call::Null,
        Step::Getattr => Call::Getattr,
        Step::Lookup => Call::Lookup,
        Step::Read => Call::Read {
            bytes: positive(b.case(), SIZE)? as u32,
        },
    };
    caller::measure(b, &export, call)
}
