//! The kernels for x86-64.
//!
//! Every kernel is a naked function of the System V calling convention, whose text is exactly what is written
//! here and in [`shell`](super::shell). Inside it:
//!
//! | Register | Holds |
//! |---|---|
//! | `rbx` | iterations left |
//! | `r12` | the checksum, 0 at first |
//! | `rsi` | the kernel's memory, until the kernel uses the register otherwise |
//! | `rdx` | the position in a table, in turns, likewise |
//! | `rsp` | a multiple of 16, with 128 bytes of its own above it |
//!
//! All other registers are free: those that belong to the caller have been saved.

pub(super) mod atomic;
pub(super) mod branch;
pub(super) mod call;
pub(super) mod chase;
pub(super) mod empty_loop;
pub(super) mod float;
pub(super) mod forward;
pub(super) mod integer;
pub(super) mod stream;
pub(super) mod vector;
pub(super) mod written;

/// The architecture's name in messages.
pub(super) const NAME: &str = "x86-64";

/// Saves registers, takes memory and begins the checksum.
macro_rules! enter {
    () => {
        "push rbx\npush rbp\npush r12\npush r13\npush r14\npush r15\nsub rsp, 136\n\
         mov rbx, rdi\nxor r12d, r12d"
    };
}

/// Returns the checksum.
macro_rules! leave {
    () => {
        "mov rax, r12\nadd rsp, 136\n\
         pop r15\npop r14\npop r13\npop r12\npop rbp\npop rbx\nret"
    };
}

/// Goes on at label 32, after the sizes of the code's bodies.
macro_rules! skip_sizes {
    () => {
        "jmp 32f"
    };
}

/// Bytes of that jump.
pub(super) const JUMP_BYTES: usize = 2;

/// Goes on at label 3 if there is no iteration.
macro_rules! skip {
    () => {
        "test rbx, rbx\njz 3f"
    };
}

/// Goes back to label 2 if there is another iteration.
macro_rules! again {
    () => {
        "dec rbx\njnz 2b"
    };
}

/// One line for each register of a set, in which `\r` stands for the register.
macro_rules! each {
    (r64: $line:expr) => {
        concat!(
            ".irp r,rax,rdx,rsi,rdi,r8,r9,r10,r11,rbp,r13,r14,r15\n",
            $line,
            "\n.endr"
        )
    };
    (r32: $line:expr) => {
        concat!(
            ".irp r,eax,edx,esi,edi,r8d,r9d,r10d,r11d,ebp,r13d,r14d,r15d\n",
            $line,
            "\n.endr"
        )
    };
    (twelve: $line:expr) => {
        concat!(".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n", $line, "\n.endr")
    };
    (one: $line:expr) => {
        concat!(".irp r,0\n", $line, "\n.endr")
    };
}

use each;
pub(super) use {again, enter, leave, skip, skip_sizes};
