//! The filter: every system call is reported to the listener, except those made by one instruction
//! of our own.
//!
//! That instruction is how the child hands over the listener (a report that cannot be received yet
//! would block forever) and how it exits without being counted. It is recognised by its address, so
//! nothing that the operation does looks like it.
#![allow(unsafe_code)] // assembly, and the call that installs the filter

use std::io;
use std::os::fd::RawFd;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .text.syscost_audit, \"ax\", @progbits",
    ".hidden syscost_audit_call",
    ".globl syscost_audit_call",
    "syscost_audit_call:",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "syscall",
    ".hidden syscost_audit_return",
    ".globl syscost_audit_return",
    "syscost_audit_return:",
    "ret",
    ".popsection",
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".pushsection .text.syscost_audit, \"ax\", @progbits",
    ".p2align 2",
    ".hidden syscost_audit_call",
    ".globl syscost_audit_call",
    "syscost_audit_call:",
    "mov x8, x0",
    "mov x0, x1",
    "mov x1, x2",
    "mov x2, x3",
    "svc 0",
    ".hidden syscost_audit_return",
    ".globl syscost_audit_return",
    "syscost_audit_return:",
    "ret",
    ".popsection",
);

mod trampoline {
    unsafe extern "C" {
        /// A system call of up to three arguments that the filter does not report. Returns -errno
        /// on error.
        pub(super) unsafe fn syscost_audit_call(
            number: usize,
            a: usize,
            b: usize,
            c: usize,
        ) -> isize;
        /// The address to which the call returns: what the kernel calls the instruction pointer of the call.
        pub(super) static syscost_audit_return: u8;
    }

    pub(super) fn address() -> u64 {
        (&raw const syscost_audit_return).addr() as u64
    }
}

/// The architecture's own number in `seccomp_data.arch` (AUDIT_ARCH_* of linux/audit.h).
pub(in crate::os) const NATIVE_ARCH: u32 = if cfg!(target_arch = "aarch64") {
    0xc000_00b7
} else {
    0xc000_003e
};

/// A system call that is not reported.
///
/// # Safety
/// As for any raw system call: addresses among the arguments must be valid for what the call does.
pub(super) unsafe fn unreported(number: libc::c_long, a: usize, b: usize, c: usize) -> isize {
    // SAFETY: the caller guarantees it.
    unsafe { trampoline::syscost_audit_call(number as usize, a, b, c) }
}

/// What an audited task says by a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// What follows does not count.
    Uncounted,
    /// What follows counts again.
    Counted,
    /// A program that the operation has started begins: until it ends, all calls but the
    /// operation's own count.
    ProgramBegins,
    /// The program has ended, and has made this many operations.
    ProgramEnds(u64),
}

/// The operation of a mark: a prctl that no kernel has, and answers with an error. A container's own
/// filter lets that pass; to the number of a call that no kernel has it would give the answer
/// itself, before the listener hears of it.
const MARK: u64 = 0x2d70_55f1;

/// The arguments of the marks after which calls do not count, and count again.
pub(crate) const UNCOUNTED: [u64; 2] = [MARK, 0];
pub(crate) const COUNTED: [u64; 2] = [MARK, 1];

impl Mark {
    /// The mark that this call is; `None` for any other call.
    pub(super) fn of(number: libc::c_long, arguments: [u64; 6]) -> Option<Self> {
        if number != libc::SYS_prctl || arguments[0] != MARK {
            return None;
        }
        match arguments[1] {
            0 => Some(Mark::Uncounted),
            1 => Some(Mark::Counted),
            2 => Some(Mark::ProgramBegins),
            3 => Some(Mark::ProgramEnds(arguments[2])),
            _ => None,
        }
    }
}

/// Tells the listener, if there is one, whether what follows counts.
pub(crate) fn count_calls(is_counted: bool) {
    // SAFETY: the kernel has no such operation, and looks at no further argument.
    unsafe {
        libc::syscall(libc::SYS_prctl, MARK, u64::from(is_counted));
    }
}

/// Tells the listener, if there is one, that a program begins or has ended, which is one operation.
pub(crate) fn mark_program(begins: bool) {
    let (what, operations) = if begins { (2_u64, 0_u64) } else { (3, 1) };
    // SAFETY: as above.
    unsafe {
        libc::syscall(libc::SYS_prctl, MARK, what, operations);
    }
}

/// Installs the filter on the calling thread, permanently, and returns the listener.
pub(super) fn install() -> io::Result<RawFd> {
    let address = trampoline::address();
    let mut program = program(address as u32, (address >> 32) as u32);
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    let install = |flags: libc::c_ulong| {
        // SAFETY: `program` is a valid filter of that length, which the kernel copies.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const program,
            )
        };
        if fd < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(fd as RawFd)
        }
    };
    // A report that was taken is not withdrawn because of a signal (Linux 5.19); before, the call is simply
    // reported again.
    let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    match install(listener | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => install(listener),
        other => other,
    }
}

/// A filter that reports every call except those made at this address.
fn program(address_low: u32, address_high: u32) -> [libc::sock_filter; 6] {
    /// Offset of the address at which the call is made.
    const POINTER: u32 = std::mem::offset_of!(libc::seccomp_data, instruction_pointer) as u32;
    // Both halves are looked at in the machine's order; every supported target is little-endian.
    let load = |offset| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0);
    let unless = |value, skip| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, 0, skip);
    let answer = |action| step(libc::BPF_RET | libc::BPF_K, action, 0, 0);
    [
        load(POINTER),
        unless(address_low, 3),
        load(POINTER + 4),
        unless(address_high, 1),
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_USER_NOTIF),
    ]
}

fn step(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}
