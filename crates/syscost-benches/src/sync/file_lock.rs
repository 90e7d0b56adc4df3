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
#![allow(unsafe_code)] // raw system calls

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall3;
use syscost_sys::scratch;

use super::hand_over::{self, Chain, LINKS, Side};
use super::{State, TAKERS, claim, incomplete};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "File lock: lock, unlock, hand over",
    tags: "flock, fcntl, record lock, open file description lock, lock contention, lat_fcntl",
    revision: 3,
    ..Benchmark::of::<FileLock>()
};

#[derive(Params, Clone)]
struct FileLock {
    via: Via,
    state: State,
    between: Option<Between>,
    cpus: Option<Placement>,
}

impl Measured for FileLock {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let of_state = |state| match state {
            State::Free => (None, vec![None]),
            State::Contended => (
                Some(Between::Processes),
                hand_over::placements(here).map(Some).collect(),
            ),
        };
        rows!(FileLock {
            via: Via::ALL,
            state: State::ALL,
            between: [of_state(state).0],
            cpus: of_state(state).1
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.state, self.via) {
            (State::Free, _) | (State::Contended, Via::Fcntl) => Profile::Standard,
            (State::Contended, Via::Ofd | Via::Flock) => Profile::Full,
        }
    }

    fn proofs(&self) -> FileLockProofs<Proof> {
        FileLockProofs {
            via: match self.state {
                State::Free => proof_of_free(self.via),
                State::Contended => proof_of_hand_over(self.via),
            },
            state: Proof::counted(match self.state {
                State::Free => vec![],
                State::Contended => vec![switches(2.0)],
            })
            .and(match self.state {
                State::Free => Proof::default(),
                State::Contended => TAKERS.expects(2_u64),
            }),
            between: Proof::by_tasks(),
            cpus: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let via = self.via;
        match (self.state, self.between.zip(self.cpus)) {
            (State::Free, _) => measure_free(plan, via, Locks::make(via)?.first()),
            (State::Contended, Some((between, cpus))) => {
                hand_over::measure(plan, between, cpus, || Locks::make(via))
            }
            (State::Contended, None) => Err(incomplete()),
        }
    }
}

const DESCRIPTOR: Argument = Argument::at(0, "descriptor");
const COMMAND: Argument = Argument::at(1, "command");

/// The call that locks and unlocks and its commands, as a row names them. Stated here separately: the
/// lock that is taken is chosen by the same parameter elsewhere, and two of the kinds differ only in
/// this.
struct Named {
    call: Sysno,
    lock: u64,
    unlock: u64,
}

impl Named {
    fn of(via: Via) -> Self {
        let (call, [lock, unlock]) = match via {
            Via::Fcntl => (Sysno::FCNTL, [libc::F_SETLKW, libc::F_SETLK]),
            Via::Ofd => (Sysno::FCNTL, [libc::F_OFD_SETLKW, libc::F_OFD_SETLK]),
            Via::Flock => (Sysno::FLOCK, [libc::LOCK_EX, libc::LOCK_UN]),
        };
        Self {
            call,
            lock: lock as u64,
            unlock: unlock as u64,
        }
    }
}

/// What proves the kind of a lock that is taken and released, by the calls and their commands.
pub(crate) fn proof_of_free(via: Via) -> Proof {
    let Named { call, lock, unlock } = Named::of(via);
    let in_turn = ArgumentValue::InTurn(lock, unlock);
    Proof::counted([exactly(Counter::Syscall(call), 2.0)])
        .and(Proof::argument(call, COMMAND, in_turn))
}

/// What proves the kind of a lock that is handed over: an iteration begins by releasing one.
fn proof_of_hand_over(via: Via) -> Proof {
    let Named { call, lock, unlock } = Named::of(via);
    let in_turn = ArgumentValue::InTurn(unlock, lock);
    Proof::counted([together(call, 4.0)]).and(Proof::argument(call, COMMAND, in_turn))
}

/// Measures the uncontended lock of a file that is opened twice.
pub(crate) fn measure_free<'p>(
    mut plan: Plan<'p>,
    via: Via,
    [own, other]: &[OwnedFd; 2],
) -> Result<Outcome<'p>, Failure> {
    let descriptor = own.as_raw_fd() as u64;
    plan.expect_argument(via.call(), DESCRIPTOR, ArgumentValue::Always(descriptor));
    let failed = |error| Failure::of("lock a file", error);
    via.lock(own).map_err(failed)?;
    let refused = !via.is_free(other).map_err(failed)?;
    claim(
        &mut plan,
        "another that wants to share it while it is held",
        "refused",
        refused,
    );
    via.unlock(own).map_err(failed)?;
    let let_in = via.is_free(other).map_err(failed)?;
    claim(
        &mut plan,
        "another that wants to share it once it is free",
        "let in",
        let_in,
    );
    plan.measure(Loop::each(|| {
        via.lock(own)?;
        via.unlock(own)
    }))
}

/// The kind of lock.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    Fcntl,
    Ofd,
    Flock,
}

impl Via {
    const fn call(self) -> Sysno {
        match self {
            Via::Fcntl | Via::Ofd => Sysno::FCNTL,
            Via::Flock => Sysno::FLOCK,
        }
    }

    /// Locks a file, sleeping while another holds it.
    fn lock(self, file: &OwnedFd) -> Result<(), Errno> {
        match self {
            Via::Fcntl => set(file, libc::F_SETLKW, libc::F_WRLCK),
            Via::Ofd => set(file, libc::F_OFD_SETLKW, libc::F_WRLCK),
            Via::Flock => flock(file, FlockOperation::LockExclusive),
        }
    }

    fn unlock(self, file: &OwnedFd) -> Result<(), Errno> {
        match self {
            Via::Fcntl => set(file, libc::F_SETLK, libc::F_UNLCK),
            Via::Ofd => set(file, libc::F_OFD_SETLK, libc::F_UNLCK),
            Via::Flock => flock(file, FlockOperation::Unlock),
        }
    }

    /// Whether a file could be locked now; it is not locked afterwards. This tries a shared lock,
    /// which only an exclusive lock refuses, and instead of fcntl's an open file description's,
    /// since a process does not exclude itself.
    fn is_free(self, file: &OwnedFd) -> Result<bool, Errno> {
        let (tried, back) = match self {
            Via::Fcntl | Via::Ofd => (set(file, libc::F_OFD_SETLK, libc::F_RDLCK), Via::Ofd),
            Via::Flock => (
                flock(file, FlockOperation::NonBlockingLockShared),
                Via::Flock,
            ),
        };
        match tried {
            Ok(()) => back.unlock(file).map(|()| true),
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[inline(always)]
fn set(file: &OwnedFd, command: libc::c_int, kind: libc::c_int) -> Result<(), Errno> {
    let whole = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: the structure is the one that these commands read, and outlives the call.
    let answer = unsafe {
        syscall3(
            Sysno::FCNTL,
            file.as_raw_fd() as usize,
            command as usize,
            (&raw const whole).expose_provenance(),
        )
    };
    match answer {
        0 => Ok(()),
        error => Err(Errno::from_raw_os_error(-error as i32)),
    }
}

/// Three files, each opened twice: once for each side.
struct Locks {
    via: Via,
    files: [[OwnedFd; 2]; LINKS],
}

impl Locks {
    fn make(via: Via) -> Result<Self, Failure> {
        let open = || open_twice(scratch::file("lock")?.path());
        let files = [open()?, open()?, open()?];
        Ok(Self { via, files })
    }

    /// The first file, opened by each side.
    fn first(&self) -> &[OwnedFd; 2] {
        &self.files[0]
    }
}

/// A new file, opened twice.
fn open_twice(path: &Path) -> Result<[OwnedFd; 2], Failure> {
    let failed = |error| Failure::of(&format!("make {}", path.display()), error);
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let first: File = options.create(true).open(path).map_err(failed)?;
    let second: File = options.create(false).open(path).map_err(failed)?;
    Ok([first.into(), second.into()])
}

impl Chain for Locks {
    type Error = Errno;

    fn lock(&self, side: Side, link: usize) -> Result<(), Errno> {
        self.via.lock(&self.files[link][side as usize])
    }

    fn unlock(&self, side: Side, link: usize) -> Result<(), Errno> {
        self.via.unlock(&self.files[link][side as usize])
    }
}

#[cfg(test)]
mod tests {
    use syscost_sys::audit;

    use super::*;
    use crate::testing::{claims, found_by};

    /// Whether the commands of a lock that is handed over are refuted under this name, or why
    /// it cannot be measured.
    fn is_refuted(named: Via, via: Via) -> Result<bool, String> {
        let row = FileLock {
            via,
            state: State::Contended,
            between: Some(Between::Processes),
            cpus: Some(Placement::SAME),
        };
        let is_named = |case: &&Case| {
            let named_so = |row: &FileLock| row.via == named && row.cpus == Some(Placement::SAME);
            case.row().is_some_and(named_so)
        };
        let cases = (BENCHMARK.cases)(&Testbed::plain());
        let named = cases.iter().find(is_named).expect("listed");
        let found = found_by(named, Pass::Evidence, BENCHMARK.expect, |plan| {
            row.measure(plan)
        })?;
        let refuted = claims(&found, Verdict::Refuted);
        Ok(refuted.iter().any(|claim| claim.contains("command")))
    }

    #[test]
    fn a_lock_handed_over_is_of_the_kind_that_its_name_says() {
        or_skip!(audit::available());
        for via in Via::ALL {
            for named in Via::ALL {
                let is_refuted = or_skip!(is_refuted(named, via));
                assert_eq!(is_refuted, named != via, "{via:?} as {named:?}");
            }
        }
    }
}
