//! The switch-costs experiment: an empty loop, the minimum function and system call, and switches as elapsed
//! time less CPU time.

pub(super) mod function_call;
pub(super) mod r#loop;
pub(super) mod pipe_write_read;
pub(super) mod process_switch;
pub(super) mod system_call;
pub(super) mod thread_switch;
pub(super) mod yield_alone;

use rustix::time::ClockId;
use syscost_harness::prelude::*;

use super::procedure::now_ns;
use super::unoptimised::repeat;

/// Turns of loops with a function or system call: a tenth of those published, since a row must end in time.
/// Even so the two readings of the clock are a negligible part of a result.
const CALLS: u64 = 10_000_000;

/// Turns of the shorter loops, as published.
const TURNS: u64 = 100_000;

/// Turns of loops whose every turn enters the kernel and does no more: fewer than those published.
const ENTRIES: u64 = 20_000;

/// Operations whose system calls are counted, where those of a whole result would take too long.
const AUDITED: u64 = 64;

/// The CPU time of this process, with all its threads.
const CPU_TIME: ClockId = ClockId::ProcessCPUTime;

/// The time of this many turns of an unoptimised loop by a clock, per turn, in ns.
fn per_turn(clock: ClockId, turns: u64, turn: impl FnMut()) -> f64 {
    let begun = now_ns(clock);
    repeat(turns, turn);
    (now_ns(clock) - begun) / turns as f64
}

/// The clock of a switch's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Elapsed time.
    Monotonic,
    /// CPU time.
    CpuTime,
    /// The first minus the second, each from a separate run.
    Difference,
}

impl By {
    /// The values of the parameter.
    const NAMES: &[&str] = &["monotonic", "cpu_time", "difference"];

    /// The clock that a case names.
    fn of(case: &Case) -> Result<Self, Failure> {
        match case.get("clock") {
            "monotonic" => Ok(Self::Monotonic),
            "cpu_time" => Ok(Self::CpuTime),
            "difference" => Ok(Self::Difference),
            _ => Err(case.unknown("clock")),
        }
    }

    /// How many runs a result takes.
    fn runs(self) -> u64 {
        match self {
            Self::Monotonic | Self::CpuTime => 1,
            Self::Difference => 2,
        }
    }

    /// A result, from runs by these clocks; a difference is multiplied by `share`.
    fn result(
        self,
        share: f64,
        mut run: impl FnMut(ClockId) -> Result<f64, Failure>,
    ) -> Result<f64, Failure> {
        match self {
            Self::Monotonic => run(ClockId::Monotonic),
            Self::CpuTime => run(CPU_TIME),
            Self::Difference => Ok(share * (run(ClockId::Monotonic)? - run(CPU_TIME)?)),
        }
    }
}

/// The smallest step that the CPU-time clock makes between readings, in ns; `None` where it stands still.
fn cpu_clock_step_ns() -> Option<f64> {
    const READINGS: u32 = 1_000;
    let readings: Vec<f64> = (0..READINGS).map(|_| now_ns(CPU_TIME)).collect();
    let steps = readings.windows(2).map(|pair| pair[1] - pair[0]);
    steps.filter(|ns| *ns > 0.0).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use syscost_results::study::{Study, figures};

    use super::*;

    fn published() -> Vec<(String, Vec<f64>)> {
        let study = Study::parse(include_str!("study.toml")).expect("a study");
        let of = |quantity| {
            let figures = figures(&study, quantity);
            figures.iter().filter_map(|figure| figure.value).collect()
        };
        let quantities = study.quantities.iter();
        quantities.map(|one| (one.id.clone(), of(one))).collect()
    }

    fn figure(id: &str) -> f64 {
        let all = published();
        let (_, figures) = all.iter().find(|(one, _)| one == id).expect("a quantity");
        *figures.last().expect("it has a figure")
    }

    #[test]
    fn every_published_figure_is_carried() {
        let with_figures: Vec<_> = published()
            .into_iter()
            .filter(|(_, all)| !all.is_empty())
            .collect();
        let count: usize = with_figures.iter().map(|(_, figures)| figures.len()).sum();
        assert_eq!(
            (with_figures.len(), count),
            (11, 12),
            "one is printed twice, differently"
        );
    }

    #[test]
    fn published_differences_are_those_of_their_parts() {
        let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-6, "{one} {other}");
        let process = figure("process-monotonic") - figure("process-cpu-time");
        near(process / 2.0, figure("process-switch"));
        let thread = figure("thread-monotonic") - figure("thread-cpu-time");
        near(thread, figure("thread-switch"));
        // The printed value of each loop before the empty one is subtracted.
        near(2.592_456 - figure("loop-100m"), figure("function-call"));
        near(2.671_331 - figure("loop-100m"), figure("system-call"));
    }

    #[test]
    fn a_difference_is_of_two_runs() {
        let run = |clock| Ok(if clock == CPU_TIME { 3_000.0 } else { 5_000.0 });
        assert_eq!(By::Difference.result(0.5, run).unwrap(), 1_000.0);
        assert_eq!(By::CpuTime.result(0.5, run).unwrap(), 3_000.0);
        assert_eq!(By::Monotonic.result(0.5, run).unwrap(), 5_000.0);
    }

    #[test]
    fn every_name_is_a_clock() {
        for name in By::NAMES {
            assert!(By::of(&Case::new([("clock", *name)])).is_ok(), "{name}");
        }
        assert!(By::of(&Case::new([("clock", "sundial")])).is_err());
    }
}
