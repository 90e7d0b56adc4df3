//! aarch64: the virtual counter of the generic timer, which Linux lets user space read.
#![allow(unsafe_code)] // the instructions have no safe form

use std::arch::aarch64::vdupq_n_f32;
use std::arch::{asm, global_asm};
use std::ops::RangeInclusive;

use super::Chain;
use crate::Unsupported;
use crate::clock::Source;

/// The source of a [`Clock`](crate::clock::Clock) that is preferred: Linux sets
/// CNTKCTL_EL1.EL0VCTEN for every process.
pub(crate) const COUNTER: Source = Source::Cntvct;

/// `rdtscp` is an instruction of x86.
///
/// # Errors
/// Always on this target.
pub fn rdtscp() -> Result<(), Unsupported> {
    Err(Unsupported::new(
        "rdtscp is an instruction of x86-64 processors",
    ))
}

/// The architecture itself promises a counter of constant rate (Arm ARM, "The Generic Timer").
pub(crate) fn counter_is_invariant() -> bool {
    true
}

/// `None`: no instruction of a program tells.
pub fn data_cache_bytes(_: u8) -> Option<u64> {
    None
}

/// The instructions of the functions below, as [`reads_by`] finds them.
pub const UNFENCED: &str = "mrs";
/// As [`UNFENCED`].
pub const FENCED: &str = "isb; mrs; isb";
/// As [`UNFENCED`]: there is none.
pub const RDTSCP: &str = "";

/// The instructions by which a function reads the counter, in their order, found in its words.
pub fn reads_by(read: fn() -> u64) -> String {
    /// `ret`: the function ends here.
    const RETURN: u32 = 0xD65F_03C0;
    /// Instructions that any such function has.
    const MOST: usize = 16;
    // SAFETY: code can be read, and so can what follows it: other code of the program.
    let code = unsafe { std::slice::from_raw_parts(read as *const u32, MOST) };
    let code = code.iter().take_while(|word| **word != RETURN);
    let found = code.filter_map(|word| match word {
        0xD503_3FDF => Some("isb"),
        // Of cntvct_el0, to any register.
        word if word & !0x1F == 0xD53B_E040 => Some("mrs"),
        _ => None,
    });
    found.collect::<Vec<_>>().join("; ")
}

/// Reads the counter by `mrs cntvct_el0` alone, which may execute early. In ticks.
#[inline(always)]
pub fn cycle_counter_unfenced() -> u64 {
    let ticks: u64;
    // SAFETY: reads one system register that Linux opens to user space.
    unsafe {
        asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags));
    }
    ticks
}

/// Reads the counter between two `isb`s, so that the read neither executes early nor is overtaken. In ticks.
#[inline(always)]
pub fn cycle_counter_fenced() -> u64 {
    let ticks: u64;
    // SAFETY: as above. `nomem` is left out on purpose: the compiler may not move accesses across.
    unsafe {
        asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks, options(nostack, preserves_flags));
    }
    ticks
}

/// Returns 0 on this target; see [`rdtscp`].
#[inline(always)]
pub fn cycle_counter_rdtscp() -> u64 {
    0
}

#[inline(always)]
pub(crate) fn start() -> u64 {
    cycle_counter_fenced()
}

/// Reads the fenced counter. No register gives user space the processor's number.
#[inline(always)]
pub(crate) fn stop() -> (u64, Option<u32>) {
    (cycle_counter_fenced(), None)
}

/// A chain of 64 dependent instructions per iteration, as if each took one cycle.
macro_rules! chain {
    ($instruction:literal, $register:ident: $one:expr, $other:expr) => {{
        fn run(iterations: u32) {
            // SAFETY: arithmetic on registers that are declared.
            unsafe {
                asm!(
                    ".p2align 6",
                    "2:",
                    ".rept 64",
                    $instruction,
                    ".endr",
                    "subs {iterations:w}, {iterations:w}, #1",
                    "b.ne 2b",
                    one = inout($register) $one => _,
                    other = in($register) $other,
                    iterations = inout(reg) iterations.max(1) => _,
                    options(nomem, nostack),
                );
            }
        }
        Chain {
            run,
            cycles_per_iteration: 64,
        }
    }};
}

/// Register adds, one cycle each.
pub(crate) fn add_chain() -> Chain {
    chain!("add {one}, {one}, {other}", reg: 1_u64, 3_u64)
}

/// Additions of four floats each.
pub(crate) fn float_chain() -> Chain {
    chain!("fadd {one:v}.4s, {one:v}.4s, {other:v}.4s", vreg: vdupq_n_f32(1.0), vdupq_n_f32(3.0))
}

/// 64-bit multiplications.
pub(crate) fn multiply_chain() -> Chain {
    chain!("mul {one}, {one}, {other}", reg: 1_u64, 3_u64)
}

/// How many cycles one takes, by the core (Arm's software optimisation guides).
pub(crate) const MULTIPLY_CYCLES: RangeInclusive<u32> = 2..=5;

// The loops of a probe of the core, as on x86-64: the chain is of adds here. Each takes its iterations, at least 1, in w0.
global_asm!(
    ".pushsection .text.syscost_core_probe, \"ax\", @progbits",
    ".p2align 12",
    ".macro syscost_probe_loop name, count, instruction:vararg",
    ".p2align 6",
    ".globl \\name",
    ".hidden \\name",
    ".type \\name, @function",
    "\\name:",
    "mov x1, #1",
    "mov x2, #3",
    ".p2align 6",
    "2:",
    ".rept \\count",
    "\\instruction",
    ".endr",
    "subs w0, w0, #1",
    "b.ne 2b",
    "ret",
    ".size \\name, . - \\name",
    ".endm",
    "syscost_probe_loop syscost_probe_chain, 64, add x1, x1, x2",
    "syscost_probe_loop syscost_probe_burst_30, 30, nop",
    "syscost_probe_loop syscost_probe_burst_60, 60, nop",
    "syscost_probe_loop syscost_probe_burst_120, 120, nop",
    "syscost_probe_loop syscost_probe_burst_300, 300, nop",
    "syscost_probe_loop syscost_probe_burst_1200, 1200, nop",
    ".purgem syscost_probe_loop",
    ".popsection",
);

/// Core cycles of one iteration of [`super::probe_loops::CHAIN`].
pub(crate) const PROBE_CHAIN_CYCLES: u32 = 64;
