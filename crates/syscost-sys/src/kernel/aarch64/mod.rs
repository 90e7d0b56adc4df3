//! The kernels for aarch64.
//!
//! Every kernel is a naked function of the C calling convention (AAPCS64), whose text is exactly what is
//! written here and in [`shell`](super::shell). Inside it:
//!
//! | Register | Holds |
//! |---|---|
//! | `x19` | iterations left |
//! | `x20` | the checksum, 0 at first |
//! | `x1` | the kernel's memory, until the kernel uses the register otherwise |
//! | `x2` | the position in a table, in turns, likewise |
//! | `sp` | a multiple of 16, with 128 bytes of its own above it |
//!
//! All other registers are free except `x18`, which is the platform's, and `v8` to `v15`, which are
//! the caller's.

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
pub(super) const NAME: &str = "aarch64";

/// Saves registers, takes memory and begins the checksum.
macro_rules! enter {
    () => {
        "stp x29, x30, [sp, -96]!\n\
         stp x19, x20, [sp, 16]\nstp x21, x22, [sp, 32]\nstp x23, x24, [sp, 48]\n\
         stp x25, x26, [sp, 64]\nstp x27, x28, [sp, 80]\nsub sp, sp, 128\n\
         mov x19, x0\nmov x20, xzr"
    };
}

/// Returns the checksum.
macro_rules! leave {
    () => {
        "mov x0, x20\nadd sp, sp, 128\n\
         ldp x27, x28, [sp, 80]\nldp x25, x26, [sp, 64]\nldp x23, x24, [sp, 48]\n\
         ldp x21, x22, [sp, 32]\nldp x19, x20, [sp, 16]\nldp x29, x30, [sp], 96\nret"
    };
}

/// Goes on at label 32, after the sizes of the code's bodies.
macro_rules! skip_sizes {
    () => {
        "b 32f"
    };
}

/// Bytes of that jump.
pub(super) const JUMP_BYTES: usize = 4;

/// Goes on at label 3 if there is no iteration.
macro_rules! skip {
    () => {
        "cbz x19, 3f"
    };
}

/// Goes back to label 2 if there is another iteration.
macro_rules! again {
    () => {
        "subs x19, x19, 1\nb.ne 2b"
    };
}

/// One line for each of twelve registers, in which `\r` stands for the register: the numbers of
/// `x3` to `x14` or of `d16` to `d27`, or the full names of vectors.
macro_rules! each {
    (integer: $line:expr) => {
        concat!(".irp r,3,4,5,6,7,8,9,10,11,12,13,14\n", $line, "\n.endr")
    };
    (float: $line:expr) => {
        concat!(".irp r,16,17,18,19,20,21,22,23,24,25,26,27\n", $line, "\n.endr")
    };
    (vector: $line:expr) => {
        concat!(
            ".irp r,v16.2d,v17.2d,v18.2d,v19.2d,v20.2d,v21.2d,v22.2d,v23.2d,v24.2d,v25.2d,v26.2d,v27.2d\n",
            $line,
            "\n.endr"
        )
    };
}

use each;
pub(super) use {again, enter, leave, skip, skip_sizes};
