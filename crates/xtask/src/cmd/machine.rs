//! `cargo xtask machine [WORDS…]`: the machine suite, the tests that plain `cargo test` leaves out, since they measure, make links and file systems, kill,
//! or take long. Each runs alone, but for those that mostly wait; it is ended when its time is over, and fails if it leaves a process behind.

use std::fmt::Write;
use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::consts::{SIGINT, SIGTERM};
use syscost_sys::process::has_variable;
use xtask::Interrupted;
use xtask::cargo::{Built, built};

/// How many of the slowest tests are listed.
const SLOWEST: usize = 10;

/// What a program says when the one test that it was asked for has passed.
const PASSED: &str = "test result: ok. 1 passed;";

/// How the names of tests end that are ignored since they are experiments: libtest does not list the reason.
const BY_HAND: &str = "_by_hand";

/// Tests that hold no numbers against each other, and mostly wait (for nodes, links, disks, or a run to be killed): those of one list run
/// beside those of the others, by how their names begin. Within a list one follows the other, for they share what they make.
const WAITING: [&[&str]; 2] = [
    &[
        "it::check::it_answers",
        "it::command_line",
        "it::fleet_",
        "it::nfs",
        "it::report",
        "it::templates",
    ],
    &[
        "it::file_systems",
        "it::interruption",
        "it::leftovers",
        "it::links",
        "it::net_links",
    ],
];

/// Of these, tests that hold numbers against each other.
const MEASURING: &[&str] = &["it::file_systems::limits"];

/// The variable in the environment of all that a test starts, by which it is found in whatever process group; its value is our process
/// and which of the lists it is of.
const MARK: &str = "XTASK_MACHINE";

/// How often a test is looked at.
const POLL: Duration = Duration::from_millis(10);

/// How long what a test left may take to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// Arguments of `machine`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only tests whose names contain one of these
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Only those that run alone, or only those that mostly wait, beside which others may build
    #[arg(long, value_name = "PART")]
    part: Option<Part>,
    /// Seconds after which a test is ended, and has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    limit: u64,
}

/// A part of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Alone,
    Waiting,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let begun = Instant::now();
    let programs = built(&["test", "--no-run"], &[])?;
    let mut tests = Vec::new();
    for program in programs.iter().filter(|program| program.is_test) {
        tests.extend(left_out(program)?);
    }
    let is_asked = |test: &Test| {
        let is_in = |word: &String| test.to_string().contains(word);
        arguments.words.is_empty() || arguments.words.iter().any(is_in)
    };
    tests.retain(is_asked);
    ensure!(
        !tests.is_empty(),
        "no test of the machine suite is called so"
    );
    let built_in = begun.elapsed().as_secs_f64();
    println!("{} tests, built in {built_in:.1} s", tests.len());
    // Not before: a signal is to end a build at once.
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("catching signals")?;
    }
    let limit = Duration::from_secs(arguments.limit);
    let (mut waiting, mut alone) = parted(tests);
    match arguments.part {
        Some(Part::Alone) => waiting.iter_mut().for_each(Vec::clear),
        Some(Part::Waiting) => alone.clear(),
        None => {}
    }
    let mut ended = in_turn(alone, "alone", limit, &stop)?;
    let ends = thread::scope(|scope| {
        let stop = &stop;
        let lists = waiting.into_iter().enumerate();
        let threads: Vec<_> = lists
            .map(|(list, tests)| {
                scope.spawn(move || in_turn(tests, &list.to_string(), limit, stop))
            })
            .collect();
        let ends = threads.into_iter().map(|one| one.join().expect("no panic"));
        ends.collect::<Result<Vec<_>>>()
    })?;
    ended.extend(ends.into_iter().flatten());
    print!("{}", summary(&mut ended));
    if stop.load(Ordering::Relaxed) {
        println!("interrupted: not all tests were run");
        return Err(Interrupted.into());
    }
    match ended.iter().filter(|(_, ending)| ending.failed()).count() {
        0 => Ok(()),
        failed => bail!("{failed} of {} tests failed", ended.len()),
    }
}

/// Those of each list of [`WAITING`], and all others.
fn parted(tests: Vec<Test<'_>>) -> ([Vec<Test<'_>>; 2], Vec<Test<'_>>) {
    let (mut waiting, mut alone) = ([const { Vec::new() }; 2], Vec::new());
    for test in tests {
        let name = test.to_string();
        let is_of = |list: &&[&str]| list.iter().any(|start| name.starts_with(start));
        match WAITING.iter().position(is_of) {
            Some(list) if !is_of(&MEASURING) => waiting[list].push(test),
            Some(_) | None => alone.push(test),
        }
    }
    (waiting, alone)
}

/// Runs tests one after the other, until we are asked to stop.
fn in_turn<'a>(
    tests: Vec<Test<'a>>,
    list: &str,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Vec<(Test<'a>, Ending)>> {
    let mut ended = Vec::new();
    for test in tests {
        let mark = format!("{}.{list}", std::process::id());
        let ending = ending(test.command(), limit, stop, &mark)
            .with_context(|| format!("running {test}"))?;
        print!("{}", line_of(&test, &ending));
        ended.push((test, ending));
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(ended)
}

/// A test that plain `cargo test` leaves out.
struct Test<'a> {
    program: &'a Built,
    name: String,
}

impl std::fmt::Display for Test<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}::{}", self.program.target, self.name)
    }
}

impl Test<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program.path);
        command
            .args([&self.name, "--exact", "--ignored", "--nocapture"])
            .current_dir(&self.program.package);
        command
    }
}

/// The tests that this program leaves out if not asked for them.
fn left_out(program: &Built) -> Result<Vec<Test<'_>>> {
    let output = Command::new(&program.path)
        .args(["--ignored", "--list", "--format", "terse"])
        .current_dir(&program.package)
        .output()
        .with_context(|| format!("starting {}", program.path.display()))?;
    ensure!(
        output.status.success(),
        "{} lists no tests: {}\n{}",
        program.path.display(),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let list = String::from_utf8(output.stdout).context("reading a list of tests")?;
    let names = list.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names
        .filter(|name| !name.ends_with(BY_HAND))
        .map(|name| Test {
            program,
            name: name.to_owned(),
        })
        .collect())
}

/// How a test ended.
struct Ending {
    what: What,
    took: Duration,
    output: String,
}

#[derive(Debug, PartialEq, Eq)]
enum What {
    Passed,
    Failed,
    /// By us, after the time limit.
    Ended,
    /// By us, when we were asked to stop.
    Interrupted,
}

impl Ending {
    fn failed(&self) -> bool {
        self.what != What::Passed
    }
}

/// Runs a command in a process group of its own; it and all it started is ended after this time, or when we are asked to stop.
fn ending(mut command: Command, limit: Duration, stop: &AtomicBool, mark: &str) -> Result<Ending> {
    let begun = Instant::now();
    // A file: a process that outlives the test would keep a pipe open.
    let mut output = tempfile::tempfile().context("making a file")?;
    let mut child = command
        .env(MARK, mark)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        .process_group(0)
        .spawn()?;
    let group = Pid::from_child(&child);
    let mut what = loop {
        if let Some(status) = child.try_wait()? {
            break if status.success() {
                What::Passed
            } else {
                What::Failed
            };
        }
        let is_asked = stop.load(Ordering::Relaxed);
        if is_asked || begun.elapsed() > limit {
            kill_process_group(group, Signal::KILL)?;
            child.wait()?;
            break match is_asked {
                true => What::Interrupted,
                false => What::Ended,
            };
        }
        thread::sleep(POLL);
    };
    let took = begun.elapsed();
    let has_ended = matches!(what, What::Passed | What::Failed);
    let mark = format!("{MARK}={mark}");
    let left = cleared(&mark, if has_ended { GRACE } else { Duration::ZERO });
    let mut bytes = Vec::new();
    output.rewind()?;
    output.read_to_end(&mut bytes)?;
    let mut output = String::from_utf8_lossy(&bytes).into_owned();
    // A program that has no such test succeeds, too.
    if what == What::Passed && !output.contains(PASSED) {
        what = What::Failed;
    }
    if has_ended && !left.is_empty() {
        what = What::Failed;
        let _ = write!(output, "\nit left running: {}", left.join(", "));
    }
    Ok(Ending { what, took, output })
}

/// Kills every process with this `NAME=value` in its environment, unless it ends within some time, and tells their names.
fn cleared(mark: &str, time: Duration) -> Vec<String> {
    let begun = Instant::now();
    let mut left = marked(mark);
    while !left.is_empty() && begun.elapsed() < time {
        thread::sleep(POLL);
        left = marked(mark);
    }
    let name = |pid: &Pid| {
        let path = format!("/proc/{}/comm", pid.as_raw_nonzero());
        std::fs::read_to_string(path)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let names = left.iter().map(name).collect();
    // What they start meanwhile is found by the next pass; what cannot be killed is not waited for.
    for _ in 0..100 {
        if left.is_empty() {
            break;
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(POLL);
        left = marked(mark);
    }
    names
}

/// The processes with this `NAME=value` in their environment.
fn marked(mark: &str) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let marked = pids.filter(|pid| has_variable(*pid, mark));
    marked
        .filter_map(|pid| Pid::from_raw(pid.try_into().ok()?))
        .collect()
}

/// The line of a test, and what it skipped.
fn line_of(test: &Test<'_>, ending: &Ending) -> String {
    let what = match ending.what {
        What::Passed => "ok",
        What::Failed => "FAILED",
        What::Ended => "ENDED: too long",
        What::Interrupted => "INTERRUPTED",
    };
    let mut text = format!("{:8.1} s  {test}: {what}\n", ending.took.as_secs_f64());
    for why in skipped(&ending.output) {
        let _ = writeln!(text, "            skipped: {why}");
    }
    text
}

/// The reasons that a test gave for what it left out, which may follow its name in a line.
fn skipped(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let (before, why) = line.split_once("skipped: ")?;
        (before.is_empty() || before.ends_with("... ")).then_some(why)
    })
}

/// The slowest tests, what failed with its output, and the sum.
fn summary(ended: &mut [(Test<'_>, Ending)]) -> String {
    ended.sort_by_key(|(_, ending)| std::cmp::Reverse(ending.took));
    let mut text = "\nslowest:\n".to_owned();
    for (test, ending) in ended.iter().take(SLOWEST) {
        let _ = writeln!(text, "{:8.1} s  {test}", ending.took.as_secs_f64());
    }
    for (test, ending) in ended.iter().filter(|(_, ending)| ending.failed()) {
        let _ = writeln!(text, "\n---- {test}\n{}", ending.output.trim_end());
    }
    let took: Duration = ended.iter().map(|(_, ending)| ending.took).sum();
    let failed = ended.iter().filter(|(_, ending)| ending.failed()).count();
    let (tests, took) = (ended.len(), took.as_secs_f64());
    let _ = writeln!(text, "\n{tests} tests in {took:.1} s: {failed} failed");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_script(script: &str, limit: Duration, is_asked: bool) -> Ending {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script}\necho '{PASSED}'")]);
        let mark = std::process::id().to_string();
        let ending = ending(command, limit, &AtomicBool::new(is_asked), &mark).expect("sh starts");
        let mark = format!("{MARK}={mark}");
        assert_eq!(marked(&mark), [], "{script}");
        ending
    }

    #[test]
    fn what_passes_fails_or_never_ends_is_told_with_what_it_skipped() {
        let program = Built {
            path: "t".into(),
            target: "t".to_owned(),
            package: "/".into(),
            is_test: true,
        };
        let long = Duration::from_secs(600);
        let mut ended = Vec::new();
        for (name, script, limit, what) in [
            (
                "a",
                "echo 'test a ... skipped: no link'; echo skipped: no disk",
                long,
                What::Passed,
            ),
            (
                "b",
                "echo 'is not skipped: here'; echo why >&2; exit 1",
                long,
                What::Failed,
            ),
            (
                "none",
                "echo 'test result: ok. 0 passed;'; exit",
                long,
                What::Failed,
            ),
            // What it started would keep a pipe open, and one of it is in a group of its own.
            (
                "c",
                "echo before; setsid sleep 600 & sleep 600 & sleep 600",
                Duration::from_millis(200),
                What::Ended,
            ),
            (
                "leaves",
                "setsid sleep 600 & sleep 0.1 &",
                long,
                What::Failed,
            ),
        ] {
            let ending = of_script(script, limit, false);
            assert_eq!(ending.what, what, "{script}");
            let test = Test {
                program: &program,
                name: name.to_owned(),
            };
            ended.push((test, ending));
        }
        let reasons: Vec<_> = ended
            .iter()
            .map(|(_, ending)| skipped(&ending.output).collect::<Vec<_>>())
            .collect();
        assert_eq!(
            reasons,
            [vec!["no link", "no disk"], vec![], vec![], vec![], vec![]]
        );
        let line = line_of(&ended[0].0, &ended[0].1);
        assert!(
            line.ends_with(
                "t::a: ok\n            skipped: no link\n            skipped: no disk\n"
            ),
            "{line}"
        );
        let text = summary(&mut ended);
        assert!(
            text.contains("\n---- t::b\nis not skipped: here\nwhy\n"),
            "{text}"
        );
        assert!(text.contains("\nit left running: sleep\n"), "{text}");
        let interrupted = of_script("sleep 600", long, true);
        assert_eq!(interrupted.what, What::Interrupted);
        assert!(
            text.contains("\n---- t::c\nbefore\n") && text.ends_with(" s: 4 failed\n"),
            "{text}"
        );
    }

    #[test]
    fn the_tests_left_out_of_a_program_are_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = |name: &str, script: &str| {
            let path = folder.path().join(name);
            xtask::workspace::write(&path, &format!("#!/bin/sh\n{script}\n")).expect("written");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&path, mode).expect("a program");
            Built {
                path,
                target: "t".to_owned(),
                package: folder.path().to_owned(),
                is_test: true,
            }
        };
        let listing = program(
            "lists",
            "echo 'a::b: test'; echo 'c: benchmark'; echo 'd_by_hand: test'",
        );
        let tests = left_out(&listing).expect("it starts");
        let names: Vec<String> = tests.iter().map(Test::to_string).collect();
        assert_eq!(names, ["t::a::b"]);
        let broken = program("breaks", "echo no library >&2; exit 127");
        let error = left_out(&broken).err().expect("it lists nothing");
        assert!(error.to_string().contains("no library"), "{error}");
    }
}
