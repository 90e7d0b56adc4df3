//! ptrace(2), by its raw call.
#![allow(unsafe_code)] // ptrace and wait4 have no safe form

use std::io;
use std::ptr;

#[cfg(target_arch = "aarch64")]
use super::object::Status;
use crate::raw::{Sysno, syscall4};
use crate::trace::Arguments;

/// Bit in the signal number of stops at system calls (PTRACE_O_TRACESYSGOOD).
pub(super) const AT_CALL: i32 = 0x80;

/// Results inside the kernel that it makes a call again by, or an EINTR of: ERESTARTSYS, ERESTARTNOINTR,
/// ERESTARTNOHAND and ERESTART_RESTARTBLOCK (include/linux/errno.h).
pub(super) const RESTARTS: [i32; 4] = [512, 513, 514, 516];

/// What the kernel says of a stop at a system call.
pub(super) enum AtCall {
    Entry {
        /// AUDIT_ARCH of the table through which it came.
        table: u32,
        number: u64,
        arguments: Arguments,
        /// The address of the instruction after the call.
        from: u64,
    },
    /// With the result, negative for an error.
    Exit(i64),
    /// The stop is another one.
    Elsewhere,
}

/// `struct ptrace_syscall_info`.
#[repr(C)]
#[derive(Default)]
struct Info {
    kind: u8,
    padding: [u8; 3],
    table: u32,
    instruction: u64,
    stack: u64,
    /// Number and arguments, or the result and whether it is an error.
    data: [u64; 8],
}

/// Traces a task without stopping it.
pub(super) fn seize(task: u32, options: i32) -> io::Result<()> {
    call(libc::PTRACE_SEIZE as usize, task, 0, options as usize).map(drop)
}

/// Stops a task soon, whatever it is doing.
pub(super) fn interrupt(task: u32) -> io::Result<()> {
    call(libc::PTRACE_INTERRUPT as usize, task, 0, 0).map(drop)
}

/// Lets a stopped task go on, with this signal or none (0), and to the next system call if `to_call`.
pub(super) fn resume(task: u32, to_call: bool, signal: i32) -> io::Result<()> {
    let request = match to_call {
        true => libc::PTRACE_SYSCALL,
        false => libc::PTRACE_CONT,
    };
    call(request as usize, task, 0, signal as usize).map(drop)
}

/// Leaves a task stopped as job control wants it, and hears when it goes on.
pub(super) fn listen(task: u32) -> io::Result<()> {
    call(libc::PTRACE_LISTEN as usize, task, 0, 0).map(drop)
}

/// The number that goes with an event: a new task, or the one which executed a program.
pub(super) fn message(task: u32) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    let place = (&raw mut message).addr();
    call(libc::PTRACE_GETEVENTMSG as usize, task, 0, place)?;
    Ok(message)
}

/// A word of the task's memory.
pub(super) fn word(task: u32, address: u64) -> io::Result<u64> {
    let mut word: libc::c_ulong = 0;
    let place = (&raw mut word).addr();
    call(
        libc::PTRACE_PEEKDATA as usize,
        task,
        address as usize,
        place,
    )?;
    Ok(word)
}

/// What the kernel says of the call at which a task stopped (Linux 5.3).
pub(super) fn at_call(task: u32) -> io::Result<AtCall> {
    /// PTRACE_GET_SYSCALL_INFO, and what the stop is by it: PTRACE_SYSCALL_INFO_ENTRY or _EXIT.
    const GET_SYSCALL_INFO: usize = 0x420e;
    const ENTRY: u8 = 1;
    const EXIT: u8 = 2;
    let mut info = Info::default();
    let place = (&raw mut info).addr();
    call(GET_SYSCALL_INFO, task, size_of::<Info>(), place)?;
    let [first, rest @ ..] = info.data;
    Ok(match info.kind {
        ENTRY => AtCall::Entry {
            table: info.table,
            number: first,
            arguments: [rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]],
            from: info.instruction,
        },
        EXIT => AtCall::Exit(first.cast_signed()),
        _ => AtCall::Elsewhere,
    })
}

/// In a stop after a call that returned EINTR, has the kernel make it again, if it does so before any handler
/// runs. Does nothing if the task is not in such a stop. `made` is the call, if known: its first argument and
/// the address after it.
#[cfg(target_arch = "x86_64")]
pub(super) fn make_again(task: u32, _made: Option<(u64, u64)>) -> io::Result<()> {
    use std::mem::offset_of;
    /// What a call returns inside the kernel that is made again, unless a handler is to run: then EINTR
    /// (ERESTARTNOHAND).
    const UNLESS_HANDLED: i64 = -514;
    const RESULT: usize = offset_of!(libc::user_regs_struct, rax);
    const CALL: usize = offset_of!(libc::user_regs_struct, orig_rax);
    let register = |place| -> io::Result<i64> {
        let mut value: libc::c_long = 0;
        let to = (&raw mut value).addr();
        call(libc::PTRACE_PEEKUSER as usize, task, place, to)?;
        Ok(value)
    };
    if register(RESULT)? as i32 == -libc::EINTR && register(CALL)? >= 0 {
        let again = UNLESS_HANDLED as usize;
        call(libc::PTRACE_POKEUSER as usize, task, RESULT, again)?;
    }
    Ok(())
}

/// As on x86-64. Here the kernel has done with restarts before the stop; a handler of a signal that arrives
/// in the moment until the task goes on runs before the call, instead of within it.
#[cfg(target_arch = "aarch64")]
pub(super) fn make_again(task: u32, made: Option<(u64, u64)>) -> io::Result<()> {
    /// The general registers (NT_PRSTATUS): x0 to x30, sp, pc, pstate.
    const GENERAL: usize = 1;
    const PC: usize = 32;
    /// Length of an instruction, in bytes.
    const INSTRUCTION: u64 = 4;
    let is_to_be_handled = Status::of(task).is_some_and(|status| status.has_pending());
    let Some((first_argument, from)) = made.filter(|_| !is_to_be_handled) else {
        return Ok(());
    };
    let mut registers = [0_u64; 34];
    let part = libc::iovec {
        iov_base: registers.as_mut_ptr().cast(),
        iov_len: size_of_val(&registers),
    };
    let place = (&raw const part).addr();
    call(libc::PTRACE_GETREGSET as usize, task, GENERAL, place)?;
    if registers[0].cast_signed() == -i64::from(libc::EINTR) && registers[PC] == from {
        registers[0] = first_argument;
        registers[PC] -= INSTRUCTION;
        let part = libc::iovec {
            iov_base: registers.as_mut_ptr().cast(),
            iov_len: size_of_val(&registers),
        };
        let place = (&raw const part).addr();
        call(libc::PTRACE_SETREGSET as usize, task, GENERAL, place)?;
    }
    Ok(())
}

/// Something that happened to a task that this thread traces, or to its child.
pub(super) enum Event {
    /// It stopped: the signal with [`AT_CALL`], and the number of a PTRACE_EVENT or 0.
    Stopped(u32, i32, i32),
    /// It ended, with this status.
    Ended(u32, i32),
    /// There are no such tasks.
    Nobody,
}

/// Waits for tasks that this thread traces and children that it forked itself, and for no others of this
/// process.
pub(super) fn wait() -> io::Result<Event> {
    let mut status = 0;
    let options = libc::__WALL | libc::__WNOTHREAD;
    // SAFETY: the status is writable; no usage is asked for.
    let task = unsafe { libc::wait4(-1, &raw mut status, options, ptr::null_mut()) };
    if task < 0 {
        let cause = io::Error::last_os_error();
        return match cause.raw_os_error() {
            Some(libc::ECHILD) => Ok(Event::Nobody),
            _ => Err(cause),
        };
    }
    let task = task.cast_unsigned();
    Ok(match libc::WIFSTOPPED(status) {
        true => Event::Stopped(task, libc::WSTOPSIG(status), status >> 16),
        false => Event::Ended(task, status),
    })
}

fn call(request: usize, task: u32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: the callers hand over addresses of variables that are large enough for what the request writes,
    // and live until it returns. What it changes is the tracee.
    let result = unsafe { syscall4(Sysno::PTRACE, request, task as usize, address, data) };
    match result {
        0.. => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error as i32)),
    }
}
