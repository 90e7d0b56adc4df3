//! The programs of the studies: started as processes of their own, and read.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use syscost_harness::directory;
use syscost_harness::prelude::*;
use syscost_results::stats::order::median;
use syscost_results::study::Study;
use syscost_sys::audit::uncounted;
use syscost_sys::counters::Usage;
use syscost_sys::cpu;
use syscost_sys::memory;
use syscost_sys::scratch::{self, Tree};
use syscost_sys::tiny::TinyProgram;

use crate::timing::clock_read::counter_ticks_per_ns;

/// All programs in one static executable; empty where none could be made.
pub(super) static EXECUTABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/programs"));

/// The compiler that made them, and its version.
const COMPILER: &str = env!("SYSCOST_PROGRAMS_COMPILER");

/// Why there are none, where there are none.
const MISSING: &str = env!("SYSCOST_PROGRAMS_MISSING");

/// The status with which a program ends that this machine has not what it needs for.
const UNSUPPORTED: i32 = 77;

/// Filling this much memory takes longer than what is then timed, in bytes.
const MUCH: u64 = 64 << 20;

/// A program of a study, with its arguments.
pub(super) struct Program {
    name: &'static str,
    /// The arguments of a run, and of one whose calls are counted.
    arguments: Vec<String>,
    counted_arguments: Vec<String>,
    /// How many operations they make.
    operations: u64,
    counted_operations: u64,
    is_pinned: bool,
    needs_folder: bool,
    bytes: u64,
    unit: Unit,
}

/// The program of this name, `study/procedure`, each run of which makes this many operations.
pub(super) fn program(name: &'static str, operations: u64) -> Program {
    Program {
        name,
        arguments: Vec::new(),
        counted_arguments: Vec::new(),
        operations,
        counted_operations: operations,
        is_pinned: true,
        needs_folder: false,
        bytes: 0,
        unit: Unit::Nanoseconds,
    }
}

/// Whether the programs could be made when syscost was built.
pub(super) fn support(_: &Case) -> Result<(), Unsupported> {
    match EXECUTABLE {
        [] => Err(Unsupported::new(MISSING)),
        _ => Ok(()),
    }
}

/// The flags with which the program of this name is compiled.
fn flags(name: &str) -> String {
    let folder = name.split('/').next().unwrap_or(name).replace('_', "-");
    let studies = super::STUDIES
        .iter()
        .filter_map(|text| Study::parse(text).ok());
    let mut of_it = studies.filter(|study| study.id == folder);
    of_it.next().map(|study| study.flags).unwrap_or_default()
}

impl Program {
    /// Adds an argument.
    pub(super) fn argument(mut self, argument: impl ToString) -> Self {
        self.arguments.push(argument.to_string());
        self.counted_arguments.push(argument.to_string());
        self
    }

    /// Adds an argument, and another one in its place where calls are counted, with which a run makes
    /// this many operations.
    pub(super) fn counted(mut self, usual: impl ToString, counted: u64, operations: u64) -> Self {
        self.arguments.push(usual.to_string());
        self.counted_arguments.push(counted.to_string());
        self.counted_operations = operations;
        self
    }

    /// Lets the scheduler place it on any CPU of the run.
    pub(super) fn unpinned(mut self) -> Self {
        self.is_pinned = false;
        self
    }

    /// Runs it in a scratch folder of the directory in which files are measured: what it leaves behind
    /// there is removed.
    pub(super) fn in_scratch_folder(mut self) -> Self {
        self.needs_folder = true;
        self
    }

    /// Says how many bytes of memory it fills. Where there is too little it is not started, and where it
    /// is much, one result of a round has to do.
    pub(super) fn filling(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets the unit of its results, where they are not times.
    pub(super) fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Measures: each sample is what one run of it prints.
    pub(super) fn measure(self, b: &mut Bencher) -> Result<(), Failure> {
        let executable = TinyProgram::holding(EXECUTABLE)?;
        let (arguments, operations) = match b.is_timed() {
            true => (&self.arguments, self.operations),
            false => (&self.counted_arguments, self.counted_operations),
        };
        let unpinned = match self.is_pinned {
            true => None,
            false => Some(Unpinned::new(b)?),
        };
        memory::enough_for(self.bytes as usize)?;
        if self.bytes >= MUCH {
            b.may_take_one();
        }
        let folder = self.needs_folder.then(scratch_folder).transpose()?;
        let start = || {
            let path = executable.path().to_str().unwrap_or_default();
            let mut command = Command::new(path);
            command.arg0("syscost-study").arg(self.name).args(arguments);
            if let Some(tree) = &folder {
                let held = tree.folder().file().as_raw_fd();
                command.current_dir(format!("/proc/self/fd/{held}"));
            }
            command.env_clear().stdin(Stdio::null()).output()
        };
        results_of(b, operations, self.unit, None, start)?;
        drop(unpinned);
        let compiled = format!("{COMPILER}, {} -static", flags(self.name));
        b.note("program compiled by", compiled, "build");
        Ok(())
    }
}

/// Measures a program that `start` starts and waits for: each sample is what one run of it prints.
/// `number_in` is the unit of a number that it may print alone.
pub(super) fn results_of(
    b: &mut Bencher,
    operations: u64,
    unit: Unit,
    number_in: Option<&str>,
    mut start: impl FnMut() -> io::Result<Output>,
) -> Result<(), Failure> {
    let ticks_per_ns = counter_ticks_per_ns(b.clock());
    let (mut seen, mut started) = (Seen::default(), 0_u64);
    b.as_published(operations, || {
        started += 1;
        let ran = uncounted(&mut start);
        let ran = ran.map_err(|cause| Failure::of("start the study's program", cause))?;
        seen.read(&ran, ticks_per_ns, unit, number_in)
    })?;
    let ended = "programs that ended well, with a result";
    b.claim_equal(ended, started, seen.results, "waitpid");
    seen.tell(b)
}

/// A new folder in the first of the directories in which files are measured.
fn scratch_folder() -> Result<Tree, Failure> {
    /// As much as a program may write there.
    const ROOM: u64 = 64 << 20;
    let directories = directory::given();
    let first = directories.first().ok_or_else(|| {
        Failure::Broken("there is no directory in which files are measured".to_owned())
    })?;
    let tree = scratch::tree_in(&first.made()?)?;
    tree.room_for(ROOM)?;
    Ok(tree)
}

/// The task and those it starts may run on all CPUs of the run until this is dropped, as if they were
/// never pinned.
struct Unpinned {
    home: u32,
}

impl Unpinned {
    fn new(b: &Bencher) -> Result<Self, Failure> {
        cpu::pin_to(b.allowed()).map_err(|cause| Failure::Failed(cause.to_string()))?;
        Ok(Self { home: b.cpu() })
    }
}

impl Drop for Unpinned {
    fn drop(&mut self) {
        // If that fails, the following samples report that they have moved.
        let _ = cpu::pin(self.home);
    }
}

/// What the runs of a program printed.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    results: u64,
    facts: BTreeMap<String, Vec<f64>>,
    claims: BTreeMap<String, Vec<(f64, f64)>>,
    singles_ns: Vec<f64>,
}

impl Seen {
    /// The result of one run, in the row's unit; keeps the rest.
    fn read(
        &mut self,
        ran: &Output,
        ticks_per_ns: f64,
        unit: Unit,
        number_in: Option<&str>,
    ) -> Result<f64, Failure> {
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        match ran.status.code() {
            Some(0) => {}
            Some(UNSUPPORTED) => return Err(Failure::Unsupported(said)),
            _ => {
                let status = ran.status;
                return Err(Failure::Failed(format!(
                    "its program ended by {status}: {said}"
                )));
            }
        }
        let printed = String::from_utf8_lossy(&ran.stdout);
        if let (Some(symbol), Ok(number)) = (number_in, printed.trim().parse::<f64>()) {
            self.results += 1;
            return Ok(converted(number, symbol, ticks_per_ns).0);
        }
        let mut result = None;
        for line in printed.lines() {
            let broken = || Failure::Broken(format!("its program prints `{line}`"));
            let (kind, rest) = line.split_once(' ').ok_or_else(broken)?;
            let number = |text: &str| text.parse::<f64>().map_err(|_| broken());
            let (first, rest) = rest.split_once(' ').ok_or_else(broken)?;
            let first = number(first)?;
            match kind {
                "result" => {
                    let (value, symbol) = converted(first, rest, ticks_per_ns);
                    if symbol != unit.symbol() {
                        return Err(broken());
                    }
                    result = Some(value);
                }
                "single" => self.singles_ns.push(converted(first, rest, ticks_per_ns).0),
                "fact" => {
                    let (symbol, name) = rest.split_once(' ').ok_or_else(broken)?;
                    let (value, symbol) = converted(first, symbol, ticks_per_ns);
                    let end = match symbol {
                        "%" => "percent",
                        "B" => "bytes",
                        "B/s" => "bytes_per_s",
                        other => other,
                    };
                    self.facts
                        .entry(format!("{name}_{end}"))
                        .or_default()
                        .push(value);
                }
                "claim" => {
                    let (counted, what) = rest.split_once(' ').ok_or_else(broken)?;
                    let pair = (first, number(counted)?);
                    self.claims.entry(what.to_owned()).or_default().push(pair);
                }
                _ => return Err(broken()),
            }
        }
        self.results += u64::from(result.is_some());
        result.ok_or_else(|| Failure::Broken("its program prints no result".to_owned()))
    }

    /// Adds what the runs counted to the row: of times the median, of counts and shares the mean.
    fn tell(&self, b: &mut Bencher) -> Result<(), Failure> {
        for (name, values) in &self.facts {
            let value = match name.ends_with("_ns") {
                true => median(values).unwrap_or(f64::NAN),
                false => values.iter().sum::<f64>() / values.len() as f64,
            };
            b.detail(name, value);
        }
        for (what, pairs) in &self.claims {
            // The first that does not hold, if one does not.
            let odd = pairs.iter().find(|(expected, counted)| expected != counted);
            if let Some((expected, counted)) = odd.or(pairs.first()) {
                b.claim_equal(what, *expected, *counted, "program");
            }
        }
        self.singles_ns.iter().for_each(|ns| b.record_single(*ns));
        let resident = Usage::children()?.max_rss_kib * 1024;
        b.detail("program_resident_bytes", resident as f64);
        Ok(())
    }
}

/// A value in the unit of this symbol, times in ns, and the symbol of what it now is.
fn converted(value: f64, symbol: &str, ticks_per_ns: f64) -> (f64, &str) {
    match symbol {
        "ticks" => (value / ticks_per_ns, "ns"),
        "us" => (value * 1e3, "ns"),
        "ms" => (value * 1e6, "ns"),
        "s" => (value * 1e9, "ns"),
        "bytes" => (value, "B"),
        "B/tick" => (value * ticks_per_ns * 1e9, "B/s"),
        other => (value, other),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use syscost_harness::bencher::Pass;

    use super::*;

    fn ran(status: i32, printed: &str, said: &str) -> Output {
        Output {
            status: ExitStatus::from_raw(status << 8),
            stdout: printed.into(),
            stderr: said.into(),
        }
    }

    #[test]
    fn what_a_program_prints_is_read_in_ns() {
        let mut seen = Seen::default();
        let printed = "result 40 ticks\nfact 8 ticks first_operation\nfact 1.5 % zero_or_less\n\
                       claim 1 0.5 answers per round trip\nsingle 2 us\n";
        let result = seen.read(&ran(0, printed, ""), 2.0, Unit::Nanoseconds, None);
        assert_eq!(result.ok(), Some(20.0));
        let facts: Vec<_> = seen
            .facts
            .iter()
            .map(|(name, all)| (name.as_str(), all[0]))
            .collect();
        assert_eq!(
            facts,
            [("first_operation_ns", 4.0), ("zero_or_less_percent", 1.5)]
        );
        assert_eq!(seen.claims["answers per round trip"], [(1.0, 0.5)]);
        assert_eq!(seen.singles_ns, [2000.0]);
    }

    #[test]
    fn a_number_alone_is_in_the_unit_of_its_study() {
        let read = |printed, unit| {
            Seen::default().read(&ran(0, printed, ""), 2.0, Unit::Nanoseconds, unit)
        };
        assert_eq!(read(" 1.5\n", Some("us")).ok(), Some(1500.0));
        assert_eq!(read("result 3 ms", Some("us")).ok(), Some(3e6));
        assert!(read("1.5", None).is_err());
    }

    #[test]
    fn a_program_that_fails_or_says_nothing_is_no_result() {
        let read = |status, printed, said| {
            let ran = ran(status, printed, said);
            Seen::default()
                .read(&ran, 1.0, Unit::Nanoseconds, None)
                .expect_err("no result")
        };
        assert_eq!(
            read(77, "", "no counter\n"),
            Failure::Unsupported("no counter".to_owned())
        );
        assert!(
            read(1, "", "fork: refused")
                .to_string()
                .contains("fork: refused")
        );
        for printed in ["", "result ns", "result 1 B", "hello 1 2", "fact 1 ns"] {
            assert!(
                matches!(read(0, printed, ""), Failure::Broken(_)),
                "{printed}"
            );
        }
    }

    #[test]
    fn a_rate_by_the_counter_is_one_by_the_second() {
        assert_eq!(converted(2.0, "B/tick", 3.0), (6e9, "B/s"));
    }

    #[test]
    fn what_a_program_leaves_in_its_folder_is_gone_with_the_folder() {
        let name = format!("left-{}", fastrand::u64(..));
        let is_there = || {
            let folders = std::fs::read_dir(&directory::given()[0].path);
            let mut folders = folders.into_iter().flatten().flatten();
            folders.any(|folder| folder.path().join(&name).exists())
        };
        let tree = match scratch_folder() {
            Ok(tree) => tree,
            Err(reason) => return println!("skipped: {reason}"),
        };
        tree.folder().create(&name).expect("it can be written");
        assert!(is_there());
        drop(tree);
        assert!(!is_there());
    }

    #[test]
    fn a_program_with_files_runs_in_that_folder() {
        let found = crate::testing::found_of(&Case::default(), Pass::Timed, &[], |b| {
            program("whole_system/page_fault", 200)
                .in_scratch_folder()
                .measure(b)
        });
        let Some(found) = found else { return };
        assert!(
            found.details["major_faults_percent"] > 50.0,
            "{:?}",
            found.details
        );
    }
}
