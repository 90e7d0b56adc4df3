//! `syscost check`: whether this machine is as it should be.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use syscost_benches::CATALOGUE;
use syscost_fleet::baseline::{Baseline, BaselineError};
use syscost_fleet::check::{Answer, Check, Findings, Reference, to_repeat};
use syscost_harness::machine;
use syscost_harness::session::{Options, Profile};
use syscost_harness::worker::Program;
use syscost_harness::{Catalogue, Row, Testbed};
use syscost_results::machine::Cache;
use syscost_results::{Machine, Run, row_name};

use crate::cli::{CheckArguments, CheckFormat};
use crate::error::{exit, unless_broken_pipe};
use crate::progress::Progress;
use crate::selection::{self, Selector};
use crate::terminal::warn;
use crate::{interrupt, kept};

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
    match unless_broken_pipe(super::print_data(&text(&check, format))) {
        Ok(()) => Ok(code(&check, format)),
        // A full disk under a log says nothing of the machine.
        Err(cause) => {
            let why = format!("the answer could not be written: {cause:#}");
            warn(&why);
            Ok(code(&could_not(why), format))
        }
    }
}

/// Measures, and says what that means.
fn check(arguments: &CheckArguments, margin: f64, begun: Instant) -> Result<Check> {
    let interrupted = interrupt::catch()?;
    let machine = machine::capture();
    let reference = match reference(&arguments.baseline, &machine)? {
        Ok(reference) => reference,
        Err(stranger) => return Ok(Check::without(Answer::CannotTell, stranger, margin)),
    };
    let here = Testbed::plain();
    let (rows, names) = rows(&arguments.selectors, &reference, &machine, &here)?;
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
    let check = Check::of(first, again, reference.quota(&machine), margin);
    let mut rows = run.measurements.iter();
    let is_measured = rows.any(|row| row.status.has_figures());
    match check.answer {
        Answer::CannotTell if !is_measured => {
            let mut rows = run.measurements.iter();
            let reason = rows.find_map(|row| row.reason.as_deref());
            bail!("{}", reason.unwrap_or("no row has a number"))
        }
        _ => Ok(check),
    }
}

/// What the machine is held against: a baseline of many machines, or a run; or why it cannot be.
fn reference(name: &str, machine: &Machine) -> Result<Result<Reference, String>> {
    let baseline = Baseline::read(Path::new(name));
    match baseline {
        Ok(baseline) => return Ok(Reference::cohort(&baseline, machine)),
        Err(newer @ BaselineError::Newer { .. }) => return Err(newer.into()),
        // It may be a run.
        Err(BaselineError::Read { .. } | BaselineError::Foreign { .. }) => {}
    }
    let run = kept::run(name)?;
    Ok(Reference::run(run, machine))
}

/// The rows to measure, with those from which others are computed, and the names of those to judge.
fn rows(
    selectors: &[String],
    reference: &Reference,
    machine: &Machine,
    here: &Testbed,
) -> Result<(Vec<Row>, Vec<String>)> {
    let mut rows = match selectors {
        [] => of_list(machine, here)?,
        given => selection::planned(given, Profile::Quick, here)?,
    };
    rows.retain(|row| reference.has(&row.name()));
    if rows.is_empty() {
        bail!("the baseline has none of the rows that are to be measured");
    }
    let names = rows.iter().map(Row::name).collect();
    Ok((CATALOGUE.with_sources(rows, here), names))
}

/// The rows of [`ROWS`] that this machine has: not every machine has two CPUs.
fn of_list(machine: &Machine, here: &Testbed) -> Result<Vec<Row>> {
    let selectors = ROWS.map(|text| Selector::parse(text, here));
    let selectors = selectors.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut rows = Catalogue::rows(CATALOGUE.benchmarks(), here);
    rows.retain(|row| {
        let name = row.name();
        Profile::Quick.measures(row)
            && selectors.iter().any(|selector| selector.selects(&name))
            && !is_emptied(&name, &machine.caches)
    });
    Ok(rows)
}

/// Whether a row's memory is of a size that only the last cache holds. What other programs and other
/// guests do empties it: six times as slow, and no fault of the machine.
fn is_emptied(name: &str, caches: &[Cache]) -> bool {
    let holds_data = caches.iter().filter(|cache| cache.kind != "instruction");
    let mut sizes: Vec<u64> = holds_data.filter_map(|cache| cache.size_bytes).collect();
    sizes.sort_unstable();
    let mut parameters = row_name::parameters(name).filter(|(key, _)| *key == "size");
    let size = parameters.next().and_then(|(_, size)| row_name::size(size));
    match (&sizes[..], size) {
        ([.., own, last], Some(size)) if name.starts_with("memory.") => {
            (own + 1..=*last).contains(&size)
        }
        _ => false,
    }
}

/// The rows with these names, with those from which they are computed.
fn of(names: &[String], here: &Testbed) -> Vec<Row> {
    let mut rows = Catalogue::rows(CATALOGUE.benchmarks(), here);
    rows.retain(|row| names.contains(&row.name()));
    CATALOGUE.with_sources(rows, here)
}

/// Measures these rows within this time. Nothing of it is kept: a check must not change what later
/// runs know.
fn measure(rows: Vec<Row>, budget: Duration, interrupted: &AtomicBool) -> Result<Run> {
    let program = Program::this().context("finding this program's own file")?;
    let options = Options {
        budget: Some(budget),
        ..Options::quick(program, TIME_LIMIT, crate::VERSION)
    };
    let run = super::measured(rows, &options, Progress::quiet("check"), interrupted)?;
    match interrupted.load(Ordering::Relaxed) {
        true => bail!("interrupted"),
        false => Ok(run),
    }
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
    // "Cannot tell", as the callers know it.
    const NAGIOS_UNKNOWN: u8 = 3;
    const NPD_UNKNOWN: u8 = 2;
    match (check.answer, format) {
        (Answer::AsItShouldBe, _) => exit::DONE,
        (Answer::NotAsItShouldBe, _) => exit::NOT_AS_IT_SHOULD_BE,
        (_, CheckFormat::Nagios) => NAGIOS_UNKNOWN,
        (_, CheckFormat::Npd) => NPD_UNKNOWN,
        (Answer::CannotTell, _) => exit::CANNOT_TELL,
        (Answer::CouldNotMeasure, _) => exit::NOT_CHECKED,
    }
}

/// When it bites: early enough that the program has ended within 20 s.
const BITES: Duration = Duration::from_secs(19);

/// How long an answer may take to be written.
const WRITING: Duration = Duration::from_millis(500);

/// A thread that answers if nobody else does, before the time is up, whatever the program hangs in:
/// a file on a server that is gone, a disk that does not answer.
struct Watchdog {
    is_answered: Arc<AtomicBool>,
}

impl Watchdog {
    /// Starts it; `answer` makes what it prints and the exit code of a reason.
    fn start(begun: Instant, answer: impl FnOnce(String) -> (String, u8) + Send + 'static) -> Self {
        let is_answered = Arc::new(AtomicBool::new(false));
        let answered = Arc::clone(&is_answered);
        let watch = move || {
            thread::sleep(BITES.saturating_sub(begun.elapsed()));
            let (text, code) = answer(format!("no answer within {} s", BITES.as_secs()));
            if !answered.swap(true, Ordering::SeqCst) {
                let (is_written, written) = mpsc::channel();
                thread::spawn(move || {
                    let _ = std::io::stdout().write_all(text.as_bytes());
                    let _ = is_written.send(());
                });
                // A pipe that nobody reads must not hold it.
                let _ = written.recv_timeout(WRITING);
            }
            std::process::exit(i32::from(code));
        };
        // Without a thread there is no watchdog; what is measured has a deadline of its own.
        let _ = thread::Builder::new().spawn(watch);
        Self { is_answered }
    }

    /// Whether it has begun to answer; if not, it leaves that to the caller.
    fn is_too_late(&self) -> bool {
        self.is_answered.swap(true, Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_the_list_is_measured_somewhere() {
        for text in ROWS {
            assert!(CATALOGUE.find(row_name::id(text)).is_some(), "{text}");
        }
        // A machine with one CPU has those that need no other.
        let one = Testbed {
            allowed: vec![0],
            ..Testbed::plain()
        };
        let rows = of_list(&Machine::default(), &one).expect("they are selectors");
        let with = |id: &str| rows.iter().filter(|row| row.benchmark.id == id).count();
        assert_eq!(with("memory.core_to_core"), 0);
        assert_eq!(with("syscall.null"), 1);
        assert!(with("memory.latency") > 1);
    }

    #[test]
    fn what_only_the_last_cache_holds_is_left_out() {
        let cache = |level, size_bytes| Cache {
            level,
            kind: "unified".to_owned(),
            size_bytes: Some(size_bytes),
            line_bytes: None,
            shared_by: None,
        };
        let caches = [cache(1, 32 << 10), cache(2, 1 << 20), cache(3, 32 << 20)];
        let is_emptied =
            |size: &str| is_emptied(&format!("memory.latency{{size={size}}}"), &caches);
        let found = ["16K", "1M", "6M", "32M", "128M"].map(is_emptied);
        assert_eq!(found, [false, false, true, true, false]);
        assert!(!super::is_emptied("memory.core_to_core", &caches));
        assert!(!super::is_emptied("net.tcp.round_trip{size=6M}", &caches));
        assert!(!super::is_emptied("memory.latency{size=6M}", &[]));
    }
}
