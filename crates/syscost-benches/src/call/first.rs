//! The first call of a procedure, against a warm one.
//!
//! ## Measures
//! One call and return, timed individually, of a procedure in a page of this program's own file
//! that is mapped once more. `first`: the page is not in the process's page table and its code is
//! in no cache, as in a process that has just started: one page fault, which needs no disk, then
//! the fetch from memory. `evicted`: the page is mapped, but its code is in no cache. In both the
//! core does not know where the call will lead: one of sixteen mappings is chosen at random, since
//! a core that predicts the target would fetch the code before the clock starts. `warm`: the
//! procedure was called just before. The timer's own cost, measured in the same way around nothing,
//! is subtracted.
//! ## Does not measure
//! Reading the code from disk, and resolving a symbol by the dynamic linker, which a program's very
//! first call of a library's procedure may pay in addition.
//! ## Interpretation
//! `first` is mostly a page fault, some hundreds of warm calls; `evicted` a memory latency and a
//! misprediction. A `warm` call is shorter than the timer around it, so its figure is rough, and
//! "below resolution" is a legitimate result: `call.indirect` has the cost of one among many. This
//! is why an experiment that times its calls one by one finds the first one the most expensive.
//! ## Source
//! The three-costs experiment, which found its call without arguments more expensive than some with
//! more, since it was the first call in the code.

mod code;

use std::cell::Cell;
use std::hint::black_box;
use std::ptr;

use code::Code;
use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "First function call, cold code",
    tags: "procedure call, cold start, cold cache, instruction cache miss, code page fault",
    // Since 2: nothing runs between making the code cold and the call, and no prediction of it is left.
    revision: 2,
    expect: &[exactly(Counter::Reported(ANSWERS), 1.0)],
    ..Benchmark::of::<Row>()
};

const ANSWERS: &str = "correct return values of the called procedure";

/// Minimum core cycles of a page fault: entering the kernel and returning alone take about as many.
const FAULT: f64 = 200.0;

/// Minimum core cycles of a fetch from memory; a second-level cache and a misprediction together take less.
const FETCH: f64 = 60.0;

/// Mappings among which a cold call chooses.
const MAPPINGS: usize = 16;

static ELSEWHERE: Witness = Witness::of(
    "share of the calls that lead to another mapping than the one before",
    "the addresses",
);

/// What is ready for the call.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    Evicted,
    Warm,
}

#[derive(Params, Clone)]
struct Row {
    state: State,
}

impl Measured for Row {
    fn rows(_: &Here) -> Vec<Case<Self>> {
        rows!(Row { state: State::ALL })
    }

    fn proofs(&self) -> RowProofs<Proof> {
        RowProofs {
            state: match self.state {
                State::First => Proof::counted([
                    exactly(Counter::MinorFaults, 1.0),
                    at_least(Counter::CoreCycles, FAULT),
                ]),
                State::Evicted => Proof::counted([at_least(Counter::CoreCycles, FETCH)])
                    .and(ELSEWHERE.within(Bound::AtLeast(0.3))),
                State::Warm => ELSEWHERE.sees(0.0),
            },
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let mappings = (0..MAPPINGS)
            .map(|_| Code::map())
            .collect::<Result<Vec<_>, _>>()?;
        let mut random = plan.random().clone();
        let (chosen, before) = (Cell::new(&mappings[0]), Cell::new(&mappings[0]));
        let answers = Cell::new(0_u64);
        let (mut moves, mut choices) = (0_u64, 0_u64);
        let prepare = || {
            if self.state != State::Warm {
                chosen.set(&mappings[random.usize(..MAPPINGS)]);
            }
            let code = chosen.get();
            choices += 1;
            moves += u64::from(!ptr::eq(code, before.replace(code)));
            code.call(1);
            match self.state {
                State::First => return code.unmap(),
                State::Evicted => code.evict(),
                State::Warm => {}
            }
            Ok(())
        };
        let mut outcome = plan.measure(Single::of(prepare, || {
            let answer = chosen.get().call(black_box(41));
            answers.set(answers.get() + u64::from(answer == !41));
            Ok(())
        }))?;
        outcome.saw(&ELSEWHERE, moves as f64 / choices.max(1) as f64);
        outcome.report(ANSWERS, answers.get() as f64);
        Ok(outcome)
    }
}
