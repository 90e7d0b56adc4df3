//! Shared: starts the programs of the studies as processes of their own, and reads their output.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use syscost_harness::prelude::*;
use syscost_sys::audit::uncounted;
use syscost_sys::cpu;
use syscost_sys::memory;
use syscost_sys::process::proc_of;
use syscost_sys::scratch::{self, Tree};
use syscost_sys::tiny::TinyProgram;

use super::printed::ProgramOutput;
use super::started::{self, Ended};
use crate::timing::clock_read::counter_ticks_per_ns;

/// All programs in one static executable; empty where none could be made.
pub(super) static EXECUTABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/programs"));

/// The compiler that made them, and its version.
const COMPILER: &str = env!("SYSCOST_PROGRAMS_COMPILER");

/// The flags of each study's programs: `study=flags`, separated by semicolons.
const FLAGS: &str = env!("SYSCOST_PROGRAMS_FLAGS");

/// Why there are none, where there are none.
const MISSING: &str = env!("SYSCOST_PROGRAMS_MISSING");

/// The arguments that the kernel saw the program start with.
static ARGUMENTS: [Witness; 3] = [
    Witness::of("first argument of the program", CMDLINE),
    Witness::of("second argument of the program", CMDLINE),
    Witness::of("third argument of the program", CMDLINE),
];

static TIMED_ARGUMENT: Witness =
    Witness::of("second argument of the timed program", CMDLINE).only_in(Pass::Timed);

const CMDLINE: &str = "its /proc/self/cmdline";

static CPUS: Witness = Witness::of("CPUs that the program may use", "/proc");

/// Proof by the program's argument of this number, from 0.
pub(super) fn argument(number: usize, value: impl ToString) -> Proof {
    ARGUMENTS[number].expects(value.to_string())
}

/// Proof by the program's second argument where its calls are not counted.
pub(super) fn timed_argument(value: impl ToString) -> Proof {
    TIMED_ARGUMENT.expects(value.to_string())
}

/// Proof by the program's staying on the measured CPU.
pub(super) fn pinned() -> Proof {
    CPUS.expects(PINNED)
}

/// Proof by the program's having all CPUs of the run.
pub(super) fn unpinned() -> Proof {
    CPUS.expects(UNPINNED)
}

const PINNED: &str = "one";

const UNPINNED: &str = "all of the run";

/// The CPUs that this process may use: the kernel says so of one that has ended, too.
fn cpus_of(process: u32) -> Result<String, Unsupported> {
    let path = format!("{}/status", proc_of(process)?);
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|cause| Unsupported::new(format!("{path}: {cause}")))?;
    let cpus = |line: &str| Some(line.strip_prefix("Cpus_allowed_list:")?.trim().to_owned());
    let missing = || Unsupported::new(format!("{path} does not say"));
    text.lines().find_map(cpus).ok_or_else(missing)
}

fn see_cpus(b: &mut Bencher, cpus: Result<String, Unsupported>) {
    let all = cpu::format_list(b.allowed());
    match cpus {
        Err(reason) => b.unobserved(&CPUS, reason),
        Ok(one) if one == all && b.allowed().len() == 1 => {
            b.unobserved(&CPUS, "this run has one CPU, so that nothing tells");
        }
        Ok(seen) if seen == all => b.observe(&CPUS, UNPINNED),
        Ok(seen) if seen == b.cpu().to_string() => b.observe(&CPUS, PINNED),
        Ok(seen) => b.observe(&CPUS, seen),
    }
}

/// Reports the arguments of a program: the first two are its name and the procedure's.
fn see_arguments(b: &mut Bencher, arguments: &[String]) {
    if arguments.is_empty() {
        let all = ARGUMENTS.iter().chain([&TIMED_ARGUMENT]);
        return all.for_each(|witness| b.unobserved(witness, "the program could not read its own"));
    }
    let argument = |number: usize| arguments.get(number + 2).map_or("", |text| text);
    for (number, witness) in ARGUMENTS.iter().enumerate() {
        b.observe(witness, argument(number));
    }
    if b.is_timed() {
        b.observe(&TIMED_ARGUMENT, argument(1));
    }
}

/// Filling this much memory takes longer than what is then timed, in bytes.
const MUCH: u64 = 16 << 20;

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
    /// Results of a round, if few will do.
    fewest: Option<u32>,
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
        fewest: None,
        unit: Unit::Nanoseconds,
    }
}

/// What all procedures without parameters have in common.
pub(super) const PROCEDURE: Benchmark = made(Benchmark::DEFAULT);

/// What procedures with these rows have in common.
pub(super) const fn procedure<R: Measured>() -> Benchmark {
    made(Benchmark::of::<R>())
}

/// A benchmark that needs the programs, which may not have been made when syscost was built.
const fn made(benchmark: Benchmark) -> Benchmark {
    Benchmark {
        support: |_, _| match EXECUTABLE {
            [] => Err(Unsupported::new(MISSING)),
            [..] => Ok(()),
        },
        ..benchmark
    }
}

/// The flags with which the program of this name is compiled: the build says those of each study.
fn flags(name: &str) -> &'static str {
    let study = name.split('/').next().unwrap_or(name);
    let of_it = |entry: &'static str| entry.strip_prefix(study)?.strip_prefix('=');
    FLAGS.split(';').find_map(of_it).unwrap_or_default()
}

impl Program {
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

    /// Sets how many bytes of memory it fills. It is not started where less is available, and a large
    /// one may give only one result per round.
    pub(super) fn filling(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self.fewest = (bytes >= MUCH).then_some(1);
        self
    }

    /// Sets how many results a round has at least.
    pub(super) fn with_results(mut self, fewest: u32) -> Self {
        self.fewest = Some(fewest);
        self
    }

    /// Sets the unit of its results, where they are not times.
    pub(super) fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Measures: each sample is what one run of it prints.
    pub(super) fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let executable = TinyProgram::holding(EXECUTABLE)?;
        let (arguments, operations) = match plan.is_timed() {
            true => (&self.arguments, self.operations),
            false => (&self.counted_arguments, self.counted_operations),
        };
        let unpinned = match self.is_pinned {
            true => None,
            false => Some(Unpinned::new(&plan)?),
        };
        memory::enough_for(self.bytes as usize)?;
        if let Some(fewest) = self.fewest {
            plan.may_take_few(fewest);
        }
        let folder = self
            .needs_folder
            .then(|| scratch_folder(plan.targets()))
            .transpose()?;
        let mut cpus = None;
        let start = || {
            let path = executable.path().to_str().unwrap_or_default();
            let mut command = Command::new(path);
            command.arg0("syscost-study").arg(self.name).args(arguments);
            if let Some(tree) = &folder {
                let held = tree.folder().file().as_raw_fd();
                command.current_dir(format!("/proc/self/fd/{held}"));
            }
            command.env_clear();
            started::run(&mut command, |child| {
                cpus.get_or_insert_with(|| cpus_of(child.id()));
            })
        };
        let counted = Counted::Expected(operations);
        let mut outcome = results_of(plan, counted, self.unit, None, start)?;
        if let Some(cpus) = cpus {
            see_cpus(&mut outcome, cpus);
        }
        drop(unpinned);
        let compiled = format!("{COMPILER}, {} -static", flags(self.name));
        outcome.note("program compiled by", compiled, "build");
        Ok(outcome)
    }
}

/// Measures a program that `start` starts and waits for: each sample is what one run of it prints.
/// `number_in` is the unit of a number that it may print alone.
pub(super) fn results_of<'a>(
    plan: Plan<'a>,
    counted: Counted,
    unit: Unit,
    number_in: Option<&str>,
    mut start: impl FnMut() -> io::Result<Ended>,
) -> Result<Outcome<'a>, Failure> {
    let ticks_per_ns = counter_ticks_per_ns(plan.clock());
    let (mut seen, mut started) = (ProgramOutput::default(), 0_u64);
    let mut outcome = plan.measure(Published::of(counted, || {
        started += 1;
        let ended = uncounted(&mut start).tried("start the study's program")?;
        seen.read(&ended, ticks_per_ns, unit, number_in)
    }))?;
    outcome.note("results of the program", started, "program");
    see_arguments(&mut outcome, &seen.arguments);
    seen.tell(&mut outcome);
    Ok(outcome)
}

/// A new folder in the first of the directories in which files are measured.
fn scratch_folder(targets: &Targets) -> Result<Tree, Failure> {
    /// As much as a program may write there.
    const ROOM: u64 = 64 << 20;
    let first = targets.directories.first().ok_or_else(|| {
        Failure::Failed("there is no directory in which files are measured".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_a_program_are_those_of_its_study() {
        let studies = super::super::STUDIES.iter();
        let studies = studies.map(|text| syscost_studies::parse(text).expect("a study"));
        for study in studies.filter(|_| !EXECUTABLE.is_empty()) {
            let name = format!("{}/any", study.id.replace('-', "_"));
            assert_eq!(flags(&name), study.flags, "{name}");
        }
    }

    #[test]
    fn what_a_program_leaves_in_its_folder_is_gone_with_the_folder() {
        let name = format!("left-{}", fastrand::u64(..));
        let mut targets = Targets::default();
        targets.directories[0].path = crate::testing::on_disk();
        let is_there = || {
            let folders = std::fs::read_dir(&targets.directories[0].path);
            let mut folders = folders.into_iter().flatten().flatten();
            folders.any(|folder| folder.path().join(&name).exists())
        };
        let tree = or_skip!(scratch_folder(&targets));
        tree.folder().create(&name).expect("it can be written");
        assert!(is_there());
        drop(tree);
        assert!(!is_there());
    }

    #[test]
    fn a_program_with_files_runs_in_that_folder() {
        let found = crate::testing::found_by(&Case::default(), Pass::Timed, &[], |plan| {
            program("whole_system/page_fault", 200)
                .in_scratch_folder()
                .measure(plan)
        });
        let found = or_skip!(found);
        assert!(
            found.details["major_faults_percent"].value > 50.0,
            "{:?}",
            found.details
        );
    }
}
