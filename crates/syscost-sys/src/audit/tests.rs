#![allow(unsafe_code)] // the audited operations are raw system calls, forks and signal handlers

use std::io::{Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::raw::{syscall0, syscall1};

const LONG: Duration = Duration::from_secs(20);

/// The counts of an operation that must end well, or why auditing is not supported.
fn counts(op: impl FnOnce()) -> Result<SyscallCounts, String> {
    match count_syscalls(LONG, op) {
        Err(AuditError::SeccompUnavailable(reason)) => Err(reason.to_string()),
        counts => Ok(counts.unwrap()),
    }
}

/// How an operation failed, or why auditing is not supported.
fn failure(timeout: Duration, op: impl FnOnce()) -> Result<AuditError, String> {
    match count_syscalls(timeout, op) {
        Err(AuditError::SeccompUnavailable(reason)) => Err(reason.to_string()),
        ended => Ok(ended.expect_err("it must not end well")),
    }
}

fn getppid() -> isize {
    // SAFETY: takes nothing and touches no memory.
    unsafe { syscall0(Sysno::GETPPID) }
}

#[test]
fn a_hundred_calls_are_a_hundred_and_nothing_else() {
    let seen = or_skip!(counts(|| (0..100).for_each(|_| assert!(getppid() > 0))));
    assert_eq!(
        (seen.get(Sysno::GETPPID), seen.total(), seen.tasks()),
        (100, 100, 1)
    );
    assert_eq!(seen.to_string(), "getppid 100");
    assert_eq!(
        seen.iter().collect::<Vec<_>>(),
        [(Sysno::GETPPID.number().unwrap(), 100)]
    );
}

#[test]
fn parts_that_are_not_counted_count_for_nobody() {
    let seen = or_skip!(counts(|| {
        getppid();
        uncounted(|| {
            (0..5).for_each(|_| {
                getppid();
            });
            uncounted(getppid);
            getppid();
        });
        getppid();
    }));
    assert_eq!(seen.to_string(), "getppid 2");
    let (out, into) = std::io::pipe().unwrap();
    let seen = counts(move || {
        let (mut out, mut into) = (out, into);
        let child = uncounted(|| {
            let child = os::fork(&mut || {
                // While the operation's own task waits for it and does not count.
                (0..5).for_each(|_| {
                    getppid();
                });
                into.write_all(b"+").unwrap();
                0
            });
            out.read_exact(&mut [0]).unwrap();
            child.unwrap()
        });
        let other = os::fork(&mut || {
            uncounted(|| {
                (0..5).for_each(|_| {
                    getppid();
                })
            });
            getppid();
            0
        });
        os::wait_for(other.unwrap()).unwrap();
        uncounted(|| os::wait_for(child).unwrap());
    });
    let seen = or_skip!(seen);
    assert_eq!(seen.get(Sysno::GETPPID), 1, "{seen}");
    assert_eq!(seen.own(Sysno::WAIT4), 1, "{seen}");
}

#[test]
fn an_operation_that_calls_nothing_counts_nothing() {
    let seen = or_skip!(counts(|| ()));
    assert!(available().is_ok(), "it was done just now");
    assert_eq!(
        (seen.total(), seen.to_string().as_str()),
        (0, "no system call")
    );
}

#[test]
fn a_clock_read_through_the_vdso_is_no_system_call() {
    let clocksource = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let vdso = std::fs::read_to_string(clocksource).unwrap_or_default();
    if !matches!(
        vdso.trim(),
        "tsc" | "kvm-clock" | "arch_sys_counter" | "hyperv_clocksource_tsc_page"
    ) {
        println!("skipped: no vDSO clock with clocksource {vdso:?}");
        return;
    }
    let seen = or_skip!(counts(|| {
        for _ in 0..100 {
            std::hint::black_box(std::time::Instant::now());
        }
    }));
    assert_eq!(seen.total(), 0, "{seen}");
}

#[test]
fn calls_do_what_they_do_and_keep_their_errno() {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let seen = or_skip!(counts(|| {
        let mut byte = [0];
        writer.write_all(b"x").unwrap();
        reader.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
        // SAFETY: a descriptor that cannot be open.
        assert_eq!(unsafe { syscall1(Sysno::CLOSE, usize::MAX) }, -9); // EBADF
    }));
    let calls = [Sysno::READ, Sysno::WRITE, Sysno::CLOSE].map(|call| seen.get(call));
    assert_eq!((calls, seen.total()), ([1; 3], 3), "{seen}");
}

#[test]
fn a_signal_handler_runs_and_its_return_is_counted() {
    static CAUGHT: AtomicU32 = AtomicU32::new(0);
    extern "C" fn catch(_: libc::c_int) {
        CAUGHT.fetch_add(1, Ordering::Relaxed);
    }
    let seen = or_skip!(counts(|| {
        // SAFETY: the handler touches one atomic.
        unsafe {
            libc::signal(
                libc::SIGUSR1,
                catch as extern "C" fn(libc::c_int) as libc::sighandler_t,
            );
            for _ in 0..10 {
                libc::kill(libc::getpid(), libc::SIGUSR1);
            }
        }
        assert_eq!(CAUGHT.load(Ordering::Relaxed), 10);
    }));
    assert_eq!(seen.get(Sysno::KILL), 10);
    assert_eq!(seen.get(Sysno::RT_SIGRETURN), 10);
    assert_eq!(seen.get(Sysno::RT_SIGACTION), 1);
    assert_eq!(seen.get(Sysno::GETPID), 10);
    assert_eq!(seen.total(), 31, "{seen}");
}

#[test]
fn an_operation_that_blocks_every_signal_is_counted_too() {
    let seen = or_skip!(counts(|| {
        // SAFETY: a set of signals is plain bits.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            assert_eq!(
                libc::sigprocmask(libc::SIG_BLOCK, &all, std::ptr::null_mut()),
                0
            );
        }
        getppid();
    }));
    assert_eq!(
        (seen.get(Sysno::RT_SIGPROCMASK), seen.get(Sysno::GETPPID)),
        (1, 1)
    );
}

/// What a program says by its marks, as the studies' header does.
fn program_says(mark: libc::c_ulong, operations: libc::c_ulong) {
    // SAFETY: the kernel has no such operation, and looks at no further argument.
    unsafe { libc::prctl(0x2d70_55f1, mark, operations, 0, 0) };
}

#[test]
fn a_program_that_an_uncounted_part_waits_for_is_counted_between_its_marks() {
    let program = |ends: bool| {
        move || {
            getppid();
            program_says(2, 0);
            (0..3).for_each(|_| {
                getppid();
            });
            if ends {
                program_says(3, 12);
                getppid();
            }
            0
        }
    };
    for ends in [true, false] {
        let seen = counts(|| {
            uncounted(|| {
                let child = os::fork(&mut program(ends));
                os::wait_for(child.unwrap()).unwrap();
            });
            // Nor is what comes after a program that did not say that it had ended.
            uncounted(getppid);
        });
        let seen = or_skip!(seen);
        assert_eq!(seen.get(Sysno::GETPPID), 3, "{ends}: {seen}");
        let of_own = [Sysno::GETPPID, Sysno::CLONE, Sysno::WAIT4].map(|call| seen.own(call));
        assert_eq!(of_own, [0; 3], "{ends}: {seen}");
        assert_eq!(seen.operations(), if ends { 12 } else { 0 });
    }
}

#[test]
fn a_forked_child_is_counted_beside_its_parent() {
    let seen = or_skip!(counts(|| {
        // SAFETY: the new child makes three raw calls and leaves.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                getppid();
                getppid();
                libc::_exit(7);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!(libc::WEXITSTATUS(status), 7);
        }
    }));
    assert_eq!((seen.get(Sysno::GETPPID), seen.own(Sysno::GETPPID)), (2, 0));
    assert_eq!(
        (seen.get(Sysno::EXIT_GROUP), seen.own(Sysno::WAIT4)),
        (1, 1)
    );
    assert_eq!(seen.tasks(), 2);
}

#[test]
fn threads_and_executed_programs_are_counted() {
    let seen = or_skip!(counts(|| {
        let thread = std::thread::spawn(|| assert!(getppid() > 0));
        thread.join().unwrap();
        let status = std::process::Command::new("/bin/true").status();
        assert!(status.is_err() || status.unwrap().success());
    }));
    assert_eq!((seen.get(Sysno::GETPPID), seen.own(Sysno::GETPPID)), (1, 0));
    if std::path::Path::new("/bin/true").exists() {
        assert!(seen.get(Sysno::EXECVE) >= 1);
    }
}

#[test]
fn an_operation_may_fault_and_handle_it() {
    extern "C" fn leave(_: libc::c_int) {
        // SAFETY: ends the process.
        unsafe { libc::_exit(42) };
    }
    let error = or_skip!(failure(LONG, || {
        // SAFETY: the fault is the purpose; the handler does not return.
        unsafe {
            libc::signal(
                libc::SIGSEGV,
                leave as extern "C" fn(libc::c_int) as libc::sighandler_t,
            );
            std::ptr::without_provenance_mut::<u8>(8).write_volatile(1);
        }
    }));
    assert!(
        matches!(error, AuditError::Died(Death::Code(42))),
        "{error}"
    );
}

#[test]
fn the_end_of_an_operation_that_dies_is_reported() {
    // SAFETY: both end the forked child only.
    let error = or_skip!(failure(LONG, || unsafe {
        libc::signal(libc::SIGSEGV, libc::SIG_DFL);
        libc::raise(libc::SIGSEGV);
    }));
    assert!(
        matches!(error, AuditError::Died(Death::Signal(libc::SIGSEGV))),
        "{error}"
    );
    assert!(error.to_string().contains("SIGSEGV"));
    let error = failure(LONG, || panic!("on purpose")).unwrap();
    assert!(matches!(error, AuditError::Died(Death::Panic)), "{error}");
    // Leaving with success in the middle is not the end of the operation.
    let error = failure(LONG, || std::process::exit(0)).unwrap();
    assert!(matches!(error, AuditError::Died(Death::Code(0))), "{error}");
}

#[test]
fn a_hanging_operation_is_killed_with_what_it_started() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let error = or_skip!(failure(Duration::from_millis(200), || {
        // SAFETY: both processes only wait.
        unsafe {
            libc::fork();
            loop {
                libc::pause();
            }
        }
    }));
    assert!(matches!(error, AuditError::TimedOut(_)), "{error}");
    // The pipe ends only when no copy of its writing end is left, so neither process lives.
    drop(writer);
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    // One that never enters the kernel is stopped as well.
    let error = failure(Duration::from_millis(50), || {
        loop {
            std::hint::spin_loop();
        }
    });
    assert!(matches!(error, Ok(AuditError::TimedOut(_))));
}

#[test]
fn the_operations_descriptors_are_its_own() {
    let (_reader, writer) = std::io::pipe().unwrap();
    let seen = or_skip!(counts(move || {
        // Everything from 3 up: neither the listener nor the channel is needed any more.
        // SAFETY: the child uses none of them again.
        unsafe { libc::close_range(3, u32::MAX, 0) };
        std::mem::forget(writer);
        getppid();
    }));
    assert_eq!(seen.to_string(), "getppid 1, close_range 1");
}

#[test]
fn arguments_are_noted_where_asked_for() {
    let close = |fd: usize| {
        // SAFETY: a descriptor that cannot be open.
        assert_eq!(unsafe { syscall1(Sysno::CLOSE, fd) }, -9); // EBADF
    };
    let op = || {
        (1..=3).for_each(|number| close(usize::MAX - number));
        getppid();
        // Calls by other threads are not this task's.
        std::thread::spawn(move || close(usize::MAX))
            .join()
            .unwrap();
    };
    let seen = match note_syscalls(LONG, &[Sysno::CLOSE], op) {
        Err(AuditError::SeccompUnavailable(reason)) => return println!("skipped: {reason}"),
        seen => seen.unwrap(),
    };
    let given: Vec<u64> = seen
        .arguments(Sysno::CLOSE)
        .iter()
        .map(|all| all[0])
        .collect();
    assert_eq!(given, [u64::MAX - 1, u64::MAX - 2, u64::MAX - 3]);
    assert_eq!(seen.get(Sysno::CLOSE), 4);
    assert!(seen.arguments(Sysno::GETPPID).is_empty(), "nobody asked");
}
