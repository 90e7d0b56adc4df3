//! The first call of a procedure, against a warm one.
//!
//! ## Measures
//! One call and return, timed on its own, of a procedure in a page of this program's own file that is mapped once more.
//! `first`: the page is not in the process's page table and the code in no cache, as in a process that has just started:
//! one page fault, which needs no disk, then the fetch from memory. `evicted`: the page is mapped, the code in no cache.
//! In both the core does not know where the call will lead: one of sixteen mappings is chosen by chance, since a core that
//! guesses the target would fetch the code before the clock starts. `warm`: the procedure was called just before. The
//! timer's own cost, measured the same way around nothing, is taken off.
//! ## Does not measure
//! Reading the code from disk, and resolving a symbol by the dynamic linker, which a program's very first call of a library's
//! procedure may pay on top.
//! ## Reading it
//! `first` is mostly a page fault, some hundreds of warm calls; `evicted` a latency of memory and a wrong guess. A `warm`
//! call is shorter than the timer around it, so its figure is rough, and "below resolution" a legal answer: `call.indirect`
//! has the cost of one among many. This is why an experiment that times its calls one by one finds the first one dearest.
//! ## Source
//! The three-costs experiment, which found its call without arguments dearer than some with more, and explains it by being
//! the first in the code.

mod code;

use std::cell::Cell;
use std::hint::black_box;

use code::Code;
use syscost_harness::prelude::*;
use syscost_sys::cold_code::evict;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "call.first",
    title: "First function call, cold code",
    tags: &[
        "procedure call",
        "cold start",
        "cold cache",
        "instruction cache miss",
        "code page fault",
    ],
    // Since 2: nothing runs between what makes the code cold and the call, and no prediction of it is left.
    revision: 2,
    cases: Cases::List(&[
        CaseSpec {
            params: &[("state", "first")],
            expect: &[
                exactly(Counter::MinorFaults, 1.0),
                at_least(Counter::CoreCycles, FAULT),
            ],
        },
        CaseSpec {
            params: &[("state", "evicted")],
            expect: &[at_least(Counter::CoreCycles, FETCH)],
        },
        CaseSpec {
            params: &[("state", "warm")],
            expect: &[],
        },
    ]),
    expect: &[exactly(Counter::Reported(ANSWERS), 1.0)],
    support: |_| evict(&[]),
    run,
    source: include_str!("first.rs"),
    ..Benchmark::DEFAULT
};

const ANSWERS: &str = "right answers of the called procedure";

/// Core cycles that no page fault undercuts: entry into the kernel and the way back alone take about as many.
const FAULT: f64 = 200.0;

/// Core cycles in which no memory answers; a second-level cache and a wrong guess together do.
const FETCH: f64 = 60.0;

/// Mappings among which a cold call chooses.
const MAPPINGS: usize = 16;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let mappings = (0..MAPPINGS)
        .map(|_| Code::map())
        .collect::<Result<Vec<_>, _>>()?;
    let state = b.case().get("state").to_owned();
    let unknown = b.case().unknown("state");
    let mut random = b.random().clone();
    let chosen = Cell::new(&mappings[0]);
    let answers = Cell::new(0_u64);
    let prepare = || {
        if state != "warm" {
            chosen.set(&mappings[random.usize(..MAPPINGS)]);
        }
        let code = chosen.get();
        code.call(1);
        match state.as_str() {
            "first" => code.evict().and_then(|()| code.unmap()),
            "evicted" => code.evict(),
            "warm" => Ok(()),
            _ => Err(unknown.clone()),
        }
    };
    b.single(prepare, || {
        let answer = chosen.get().call(black_box(41));
        answers.set(answers.get() + u64::from(answer == !41));
        Ok(())
    })?;
    b.report(ANSWERS, answers.get() as f64);
    Ok(())
}
