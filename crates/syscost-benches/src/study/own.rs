//! Programs of a user's own study: a C file, or a command.
//!
//! ## Measures
//! What the program prints, each time it is started: a number in the unit that its study states, or lines
//! as the programs of the published studies print them (docs/studies.md).
//! Between `begin()` and `end()` its system calls, page faults and switches are counted, per operation of those
//! that it asks for by `operations()`.
//! ## Does not measure
//! Anything that syscost knows: the study says what its procedure is.
//! ## Interpretation
//! By the study's own text.
//! ## Source
//! The user's TOML file.

use std::path::{Path, PathBuf};
use std::process::{self, Child, Command};
use std::{fs, io};

use rustix::fs::{StatVfsMountFlags, statvfs};
use syscost_harness::prelude::*;
use syscost_sys::process::proc_of;

use super::program::results_of;
use super::started;

/// What a C file may include as `result.h`, to print more than a number.
pub const HEADER: &str = include_str!("result.h");

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A procedure of your own study",
    tags: "system call",
    quantity: Quantity::Level,
    ..Benchmark::of::<OwnProgram>()
};

/// The file that the kernel executes is named by both.
static STUDY: Witness = Witness::of("study of the program", EXE);

static QUANTITY: Witness = Witness::of("quantity of the program", EXE);

const EXE: &str = "/proc/PID/exe";

/// Operations of a program where its calls are counted, each of which takes some microseconds there.
const COUNTED: u64 = 1000;

#[derive(Params, Clone)]
struct OwnProgram {
    /// The study's name.
    study: String,
    /// The quantity of the study.
    quantity: String,
}

impl Measured for OwnProgram {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let ids = here.programs.iter().map(|one| &one.id);
        ids.flat_map(|id| {
            rows!(OwnProgram {
                study: [id.study.clone()],
                quantity: [id.quantity.clone()]
            })
        })
        .collect()
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        OwnProgramProofs {
            study: STUDY.expects(&*self.study),
            quantity: QUANTITY.expects(&*self.quantity),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let OwnProgram { study, quantity } = self;
        let mut programs = plan.programs().iter();
        let own = programs.find(|one| one.id.study == study && one.id.quantity == quantity);
        let own = own.expect("rows are listed by the programs");
        let made = own.made.clone().map_err(Failure::Failed)?;
        let is_timed = plan.is_timed();
        let mut names = None;
        let start = || {
            let directory = EmptyDirectory::make(&made.directory)?;
            let mut command = Command::new(&made.command[0]);
            command.args(&made.command[1..]).current_dir(&directory.0);
            if !is_timed {
                command.env("SYSCOST_OPERATIONS", COUNTED.to_string());
            }
            let ended = started::run(&mut command, |child| {
                names.get_or_insert_with(|| names_of(child));
            });
            ended.map_err(|cause| not_started(Path::new(&made.command[0]), cause))
        };
        let counted = made.counted.iter();
        let calls = counted.filter_map(|claim| Counter::call_claimed(claim));
        let counted = Counted::Noted(calls.collect());
        let unit = Some(made.unit.as_str());
        let mut outcome = results_of(plan, counted, Unit::Nanoseconds, unit, start)?;
        let is_compiled = Path::new(&made.command[0]).starts_with(&made.directory);
        match names.flatten().filter(|_| is_compiled) {
            Some((study, quantity)) => {
                outcome.observe(&STUDY, study);
                outcome.observe(&QUANTITY, quantity);
            }
            None => {
                let reason = "the study's own command starts what it likes";
                outcome.unobserved(&STUDY, reason);
                outcome.unobserved(&QUANTITY, reason);
            }
        }
        outcome.note("program", made.how.as_str(), "study");
        Ok(outcome)
    }
}

/// A directory for one run of a program, with nothing in it that another run left. It is removed with
/// what it holds; after a kill, with the directory that all are in.
struct EmptyDirectory(PathBuf);

impl EmptyDirectory {
    fn make(parent: &Path) -> io::Result<Self> {
        let path = parent.join(format!("run-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for EmptyDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Why a program was not started, with the file, and that nothing may be executed where it lies.
fn not_started(file: &Path, cause: io::Error) -> io::Error {
    let flags = statvfs(file).map(|found| found.f_flag);
    let is_barred = flags.is_ok_and(|flags| flags.contains(StatVfsMountFlags::NOEXEC));
    let why = match is_barred {
        true => "; its file system is mounted noexec, so set TMPDIR or XDG_CACHE_HOME to another",
        false => "",
    };
    io::Error::new(cause.kind(), format!("{}: {cause}{why}", file.display()))
}

/// The study and the quantity by whose names the file is called that this process executes.
fn names_of(child: &Child) -> Option<(String, String)> {
    let link = format!("{}/exe", proc_of(child.id()).ok()?);
    let file = std::fs::read_link(link).ok()?;
    let (study, quantity) = file.file_name()?.to_str()?.split_once('.')?;
    Some((study.to_owned(), quantity.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use syscost_harness::bencher::Findings;
    use syscost_results::measurement::Cause;
    use syscost_sys::cpu;

    use super::*;
    use crate::testing::found_by;

    #[test]
    fn each_run_of_a_program_begins_in_an_empty_directory() {
        let parent = std::env::temp_dir().join(format!("syscost-own-{}", process::id()));
        fs::create_dir(&parent).expect("made");
        for _ in 0..2 {
            let directory = EmptyDirectory::make(&parent).expect("made");
            let left = fs::read_dir(&directory.0).expect("listed").count();
            assert_eq!(left, 0);
            fs::write(directory.0.join("left"), "x").expect("written");
        }
        assert!(fs::read_dir(&parent).expect("listed").next().is_none());
        fs::remove_dir(&parent).expect("empty");
    }

    /// What is found of this script, timed beside a busy loop on its CPU.
    fn timed_beside_a_busy_loop(script: &str) -> Result<Findings, String> {
        let start = || started::run(Command::new("sh").args(["-c", script]), |_| ());
        beside_a_busy_loop(|| {
            found_by(&Case::default(), Pass::Timed, &[], |plan| {
                let counted = Counted::Noted(Vec::new());
                results_of(plan, counted, Unit::Nanoseconds, Some("ns"), start)
            })
        })
    }

    #[test]
    #[ignore = "machine suite"]
    fn beside_a_busy_loop_on_its_cpu_no_result_of_a_program_is_undisturbed() {
        // Of a tenth of a second or more: many time slices.
        let counts = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo 1";
        // A task that waits for others; how often these are preempted, by one another or by others, does not tell.
        let forks = "i=0; while [ $i -lt 300 ]; do (:); i=$((i+1)); done; echo 1";
        let by_others = [Cause::RunDelay, Cause::Contended];
        for (script, causes) in [(counts, &[Cause::Preempted][..]), (forks, &by_others)] {
            let samples = or_skip!(timed_beside_a_busy_loop(script)).samples;
            for sample in 0..samples.values.len() as u32 {
                let mut tags = samples.disturbed.iter();
                let is_told = tags.any(|tag| tag.sample == sample && causes.contains(&tag.cause));
                assert!(is_told, "{script}, {sample}: {:?}", samples.disturbed);
            }
        }
    }

    /// Runs this on the first CPU, as a loop does that another process makes.
    fn beside_a_busy_loop<T: Send>(body: impl FnOnce() -> T + Send) -> T {
        let cpu = cpu::allowed().expect("some")[0];
        let on_cpu = || {
            cpu::pin(cpu).expect("it is allowed");
            let mut busy = Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
                .expect("a shell");
            let result = body();
            busy.kill().expect("it has no end");
            busy.wait().expect("it was started");
            result
        };
        thread::scope(|scope| scope.spawn(on_cpu).join().expect("no panic"))
    }
}
