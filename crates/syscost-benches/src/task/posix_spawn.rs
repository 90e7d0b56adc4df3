//! Creating a process that executes a program by posix_spawn.
//!
//! ## Measures
//! The system calls of glibc's posix_spawn without attributes, one by one, by a lean process as for
//! `task.fork`: mmap of a stack of 36 KiB, rt_sigprocmask that blocks all signals, clone3 with
//! CLONE_VM, CLONE_VFORK and CLONE_CLEAR_SIGHAND, munmap, and rt_sigprocmask that restores the mask.
//! The child asks for its mask, restores it, and executes a tiny static program of syscost's in an
//! empty environment. `until=created`: these calls, the last of which returns when the program has
//! been loaded; it runs only afterwards. `until=reaped`: its run (it writes one byte and exits),
//! wait4, and reading the byte as well.
//! ## Does not measure
//! A search through PATH, a dynamic linker, or a program that does anything. The library's own
//! instructions, which are few. Signals reset one by one: before it used CLONE_CLEAR_SIGHAND (2.36
//! does not), and wherever clone3 is refused, glibc adds 62 to 122 calls of rt_sigaction.
//! ## Interpretation
//! It contains a vfork and an exec: compare with `task.exec`, `via=vfork`. The rest is the child's
//! stack, which costs a mapping and a page fault, and the signals.
//! ## Source
//! posix_spawn(3); lmbench `lat_proc exec`. The calls and their order are those of glibc's source of
//! 2025 and, but for the signals, of a static C program under strace.

use syscost_harness::prelude::*;
use syscost_sys::lean::{Script, ScriptCall};

use super::child::clone3;
use super::ids::DISTINCT;
use super::lean::{self, Iteration, NO_FAULTS, once_and_asked};
use super::marked::Marked;
use super::until::{Creation, TaskCreation, Until};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Process creation: posix_spawn",
    tags: "process spawn, exec, launch a program",
    revision: 2,
    expect: &[
        calls(Sysno::MMAP),
        exactly(Counter::Syscall(Sysno::RT_SIGPROCMASK), 4.0),
        calls(Sysno::CLONE3),
        calls(Sysno::MUNMAP),
        calls(Sysno::EXECVE),
        once_and_asked(Sysno::WRITE),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        once_and_asked(Sysno::READ),
        at_most(Counter::OtherSyscalls, 0.0),
        exactly(Counter::Reported(DISTINCT), 1.0),
        NO_FAULTS,
        at_most(Counter::VoluntarySwitches, 2.5),
    ],
    ..Benchmark::by::<TaskCreation, PosixSpawn>()
};

/// All signals are reset to their defaults in the child (linux/sched.h).
const CLONE_CLEAR_SIGHAND: u64 = 1 << 32;

/// Length of the child's stack, in bytes: what glibc maps for one argument.
const STACK_BYTES: u64 = 36 << 10;

/// Length of a set of signals, in bytes.
const SET_BYTES: u64 = 8;

struct PosixSpawn;

impl Creation for PosixSpawn {
    const PROFILES: [Profile; 2] = [Profile::Full, Profile::Quick];

    fn measure(until: Until, plan: Plan) -> Result<Outcome, Failure> {
        // Seccomp filters of containers pretend that the call does not exist.
        clone3(CLONE_CLEAR_SIGHAND, || 0)
            .map_err(|cause| Failure::Unsupported(cause.to_string()))?
            .ends_with(0)?;
        let (marked, mut script) = (Marked::new()?, Script::new());
        let flags = (libc::CLONE_VM | libc::CLONE_VFORK) as u64 | CLONE_CLEAR_SIGHAND;
        // `struct clone_args`; the fifth is the signal that announces the child's end.
        let wanted = [
            [flags, 0, 0, 0, libc::SIGCHLD as u64].as_slice(),
            &[Script::STACK, STACK_BYTES, 0, 0, 0, 0],
        ]
        .concat();
        let arguments = script.place_words(&wanted);
        let (all, old) = (script.place_words(&[u64::MAX]), script.place_words(&[0]));
        let masks = |how: i32, set: u64, old: u64| {
            ScriptCall::new(Sysno::RT_SIGPROCMASK, [how as u64, set, old, SET_BYTES]).required()
        };
        let restore = masks(libc::SIG_SETMASK, old, 0);
        let access = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_FIXED;
        let stack = [Script::STACK, STACK_BYTES, access, kind as u64, u64::MAX, 0];
        let create = vec![
            ScriptCall::new(Sysno::MMAP, stack).required(),
            masks(libc::SIG_BLOCK, all, old),
            ScriptCall::new(Sysno::CLONE3, [arguments, size_of_val(&*wanted) as u64]).forking(),
            ScriptCall::new(Sysno::MUNMAP, [Script::STACK, STACK_BYTES]).required(),
            restore,
        ];
        // Where the child's mask goes: nobody reads it.
        let child = vec![masks(libc::SIG_BLOCK, 0, Script::ANSWER), restore];
        let iteration = Iteration {
            is_blocked: true,
            child,
            script,
            ..Iteration::by(create)
        };
        lean::measure(plan, iteration.running(&marked), until)
    }

    fn proof(until: Until) -> Proof {
        lean::proof(until, true)
    }
}
