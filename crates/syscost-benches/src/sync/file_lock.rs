//! Locking a file: fcntl, open file description locks, and flock.
//!
//! ## Measures
//! `free`: taking an uncontended exclusive lock of a whole file and releasing it, two system calls.
//! `contended`: two processes take the locks of three files in turn, each taking the next before it
//! releases the last, so that the first to come sleeps until the other hands over. One operation is
//! a step of both: two locks, two unlocks, two switches. The detail `hand_over_ns` is half of it.
//!
//! `fcntl` is F_SETLKW, whose lock belongs to the process; `ofd` is F_OFD_SETLKW, whose lock
//! belongs to the open file; `flock` is the call of that name. The files lie in the directory for
//! temporary files and are already unlinked.
//! ## Does not measure
//! Locks of a network file system, which involve its server; many locks of one file, which the
//! kernel searches one by one.
//! ## Interpretation
//! Compare `contended` with a round trip of `switch.pipe` on the same CPUs: both are two sleeps and
//! two wake-ups. The fcntl lock looks for deadlocks whenever it would sleep, under a machine-wide
//! lock.
//! ## Source
//! lmbench `lat_fcntl`.

use std::os::fd::{AsRawFd, OwnedFd};

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
    revision: 3,
    cases: Cases::Here(cases),
    full: |case| case.get("state") != "free" && case.get("via") != "fcntl",
    run,
    source: include_str!("file_lock.rs"),
    ..Benchmark::DEFAULT
};

fn cases(_: &Here) -> Vec<Case> {
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
    let via = Via::of(b.case())?;
    match b.case().get("state") {
        "contended" => {
            let between =
                Value::parse(b.case().get("between")).ok_or_else(|| b.case().unknown("between"))?;
            // A turn begins by releasing a lock.
            let Named { call, lock, unlock } = Named::of(b.case())?;
            b.expect_argument(call, COMMAND, Given::InTurn(unlock, lock));
            hand_over::measure(b, between, || Locks::make(via))
        }
        "free" => measure_free(b, via, Locks::make(via)?.first()),
        _ => Err(b.case().unknown("state")),
    }
}

const DESCRIPTOR: Argument = Argument {
    position: 0,
    name: "descriptor",
};
const COMMAND: Argument = Argument {
    position: 1,
    name: "command",
};

/// The call that locks and unlocks and its commands, by a row's name. Read here separately: the
/// lock that is taken is chosen from the same name elsewhere, and two of the kinds differ only in
/// this.
struct Named {
    call: Sysno,
    lock: u64,
    unlock: u64,
}

impl Named {
    fn of(case: &Case) -> Result<Self, Failure> {
        let (call, [lock, unlock]) = match case.get("via") {
            "fcntl" => (Sysno::FCNTL, [libc::F_SETLKW, libc::F_SETLK]),
            "ofd" => (Sysno::FCNTL, [libc::F_OFD_SETLKW, libc::F_OFD_SETLK]),
            "flock" => (Sysno::FLOCK, [libc::LOCK_EX, libc::LOCK_UN]),
            _ => return Err(case.unknown("via")),
        };
        Ok(Self {
            call,
            lock: lock as u64,
            unlock: unlock as u64,
        })
    }
}

/// Measures the uncontended lock of a file that is opened twice.
pub(crate) fn measure_free(
    b: &mut Bencher,
    via: Via,
    [own, other]: &[OwnedFd; 2],
) -> Result<(), Failure> {
    let Named { call, lock, unlock } = Named::of(b.case())?;
    b.expect(exactly(Counter::Syscall(call), 2.0));
    let descriptor = own.as_raw_fd() as u64;
    b.expect_argument(call, DESCRIPTOR, Given::Always(descriptor));
    b.expect_argument(call, COMMAND, Given::InTurn(lock, unlock));
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

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;
    use syscost_sys::audit;

    use super::*;
    use crate::testing::{claims, found_of};

    /// Whether the commands of a lock that is handed over are refuted under this name; `None` where
    /// it cannot be measured.
    fn is_refuted(named: &'static str, via: Via) -> Option<bool> {
        let case = Case::new([("via", named), (Placement::KEY, "same")]);
        let expect = [switches(2.0), together(via.call(), 4.0)];
        let found = found_of(&case, Pass::Evidence, &expect, |b| {
            let Named { call, lock, unlock } = Named::of(b.case())?;
            b.expect_argument(call, COMMAND, Given::InTurn(unlock, lock));
            hand_over::measure(b, Between::Processes, || Locks::make(via))
        });
        let found = found?;
        let refuted = claims(&found, Verdict::Refuted);
        Some(refuted.iter().any(|claim| claim.contains("command")))
    }

    #[test]
    fn a_lock_handed_over_is_of_the_kind_that_its_name_says() {
        if let Err(reason) = audit::available() {
            return println!("skipped: {reason}");
        }
        for via in Via::ALL {
            for named in Via::ALL {
                let Some(is_refuted) = is_refuted(named.name(), via) else {
                    return;
                };
                assert_eq!(is_refuted, named != via, "{via:?} as {named:?}");
            }
        }
    }
}
