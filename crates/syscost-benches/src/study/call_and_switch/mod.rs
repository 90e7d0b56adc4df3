//! The call-and-switch experiment: calls of seven signatures, getpid and two threads with semaphores.

pub(super) mod function_call;
pub(super) mod system_call;
pub(super) mod thread_switch;

use rustix::time::ClockId;

use super::procedure::{median, now_ns, rounded, timer_ns};

/// Number of results whose median is printed, for calls.
const RUNS: usize = 21;

/// How long a loop took, in ns.
fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let begun = now_ns(ClockId::Monotonic);
    std::hint::black_box(work());
    now_ns(ClockId::Monotonic) - begun
}

/// The published arithmetic: the loop with the operation less the loop without, less two readings of the
/// timer, per operation; the median of 21 such results, with one decimal.
fn median_of_runs(
    operations: u64,
    mut without: impl FnMut() -> u64,
    mut with: impl FnMut() -> u64,
) -> f64 {
    let timer = timer_ns(ClockId::Monotonic);
    let runs = (0..RUNS).map(|_| {
        let base = timed(&mut without);
        let with = timed(&mut with);
        ((with - base) - 2.0 * timer) / operations as f64
    });
    rounded(median(&runs.collect::<Vec<f64>>()), 1)
}
