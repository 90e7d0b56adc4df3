//! x86-64: the time-stamp counter.
#![allow(unsafe_code)] // the instructions have no safe form

use std::arch::x86_64::_mm_set1_ps;
use std::arch::{asm, global_asm};
use std::ops::RangeInclusive;

use super::Chain;
use crate::Unsupported;
use crate::clock::Source;

/// The source of a [`Clock`](crate::clock::Clock) that is preferred: every x86-64 processor has it.
pub(crate) const COUNTER: Source = Source::Tsc;

/// Whether the processor has `rdtscp` (CPUID 8000_0001h EDX bit 27).
///
/// # Errors
/// `Unsupported` when the bit is clear.
pub fn rdtscp() -> Result<(), Unsupported> {
    let features = raw_cpuid::CpuId::new().get_extended_processor_and_feature_identifiers();
    if features.is_some_and(|f| f.has_rdtscp()) {
        Ok(())
    } else {
        Err(Unsupported::new(
            "this processor has no rdtscp instruction (CPUID 8000_0001h EDX bit 27)",
        ))
    }
}

/// CPUID 8000_0007h EDX bit 8: the counter runs at one rate in all power states.
pub(crate) fn counter_is_invariant() -> bool {
    let power = raw_cpuid::CpuId::new().get_advanced_power_mgmt_info();
    power.is_some_and(|p| p.has_invariant_tsc())
}

/// Bytes of the data cache of this level on the CPU that this thread is on, by the processor's own word
/// (CPUID 4 or 8000_001Dh); `None` where it does not say.
pub fn data_cache_bytes(level: u8) -> Option<u64> {
    let mut caches = raw_cpuid::CpuId::new().get_cache_parameters()?;
    let cache = caches.find(|cache| {
        cache.level() == level && cache.cache_type() != raw_cpuid::CacheType::Instruction
    })?;
    let ways = cache.associativity() * cache.physical_line_partitions();
    Some((ways * cache.coherency_line_size() * cache.sets()) as u64)
}

/// The instructions of the functions below, as [`reads_by`] finds them.
pub const UNFENCED: &str = "rdtsc";
/// As [`UNFENCED`].
pub const FENCED: &str = "lfence; rdtsc; lfence";
/// As [`UNFENCED`].
pub const RDTSCP: &str = "rdtscp";

/// The instructions by which a function reads the counter, in their order, found in its bytes.
pub fn reads_by(read: fn() -> u64) -> String {
    /// `ret`: the function ends here.
    const RETURN: u8 = 0xC3;
    /// Bytes that any such function has.
    const MOST: usize = 64;
    // SAFETY: code can be read, and so can what follows it: other code of the program.
    let code = unsafe { std::slice::from_raw_parts(read as *const u8, MOST) };
    let code = code
        .split(|byte| *byte == RETURN)
        .next()
        .unwrap_or_default();
    let known: [(&[u8], &str); 3] = [
        (&[0x0F, 0xAE, 0xE8], "lfence"),
        (&[0x0F, 0x31], "rdtsc"),
        (&[0x0F, 0x01, 0xF9], "rdtscp"),
    ];
    let at = |start| {
        known
            .iter()
            .find(|(bytes, _)| code[start..].starts_with(bytes))
    };
    let found = (0..code.len()).filter_map(at).map(|(_, name)| *name);
    found.collect::<Vec<_>>().join("; ")
}

/// Reads the counter by `rdtsc` alone: cheap, but free to move among the instructions around it. In ticks.
#[inline(always)]
pub fn cycle_counter_unfenced() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: rdtsc reads a counter into eax and edx and touches nothing else. (A process that
    // forbade it to itself with PR_SET_TSC gets SIGSEGV, which is no memory error.)
    unsafe {
        asm!("rdtsc", out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Reads the counter between two `lfence`s: after everything before it, before everything that
/// follows. In ticks.
#[inline(always)]
pub fn cycle_counter_fenced() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: as above. `nomem` is left out on purpose: the compiler may not move accesses across.
    unsafe {
        asm!("lfence", "rdtsc", "lfence", out("eax") low, out("edx") high, options(nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Reads the counter by `rdtscp`, which waits for the instructions before it, not for those after
/// it. In ticks.
#[inline(always)]
pub fn cycle_counter_rdtscp() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads two registers into eax, edx and ecx; the caller asked `rdtscp()` first.
    unsafe {
        asm!("rdtscp", out("eax") low, out("edx") high, out("ecx") _, options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

#[inline(always)]
pub(crate) fn start() -> u64 {
    cycle_counter_fenced()
}

/// `rdtscp; lfence`: the time and, in TSC_AUX, the processor it was read on.
#[inline(always)]
pub(crate) fn stop() -> (u64, Option<u32>) {
    let (low, high, aux): (u32, u32, u32);
    // SAFETY: as `cycle_counter_rdtscp`; a Clock of this source exists only where `rdtscp()` is Ok.
    unsafe {
        asm!("rdtscp", "lfence", out("eax") low, out("edx") high, out("ecx") aux, options(nostack, preserves_flags));
    }
    // Linux stores `node << 12 | cpu` in TSC_AUX.
    (u64::from(high) << 32 | u64::from(low), Some(aux & 0xfff))
}

/// A chain of this many dependent instructions per iteration, as if each took one cycle.
macro_rules! chain {
    ($count:literal of $instruction:literal, $register:ident: $one:expr, $other:expr) => {{
        fn run(iterations: u32) {
            // SAFETY: arithmetic on registers that are declared.
            unsafe {
                asm!(
                    ".p2align 6",
                    "2:",
                    concat!(".rept ", $count),
                    $instruction,
                    ".endr",
                    "dec {iterations:e}",
                    "jnz 2b",
                    one = inout($register) $one => _,
                    other = in($register) $other,
                    iterations = inout(reg) iterations.max(1) => _,
                    options(nomem, nostack),
                );
            }
        }
        Chain {
            run,
            cycles_per_iteration: $count,
        }
    }};
}

/// Register adds, one cycle each. Register and register: some cores add a constant for nothing while
/// renaming.
pub(crate) fn add_chain() -> Chain {
    chain!(64 of "add {one}, {other}", reg: 1_u64, 3_u64)
}

/// Additions of four floats each, as if they took one cycle.
pub(crate) fn float_chain() -> Chain {
    chain!(64 of "addps {one}, {other}", xmm_reg: _mm_set1_ps(1.0), _mm_set1_ps(3.0))
}

/// 64-bit multiplications, as if they took one cycle each.
pub(crate) fn multiply_chain() -> Chain {
    chain!(24 of "imul {one}, {other}", reg: 1_u64, 3_u64)
}

/// How many cycles one takes: as many on every common core since 2008 (Agner Fog, "Instruction tables").
pub(crate) const MULTIPLY_CYCLES: RangeInclusive<u32> = 3..=3;

// The loops of a probe of the core, in a section of their own that begins a page: where they lie in it, and what the branch
// at the end of each costs, is the same in every build. Each takes its iterations, at least 1, in edi.
//
// The chain: 24 dependent multiplications, as in [`multiply_chain`]. A burst: no-ops, which depend on nothing and need no
// execution unit, so they pass as fast as the core fetches and renames. (Adds would be held up by their ports now and then,
// even on an undisturbed core: 1.00 or 1.21 of the time, for hundreds of bursts in a row, seen on a Xeon.)
global_asm!(
    ".pushsection .text.syscost_core_probe, \"ax\", @progbits",
    ".p2align 12",
    ".macro syscost_probe_loop name, count, instruction:vararg",
    ".p2align 6",
    ".globl \\name",
    ".hidden \\name",
    ".type \\name, @function",
    "\\name:",
    "mov eax, 1",
    "mov ecx, 3",
    ".p2align 6",
    "2:",
    ".rept \\count",
    "\\instruction",
    ".endr",
    "dec edi",
    "jnz 2b",
    "ret",
    ".size \\name, . - \\name",
    ".endm",
    "syscost_probe_loop syscost_probe_chain, 24, imul rax, rcx",
    // A no-op of three bytes.
    "syscost_probe_loop syscost_probe_burst_30, 30, .byte 0x0f, 0x1f, 0x00",
    "syscost_probe_loop syscost_probe_burst_60, 60, .byte 0x0f, 0x1f, 0x00",
    "syscost_probe_loop syscost_probe_burst_120, 120, .byte 0x0f, 0x1f, 0x00",
    "syscost_probe_loop syscost_probe_burst_300, 300, .byte 0x0f, 0x1f, 0x00",
    "syscost_probe_loop syscost_probe_burst_1200, 1200, .byte 0x0f, 0x1f, 0x00",
    ".purgem syscost_probe_loop",
    ".popsection",
);

/// Core cycles of one iteration of [`super::probe_loops::CHAIN`].
pub(crate) const PROBE_CHAIN_CYCLES: u32 = 24 * 3;
