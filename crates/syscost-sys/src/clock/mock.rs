//! A clock that a test moves by hand, one per thread, so that what the harness makes of times is
//! deterministic.
//!
//! ```
//! use syscost_sys::clock::{Clock, mock};
//!
//! mock::reset();
//! mock::set_read_cost_ns(20);
//! let clock = Clock::mock();
//! let start = clock.start();
//! mock::advance_ns(1_000); // the measured operation
//! assert_eq!(clock.stop().ticks - start, 1_020);
//! ```

use std::cell::RefCell;
use std::collections::VecDeque;

#[derive(Debug)]
struct State {
    now_ns: u64,
    read_cost_ns: u64,
    step_ns: u64,
    script: VecDeque<u64>,
    /// Costs of the next reads, before `read_cost_ns` applies again.
    read_script: VecDeque<u64>,
    reads: u64,
    waited_ns: u64,
    interrupts: u64,
    is_contended: bool,
}

impl State {
    const START: State = State {
        now_ns: 0,
        read_cost_ns: 0,
        step_ns: 1,
        script: VecDeque::new(),
        read_script: VecDeque::new(),
        reads: 0,
        waited_ns: 0,
        interrupts: 0,
        is_contended: false,
    };
}

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::START) };
}

fn with<R>(change: impl FnOnce(&mut State) -> R) -> R {
    STATE.with_borrow_mut(change)
}

/// Resets the clock: time 0, free reads, a step of 1 ns and no script.
pub fn reset() {
    with(|state| *state = State::START);
}

/// Lets time pass, as an operation of this cost would.
pub fn advance_ns(ns: u64) {
    with(|state| state.now_ns += ns);
}

/// Lets time pass in which a task of the operation is ready and waits for a CPU.
pub fn wait_ns(ns: u64) {
    with(|state| {
        state.now_ns += ns;
        state.waited_ns += ns;
    });
}

/// How long it has waited since [`reset`], in ns.
pub fn waited_ns() -> u64 {
    with(|state| state.waited_ns)
}

/// Lets this many interrupts take the CPU for `ns` in all.
pub fn interrupt_ns(count: u64, ns: u64) {
    with(|state| {
        state.now_ns += ns;
        state.interrupts += count;
    });
}

/// How many there were since [`reset`].
pub fn interrupts() -> u64 {
    with(|state| state.interrupts)
}

/// Has another program ready to run on the CPU from now on.
pub fn contend() {
    with(|state| state.is_contended = true);
}

/// Whether one is.
pub fn is_contended() -> bool {
    with(|state| state.is_contended)
}

/// Sets what each read of the clock costs from now on.
pub fn set_read_cost_ns(ns: u64) {
    with(|state| state.read_cost_ns = ns);
}

/// Sets the cost of each of the next reads, after which reads cost what they did before; the rest
/// of an older list is dropped.
pub fn script_reads(costs_ns: impl IntoIterator<Item = u64>) {
    let costs = costs_ns.into_iter().collect();
    with(|state| state.read_script = costs);
}

/// Sets the clock's resolution from now on: reads are rounded down to a multiple of it. 0 counts as 1.
pub fn set_step_ns(ns: u64) {
    with(|state| state.step_ns = ns.max(1));
}

/// Sets the costs that the next calls of [`play`] take, one each; the rest of an older script is
/// dropped.
pub fn script(costs_ns: impl IntoIterator<Item = u64>) {
    let costs = costs_ns.into_iter().collect();
    with(|state| state.script = costs);
}

/// Performs an operation of the scripted cost: advances by the script's next entry and returns it, in ns.
/// `None` (and no time passes) when the script has ended.
pub fn play() -> Option<u64> {
    with(|state| {
        let cost = state.script.pop_front()?;
        state.now_ns += cost;
        Some(cost)
    })
}

/// Returns the true time, in ns, without reading the clock.
pub fn now_ns() -> u64 {
    with(|state| state.now_ns)
}

/// How often the clock has been read since [`reset`].
pub fn reads() -> u64 {
    with(|state| state.reads)
}

/// Reads the clock, in ticks: returns the time before the cost of the read passes.
#[cold]
pub(crate) fn read(ticks_per_ns: f64) -> u64 {
    with(|state| {
        let shown = state.now_ns - state.now_ns % state.step_ns;
        state.now_ns += state.read_script.pop_front().unwrap_or(state.read_cost_ns);
        state.reads += 1;
        (shown as f64 * ticks_per_ns) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Bracket, Clock, Source, ticks_per_ns};

    #[test]
    fn time_passes_only_as_set() {
        reset();
        let clock = Clock::new(Source::Mock, 2.0).unwrap();
        let start = clock.start();
        script([5, 7]);
        assert_eq!((play(), play(), play()), (Some(5), Some(7), None));
        assert_eq!(clock.to_ns(clock.stop().ticks - start), 12.0);
        assert_eq!(reads(), 2);
    }

    #[test]
    fn cost_and_step_of_a_read_are_found_again() {
        reset();
        set_read_cost_ns(30);
        assert_eq!(Clock::mock().measure_read_ns(), 30.0);
        set_step_ns(100);
        assert_eq!(Clock::mock().measure_step_ns(), 100.0);
        reset();
        assert_eq!(Clock::mock().measure_step_ns(), 0.0);
    }

    #[test]
    fn it_calibrates_like_a_real_one() {
        reset();
        let first = Bracket::take(Source::Mock);
        advance_ns(1_000_000);
        assert_eq!(ticks_per_ns(&first, &Bracket::take(Source::Mock)), 1.0);
    }
}
