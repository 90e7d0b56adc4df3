//! Clocks, processors, counters, audits and measured kernels: the only crate of syscost that knows the
//! operating system and the processor, and the only one with `cfg(target_*)`.
//!
//! It is for Linux on x86-64 and aarch64. What cannot work on one of the two, or on this machine, returns
//! [`Unsupported`] with the reason, so that a benchmark is never compiled away but listed with the reason
//! why it does not run.
//!
//! | Module | What it provides |
//! |---|---|
//! | [`arch`] | the processor's own time counter, unfenced and fenced |
//! | [`clock`] | the measuring clock, its calibration and its health |
//! | [`cold_code`] | eviction of code from all caches |
//! | [`core_probe`] | whether other work shares the core |
//! | [`files`] | page cache, direct access and devices of files |
//! | [`frequency`] | the core's frequency, from chains of known length |
//! | [`network`] | interfaces, and sockets for ICMP echoes |
//! | [`cpu`], [`topology`] | pinning, and which processors share what |
//! | [`counters`] | what the kernel counted: faults, switches, input and output, delays |
//! | [`perf`] | software events and the count of system calls, where perf is allowed |
//! | [`audit`] | the exact system calls an operation makes, without privilege |
//! | [`random`] | random numbers of a seed |
//! | [`raw`] | system calls without the C library in between |
//! | [`lean`] | a process as small as can be, which makes children in this one's place |
//! | [`memory`] | memory of a known size in pages of a known size |
//! | [`partner`] | tasks started to work with this one, and memory shared with them |
//! | [`platform`] | the C library, and what else this program runs on |
//! | [`process`] | parents, descendants, and a process's own settings |
//! | [`sampling`] | what a program's time in the kernel goes to, where perf is allowed |
//! | [`scratch`] | files, queues and semaphores with a name, removed whatever happens |
//! | [`tcp`] | what the kernel knows of a TCP connection |
//! | [`tiny`] | a program of a few hundred bytes, to be executed |
//! | [`trace`] | all that a program asks of the kernel: system calls with outcomes and sizes, faults by kind |
//! | [`zero_copy`] | sending from memory that the kernel does not copy |
//! | [`kernel`] | the measured instructions themselves |

/// For tests: unwraps what a test needs, or ends the test, which says why it is skipped: the error,
/// or these words.
#[macro_export]
macro_rules! or_skip {
    ($needed:expr) => {
        match $needed {
            Ok(needed) => needed,
            Err(reason) => return println!("skipped: {reason}"),
        }
    };
    ($needed:expr, $why:literal) => {
        match $needed {
            Ok(needed) => needed,
            Err(_) => return println!(concat!("skipped: ", $why)),
        }
    };
}

mod elf;
mod error;
mod os;

pub mod arch;
pub mod audit;
pub mod clock;
pub mod cold_code;
pub mod core_probe;
pub mod counters;
pub mod cpu;
pub mod files;
pub mod frequency;
pub mod kernel;
pub mod lean;
pub mod memory;
pub mod network;
pub mod partner;
pub mod perf;
pub mod platform;
pub mod process;
pub mod random;
pub mod raw;
pub mod sampling;
pub mod scratch;
pub mod tcp;
pub mod tiny;
pub mod topology;
pub mod trace;
pub mod zero_copy;

pub use error::{SystemError, Unsupported};
