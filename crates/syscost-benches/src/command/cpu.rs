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

use syscost_harness::bencher::Over;
use syscost_harness::commands::{Command, row_value};
use syscost_harness::prelude::*;
use syscost_sys::audit::uncounted;

use super::execute::{self, Run};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A command of your own: CPU time",
    tags: "hyperfine, time, perf stat, user time, system time",
    settles_together: true,
    ..Benchmark::of::<CpuTime>()
};

static COMMAND: Witness = Witness::of("command that the kernel executes", "/proc/PID/cmdline");

/// How the CPU time by wait4 and that by the scheduler of the first task may differ: the one ends somewhat later.
const AS_SCHEDULED: Bound = Bound::Within(0.95, 1.05);

#[derive(Params, Clone)]
struct CpuTime {
    /// The command.
    command: String,
}

impl Measured for CpuTime {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let names = here.commands.iter().map(|one| one.name.clone());
        rows!(CpuTime {
            command: names.collect::<Vec<_>>()
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
                execute::run(command, None, &cpus)?;
            }
        }
        let mut runs: Vec<Run> = Vec::new();
        let shape = Executions::of(
            command.is_pinned,
            || uncounted(|| execute::prepare(command)),
            || {
                let run = uncounted(|| execute::run(command, Some(&clock), &cpus))?;
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
            outcome.claim_equal("output of each run", words(expected), words(said), "memfd");
        }
    }
    let all_of = |part: fn(&Run) -> f64| runs.iter().map(part).sum::<f64>();
    let inside = all_of(Run::wall_ns);
    outcome.claim_within(
        "length of all runs by the counter over that by CLOCK_MONOTONIC around them",
        Bound::AtMost(1.001),
        inside / all_of(|run| run.around_ns),
        "clocks",
    );
    outcome.claim_within(
        "time of first tasks on and ready for a CPU, by the scheduler, over the length of all runs",
        Bound::AtMost(1.01),
        all_of(|run| run.scheduled_ns.unwrap_or(0.0) + run.execution.waited_ns as f64) / inside,
        "schedstat",
    );
    let one_task = runs.iter().filter(|run| !run.execution.has_several_tasks);
    let scheduled = one_task.filter_map(|run| Some((run.scheduled_ns?, run.execution.cpu_ns)));
    let (scheduled, counted) =
        scheduled.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if counted > 0.0 {
        outcome.claim_within(
            "CPU time of runs with one task by the scheduler over that by wait4",
            AS_SCHEDULED,
            scheduled / counted,
            "schedstat",
        );
    }
    for (name, part) in [("read_bytes", 0), ("written_bytes", 1)] {
        if let Some(bytes) = runs.iter().find_map(|run| run.moved) {
            outcome.note(name, [bytes.0, bytes.1][part] as f64, "/proc/PID/io");
        }
    }
    let waited = all_of(|run| run.execution.waited_ns as f64) / all_of(Run::wall_ns);
    outcome.detail_over(Over::Median, "waited_percent", 100.0 * waited);
}
