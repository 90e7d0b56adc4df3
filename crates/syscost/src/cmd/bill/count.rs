//! Counts what a program asks of the kernel: in runs as it is, for its time, and in traced ones.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Command as Program, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use syscost_benches::bill::basket;
use syscost_benches::command::execute::checksum;
use syscost_harness::commands::{Command, Said};
use syscost_results::bill::{Bill, PAGE_FAULT, SWITCH, Sampled, SampledKind, Sum, Use, grouped};
use syscost_sys::raw::Sysno;
use syscost_sys::sampling::{self, SampleError, Symbols};
use syscost_sys::trace::{self, Call, Options, Outcome, Tally};
use syscost_sys::{cpu, files, process};

use super::name;
use crate::Failed;
use crate::cli::BillArguments;
use crate::cmd::program;

/// Maximum number of its tasks at a time.
const MAX_TASKS: u64 = 4096;

/// Counts a program's runs: each as it is, for its time, and then traced. Then one is counted that nothing
/// traces, and if it is to be priced, as many are sampled.
///
/// # Errors
/// It cannot be started, fails, or cannot be traced.
pub(super) fn started(
    arguments: &BillArguments,
    is_priced: bool,
    interrupted: &AtomicBool,
) -> Result<Bill> {
    process::leave_no_core();
    let cpus = cpu::allowed().context("finding the CPUs that may be used")?;
    let words = &arguments.command;
    let mut command = Command {
        prepare: arguments.prepare.clone(),
        input: arguments.input.clone(),
        ..program::started(name(words), words.clone(), arguments.time_limit)?
    };
    program::first_run(&mut command, arguments.ignore_failure, &cpus, interrupted)?;
    let mut bill = Bill {
        command: command.name.clone(),
        ..Bill::default()
    };
    let mut uses = Uses::default();
    let mut tallies = Vec::new();
    for number in 0..arguments.runs as usize {
        let ran = program::run(&command, &cpus, interrupted)?;
        if command
            .expected
            .as_ref()
            .is_some_and(|first| ran.said.printed != first.printed)
        {
            command.expected = Some(Said {
                printed: None,
                ..ran.said.clone()
            });
        }
        bill.cpu_ns.push(ran.execution.cpu_ns);
        bill.wall_ns.push(ran.wall_ns());
        let switches = ran.execution.usage;
        for (variant, count) in [
            ("voluntary", switches.voluntary_switches),
            ("involuntary", switches.involuntary_switches),
        ] {
            let switch = Key {
                variant: Some(variant.to_owned()),
                ..Key::named(SWITCH)
            };
            uses.add(number, switch, count, 0);
        }
        let (tally, said) = traced_run(&command, interrupted)?;
        if !is_as_ever(&command, &said) && bill.refuted.is_empty() {
            bill.refuted
                .push("it ends or prints otherwise where it is traced".to_owned());
        }
        uses.add_tally(number, &tally);
        // The one that starts it, which is part of its time.
        uses.add(number, Key::named(Sysno::EXECVE.name()), 1, 0);
        tallies.push(tally);
    }
    bill.uses = uses.all(tallies.len());
    judge(&mut bill, &tallies);
    if command
        .expected
        .as_ref()
        .is_some_and(|ever| ever.printed.is_none())
    {
        bill.unknown
            .push("what it prints differs from run to run, and so is not compared".to_owned());
    }
    if bill.refuted.is_empty() {
        match untraced(&command, interrupted) {
            Ok(calls) => judge_untraced(&mut bill, calls),
            Err(why) => bill
                .unknown
                .push(format!("no run was counted that nothing traces: {why}")),
        }
    }
    if is_priced && bill.refuted.is_empty() {
        match sampled(&command, arguments.runs, interrupted) {
            Ok(sampled) => bill.sampled = Some(sampled),
            Err(why) => bill
                .unknown
                .push(format!("the time of each kind is not measured: {why}")),
        }
    }
    Ok(bill)
}

/// System calls of one more run, as the kernel counts them where no tracer is.
///
/// # Errors
/// That is not allowed here, or the run ended otherwise than ever.
fn untraced(command: &Command, interrupted: &AtomicBool) -> Result<u64> {
    let calls = watched(command, interrupted, |program, goes_on| {
        sampling::count_calls(program, goes_on)
    })?;
    // The call that executes it comes before its first instruction.
    Ok(calls + 1)
}

/// By how much the number of calls may be another one where nothing traces the program, as a share. That is
/// chosen: less is said, and is within what prices are off.
const QUARTER: f64 = 0.25;

/// Compares the counts with that of a run in which nothing traces the program.
fn judge_untraced(bill: &mut Bill, untraced: u64) {
    let traced = Sum::Calls.range(bill);
    bill.untraced_calls = Some(untraced);
    if (traced.low..=traced.high).contains(&untraced) {
        return;
    }
    let words = format!(
        "it makes {} system calls where nothing traces it, and {traced} where they are counted",
        grouped(untraced)
    );
    // As far as they vary anyway.
    let (low, high, spread) = (traced.low, traced.high, traced.high - traced.low);
    let lowest = low.saturating_sub(spread) as f64 * (1.0 - QUARTER);
    let highest = (high + spread) as f64 * (1.0 + QUARTER);
    match (lowest..=highest).contains(&(untraced as f64)) {
        true => bill.unknown.push(words),
        false => bill.refuted.push(words),
    }
}

/// Whether a run ended and printed as all do.
fn is_as_ever(command: &Command, said: &Said) -> bool {
    command.expected.as_ref().is_some_and(|ever| {
        ever.ended == said.ended && (ever.printed.is_none() || ever.printed == said.printed)
    })
}

/// Runs it once more, watched by the kernel alone.
///
/// # Errors
/// That is not allowed here, or it ended or printed otherwise than ever.
fn watched<T>(
    command: &Command,
    interrupted: &AtomicBool,
    run: impl FnOnce(&mut Program, &mut dyn FnMut() -> bool) -> Result<(T, ExitStatus), SampleError>,
) -> Result<T> {
    program::prepare(command)?;
    let until = Instant::now() + Duration::from_secs_f64(command.time_limit_s);
    // Some programs do less if nobody can read it.
    let printed = files::in_memory("syscost-bill")?;
    let mut program = as_program(command, printed.try_clone()?)?;
    let (found, end) = run(&mut program, &mut || {
        Instant::now() < until && !interrupted.load(Ordering::Relaxed)
    })?;
    let said = Said {
        ended: end.to_string(),
        printed: Some(checksum(printed)?),
    };
    ensure!(
        is_as_ever(command, &said),
        "it ends ({end}) or prints otherwise there"
    );
    Ok(found)
}

/// Where the CPU time of this number of runs goes.
///
/// # Errors
/// Samples are not allowed here.
fn sampled(command: &Command, runs: u32, interrupted: &AtomicBool) -> Result<Sampled> {
    let symbols = Arc::new(Symbols::of_kernel()?);
    let run = |_| {
        watched(command, interrupted, |program, goes_on| {
            let ran = sampling::run(program, sampling::PERIOD_NS, &symbols, goes_on)?;
            let end = ran.end;
            Ok((ran, end))
        })
    };
    let runs = (0..runs).map(run).collect::<Result<Vec<_>>>()?;
    let missing: u64 = runs
        .iter()
        .map(|ran| ran.profile.lost + ran.profile.throttled)
        .sum();
    ensure!(
        missing == 0,
        "samples were lost, or not taken ({missing} times)"
    );
    let samples: u64 = runs.iter().map(|ran| ran.profile.samples()).sum();
    let share = |number: u64| number as f64 / samples.max(1) as f64;
    let mut kernel: BTreeMap<String, SampledKind> = BTreeMap::new();
    for (kind, found) in runs.iter().flat_map(|ran| &ran.profile.by_kind) {
        let all = kernel.entry(kind.to_string()).or_default();
        all.share += share(found.samples);
        for (function, number) in &found.functions {
            match all
                .functions
                .iter_mut()
                .find(|(known, _)| known == function)
            {
                Some((_, sum)) => *sum += share(*number),
                None => all.functions.push((function.clone(), share(*number))),
            }
        }
    }
    for all in kernel.values_mut() {
        all.functions
            .sort_by(|one, other| other.1.total_cmp(&one.1));
    }
    Ok(Sampled {
        samples,
        cpu_ns: runs.iter().map(|ran| ran.cpu_ns as f64).collect(),
        user: share(runs.iter().map(|ran| ran.profile.user).sum()),
        kernel,
    })
}

/// What tells uses apart.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    name: String,
    variant: Option<String>,
    on: Option<String>,
    failed: Option<String>,
    size: Option<u64>,
}

/// What was counted in each run.
#[derive(Default)]
struct Uses(BTreeMap<Key, BTreeMap<usize, (u64, u64)>>);

impl Uses {
    fn add(&mut self, run: usize, key: Key, count: u64, bytes: u64) {
        let sum = self.0.entry(key).or_default().entry(run).or_default();
        *sum = (sum.0 + count, sum.1 + bytes);
    }

    fn add_tally(&mut self, run: usize, tally: &Tally) {
        for (call, count) in &tally.calls {
            self.add(run, Key::of(call), count.calls, count.bytes);
        }
        let fault = |variant: &str| Key {
            variant: Some(variant.to_owned()),
            ..Key::named(PAGE_FAULT)
        };
        let mut seen = 0;
        for (kind, count) in tally.faults.iter().flat_map(|faults| &faults.by_kind) {
            self.add(run, fault(kind.name()), *count, 0);
            seen += count;
        }
        // Those that calls ran into, or all where no others are known.
        self.add(
            run,
            fault(IN_CALLS),
            tally.faults_of_tasks.saturating_sub(seen),
            0,
        );
    }

    /// All that were seen in this number of runs, by name.
    fn all(self, runs: usize) -> Vec<Use> {
        let used = |(key, counts): (Key, BTreeMap<usize, (u64, u64)>)| {
            let in_run = |run: usize| counts.get(&run).copied().unwrap_or_default();
            let bytes: Vec<u64> = (0..runs).map(|run| in_run(run).1).collect();
            Use {
                name: key.name,
                variant: key.variant,
                on: key.on,
                failed: key.failed,
                size: key.size,
                counts: (0..runs).map(|run| in_run(run).0).collect(),
                bytes: if bytes.iter().any(|sum| *sum > 0) {
                    bytes
                } else {
                    Vec::new()
                },
                ..Use::default()
            }
        };
        let all = self.0.into_iter().map(used);
        let is_seen = |one: &Use| one.counts.iter().any(|count| *count > 0);
        all.filter(is_seen).map(basket::priced).collect()
    }
}

/// The variant of page faults that happened in the kernel, while it worked for the program.
const IN_CALLS: &str = "in system calls";

impl Key {
    fn named(name: &str) -> Key {
        Key {
            name: name.to_owned(),
            ..Key::default()
        }
    }

    fn of(call: &Call) -> Self {
        let name = match call.sysno() {
            Some(known) => known.to_string(),
            None if call.is_foreign => format!("call {} of another table", call.number),
            None => format!("call {}", call.number),
        };
        Key {
            name,
            variant: call.variant.map(|variant| variant.name().to_owned()),
            on: call.object.map(|object| object.name().to_owned()),
            failed: (call.outcome != Outcome::Ok).then(|| call.outcome.to_string()),
            size: call.size,
        }
    }
}

/// Adds what the counts themselves show to be wrong, and what is not known.
fn judge(bill: &mut Bill, tallies: &[Tally]) {
    let mut claim = |holds: bool, otherwise: &str| {
        if !holds && !bill.refuted.iter().any(|known| known == otherwise) {
            bill.refuted.push(otherwise.to_owned());
        }
    };
    for tally in tallies {
        claim(
            tally.adds_up(),
            "calls were entered that were not left, or left that were not entered",
        );
        claim(
            tally.lost_privilege.is_empty(),
            "it executes a program that is set-user-ID or the like, which loses that where it is traced",
        );
        claim(
            tally.left_running.is_empty(),
            "it leaves processes running when it ends, which were ended",
        );
        if let Ok(faults) = &tally.faults {
            claim(
                faults.total() <= tally.faults_of_tasks,
                "more page faults were seen one by one than the kernel counts",
            );
            claim(faults.lost == 0, "records of page faults were lost");
        }
    }
    let unseen = tallies.iter().find_map(|tally| tally.faults.as_ref().err());
    bill.unknown
        .extend(unseen.map(|why| format!("the kinds of page faults are not known: {why}")));
}

/// Counts what a running process does for so long, or until it ends, or Ctrl-C.
///
/// # Errors
/// It does not exist, or cannot be traced.
pub(super) fn attached(pid: u32, time: Duration, interrupted: &AtomicBool) -> Result<Bill> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline"));
    let line = line.map_err(|cause| Failed::Usage(format!("process {pid}: {cause}")))?;
    let words = String::from_utf8_lossy(&line)
        .split_terminator('\0')
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let until = Instant::now() + time;
    let begun = Instant::now();
    let tally = trace::attach(pid, &Options::default(), |progress| {
        !progress.has_ended && Instant::now() < until && !interrupted.load(Ordering::Relaxed)
    })
    .map_err(|why| Failed::Usage(why.to_string()))?;
    let mut uses = Uses::default();
    uses.add_tally(0, &tally);
    let mut bill = Bill {
        command: match words.is_empty() {
            true => format!("process {pid}"),
            false => name(&words),
        },
        wall_ns: vec![begun.elapsed().as_nanos() as f64],
        uses: uses.all(1),
        ..Bill::default()
    };
    bill.unknown
        .push("its CPU time is left out: tracing adds two stops to each call".to_owned());
    judge(&mut bill, &[tally]);
    Ok(bill)
}

/// Runs a program once under the tracer; what it ended with and printed must be as it was without.
fn traced_run(command: &Command, interrupted: &AtomicBool) -> Result<(Tally, Said)> {
    program::prepare(command)?;
    let printed = files::in_memory("syscost-bill").context("making a file in memory")?;
    let mut program = as_program(command, printed.try_clone()?)?;
    let until = Instant::now() + Duration::from_secs_f64(command.time_limit_s);
    let tally = trace::run(&mut program, &Options::default(), |progress| {
        Instant::now() < until && progress.tasks < MAX_TASKS && !interrupted.load(Ordering::Relaxed)
    })
    .map_err(|why| Failed::Usage(why.to_string()))?;
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failed::Interrupted.into());
    }
    if Instant::now() >= until {
        let what =
            "it still runs at the time limit where each call is counted (--time-limit SECONDS)";
        return Err(program::failed(command, what).into());
    }
    let ended = tally
        .end
        .map_or_else(|| "it was ended".to_owned(), |end| end.to_string());
    let printed = checksum(printed).context("reading what it printed")?;
    let said = Said {
        ended,
        printed: Some(printed),
    };
    Ok((tally, said))
}

/// A program as the command starts it, which prints into this file.
fn as_program(command: &Command, printed: File) -> Result<Program> {
    let input = command.input.as_deref().unwrap_or("/dev/null".as_ref());
    let mut program = Program::new(&command.file);
    program
        .arg0(&command.words[0])
        .args(&command.words[1..])
        .env_clear()
        .envs(
            command
                .environment
                .iter()
                .filter_map(|pair| pair.split_once('=')),
        )
        .stdin(File::open(input).with_context(|| format!("opening {}", input.display()))?)
        .stdout(printed)
        .stderr(files::in_memory("syscost-bill")?);
    Ok(program)
}
