//! Locking a file: fcntl, open file description locks, and flock.
//!
//! ## Measures
//! `free`: taking an exclusive lock of a whole file and giving it back, two system calls, nobody else wanting it. `contended`: two
//! processes take the locks of three files in turn, each taking the next before it gives the last away, so that whoever comes
//! first sleeps until the other hands over. One operation is a step of both: two locks, two unlocks, two switches. The
//! detail `hand_over_ns` is half of it.
//!
//! `fcntl` is F_SETLKW, whose lock belongs to the process; `ofd` is F_OFD_SETLKW, whose lock belongs to the open file; `flock` is
//! the call of that name. The files lie in the folder for temporary files and have no name any more.
//! ## Does not measure
//! Locks of a network file system, which ask its server; many locks of one file, which the kernel searches one by one.
//! ## Reading it
//! Compare `contended` with a round trip of `switch.pipe` on the same CPUs: both are two sleeps and two wake-ups.
//! The fcntl lock looks for deadlocks whenever it would sleep, under a lock of the whole machine.
//! ## Source
//! lmbench `lat_fcntl`.

use std::os::fd::OwnedFd;

use syscost_harness::prelude::*;
use syscost_sys::partner::Between;

use self::locks::{Locks, Via};
use super::{claim, hand_over};

pub(super) mod locks;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "sync.file_lock",
    title: "File lock: lock, unlock, hand over",
    tags: &[
        "flock",
        "fcntl",
        "record lock",
        "open file description lock",
        "lock contention",
        "lat_fcntl",
    ],
    revision: 2,
    cases: Cases::Here(cases),
    run,
    source: include_str!("file_lock.rs"),
    ..Benchmark::DEFAULT
};

fn cases() -> Vec<Case> {
    Via::ALL
        .into_iter()
        .flat_map(|via| {
            let free = Case::new([("via", via.name()), ("state", "free")]);
            let contended = hand_over::placements().map(move |placement| {
                let (between, cpus) = (Between::Processes.name(), placement.name());
                Case::new([
                    ("via", via.name()),
                    ("state", "contended"),
                    ("between", between),
                    (Placement::KEY, cpus),
                ])
                .expecting([switches(2.0), together(via.call(), 4.0)])
            });
            [free].into_iter().chain(contended)
        })
        .collect()
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let via = Via::from_name(b.case().get("via"))?;
    match b.case().get("state") {
        "contended" => {
            let between = Between::from_name(b.case().get("between"))
                .ok_or_else(|| b.case().unknown("between"))?;
            hand_over::measure(b, between, || Locks::make(via))
        }
        "free" => measure_free(b, via, Locks::make(via)?.first()),
        state => Err(Failure::Broken(format!("knows no state={state}"))),
    }
}

/// Measures the lock of a file, opened twice, that nobody else wants.
pub(crate) fn measure_free(
    b: &mut Bencher,
    via: Via,
    [own, other]: &[OwnedFd; 2],
) -> Result<(), Failure> {
    b.expect(exactly(Counter::Syscall(via.call()), 2.0));
    for (position, name, given) in via.arguments(own) {
        b.expect_argument(via.call(), Argument { position, name }, given);
    }
    let failed = |error| Failure::of("lock a file", error);
    via.lock(own).map_err(failed)?;
    let refused = !via.is_free(other).map_err(failed)?;
    claim(
        b,
        "another that wants to share it while it is held",
        "refused",
        refused,
    );
    via.unlock(own).map_err(failed)?;
    let let_in = via.is_free(other).map_err(failed)?;
    claim(
        b,
        "another that wants to share it once it is free",
        "let in",
        let_in,
    );
    b.try_iter(|| {
        via.lock(own)?;
        via.unlock(own)
    })
}
