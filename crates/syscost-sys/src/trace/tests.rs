#![allow(unsafe_code)] // raw system calls, and a program of our own

use super::*;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use crate::elf::{self, Access, BASE, Segment, machine_code};
use crate::raw::{Sysno, syscall4, syscall6};
use crate::tiny::TinyProgram;

/// Looks after which a test gives up: a minute.
const MANY_LOOKS: u32 = 1200;

/// Traces a program to its end; `Err` where programs cannot be traced.
fn traced(command: &mut Command) -> Result<Tally, Unsupported> {
    let mut looks = 0;
    let tally = run(command, &Options::default(), |_| {
        looks += 1;
        looks < MANY_LOOKS
    });
    match tally {
        Err(TraceError::Unavailable(reason)) => Err(reason),
        tally => {
            let tally = tally.unwrap();
            assert!(tally.adds_up(), "{tally:?}");
            Ok(tally)
        }
    }
}

fn shown(tally: &Tally) -> Vec<String> {
    let line = |(call, count): (&Call, &Count)| match call.sysno() {
        // How much memory it has depends on the kernel.
        Some(Sysno::EXIT_GROUP) => {
            assert!(count.bytes > 0, "{call}");
            format!("{} {}: {}", Sysno::EXIT_GROUP, call.outcome, count.calls)
        }
        _ => format!("{call}: {} {}", count.calls, count.bytes),
    };
    tally.calls.iter().map(line).collect()
}

fn pipe() -> (OwnedFd, OwnedFd) {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap()
}

/// A shell with this script, whose output nobody reads.
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdout(Stdio::null());
    command
}

#[test]
fn each_call_of_a_program_is_counted_with_its_object_and_bytes() {
    let program = or_skip!(TinyProgram::new(1));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("said");
    let of_tiny = |output: Stdio| {
        let path = program.path().to_str().unwrap();
        traced(Command::new(path).stdout(output))
    };
    let tally = or_skip!(of_tiny(File::create(&path).unwrap().into()));
    let end = "exit_group never returned: 1";
    assert_eq!(shown(&tally), ["write file 1: 1 1", end]);
    assert_eq!((tally.entered, tally.end.unwrap().code()), (2, Some(0)));
    let counts = (tally.processes, tally.threads, tally.execs, tally.signals);
    assert_eq!(counts, (0, 0, 0, 0));

    let (reader, writer) = pipe();
    let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.connect(udp.local_addr().unwrap()).unwrap();
    let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::empty()).unwrap();
    let ends: [(Stdio, &str); 7] = [
        (writer.into(), "write pipe 1: 1 1"),
        (OwnedFd::from(far).into(), "write UNIX socket 1: 1 1"),
        (OwnedFd::from(tcp).into(), "write TCP socket 1: 1 1"),
        (OwnedFd::from(udp).into(), "write other socket 1: 1 1"),
        (Stdio::null(), "write character device 1: 1 1"),
        (event.into(), "write event EINVAL: 1 0"),
        (
            File::open(folder.path()).unwrap().into(),
            "write directory EBADF: 1 0",
        ),
    ];
    for (end_given, written) in ends {
        assert_eq!(shown(&or_skip!(of_tiny(end_given))), [written, end]);
    }
    drop((reader, near));
}

machine_code! {
    /// Maps 4 pages, has them grow to 100, and writes to each.
    growing: syscost_growing_begin to syscost_growing_end in ".rodata.syscost_growing",
    x86_64 [
        "xor edi, edi", "mov esi, 4 * 4096", "mov edx, 3", "mov r10d, 0x22", "mov r8, -1", "xor r9d, r9d",
        "mov eax, {mmap}", "syscall",
        "mov rdi, rax", "mov esi, 4 * 4096", "mov edx, 100 * 4096", "mov r10d, 1", "mov eax, {mremap}", "syscall",
        "mov rbx, rax",
        "mov rdi, rax", "mov esi, 100 * 4096", "mov edx, 15", "mov eax, {madvise}", "syscall",
        "mov ecx, 100",
        "2: mov byte ptr [rbx], 1", "add rbx, 4096", "dec ecx", "jnz 2b",
        "xor edi, edi", "mov eax, {exit_group}", "syscall",
    ],
    aarch64 [
        "mov x0, 0", "mov x1, 4 * 4096", "mov x2, 3", "mov x3, 0x22", "mov x4, -1", "mov x5, 0",
        "mov x8, {mmap}", "svc 0",
        "mov x1, 4 * 4096", "mov x2, 100", "lsl x2, x2, 12", "mov x3, 1", "mov x8, {mremap}", "svc 0",
        "mov x19, x0",
        "mov x1, 100", "lsl x1, x1, 12", "mov x2, 15", "mov x8, {madvise}", "svc 0",
        "mov x20, 100",
        "2: strb w20, [x19]", "add x19, x19, 4096", "subs x20, x20, 1", "b.ne 2b",
        "mov x0, 0", "mov x8, {exit_group}", "svc 0",
    ],
    mmap = const libc::SYS_mmap,
    mremap = const libc::SYS_mremap,
    madvise = const libc::SYS_madvise,
    exit_group = const libc::SYS_exit_group,
}

#[test]
fn faults_are_told_apart_by_what_lies_there() {
    if crate::os::page_size() != 4096 {
        return println!("skipped: the program is made for pages of 4096 bytes");
    }
    let entry = BASE + elf::headers(1);
    let text = Segment {
        access: Access::ReadAndExecute,
        address: entry,
        bytes: growing(),
        zeros: 0,
    };
    let program = or_skip!(TinyProgram::holding(&elf::executable(entry, &[text])));
    let tally = or_skip!(traced(&mut Command::new(program.path().to_str().unwrap())));
    let calls = [
        "mmap anonymous 16384: 1 16384",
        "mremap 1048576: 1 409600",
        "madvise 1048576: 1 409600",
        "exit_group never returned: 1",
    ];
    assert!(
        shown(&tally)
            .iter()
            .all(|call| calls.contains(&call.as_str())),
        "{:?}",
        shown(&tally)
    );
    assert_eq!(tally.total(), calls.len() as u64);
    let faults = or_skip!(tally.faults);
    assert_eq!(
        faults.by_kind.get(&FaultKind::Anonymous),
        Some(&100),
        "{faults:?}"
    );
    assert_eq!(faults.by_kind.get(&FaultKind::File), Some(&1), "{faults:?}");
    assert!(
        (101..=tally.faults_of_tasks).contains(&faults.total()),
        "{faults:?}"
    );
    assert_eq!(faults.lost, 0);
}

#[test]
fn all_faults_of_processes_are_found() {
    let mut script = shell("for i in 1 2 3; do ls / | cat; done");
    let tally = or_skip!(traced(&mut script));
    let faults = or_skip!(tally.faults);
    // The kernel's account includes those that it ran into itself.
    assert!(
        faults.total() <= tally.faults_of_tasks,
        "{faults:?}, {}",
        tally.faults_of_tasks
    );
    assert!(
        faults.total() * 2 > tally.faults_of_tasks,
        "{faults:?}, {}",
        tally.faults_of_tasks
    );
    assert_eq!(faults.by_kind.get(&FaultKind::Other), None, "{faults:?}");
}

/// What strace counts: how often each call returned, and with an error.
fn by_strace(words: &[&str]) -> Result<BTreeMap<String, (u64, u64)>, Unsupported> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-c", "-o"]).arg(&path).args(words);
    let ran = strace.stdout(Stdio::null()).status();
    let ran = ran.map_err(|_| Unsupported::new("strace is not installed"))?;
    assert!(ran.success());
    let text = fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let counts = lines.filter_map(|words| {
        let [_, _, _, calls, errors @ .., name] = &words[..] else {
            return None;
        };
        let errors = errors.first().map_or(Ok(0), |errors| errors.parse());
        Some(((*name).to_owned(), (calls.parse().ok()?, errors.ok()?)))
    });
    Ok(counts.filter(|(name, _)| name != "total").collect())
}

#[test]
fn the_counts_are_those_of_strace() {
    for words in [
        &["ls", "/"][..],
        &["sh", "-c", "for i in 1 2 3; do /bin/true; done"],
    ] {
        let mut command = Command::new(words[0]);
        let tally = or_skip!(traced(command.args(&words[1..]).stdout(Stdio::null())));
        let mut expected = or_skip!(by_strace(words));
        // The one that starts the program.
        expected
            .entry("execve".into())
            .and_modify(|(calls, _)| *calls -= 1);
        expected.retain(|_, (calls, _)| *calls > 0);
        let mut counted = BTreeMap::<String, (u64, u64)>::new();
        for (call, count) in &tally.calls {
            if call.outcome == Outcome::NeverReturned {
                continue;
            }
            let entry = counted
                .entry(call.sysno().unwrap().to_string())
                .or_default();
            entry.0 += count.calls;
            entry.1 += if call.outcome == Outcome::Ok {
                0
            } else {
                count.calls
            };
        }
        assert_eq!(counted, expected, "{words:?}");
    }
}

#[test]
fn ends_are_told_and_signals_counted() {
    let cases = [
        ("exit 3", Some(3), None, 0),
        ("kill -KILL $$", None, Some(9), 0),
        ("kill -TERM $$", None, Some(15), 1),
        ("trap 'exit 4' USR1; kill -USR1 $$", Some(4), None, 1),
        ("trap '' USR1; kill -USR1 $$", Some(0), None, 0),
        // Stopped, and woken by its child.
        (
            "(sleep 0.1; kill -CONT $$) & kill -STOP $$; wait $!; exit 5",
            Some(5),
            None,
            1,
        ),
    ];
    for (script, code, signal, signals) in cases {
        let tally = or_skip!(traced(&mut shell(script)));
        let end = tally.end.unwrap();
        assert_eq!((end.code(), end.signal()), (code, signal), "{script}");
        let is_by_child = script.contains('&');
        assert!(
            is_by_child || tally.signals == signals,
            "{script}: {}",
            tally.signals
        );
    }
}

#[test]
fn a_call_that_the_kernel_goes_on_with_is_one() {
    let script = "sleep 0.3 & sleep 0.1; kill -STOP $!; sleep 0.1; kill -CONT $!; wait $!";
    let tally = or_skip!(traced(&mut shell(script)));
    let is_sleep = |call: &Call| {
        let sleeps = [Sysno::NANOSLEEP, Sysno::CLOCK_NANOSLEEP];
        call.sysno().is_some_and(|call| sleeps.contains(&call))
    };
    let sleeps = tally.calls.iter().filter(|(call, _)| is_sleep(call));
    let sleeps: Vec<_> = sleeps
        .map(|(call, count)| (call.outcome, count.calls))
        .collect();
    assert_eq!(sleeps, [(Outcome::Ok, 3)]);
}

#[test]
fn what_outlives_the_program_or_the_callers_patience_is_killed() {
    let grace = Duration::from_millis(100);
    let options = Options {
        grace,
        ..Options::default()
    };
    let mut looks = 0;
    let daemon = run(&mut shell("(sleep 1000 &)"), &options, |_| {
        looks += 1;
        looks < MANY_LOOKS
    });
    let Ok(daemon) = daemon else {
        return println!("skipped: {daemon:?}");
    };
    assert_eq!(
        (daemon.left_running, daemon.end.unwrap().code()),
        (vec!["sleep".to_owned()], Some(0))
    );
    let bomb = "f() { f | f & }; f; sleep 1000";
    let stopped = run(&mut shell(bomb), &Options::default(), |progress| {
        progress.tasks < 40
    })
    .unwrap();
    assert!(stopped.adds_up() && stopped.processes > 30 && !stopped.left_running.is_empty());
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let missing = run(
        &mut Command::new("/nowhere/program"),
        &Options::default(),
        |_| true,
    );
    match missing {
        Err(TraceError::Unavailable(reason)) => println!("skipped: {reason}"),
        missing => assert!(
            missing
                .unwrap_err()
                .to_string()
                .starts_with("cannot execute /nowhere/program: No such file"),
        ),
    }
}

/// Attaches to a forked child until it ends or the test is done with it. `on_look` gets how often it was
/// called.
fn attached(child: u32, mut on_look: impl FnMut(u32) -> bool) -> Result<Tally, Unsupported> {
    let mut looks = 0;
    let tally = attach(child, &Options::default(), |_| {
        looks += 1;
        assert!(looks < MANY_LOOKS);
        on_look(looks)
    });
    tally.map_err(|error| {
        let _ = crate::os::kill_process(child);
        let _ = crate::os::wait_for(child);
        Unsupported::new(error.to_string())
    })
}

#[test]
fn threads_and_an_execve_by_one_of_them_add_up() {
    let (wait, go) = pipe();
    let child = crate::os::fork(&mut || {
        let _ = rustix::io::read(&wait, &mut [0; 1]);
        let threads: Vec<_> = (0..1000)
            .map(|_| thread::spawn(thread::yield_now))
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        let by_thread =
            thread::spawn(|| std::os::unix::process::CommandExt::exec(&mut Command::new("true")));
        let _ = by_thread.join();
        1
    });
    let child = child.unwrap();
    let tally = or_skip!(attached(child, |looks| {
        if looks == 1 {
            rustix::io::write(&go, &[1]).unwrap();
        }
        true
    }));
    assert!(tally.adds_up(), "{tally:?}");
    assert_eq!((tally.threads, tally.execs, tally.processes), (1001, 1, 0));
    assert_eq!(tally.end.unwrap().code(), Some(0));
    assert_eq!(tally.calls_of(Sysno::EXIT_GROUP), 1);
}

/// Makes a call over and over; the number of times that it was interrupted. Ends when it returns something
/// else than 0.
fn waits(mut call: impl FnMut() -> isize) -> i32 {
    let mut interrupted = 0;
    loop {
        match call() {
            0 => {}
            result if result == -(libc::EINTR as isize) => interrupted += 1,
            _ => return interrupted,
        }
    }
}

#[test]
fn a_process_does_not_notice_that_it_is_attached_to() {
    use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
    let (wait, go) = pipe();
    let (gone, held) = pipe();
    let mut held = Some(held);
    let child = crate::os::fork(&mut || {
        drop(held.take());
        let is_over = AtomicU32::new(0);
        let epoll = epoll::create(CreateFlags::empty()).unwrap();
        epoll::add(&epoll, &gone, EventData::new_u64(0), EventFlags::IN).unwrap();
        let (epoll, wait) = (epoll.as_raw_fd() as usize, wait.as_raw_fd() as usize);
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                let length = [0_i64, 1_000_000];
                let place = length.as_ptr().addr();
                waits(|| {
                    // SAFETY: the time is valid, and nothing is written.
                    let slept = unsafe { syscall4(Sysno::CLOCK_NANOSLEEP, 1, 0, place, 0) };
                    let result = is_over.load(Relaxed) as isize;
                    if slept == 0 { result } else { slept }
                })
            });
            let waiter = scope.spawn(|| {
                let place = is_over.as_ptr().addr();
                waits(|| {
                    // SAFETY: the word lives; without a time-out this is woken only, or refused (EAGAIN).
                    unsafe { syscall6(Sysno::FUTEX, place, libc::FUTEX_WAIT as usize, 0, 0, 0, 0) }
                })
            });
            let reader = scope.spawn(|| {
                let mut byte = 0_u8;
                let place = (&raw mut byte).addr();
                // SAFETY: there is room for one byte.
                waits(|| unsafe { syscall4(Sysno::READ, wait, place, 1, 0) })
            });
            // This thread gets the signals.
            let mut events = [0_u64; 8];
            let place = events.as_mut_ptr().addr();
            let polled = waits(|| {
                // SAFETY: there is room for one event; no mask is given.
                unsafe { syscall6(Sysno::EPOLL_PWAIT, epoll, place, 1, usize::MAX, 0, 0) }
            });
            is_over.store(1, Relaxed);
            let (place, wake) = (is_over.as_ptr().addr(), libc::FUTEX_WAKE as usize);
            // SAFETY: the word lives.
            unsafe { syscall4(Sysno::FUTEX, place, wake, 1, 0) };
            let others = [sleeper, waiter, reader].map(|thread| thread.join().unwrap());
            polled + others.iter().sum::<i32>()
        })
    });
    let child = child.unwrap();
    let mut slept = 0;
    for _ in 0..3 {
        let tally = or_skip!(attached(child, |look| {
            // Not in the moment of the end: then nobody is left who would help.
            if look < 4 {
                let (thread, ignored) = (child as usize, libc::SIGWINCH as usize);
                // SAFETY: a signal to a child that is there, which ignores it.
                unsafe { syscall4(Sysno::TGKILL, thread, thread, ignored, 0) };
            }
            look < 5
        }));
        assert!(tally.adds_up() && tally.end.is_none(), "{tally:?}");
        assert_eq!(tally.signals, 0);
        slept += tally.calls_of(Sysno::CLOCK_NANOSLEEP);
    }
    assert!(slept > 0);
    rustix::io::write(&go, &[1]).unwrap();
    drop(held);
    let interrupted = crate::os::wait_for(child).unwrap();
    assert_eq!(interrupted, 0, "calls were interrupted");
}
