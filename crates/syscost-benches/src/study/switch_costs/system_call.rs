//! The minimum system call, as the switch-costs experiment timed it.
//!
//! ## Measures
//! A loop with the call less the same loop without, by the CPU time of the process, per turn. Which call it
//! was is not published; only one that the C library answers itself can take 0.9 ns. `getpid=cached`
//! is a model of it: getpid of an old C library, which asks the kernel once and then returns what it
//! remembers. `getpid=entered` is the same procedure with the C library's getpid of today, which always
//! asks. The program was compiled without optimisation; here a model of such code keeps
//! the counter in memory. Published are 100 000 000 turns; here 10 000 000 of the cached call and 20 000 of
//! the other.
//! ## Does not measure
//! With `getpid=cached`, any system call: none is made.
//! ## Interpretation
//! Compare with `syscall.null{call=getpid}`.
//! ## Source
//! The switch-costs experiment, "Cost of minimum system call" (docs/studies/switch-costs.md).

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use syscost_harness::prelude::*;

use super::{CALLS, CPU_TIME, ENTRIES, per_turn};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.switch_costs.system_call",
    title: "Minimal system call, as published",
    tags: &["syscall", "null system call", "kernel entry"],
    quantity: Quantity::Level,
    cases: Cases::List(&[
        CaseSpec {
            params: &[("getpid", "cached")],
            expect: &[exactly(Counter::Syscall(Sysno::GETPID), 0.0)],
        },
        CaseSpec {
            params: &[("getpid", "entered")],
            expect: &[calls(Sysno::GETPID)],
        },
    ]),
    // The clock is read four times per result.
    expect: &[at_most(Counter::OtherSyscalls, 0.001)],
    run,
    source: include_str!("system_call.rs"),
    ..Benchmark::DEFAULT
};

/// The id that the C library remembers; 0 before it has asked.
static REMEMBERED: AtomicU32 = AtomicU32::new(0);

/// getpid as C libraries had it until 2017: one system call, and from then on a load and a comparison.
#[inline(never)]
extern "C" fn cached_getpid() -> u32 {
    match REMEMBERED.load(Relaxed) {
        0 => {
            let asked = std::process::id();
            REMEMBERED.store(asked, Relaxed);
            asked
        }
        remembered => remembered,
    }
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    match b.case().get("getpid") {
        "cached" => {
            // The only call that enters the kernel.
            cached_getpid();
            measure(b, CALLS, || {
                black_box(cached_getpid());
            })
        }
        "entered" => measure(b, ENTRIES, || {
            black_box(std::process::id());
        }),
        _ => Err(b.case().unknown("getpid")),
    }
}

fn measure(b: &mut Bencher, turns: u64, call: impl Fn()) -> Result<(), Failure> {
    b.as_published(turns, || {
        let without = per_turn(CPU_TIME, turns, || ());
        Ok(per_turn(CPU_TIME, turns, &call) - without)
    })
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_results::{Fact, Verdict};

    use super::*;
    use crate::testing;

    #[test]
    fn a_cached_call_enters_no_kernel_and_the_other_always() {
        for (name, made) in [("cached", 0.0), ("entered", 1.0)] {
            let case = Case::new([("getpid", name)]);
            let getpid = exactly(Counter::Syscall(Sysno::GETPID), made);
            let found =
                testing::found_of(&case, Pass::Evidence, &[getpid], run).expect("supported");
            let [evidence] = &found.evidence[..] else {
                panic!("one claim: {:?}", found.evidence);
            };
            if evidence.verdict == Verdict::Unverified {
                println!("skipped: {:?}", evidence.reason);
                continue;
            }
            assert_eq!(evidence.verdict, Verdict::Confirmed, "{evidence:?}");
            assert_eq!(evidence.observed, Some(Fact::Number(made)));
        }
    }
}
