//! Creating a namespace and entering one.
//!
//! ## Measures
//! One unshare of one kind of namespace, or one setns into a namespace of another process, timed in
//! a new child each, whose end then frees it. For `pid` and `time` the namespace is that of the
//! caller's future children. Without privilege the child first enters a user namespace, untimed, in
//! which it may create the others. The clock's own cost is subtracted.
//! ## Does not measure
//! Freeing a namespace, which the kernel does later and elsewhere: a network takes milliseconds. So
//! only as many are created as there are samples.
//! ## Interpretation
//! `net` builds a network with its own loopback, tables and /proc files, `mnt` copies the existing
//! mounts (`mounts_count`), `ipc` mounts a file system for message queues; the others are small
//! objects. setns only changes pointers, except for `mnt`, which looks up root and working
//! directory anew. Each is the first such call of a young process; a child that had to enter a user
//! namespace before (`user_namespaces_entered_before_count`) has warmed the caches, so compare like
//! with like.
//! ## Source
//! unshare(2), setns(2): the calls that start a container.
#![allow(unsafe_code)] // stat in a child that must not allocate

use std::ffi::{CStr, c_int};
use std::fs::File;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use rustix::io::{Errno, read, write};
use rustix::pipe::pipe;
use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::process::proc_of;
use syscost_sys::raw::{syscall1, syscall2};

use super::ids::{DISTINCT, Ids};
use crate::implied::{Implied, Shares};
use crate::task::child::{Child, clone3, close, fork};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Namespace creation and entry",
    tags: "container, unshare, setns, container startup, isolation",
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::WAIT4),
        calls(Sysno::EXIT_GROUP),
        // The child's calls: looking at its namespaces before and after, reporting, and those of
        // the C library in a fork.
        at_most(Counter::OtherSyscalls, 8.0),
        exactly(Counter::Reported(DISTINCT), 1.0),
        exactly(Counter::Reported(CHANGED), 1.0),
    ],
    ..Benchmark::of::<TaskNamespace>()
};

const CHANGED: &str = "children that were in the namespace afterwards";

static NAMESPACE: Witness = Witness::of("namespace that each child changed", "/proc/self/ns");

#[derive(Params, Clone)]
struct TaskNamespace {
    op: Call,
    kind: Kind,
}

impl Measured for TaskNamespace {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TaskNamespace {
            op: Call::ALL,
            kind: Kind::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.op {
            Call::Setns if self.kind != Kind::Net => Profile::Full,
            Call::Setns | Call::Unshare => Profile::Standard,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        let (call, other) = match self.op {
            Call::Unshare => (Sysno::UNSHARE, Sysno::SETNS),
            Call::Setns => (Sysno::SETNS, Sysno::UNSHARE),
        };
        // Another one where the child first enters a user namespace.
        let calls = either(Counter::Syscall(call), 1.0, 2.0);
        let file = match self.kind {
            Kind::Pid | Kind::Time => format!("{}_for_children", self.kind.name()),
            Kind::User | Kind::Mnt | Kind::Net | Kind::Ipc | Kind::Uts | Kind::Cgroup => {
                self.kind.name().to_owned()
            }
        };
        TaskNamespaceProofs {
            op: Proof::counted([calls, exactly(Counter::Syscall(other), 0.0)]),
            kind: NAMESPACE.expects(file),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let TaskNamespace { op: call, kind } = self;
        kind.exists()?;
        let clock = *plan.clock();
        let trial = RepeatedCall::possible(kind, call, &clock)?;
        let calls = if trial.is_within_user { 2.0 } else { 1.0 };
        plan.expect(exactly(Counter::Syscall(call.number()), calls));
        let (mut ids, mut changed, mut took) = (Ids::default(), 0, Vec::new());
        let mut outcome = plan.measure(Observed::of(|| {
            let tried = trial.run(&clock)?;
            tried.succeeded(call)?;
            ids.note(tried.child);
            changed += u64::from(tried.has_changed);
            took.push(tried.took_ns);
            Ok(tried.ns)
        }))?;
        if outcome.is_timed() {
            let values = outcome.observed().iter().zip(took);
            let implied = values.map(|((value, _), took_ns)| value / took_ns);
            Implied::from_iter(implied).claim(&mut outcome, Shares::INNER);
        }
        outcome.report(DISTINCT, ids.distinct());
        outcome.report(CHANGED, changed as f64);
        outcome.observe(&NAMESPACE, kind.file());
        if trial.is_within_user {
            outcome.detail("user_namespaces_entered_before_count", 1.0);
        }
        if kind == Kind::Mnt {
            let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
            outcome.detail("mounts_count", mounts.lines().count() as f64);
        }
        Ok(outcome)
    }
}

/// CLONE_NEWTIME, for which not every C library has a constant.
const NEW_TIME: c_int = 0x80;

/// The kind of namespace, by its name in /proc/PID/ns.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Mnt,
    Pid,
    Net,
    Ipc,
    Uts,
    Cgroup,
    Time,
}

impl Kind {
    /// Its flag for unshare, setns and clone3, and the file of the caller's own namespace, which unshare
    /// and setns change.
    const fn flag_and_own(self) -> (c_int, &'static CStr) {
        match self {
            Kind::User => (libc::CLONE_NEWUSER, c"/proc/self/ns/user"),
            Kind::Mnt => (libc::CLONE_NEWNS, c"/proc/self/ns/mnt"),
            Kind::Pid => (libc::CLONE_NEWPID, c"/proc/self/ns/pid_for_children"),
            Kind::Net => (libc::CLONE_NEWNET, c"/proc/self/ns/net"),
            Kind::Ipc => (libc::CLONE_NEWIPC, c"/proc/self/ns/ipc"),
            Kind::Uts => (libc::CLONE_NEWUTS, c"/proc/self/ns/uts"),
            Kind::Cgroup => (libc::CLONE_NEWCGROUP, c"/proc/self/ns/cgroup"),
            Kind::Time => (NEW_TIME, c"/proc/self/ns/time_for_children"),
        }
    }

    /// The name of the file by which [`Kind::own`] tells the caller's own namespace.
    fn file(self) -> &'static str {
        let path = self.flag_and_own().1.to_str().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    }

    /// Its flag for unshare, setns and clone3.
    const fn flag(self) -> c_int {
        self.flag_and_own().0
    }

    /// Whether this kernel has such namespaces.
    fn exists(self) -> Result<(), Unsupported> {
        match self.own() {
            0 => Err(Unsupported::new(format!(
                "this kernel has no namespaces of the kind {}",
                self.name()
            ))),
            _ => Ok(()),
        }
    }

    /// The number of the caller's own namespace of this kind; 0 if it has none yet (`pid`, before
    /// the first child in it).
    fn own(self) -> u64 {
        let mut status = MaybeUninit::uninit();
        // SAFETY: a string, and room for what the call writes.
        match unsafe { libc::stat(self.flag_and_own().1.as_ptr(), status.as_mut_ptr()) } {
            // SAFETY: the call has written it.
            0 => unsafe { status.assume_init() }.st_ino,
            _ => 0,
        }
    }
}

/// The system call that makes or joins the namespace.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Unshare,
    Setns,
}

impl Call {
    fn number(self) -> Sysno {
        match self {
            Call::Unshare => Sysno::UNSHARE,
            Call::Setns => Sysno::SETNS,
        }
    }
}

/// A call that can be repeated with the same arguments.
struct RepeatedCall {
    kind: Kind,
    /// That of the kind.
    flag: c_int,
    /// Whether the child first enters a user namespace.
    is_within_user: bool,
    /// For setns: the process whose namespace is entered.
    holder: Option<Holder>,
    answers: OwnedFd,
    answer: OwnedFd,
}

/// Bytes of a child's answer: the time, the same by another clock, the error number or 0, and whether the
/// namespace is the intended one.
const ANSWER: usize = 32;

/// The outcome of one call.
struct Timed {
    child: i32,
    /// How long the call took, in ns.
    ns: f64,
    /// How long it took with its timing, by the system's clock.
    took_ns: f64,
    /// Whether the child is in the namespace afterwards, and was not before.
    has_changed: bool,
    error: i32,
}

impl Timed {
    fn succeeded(&self, call: Call) -> Result<(), Failure> {
        match self.error {
            0 => Ok(()),
            error => Err(Failure::of(
                call.number().name(),
                Errno::from_raw_os_error(error),
            )),
        }
    }
}

impl RepeatedCall {
    /// A trial that this process is permitted to make: directly, or from within a user namespace.
    /// Tries it once.
    fn possible(kind: Kind, call: Call, clock: &Clock) -> Result<Self, Failure> {
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
    fn run(&self, clock: &Clock) -> Result<Timed, Failure> {
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
        Ok(Timed {
            child: id,
            ns: f64::from_bits(word(0)),
            took_ns: f64::from_bits(word(1)),
            error: word(2) as i32,
            has_changed: word(3) == 1,
        })
    }

    /// The child's part. It has a copy of everything, and allocates nothing.
    fn act(&self, clock: &Clock) -> c_int {
        let (mut ns, mut took_ns, mut error, mut has_changed) = (0.0, 0.0, 0, false);
        if self.is_within_user {
            error = self.call(libc::CLONE_NEWUSER);
        }
        if error == 0 {
            let before = self.kind.own();
            let once = OnceTimer::new(clock);
            // First without the call: a child's pages of code are not there until they are used.
            for is_called in black_box([false, true]) {
                let begun = Instant::now();
                (ns, error) = once.time(|| if is_called { self.call(self.flag) } else { 0 });
                took_ns = begun.elapsed().as_nanos() as f64;
            }
            let after = self.kind.own();
            let wanted = self.holder.as_ref().map_or(after, |holder| holder.number);
            has_changed = after != before && after == wanted;
        }
        let mut answer = [0; ANSWER];
        answer[..8].copy_from_slice(&ns.to_bits().to_ne_bytes());
        answer[8..16].copy_from_slice(&took_ns.to_bits().to_ne_bytes());
        answer[16..24].copy_from_slice(&(error as u64).to_ne_bytes());
        answer[24..].copy_from_slice(&u64::from(has_changed).to_ne_bytes());
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

#[cfg(test)]
mod tests {
    use syscost_results::Fact;

    use super::*;
    use crate::testing::found_by;

    #[test]
    fn as_many_calls_are_expected_as_the_child_has_to_make() {
        let rows = rows!(TaskNamespace {
            op: Call::ALL,
            kind: [Kind::Uts]
        });
        for case in rows {
            let (row, case) = (TaskNamespace::clone(&case.row), case.erased());
            let calls = Counter::Syscall(row.op.number()).claim();
            let (pass, expect) = (Pass::Evidence, BENCHMARK.expect);
            let found = match found_by(&case, pass, expect, |plan| row.measure(plan)) {
                Ok(found) => found,
                Err(reason) => {
                    println!("skipped: {calls}: {reason}");
                    continue;
                }
            };
            let within = found
                .details
                .contains_key("user_namespaces_entered_before_count");
            let mut evidence = found.evidence.iter();
            let counted = evidence.find(|one| one.claim.sentence == calls);
            let expected = counted.and_then(|counted| counted.expected.clone());
            let must_be = if within { 2.0 } else { 1.0 };
            assert_eq!(expected, Some(Fact::Number(must_be)), "{calls}");
        }
    }
}
