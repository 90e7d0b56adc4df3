//! Counts what a program asks of the kernel: in runs as it is, for its time, and in traced ones.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::Command as Program;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use syscost_benches::command::execute::{self, checksum};
use syscost_harness::commands::{Command, Said};
use syscost_results::bill::{Bill, PAGE_FAULT, SWITCH, Use};
use syscost_sys::trace::{self, Call, Options, Outcome, Tally};
use syscost_sys::{cpu, files, process};

use super::{name, prices};
use crate::cli::BillArguments;
use crate::cmd::program;
use crate::{Failed, progress};

/// Counts a program's runs.
///
/// # Errors
/// It cannot be started, fails, or cannot be traced.
pub(super) fn started(arguments: &BillArguments, interrupted: &AtomicBool) -> Result<Bill> {
    process::leave_no_core();
    let cpus = cpu::allowed().context("finding the CPUs that may be used")?;
    let words = &arguments.command;
    let mut command = Command {
        prepare: arguments.prepare.clone(),
        input: arguments.input.clone(),
        ..program::started(name(words), words.clone(), arguments.time_limit)?
    };
    let first = program::first_run(&mut command, arguments.ignore_failure, &cpus, interrupted)?;
    let mut bill = Bill {
        command: command.name.clone(),
        ..Bill::default()
    };
    let mut uses = Uses::default();
    let mut traced = Vec::new();
    for number in 0..arguments.runs {
        let plain = || -> Result<execute::Run> {
            execute::prepare(&command).map_err(|why| Failed::Usage(why.to_string()))?;
            let ran = execute::run(&command, None, &cpus, Some(interrupted), None);
            Ok(ran.map_err(|why| Failed::Usage(why.to_string()))?)
        };
        // The first one found what later ones find changed.
        let ran = if number == 0 { first.clone() } else { plain()? };
        let _ = number;
        bill.cpu_ns.push(ran.execution.cpu_ns);
        bill.wall_ns.push(ran.wall_ns());
        for (kind, count) in [
            ("voluntary", ran.execution.usage.voluntary_switches),
            ("involuntary", ran.execution.usage.involuntary_switches),
        ] {
            uses.add(number, Use { variant: Some(kind.to_owned()), ..of(SWITCH) }, count, 0);
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failed::Interrupted.into());
        }
        let tally = traced_run(&command, interrupted)?;
        uses.add_tally(number, &tally);
        traced.push(tally);
    }
    bill.uses = uses.all(arguments.runs);
    judge(&mut bill, &traced);
    Ok(bill)
}

/// Counts what a running process does for so long, or until it ends, or Ctrl-C.
///
/// # Errors
/// It does not exist, or cannot be traced.
pub(super) fn attached(pid: u32, time: Duration, interrupted: &AtomicBool) -> Result<Bill> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline"));
    let line = line.map_err(|cause| Failed::Usage(format!("process {pid}: {cause}")))?;
    let words = String::from_utf8_lossy(&line).split_terminator('\0').map(str::to_owned).collect::<Vec<_>>();
    let until = Instant::now() + time;
    let cpu_before = cpu_ns(pid);
    let begun = Instant::now();
    let tally = trace::attach(pid, &Options::default(), |progress| {
        !progress.has_ended && Instant::now() < until && !interrupted.load(Ordering::Relaxed)
    })
    .map_err(|why| Failed::Usage(why.to_string()))?;
    let mut uses = Uses::default();
    uses.add_tally(0, &tally);
    let used = cpu_before.zip(cpu_ns(pid)).map(|(before, after)| (after - before) as f64);
    let mut bill = Bill {
        command: name(&words),
        cpu_ns: used.into_iter().collect(),
        wall_ns: vec![begun.elapsed().as_nanos() as f64],
        uses: uses.all(1),
        ..Bill::default()
    };
    bill.unknown.push("its CPU time is that of the traced process: each call stopped it twice".to_owned());
    judge(&mut bill, &[tally]);
    Ok(bill)
}

/// The CPU time of a process with all its threads, in ns.
fn cpu_ns(pid: u32) -> Option<u64> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    let clock = rustix::process::clock_getcpuclockid(pid).ok()?;
    let time = rustix::time::clock_gettime_dynamic(rustix::time::DynamicClockId::Dynamic(clock)).ok()?;
    Some(1_000_000_000 * u64::try_from(time.tv_sec).ok()? + u64::try_from(time.tv_nsec).ok()?)
}

/// Runs a program once under the tracer; what it ended with and printed must be as it was without.
fn traced_run(command: &Command, interrupted: &AtomicBool) -> Result<(Tally, Said)> {
    execute::prepare(command).map_err(|why| Failed::Usage(why.to_string()))?;
    let printed = files::in_memory("syscost-bill").context("making a file in memory")?;
    let input = command.input.as_deref().unwrap_or("/dev/null".as_ref());
    let mut program = Program::new(&command.file);
    program
        .args(&command.words[1..])
        .env_clear()
        .envs(command.environment.iter().filter_map(|pair| pair.split_once('=')))
        .stdin(File::open(input).with_context(|| format!("opening {}", input.display()))?)
        .stdout(printed.try_clone()?)
        .stderr(files::in_memory("syscost-bill")?);
    let until = Instant::now() + SLOWER * Duration::from_secs_f64(command.time_limit_s);
    let tally = trace::run(&mut program, &Options::default(), |progress| {
        Instant::now() < until && progress.tasks < MAX_TASKS && !interrupted.load(Ordering::Relaxed)
    })
    .map_err(|why| Failed::Usage(why.to_string()))?;
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failed::Interrupted.into());
    }
    let ended = tally.end.map_or_else(|| "it was ended".to_owned(), |end| end.to_string());
    Ok((tally, Said { ended, printed: Some(checksum(printed)?) }))
}
