//! Lies about what is called or computed.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use syscost_harness::prelude::*;
use syscost_sys::kernel;

pub(super) const NOTHING: Benchmark = Benchmark {
    title: "Claims getppid, calls nothing",
    expect: &[calls(Sysno::GETPPID)],
    measure: |plan| {
        let cached = std::os::unix::process::parent_id();
        plan.measure(Loop::infallible(|| black_box(cached)))
    },
    ..Benchmark::DEFAULT
};

pub(super) const VDSO: Benchmark = Benchmark {
    title: "Sells the vDSO as a system call",
    expect: &[calls(Sysno::CLOCK_GETTIME)],
    measure: |plan| plan.measure(Loop::infallible(|| clock_gettime(ClockId::Monotonic))),
    ..Benchmark::DEFAULT
};

pub(super) const FAILS_LATER: Benchmark = Benchmark {
    title: "Fails after the first operation",
    measure: |plan| {
        let mut done = 0;
        plan.measure(Loop::each(|| {
            done += 1;
            match done {
                1 => Ok(()),
                _ => Err("no such thing any more"),
            }
        }))
    },
    ..Benchmark::DEFAULT
};

pub(super) const FOLDED: Benchmark = Benchmark {
    title: "Loop folded into a formula",
    measure: |plan| {
        plan.measure(Loop::batches(1, |n| {
            // What an optimiser leaves of `(0..n).sum()`.
            black_box(n.wrapping_mul(n.wrapping_sub(1)) / 2);
            Ok(())
        }))
    },
    ..Benchmark::DEFAULT
};

pub(super) const SLEEPS: Benchmark = Benchmark {
    title: "Sleeps instead of computing",
    expect: &[calls(Sysno::CLOCK_NANOSLEEP)],
    measure: |plan| {
        let nap = Duration::from_micros(20);
        plan.measure(Loop::infallible(|| std::thread::sleep(nap)))
    },
    ..Benchmark::DEFAULT
};

pub(super) const WRONG_SUM: Benchmark = Benchmark {
    title: "Kernel that does half its work",
    measure: wrong_sum,
    ..Benchmark::DEFAULT
};

fn wrong_sum(plan: Plan) -> Result<Outcome, Failure> {
    let kernel = kernel::dependent_adds(10)?;
    let half = Loop::batches(kernel.operations_per_iteration, |iterations| {
        let expected = kernel.expected(iterations);
        let sum = kernel.run(iterations / 2);
        if sum == expected {
            return Ok(());
        }
        Err(Failure::Refuted(format!(
            "the checksum is {sum}, expected {expected} (iterations: {iterations})"
        )))
    });
    plan.measure(half)
}

pub(super) const CRASH: Benchmark = Benchmark {
    title: "Crashes",
    measure: |plan| plan.measure(Loop::infallible(|| std::process::abort())),
    ..Benchmark::DEFAULT
};

pub(super) const HANG: Benchmark = Benchmark {
    title: "Hangs",
    measure: |plan| {
        plan.measure(Loop::infallible(|| {
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }))
    },
    ..Benchmark::DEFAULT
};
