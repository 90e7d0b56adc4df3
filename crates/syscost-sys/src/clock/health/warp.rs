//! Two processors read their counters in turn; each read must not lie before the one it follows.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Unsupported, arch, cpu};

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
    /// The second processor's counter minus the first's, in ticks, from the tightest exchange.
    pub offset_ticks: i64,
    /// `offset_ticks` is wrong by at most this, in ticks: half of that exchange.
    pub offset_uncertainty_ticks: u64,
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
    let (first, second): (Seen, Seen) = (first?, second?);
    if first.tightest == u64::MAX || second.reads == 0 {
        return Err(Unsupported::new(format!(
            "cpus {cpu_a} and {cpu_b} did not run at the same time"
        )));
    }
    Ok(Warp {
        reads: first.reads + second.reads,
        warps: first.warps + second.warps,
        worst_ticks: first.worst.max(second.worst),
        offset_ticks: first.offset,
        offset_uncertainty_ticks: first.tightest.div_ceil(2),
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

/// What one side saw; the offset is the other side's counter minus its own.
#[derive(Default)]
struct Seen {
    reads: u64,
    warps: u64,
    worst: u64,
    offset: i64,
    tightest: u64,
}

impl Line {
    /// One side: waits for its turn (the parity of `turn`), reads, and passes the line on.
    fn exchange(&self, cpu: u32, mine: u64) -> Result<Seen, Unsupported> {
        if let Err(refused) = cpu::pin(cpu) {
            self.stop.store(true, Ordering::Relaxed);
            return Err(refused.into());
        }
        let begin = Instant::now();
        let mut seen = Seen {
            tightest: u64::MAX,
            ..Seen::default()
        };
        let mut last_own = None;
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
            // Own read, the other's read, own read: the other's lies in the middle, give or take half of the
            // interval.
            if let Some(own) = last_own.replace(now)
                && now.wrapping_sub(own) < seen.tightest
                && before != 0
            {
                seen.tightest = now.wrapping_sub(own);
                let middle = own.wrapping_add(seen.tightest / 2);
                seen.offset = before.wrapping_sub(middle).cast_signed();
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
