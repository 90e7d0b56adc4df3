//! Whether the processor's counter can be trusted, and what is used when it cannot.
//!
//! The checks follow what Linux itself asks of the time-stamp counter (`tsc_sync.c`): a constant
//! rate, the kernel's own verdict, no warp between processors, no drift, no step back.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use super::{Clock, Source};
use crate::{Unsupported, arch, cpu};

/// The largest change of rate between the run's start and its end, in parts per million.
pub const MAX_DRIFT_PPM: f64 = 50.0;

/// The check of the rate, the one that holds for any clock.
pub const DRIFT: &str = "drift";

/// One check and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The check's short name: `invariant`, `kernel_clocksource`, `warp`, `drift`,
    /// `negative_delta`.
    pub name: &'static str,
    /// Passed, failed, or not decided (a warning, or nothing to ask here).
    pub ok: Option<bool>,
    /// What was seen, for the reader.
    pub detail: String,
}

impl Check {
    fn new(name: &'static str, ok: Option<bool>, detail: impl Into<String>) -> Check {
        Check {
            name,
            ok,
            detail: detail.into(),
        }
    }
}

/// The processor's own promise that its counter runs at one rate (x86: CPUID 8000_0007h EDX bit 8;
/// aarch64: always).
pub fn invariant() -> Check {
    let ok = arch::counter_is_invariant();
    let detail = if ok {
        "the processor promises a counter of constant rate"
    } else {
        "the processor does not promise a constant rate (CPUID 8000_0007h EDX bit 8 is clear)"
    };
    Check::new("invariant", Some(ok), detail)
}

/// The clock that the kernel itself chose, from `<sysfs>/devices/system/clocksource` (`sysfs` is
/// `/sys`, or a recorded tree). The kernel watches the counter for as long as the machine runs; if
/// it has left it, so do we.
pub fn kernel_clocksource(sysfs: &Path) -> Check {
    let name = "kernel_clocksource";
    let path = sysfs.join("devices/system/clocksource/clocksource0/current_clocksource");
    let chosen = match fs::read_to_string(&path) {
        Ok(text) => text.trim().to_owned(),
        Err(cause) => {
            return Check::new(
                name,
                None,
                format!("cannot read {}: {cause}", path.display()),
            );
        }
    };
    match chosen.as_str() {
        "" => Check::new(name, None, format!("{} is empty", path.display())),
        "tsc" | "arch_sys_counter" => {
            Check::new(name, Some(true), format!("the kernel uses {chosen}"))
        }
        "kvm-clock" | "hyperv_clocksource_tsc_page" | "hyperv_clocksource_msr" | "xen" => {
            Check::new(
                name,
                None,
                format!(
                    "the kernel uses the hypervisor's {chosen}, so it does not vouch for the counter itself"
                ),
            )
        }
        _ => Check::new(
            name,
            Some(false),
            format!("the kernel uses {chosen}, not the processor's counter; dmesg may say why"),
        ),
    }
}

/// Whether the counters of two processors agree: about 20 ms of reads that must follow each other.
pub fn warp(cpu_a: u32, cpu_b: u32) -> Check {
    match measure_warp(cpu_a, cpu_b) {
        Err(reason) => Check::new("warp", None, reason.to_string()),
        Ok(seen) => Check::new(
            "warp",
            // Too few exchanges prove nothing (the machine was busy).
            if seen.warps > 0 {
                Some(false)
            } else {
                (seen.reads >= 2_000).then_some(true)
            },
            format!(
                "cpus {cpu_a} and {cpu_b}: {} warps in {} reads, worst {} ticks",
                seen.warps, seen.reads, seen.worst_ticks
            ),
        ),
    }
}

/// Whether the rate at the end is the rate at the start; both in ticks per ns.
pub fn drift(start: f64, end: f64) -> Check {
    let ppm = drift_ppm(start, end);
    let ok = ppm.is_finite() && ppm.abs() <= MAX_DRIFT_PPM;
    Check::new(
        DRIFT,
        Some(ok),
        format!("the rate changed by {ppm:+.2} ppm between start and end (limit {MAX_DRIFT_PPM})"),
    )
}

/// The change of rate from start to end in parts per million; both rates in ticks per ns.
pub fn drift_ppm(start: f64, end: f64) -> f64 {
    (end / start - 1.0) * 1e6
}

/// Whether the clock ever steps back under one thread: 100 000 reads in a row.
pub fn negative_delta(clock: &Clock) -> Check {
    /// Number of readings.
    const READS: u32 = 100_000;
    let mut before = clock.start();
    let mut steps_back = 0_u32;
    for _ in 0..READS {
        let now = clock.stop().ticks;
        steps_back += u32::from(now < before);
        before = now;
    }
    Check::new(
        "negative_delta",
        Some(steps_back == 0),
        format!("{steps_back} steps back in {READS} reads"),
    )
}

/// The source to measure with, and why it is not the processor's counter when it is not: one failed
/// check is enough to fall back to the system's clock. Undecided checks change nothing.
pub fn choose_source(checks: &[Check]) -> (Source, Option<String>) {
    let preferred = Source::preferred();
    if let Err(reason) = preferred.support() {
        return (Source::ClockGettime, Some(reason.to_string()));
    }
    match checks.iter().find(|check| check.ok == Some(false)) {
        None => (preferred, None),
        Some(failed) => (
            Source::ClockGettime,
            Some(format!(
                "{preferred} is not used because the check {} failed: {}",
                failed.name, failed.detail
            )),
        ),
    }
}

/// How long a pair is watched: what Linux's own test takes.
const WATCH: Duration = Duration::from_millis(20);

/// How many reads each side needs. With fewer, because another task had one of the processors, the
/// pair is watched longer.
const ENOUGH_READS: u64 = 2_000;
const LONGEST_WATCH: Duration = Duration::from_millis(200);

/// What a pair of processors showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warp {
    /// Reads that followed a read of the other processor.
    pub reads: u64,
    /// Reads that lay before the read they followed.
    pub warps: u64,
    /// The worst of them, in ticks.
    pub worst_ticks: u64,
}

/// Compares the counters of two processors for about 20 ms (200 at most on busy ones), with two
/// threads of its own pinned to them.
///
/// # Errors
/// `Unsupported` when both are the same processor, or pinning is refused.
pub fn measure_warp(cpu_a: u32, cpu_b: u32) -> Result<Warp, Unsupported> {
    if cpu_a == cpu_b {
        return Err(Unsupported::new(
            "a processor cannot be compared with itself",
        ));
    }
    let line = Line {
        turn: AtomicU64::new(0),
        stamp: AtomicU64::new(0),
        stop: AtomicBool::new(false),
    };
    // Threads of their own, so the caller's affinity stays as it is.
    let (first, second) = thread::scope(|scope| {
        let line = &line;
        let start = |cpu, side| {
            let exchange = move || line.exchange(cpu, side);
            let thread = thread::Builder::new().spawn_scoped(scope, exchange);
            thread.map_err(move |cause| {
                line.stop.store(true, Ordering::Relaxed);
                Unsupported::new(format!("no thread can be started: {cause}"))
            })
        };
        let ends = [start(cpu_a, 0), start(cpu_b, 1)].map(|thread| {
            let lost = |_| Unsupported::new("a thread of the warp test panicked");
            thread?.join().map_err(lost)?
        });
        ends.into()
    });
    let (first, second): (WarpReadings, WarpReadings) = (first?, second?);
    if first.reads == 0 || second.reads == 0 {
        return Err(Unsupported::new(format!(
            "cpus {cpu_a} and {cpu_b} did not run at the same time"
        )));
    }
    Ok(Warp {
        reads: first.reads + second.reads,
        warps: first.warps + second.warps,
        worst_ticks: first.worst.max(second.worst),
    })
}

/// The line that the two processors pass back and forth, alone on its cache line.
#[repr(align(128))]
struct Line {
    /// Even: the first may read; odd: the second.
    turn: AtomicU64,
    stamp: AtomicU64,
    stop: AtomicBool,
}

/// What one side saw.
#[derive(Default)]
struct WarpReadings {
    reads: u64,
    warps: u64,
    worst: u64,
}

impl Line {
    /// One side: waits for its turn (the parity of `turn`), reads, and passes the line on.
    fn exchange(&self, cpu: u32, mine: u64) -> Result<WarpReadings, Unsupported> {
        if let Err(refused) = cpu::pin(cpu) {
            self.stop.store(true, Ordering::Relaxed);
            return Err(refused.into());
        }
        let begin = Instant::now();
        let mut seen = WarpReadings::default();
        while self.wait_for(mine, begin, seen.reads) {
            let before = self.stamp.load(Ordering::Relaxed);
            let now = arch::cycle_counter_fenced();
            self.stamp.store(now, Ordering::Relaxed);
            self.turn.fetch_add(1, Ordering::Release);
            if before != 0 {
                seen.reads += 1;
                if now < before {
                    seen.warps += 1;
                    seen.worst = seen.worst.max(before - now);
                }
            }
        }
        Ok(seen)
    }

    /// Spins until it is this side's turn; false, for both sides, when all has been seen or the time
    /// is over.
    fn wait_for(&self, mine: u64, begin: Instant, reads: u64) -> bool {
        let is_over = || {
            let watched = begin.elapsed();
            let over = watched > LONGEST_WATCH || (watched > WATCH && reads >= ENOUGH_READS);
            self.stop.fetch_or(over, Ordering::Relaxed) || over
        };
        let mut spins = 0_u32;
        while self.turn.load(Ordering::Acquire) % 2 != mine {
            spins += 1;
            if spins.is_multiple_of(1024) && is_over() {
                return false;
            }
            std::hint::spin_loop();
        }
        // Checked once a turn as well, or a fast pair would never look at the time.
        !is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(clocksource: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("devices/system/clocksource/clocksource0");
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("current_clocksource"),
            format!("{clocksource}\n"),
        )
        .unwrap();
        root
    }

    #[test]
    fn the_kernels_verdict_is_read() {
        for (chosen, ok) in [
            ("tsc", Some(true)),
            ("kvm-clock", None),
            ("hpet", Some(false)),
            ("acpi_pm", Some(false)),
        ] {
            let check = kernel_clocksource(tree(chosen).path());
            assert_eq!(check.ok, ok);
            assert!(check.detail.contains(chosen));
        }
        assert_eq!(kernel_clocksource(Path::new("/nowhere")).ok, None);
    }

    #[test]
    fn drift_beyond_the_limit_fails_either_way() {
        assert_eq!(drift(2.5, 2.5).ok, Some(true));
        assert_eq!(drift(1.0, 1.000_049).ok, Some(true));
        assert_eq!(drift(1.0, 1.000_060).ok, Some(false));
        assert_eq!(drift(1.0, 0.999_940).ok, Some(false));
        assert_eq!(drift(1.0, f64::NAN).ok, Some(false));
    }

    #[test]
    fn one_failed_check_falls_back_and_says_so() {
        let fine = [
            Check::new("invariant", Some(true), ""),
            Check::new("warp", None, ""),
        ];
        let source = choose_source(&fine).0;
        assert_eq!(source, Source::preferred());
        if source == Source::ClockGettime {
            println!("skipped: no counter here");
            return;
        }
        let bad = [
            fine[0].clone(),
            Check::new("kernel_clocksource", Some(false), "the kernel uses hpet"),
        ];
        let (source, reason) = choose_source(&bad);
        assert_eq!(source, Source::ClockGettime);
        assert!(reason.unwrap().contains("the kernel uses hpet"));
    }

    #[test]
    fn the_system_clock_never_steps_back() {
        assert_eq!(negative_delta(&Clock::system()).ok, Some(true));
    }

    #[test]
    fn a_pair_of_processors_is_compared() {
        let cpus = crate::cpu::allowed().unwrap_or_default();
        let [first, second, ..] = cpus[..] else {
            println!("skipped: one processor only");
            return;
        };
        let seen = or_skip!(measure_warp(first, second));
        assert!(seen.reads > 0);
        assert_eq!(seen.warps > 0, seen.worst_ticks > 0);
        assert!(measure_warp(first, 9_999).is_err());
        assert!(measure_warp(first, first).is_err());
    }
}
