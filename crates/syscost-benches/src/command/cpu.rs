//! What a command of the user's own costs: its CPU time.
//!
//! ## Measures
//! The time on CPUs, in the kernel and outside of it, of the command and all that it starts and waits for (wait4(2)).
//! Each sample is a run of its own. A command with one task stays on the measuring CPU, and its runs are told apart by
//! whose the core was; the tasks of others have all CPUs of the run.
//! ## Does not measure
//! Time that it sleeps or waits: `command.wall`. What it leaves running when it ends: such a command is refused.
//! ## Interpretation
//! Other programs on its CPU take none of it, but displace what it has in caches. `waited_percent` is the share of its elapsed
//! time in which it was ready and had no CPU. How often it makes each system call, and its faults and switches, are counted in
//! runs that are not timed.
//! ## Source
//! `hyperfine`, `perf stat`, `time`.

use syscost_harness::commands::Command;
use syscost_harness::prelude::*;
use syscost_results::commands::{EXECUTED, FIRST_RUN, PRINTED, WAITED_PERCENT, row_value};
use syscost_sys::audit::uncounted;

use super::execute::{self, Run};
use super::names;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A command of your own: CPU time",
    tags: "hyperfine, time, perf stat, user time, system time",
    settles_together: true,
    ..Benchmark::of::<CpuTime>()
};

static COMMAND: Witness = Witness::of(EXECUTED, "/proc/PID/cmdline");

/// By what share the CPU times by wait4 and by the scheduler of the first task may differ: the one ends somewhat later, and
/// is in whole microseconds.
const AS_SCHEDULED: f64 = 0.05;

const SCHEDSTAT: &str = "schedstat";

#[derive(Params, Clone)]
pub(super) struct CpuTime {
    /// The command.
    pub(super) command: String,
}

impl Measured for CpuTime {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(CpuTime {
            command: names(here)
        })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        CpuTimeProofs {
            command: COMMAND.expects(&*self.command),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let commands = plan.commands();
        let command = commands.iter().find(|one| one.name == self.command);
        let command = command.expect("rows are listed by the commands");
        let cpus = match command.is_pinned {
            true => vec![plan.cpu()],
            false => plan.allowed().to_vec(),
        };
        let clock = *plan.clock();
        let line = execute::command_line(command, &cpus);
        if !plan.is_timed() {
            for _ in 0..command.warm_up {
                execute::prepare(command)?;
                execute::run(command, None, &cpus, None, None)?;
            }
        }
        let mut runs: Vec<Run> = Vec::new();
        let shape = Executions::of(
            command.is_pinned,
            || uncounted(|| execute::prepare(command)),
            |often| {
                let run = uncounted(|| execute::run(command, Some(&clock), &cpus, None, often))?;
                let execution = run.execution.clone();
                runs.push(run);
                Ok(execution)
            },
        );
        let mut outcome = plan.measure(shape)?;
        see(&mut outcome, command, commands, line);
        claim(&mut outcome, command, &runs);
        Ok(outcome)
    }
}

/// Which of all commands has the command line that the kernel executed.
fn see(
    outcome: &mut Bencher,
    command: &Command,
    all: &[Command],
    line: Result<Vec<String>, Failure>,
) {
    let line = match line {
        Ok(line) => line,
        Err(why) => return outcome.unobserved(&COMMAND, why),
    };
    let is_it = |one: &&Command| execute::is_executed_as(one, &line);
    // The same command may be measured twice.
    let named = [command].into_iter().chain(all).find(is_it);
    match named {
        Some(one) => outcome.observe(&COMMAND, &*one.name),
        None => outcome.observe(&COMMAND, row_value(&line.join(" "))),
    }
}

/// What its runs show of it.
fn claim(outcome: &mut Bencher, command: &Command, runs: &[Run]) {
    if let Some(expected) = &command.expected {
        let other = runs
            .iter()
            .map(|run| &run.said)
            .find(|said| *said != expected);
        let said = other.unwrap_or(expected);
        outcome.claim_equal("end of each run", &*expected.ended, &*said.ended, "wait4");
        if let Some((expected, said)) = expected.printed.zip(said.printed) {
            let words = |(bytes, checksum)| format!("{bytes} B, checksum {checksum:08x}");
            outcome.claim_equal(PRINTED, words(expected), words(said), "memfd");
        }
    }
    // The worst run of all.
    let worst = |part: fn(&Run) -> Option<f64>| runs.iter().filter_map(part).reduce(f64::max);
    let by_clocks = worst(|run| Some(run.counter_ns? / run.around_ns));
    let by_scheduler =
        worst(|run| Some((run.scheduled_ns? + run.execution.waited_ns as f64) / run.wall_ns()));
    let by_wait = worst(|run| {
        let is_one = !run.execution.has_several_tasks && run.execution.cpu_ns > 0.0;
        Some((run.scheduled_ns.filter(|_| is_one)? / run.execution.cpu_ns - 1.0).abs())
    });
    for (claim, most, worst, source) in [
        (
            "length of a run by the counter over that by CLOCK_MONOTONIC around it",
            1.001,
            by_clocks,
            "clocks",
        ),
        (
            "time of a first task on and ready for a CPU over the length of the run",
            1.01,
            by_scheduler,
            SCHEDSTAT,
        ),
        (
            "difference of CPU times by the scheduler and by wait4, of one task, as a share",
            AS_SCHEDULED,
            by_wait,
            SCHEDSTAT,
        ),
    ] {
        match worst {
            Some(worst) => outcome.claim_within(claim, Bound::AtMost(most), worst, source),
            None => outcome.note(claim, "not known of any run", source),
        }
    }
    if let Some(moved) = runs.iter().find_map(|run| run.moved) {
        for (name, bytes) in [("read_bytes", moved.rchar), ("written_bytes", moved.wchar)] {
            outcome.note(name, bytes as f64, "/proc/PID/io");
        }
    }
    if let Some(first_ns) = command.first_ns {
        outcome.detail(FIRST_RUN, first_ns);
    }
    // Tasks of one command wait for each other.
    if runs.iter().all(|run| !run.execution.has_several_tasks) {
        let all_of = |part: fn(&Run) -> f64| runs.iter().map(part).sum::<f64>();
        let waited = all_of(|run| run.execution.waited_ns as f64) / all_of(Run::wall_ns);
        outcome.detail_over(Over::Median, WAITED_PERCENT, 100.0 * waited);
    }
}
