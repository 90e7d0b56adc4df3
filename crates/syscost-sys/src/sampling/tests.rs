#![allow(unsafe_code)] // programs of our own

use super::*;
use std::os::unix::process::ExitStatusExt;

use crate::elf::{self, Access, BASE, Segment, machine_code};
use crate::process::{descendants, has_variable, name_of};
use crate::tiny::TinyProgram;

/// Looks after which a test gives up: a minute.
const MANY_LOOKS: u32 = 1200;

/// Samples a program to its end; `Err` where this is not allowed.
fn sampled(command: &mut Command, period_ns: u64) -> Result<Sampled, Unsupported> {
    let symbols = Arc::new(Symbols::of_kernel()?);
    let mut looks = 0;
    let sampled = run(command, period_ns, &symbols, || {
        looks += 1;
        looks < MANY_LOOKS
    });
    match sampled {
        Err(SampleError::Unavailable(reason)) => Err(reason),
        sampled => Ok(sampled.unwrap()),
    }
}

machine_code! {
    /// Calls getppid 200,000 times.
    calling: syscost_calling_begin to syscost_calling_end in ".rodata.syscost_calling",
    x86_64 [
        "mov ebx, 200000",
        "2: mov eax, {getppid}", "syscall", "dec ebx", "jnz 2b",
        "xor edi, edi", "mov eax, {exit_group}", "syscall",
    ],
    aarch64 [
        "mov x19, 0xd40", "movk x19, 3, lsl 16",
        "2: mov x8, {getppid}", "svc 0", "subs x19, x19, 1", "b.ne 2b",
        "mov x0, 0", "mov x8, {exit_group}", "svc 0",
    ],
    getppid = const libc::SYS_getppid,
    exit_group = const libc::SYS_exit_group,
}

machine_code! {
    /// Writes to a page in each 4 KiB of the 64 MiB that begin at the next 16 MiB.
    touching: syscost_touching_begin to syscost_touching_end in ".rodata.syscost_touching",
    x86_64 [
        "mov ebx, 0x1000000", "mov ecx, 0x4000",
        "2: mov byte ptr [rbx], 1", "add rbx, 4096", "dec ecx", "jnz 2b",
        "xor edi, edi", "mov eax, {exit_group}", "syscall",
    ],
    aarch64 [
        "mov x19, 0x1000000", "mov x20, 0x4000",
        "2: strb w20, [x19]", "add x19, x19, 4096", "subs x20, x20, 1", "b.ne 2b",
        "mov x0, 0", "mov x8, {exit_group}", "svc 0",
    ],
    exit_group = const libc::SYS_exit_group,
}

/// A program of these instructions, with 64 MiB of zeros at the address 16 MiB.
fn program(code: &[u8]) -> Result<TinyProgram, Unsupported> {
    let entry = BASE + elf::headers(2);
    let segment = |access, address, bytes, zeros| Segment {
        access,
        address,
        bytes,
        zeros,
    };
    let text = segment(Access::ReadAndExecute, entry, code, 0);
    let zeros = segment(Access::ReadAndWrite, 16 << 20, &[], 64 << 20);
    TinyProgram::holding(&elf::executable(entry, &[text, zeros]))
}

fn profile_of(code: &[u8]) -> Result<Profile, Unsupported> {
    let program = program(code)?;
    let sampled = sampled(
        &mut Command::new(program.path().to_str().unwrap()),
        PERIOD_NS,
    )?;
    assert!(sampled.end.success() && sampled.cpu_ns > 0, "{sampled:?}");
    Ok(sampled.profile)
}

#[test]
fn a_program_that_makes_calls_is_in_them_and_on_the_way() {
    let profile = or_skip!(profile_of(calling()));
    let of = |kind| profile.by_kind.get(&kind).map_or(0, |kind| kind.samples);
    let calls = of(Kind::Call("getppid".to_owned()));
    assert!(profile.samples() > 50 && calls > 0, "{profile:?}");
    assert!(
        2 * (calls + of(Kind::Entry)) > profile.in_kernel(),
        "{profile:?}"
    );
}

#[test]
fn a_program_that_uses_new_pages_is_in_faults() {
    let profile = or_skip!(profile_of(touching()));
    let faults = &profile.by_kind[&Kind::PageFault];
    assert!(2 * faults.samples > profile.in_kernel(), "{profile:?}");
    assert!(2 * profile.in_kernel() > profile.samples(), "{profile:?}");
    if profile.has_ends {
        // All are given back in the end.
        let end = profile.share(&Kind::Call("exit_group".to_owned()));
        assert!(end > Some(0.0), "{profile:?}");
    }
    assert!((1..=NAMED).contains(&faults.functions.len()), "{profile:?}");
    assert!(
        faults
            .functions
            .is_sorted_by(|(_, more), (_, less)| more >= less)
    );
}

#[test]
fn what_a_program_starts_is_sampled_too() {
    let mut shell = Command::new("sh");
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do cat /dev/null; done";
    let sampled = or_skip!(sampled(shell.args(["-c", script]), PERIOD_NS));
    assert!(
        sampled
            .profile
            .by_kind
            .contains_key(&Kind::Call("execve".to_owned())),
        "{sampled:?}"
    );
}

#[test]
fn a_program_that_cannot_be_executed_is_an_error() {
    let symbols = or_skip!(Symbols::of_kernel());
    let mut absent = Command::new("/absent/program");
    match run(&mut absent, PERIOD_NS, &Arc::new(symbols), || true) {
        Err(SampleError::Unavailable(reason)) => println!("skipped: {reason}"),
        Err(SampleError::Start { program, cause }) => {
            assert_eq!(program, "/absent/program");
            assert_eq!(cause.kind(), io::ErrorKind::NotFound);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_is_killed_with_all_that_it_started_when_the_caller_says_so() {
    let symbols = Arc::new(or_skip!(Symbols::of_kernel()));
    let (name, value) = ("SYSCOST_TEST_KILLED", "1");
    let mark = format!("{name}={value}");
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 1000; true"]).env(name, value);
    let mut started = None;
    let sampled = run(&mut shell, PERIOD_NS, &symbols, || {
        let mut all = descendants(std::process::id()).into_iter();
        let is_sleep = |pid| name_of(pid).as_deref() == Some("sleep");
        started = all.find(|pid| is_sleep(*pid) && has_variable(*pid, &mark));
        started.is_none()
    });
    match sampled {
        Err(SampleError::Unavailable(reason)) => return println!("skipped: {reason}"),
        sampled => assert_eq!(sampled.unwrap().end.signal(), Some(libc::SIGKILL)),
    }
    // One that has ended shows no environment.
    assert!(!has_variable(started.unwrap(), &mark));
}
