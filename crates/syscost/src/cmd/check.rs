//! `syscost check`: whether this machine is as it should be.

mod watchdog;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use syscost_benches::CATALOGUE;
use syscost_fleet::check::{Answer, Check, Findings, Reference, Throttled, to_repeat};
use syscost_harness::machine::{self, Throttling};
use syscost_harness::session::{Options, Profile, Session};
use syscost_harness::worker::Program;
use syscost_harness::{Catalogue, Here, Row};
use syscost_results::Run;

use crate::cli::{CheckArguments, CheckFormat};
use crate::error::unless_broken_pipe;
use crate::progress::Progress;
use crate::{interrupt, kept, selection};

use watchdog::Watchdog;

/// What is measured if nothing is selected: of each part of a machine that fails, is throttled or
/// is set up wrongly, the rows that show it and take little time.
const ROWS: [&str; 19] = [
    "timing.clock_read{source=monotonic}",
    "op.integer{op=divide}",
    "op.float{op=divide}",
    "op.flops",
    "op.branch_miss{branch=conditional}",
    "memory.latency",
    "memory.tlb",
    "memory.bandwidth",
    "memory.page_fault{kind=anonymous_write}",
    "memory.core_to_core",
    "syscall.null{call=getppid}",
    "syscall.read_zero",
    "signal.catch",
    "task.fork",
    "switch.pipe{cpus=same}",
    "switch.wakeup{via=timer}",
    "switch.wakeup{via=futex}",
    "sync.futex_wake",
    "net.tcp.round_trip",
];

/// How long the first measurement may take.
const FIRST: Duration = Duration::from_secs(8);
/// When the second one must be over, counted from the start.
const SECOND: Duration = Duration::from_millis(17_500);
/// How long one row may take in one process.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Runs the command. Whatever goes wrong is an answer, too: that the machine could not be measured.
pub(crate) fn run(arguments: &CheckArguments) -> Result<u8> {
    let begun = Instant::now();
    let margin = arguments.margin / 100.0;
    let format = arguments.format;
    let could_not = move |why: String| Check::without(Answer::CouldNotMeasure, why, margin);
    let watchdog = Watchdog::start(begun, move |why| {
        let check = could_not(why);
        (text(&check, format), code(&check, format))
    });
    let check = check(arguments, margin, begun).unwrap_or_else(|error| {
        // One line, whatever the error's own lines are.
        could_not(format!("{error:#}"))
    });
    if watchdog.is_too_late() {
        // It is printing its own answer, and ends the program.
        loop {
            std::thread::park();
        }
    }
    unless_broken_pipe(super::print_data(&text(&check, format)))?;
    Ok(code(&check, format))
}

/// Measures, and says what that means.
fn check(arguments: &CheckArguments, margin: f64, begun: Instant) -> Result<Check> {
    let interrupted = interrupt::catch()?;
    let reference = reference(&arguments.baseline)?;
    let machine = machine::capture();
    if let Some(why) = reference.stranger(&machine) {
        return Ok(Check::without(Answer::CannotTell, why, margin));
    }
    let here = Here::plain();
    let (rows, names) = rows(&arguments.selectors, &reference, &here)?;
    let before = Throttling::read();
    let look = |rows: Vec<Row>, names: &[String], until: Duration| -> Result<(Run, Findings)> {
        let run = measure(rows, until.saturating_sub(begun.elapsed()), &interrupted)?;
        let findings = reference.judge(&run, names, margin);
        Ok((run, findings))
    };
    let (run, first) = look(rows, &names, FIRST)?;
    let again = match to_repeat(&first) {
        none if none.is_empty() => Vec::new(),
        names => look(of(&names, &here), &names, SECOND)?.1,
    };
    if !run.measurements.iter().any(|row| row.status.has_figures()) {
        let mut reasons = run
            .measurements
            .iter()
            .filter_map(|row| row.reason.as_ref());
        let why = reasons.next().map_or("no row has a number", |why| why);
        bail!("{why}");
    }
    let throttled = throttled(&reference, run.machine.cgroup_cpu_quota, &before);
    Ok(Check::of(first, again, throttled, margin))
}

/// What the machine is held against: a baseline of many machines, or a run.
fn reference(name: &str) -> Result<Reference> {
    let run = kept::run(name).context("reading the baseline")?;
    Ok(Reference::Run(Box::new(run)))
}

/// The rows to measure, with those from which others are computed, and the names of those to judge.
fn rows(
    selectors: &[String],
    reference: &Reference,
    here: &Here,
) -> Result<(Vec<Row>, Vec<String>)> {
    let chosen: Vec<String> = match selectors {
        [] => ROWS.map(str::to_owned).to_vec(),
        given => given.to_vec(),
    };
    let mut rows = selection::planned(&chosen, Profile::Quick, here)?;
    rows.retain(|row| {
        let is_meant = !selectors.is_empty() || Profile::Quick.measures(row);
        is_meant && reference.has(&row.name())
    });
    if rows.is_empty() {
        bail!("the baseline has none of the rows that are to be measured");
    }
    let names = rows.iter().map(Row::name).collect();
    Ok((CATALOGUE.with_sources(rows, here), names))
}

/// The rows with these names, with those from which they are computed.
fn of(names: &[String], here: &Here) -> Vec<Row> {
    let mut rows = Catalogue::rows(CATALOGUE.benchmarks(), here);
    rows.retain(|row| names.contains(&row.name()));
    CATALOGUE.with_sources(rows, here)
}

/// Measures these rows within this time. Nothing of it is kept: a check must not change what later
/// runs know.
fn measure(rows: Vec<Row>, budget: Duration, interrupted: &AtomicBool) -> Result<Run> {
    let options = Options {
        profile: Profile::Quick,
        budget: Some(budget),
        seed: None,
        cpus: None,
        time_limit: TIME_LIMIT,
        selectors: Vec::new(),
        labels: Default::default(),
        studies: Vec::new(),
        program: Program::this().context("finding this program's own file")?,
        journal_folder: None,
        known_cores: None,
        kept_runs: None,
        here: Here::plain(),
        peer: None,
        nfs: None,
        version: crate::VERSION,
    };
    let mut progress = Progress::quiet("check");
    let mut session = Session::new(rows, &options, &mut progress, interrupted)?;
    session.measure(&mut progress);
    progress.done();
    let [finished] = session.finish(true);
    match interrupted.load(Ordering::Relaxed) {
        true => bail!("interrupted"),
        false => Ok(finished.run),
    }
}

/// Whether a quota held the check back that is lower than the one of the baseline.
fn throttled(reference: &Reference, quota: Option<f64>, before: &Throttling) -> Option<Throttled> {
    let quota = quota.filter(|now| reference.quota().is_none_or(|then| *now < 0.99 * then))?;
    let periods_percent = Throttling::read().percent_since(before)?;
    Some(Throttled {
        quota,
        periods_percent,
    })
}

/// What is printed.
fn text(check: &Check, format: CheckFormat) -> String {
    let line = match format {
        CheckFormat::Line => check.line(),
        CheckFormat::Nagios => check.nagios(),
        CheckFormat::Npd => check.npd(),
        CheckFormat::Json => serde_json::to_string(check).unwrap_or_default(),
    };
    line + "\n"
}

/// The exit code that the caller understands.
fn code(check: &Check, format: CheckFormat) -> u8 {
    match (check.answer, format) {
        (Answer::AsItShouldBe, _) => 0,
        (Answer::NotAsItShouldBe, _) => 1,
        (_, CheckFormat::Nagios) => 3,
        (_, CheckFormat::Npd) => 2,
        (Answer::CannotTell, _) => 2,
        (Answer::CouldNotMeasure, _) => 3,
    }
}
