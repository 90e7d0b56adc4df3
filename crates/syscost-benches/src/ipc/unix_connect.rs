//! Connecting to a partner that waits for connections.
//!
//! ## Measures
//! One connection of a unix stream socket: a socket is made and connected to the partner's, the partner, asleep until then,
//! accepts and closes at once, and the measuring task, which waits for that in a read, closes too. The partner's socket has a `path`,
//! or an `abstract` name, which is in no file system.
//! ## Does not measure
//! Talking (`ipc.round_trip`). Making the listening socket.
//! ## Reading it
//! Two switches are in it on the `same` CPU, and a wake-up of the other CPU twice where there are two. What a path costs more than an
//! abstract name is the walk to it. The queue of the listener never overflows: the next connection is made when the last is closed.
//! ## Source
//! lmbench `lat_unix_connect`.

use std::sync::atomic::{
    AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use std::time::SystemTime;

use rustix::io::{read, retry_on_intr};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    socket_with,
};
use syscost_harness::prelude::*;
use syscost_sys::partner::{Between, Partner, Shared};
use syscost_sys::scratch;

use super::setting::{is_plain, sleeps};
use crate::syscall::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "ipc.unix_connect",
    title: "Connection of a unix socket",
    revision: 2,
    cases: Cases::Here(cases),
    quick: |case| case.get("name") == "path" && is_plain(case),
    expect: &[
        together(Sysno::SOCKET, 1.0),
        together(Sysno::CONNECT, 1.0),
        together(Sysno::ACCEPT4, 1.0),
        together(Sysno::READ, 1.0),
        together(Sysno::CLOSE, 2.0),
        // A debug build asks before it closes whether the descriptor is open.
        at_most(Counter::Syscall(Sysno::FCNTL), 2.1),
    ],
    run,
    source: include_str!("unix_connect.rs"),
    ..Benchmark::DEFAULT
};

fn cases() -> Vec<Case> {
    let case = |name: &str, placement: &Placement| {
        Case::new([
            ("name", name.to_owned()),
            ("between", Between::Processes.name().to_owned()),
            (Placement::KEY, placement.name().to_owned()),
        ])
    };
    let here = Placement::here();
    let with_path = here.iter().map(|placement| case("path", placement));
    with_path.chain([case("abstract", &here[0])]).collect()
}

/// What both tasks count in shared memory.
#[derive(Default)]
struct Counts {
    connected: AtomicU64,
    accepted: AtomicU64,
    over: AtomicBool,
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let is_abstract = b.case().get("name") == "abstract";
    let placement = Placement::of(b.case())?;
    b.expect(within(Counter::Switches, sleeps(placement), 2.1));
    let counts = Shared::new(Counts::default());
    let counts = counts.map_err(|error| Failure::of("share memory", error))?;
    b.together(placement, |cpus| {
        connections(is_abstract, cpus, counts.clone())
    })?;
    let connected = counts.connected.load(Acquire) as f64;
    let accepted = counts.accepted.load(Acquire) as f64;
    let holds = connected > 0.0 && accepted == connected;
    b.claim(
        "accepted per connection made",
        1.0,
        accepted / connected,
        "both sides",
        holds,
    );
    Ok(())
}

/// A name that no other socket has, not even one of another container with the same network and the same ids of processes.
fn abstract_name() -> String {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let call = CALLS.fetch_add(1, Relaxed);
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("syscost-{}-{call}-{}", std::process::id(), since.as_nanos())
}

fn connections<'t>(
    is_abstract: bool,
    cpus: &[u32],
    counts: Shared<Counts>,
) -> Result<Team<'t>, Failure> {
    let failed = |error: Bad| Failure::of("connect a unix socket", error);
    // An abstract name needs no folder, and goes with its socket.
    let file = match is_abstract {
        true => None,
        false => {
            Some(scratch::file("socket").map_err(|error| Failure::of("name a socket", error))?)
        }
    };
    let address = match &file {
        Some(file) => SocketAddrUnix::new(file.path()),
        None => SocketAddrUnix::new_abstract_name(abstract_name().as_bytes()),
    };
    let address = address.map_err(|error| Failure::of("name a socket", error))?;
    let listener = new_socket().map_err(failed)?;
    bind(&listener, &address).map_err(|error| failed(error.into()))?;
    listen(&listener, 1).map_err(|error| failed(error.into()))?;

    counts.connected.store(0, Release);
    counts.accepted.store(0, Release);
    counts.over.store(false, Release);
    let theirs = counts.clone();
    let partner = Partner::start(Between::Processes, cpus, move || -> Result<(), Bad> {
        let mut accepted = 0;
        loop {
            let one = retry_on_intr(|| accept_with(&listener, SocketFlags::CLOEXEC))?;
            if theirs.over.load(Acquire) {
                theirs.accepted.store(accepted, Release);
                return Ok(());
            }
            drop(one);
            accepted += 1;
        }
    })?;
    let last = address.clone();
    let ended = counts.clone();
    let mut connected = 0;
    Ok(Team::new(
        vec![partner],
        move |turns| {
            let _named = &file;
            for _ in 0..turns {
                connect_once(&address).map_err(failed)?;
                connected += 1;
            }
            counts.connected.store(connected, Release);
            Ok(())
        },
        move || {
            ended.over.store(true, Release);
            connect_once(&last).map_err(failed)
        },
    ))
}

/// From the socket's making to its end, after the partner has closed the other one.
fn connect_once(address: &SocketAddrUnix) -> Result<(), Bad> {
    let socket = new_socket()?;
    connect(&socket, address)?;
    let mut nothing = [0_u8];
    must(retry_on_intr(|| read(&socket, &mut nothing))? == 0)
}

fn new_socket() -> Result<std::os::fd::OwnedFd, Bad> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    Ok(socket_with(family, kind, SocketFlags::CLOEXEC, None)?)
}
