//! One call in one child, timed there.
#![allow(unsafe_code)] // the calls themselves

use std::ffi::c_int;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use rustix::io::{Errno, read, write};
use rustix::pipe::pipe;
use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::process::proc_of;
use syscost_sys::raw::{syscall1, syscall2};

use super::kind::Kind;
use crate::task::child::{Child, clone3, close, fork};

/// The system call that makes or joins the namespace.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Unshare,
    Setns,
}

impl Call {
    pub(super) fn number(self) -> Sysno {
        match self {
            Call::Unshare => Sysno::UNSHARE,
            Call::Setns => Sysno::SETNS,
        }
    }
}

/// A call that can be repeated with the same arguments.
pub(super) struct Trial {
    kind: Kind,
    /// That of the kind.
    flag: c_int,
    /// Whether the child first enters a user namespace.
    pub(super) is_within_user: bool,
    /// For setns: the process whose namespace is entered.
    holder: Option<Holder>,
    answers: OwnedFd,
    answer: OwnedFd,
}

/// Bytes of a child's answer: the time, the error number or 0, and whether the namespace is the intended one.
const ANSWER: usize = 24;

/// The outcome of one call.
pub(super) struct Outcome {
    /// The id of the child.
    pub(super) child: i32,
    /// How long the call took, in ns.
    pub(super) ns: f64,
    /// Whether the child is in the namespace afterwards, and was not before.
    pub(super) has_changed: bool,
    error: i32,
}

impl Outcome {
    /// Fails if the call failed.
    pub(super) fn succeeded(&self, call: Call) -> Result<(), Failure> {
        match self.error {
            0 => Ok(()),
            error => Err(Failure::of(
                call.number().name(),
                Errno::from_raw_os_error(error),
            )),
        }
    }
}

impl Trial {
    /// A trial that this process is permitted to make: directly, or from within a user namespace.
    /// Tries it once.
    pub(super) fn possible(kind: Kind, call: Call, clock: &Clock) -> Result<Self, Failure> {
        match Self::tried(kind, call, false, clock) {
            Err(Failure::Unsupported(_)) if kind != Kind::User => {
                Self::tried(kind, call, true, clock)
            }
            other => other,
        }
    }

    fn tried(kind: Kind, call: Call, within: bool, clock: &Clock) -> Result<Self, Failure> {
        let trial = Self::new(kind, call, within)?;
        match trial.run(clock)?.succeeded(call) {
            Ok(()) => Ok(trial),
            Err(failure) => Err(Failure::Unsupported(failure.to_string())),
        }
    }

    fn new(kind: Kind, call: Call, is_within_user: bool) -> Result<Self, Failure> {
        let (answers, answer) = pipe().tried("make a pipe")?;
        let holder = match call {
            Call::Unshare => None,
            Call::Setns => Some(Holder::new(kind, is_within_user)?),
        };
        Ok(Self {
            kind,
            flag: kind.flag(),
            is_within_user,
            holder,
            answers,
            answer,
        })
    }

    /// Forks a child that makes the call.
    pub(super) fn run(&self, clock: &Clock) -> Result<Outcome, Failure> {
        let child = fork(|| self.act(clock))?;
        let id = child.id();
        child.ends_with(0)?;
        let mut answer = [0; ANSWER];
        match read(&self.answers, &mut answer) {
            Ok(ANSWER) => {}
            _ => return Err(Failure::of("reading what the child found", "it is cut")),
        }
        let word = |index: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&answer[8 * index..][..8]);
            u64::from_ne_bytes(word)
        };
        Ok(Outcome {
            child: id,
            ns: f64::from_bits(word(0)),
            error: word(1) as i32,
            has_changed: word(2) == 1,
        })
    }

    /// The child's part. It has a copy of everything, and allocates nothing.
    fn act(&self, clock: &Clock) -> c_int {
        let (mut ns, mut error, mut has_changed) = (0.0, 0, false);
        if self.is_within_user {
            error = self.call(libc::CLONE_NEWUSER);
        }
        if error == 0 {
            let before = self.kind.own();
            (ns, error) = clocked_once(clock, || self.call(self.flag));
            let after = self.kind.own();
            let wanted = self.holder.as_ref().map_or(after, |holder| holder.number);
            has_changed = after != before && after == wanted;
        }
        let mut answer = [0; ANSWER];
        answer[..8].copy_from_slice(&ns.to_bits().to_ne_bytes());
        answer[8..16].copy_from_slice(&(error as u64).to_ne_bytes());
        answer[16..].copy_from_slice(&u64::from(has_changed).to_ne_bytes());
        c_int::from(write(&self.answer, &answer) != Ok(ANSWER))
    }

    /// The call, for this kind of namespace: returns 0, or the error number.
    #[inline(always)]
    fn call(&self, flag: c_int) -> c_int {
        // SAFETY, of both: they change the namespaces of the calling child, and no memory.
        let answer = match &self.holder {
            // SAFETY: see above.
            None => unsafe { syscall1(Sysno::UNSHARE, flag as usize) },
            Some(holder) => {
                let file = match flag == self.flag {
                    true => &holder.wanted,
                    false => &holder.user,
                };
                let fd = file.as_raw_fd() as usize;
                // SAFETY: see above.
                unsafe { syscall2(Sysno::SETNS, fd, flag as usize) }
            }
        };
        (-answer) as c_int
    }
}

/// A process that stays in a namespace, so that others can enter it. It ends when this process does.
struct Holder {
    _process: Child,
    _life: OwnedFd,
    wanted: File,
    user: File,
    number: u64,
}

impl Holder {
    fn new(kind: Kind, is_within_user: bool) -> Result<Self, Failure> {
        let (end, life) = pipe().tried("make a pipe")?;
        let flags = match is_within_user {
            true => kind.flag() | libc::CLONE_NEWUSER,
            false => kind.flag(),
        };
        let process = clone3(flags as u64, || {
            // The pipe ends with this process's parent, the only one that then holds the other end.
            close(life.as_raw_fd());
            while read(&end, &mut [0; 1]) == Err(Errno::INTR) {}
            0
        });
        let process = process.map_err(|cause| match cause {
            Failure::Failed(what) => Failure::Unsupported(what),
            other => other,
        })?;
        let folder = proc_of(process.id().cast_unsigned())?;
        let open = |kind: &str| {
            let path = format!("{folder}/ns/{kind}");
            File::open(&path).map_err(|cause| Failure::Unsupported(format!("open {path}: {cause}")))
        };
        let (wanted, user) = (open(kind.name())?, open(Kind::User.name())?);
        let number = wanted.metadata().tried("look at a namespace")?.ino();
        Ok(Self {
            wanted,
            user,
            number,
            _process: process,
            _life: life,
        })
    }
}
