//! `cargo lab frozen FOLDER`: writes down what a redesign must not move, to be compared with `diff -r` before
//! and after it.
//!
//! - `list.json`, `explain.txt`: every row and every explanation, as the program prints them.
//! - `jobs.txt`: the jobs of a run of all rows with a fixed seed, whose workers are simulated.
//! - `evidence.txt`: of a run of all rows, each claim, what it expects, its source and its verdict. A busy
//!   machine leaves some unverified, so two runs of one program may differ, too.
//! - `loops.txt`: the machine code of the innermost loops of functions that time or are timed, without
//!   addresses, and with registers numbered as they appear (x86-64).

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use regex::{Captures, Regex};
use serde_json::Value;
use syscost_benches::CATALOGUE;
use syscost_harness::Catalogue;
use syscost_harness::Here;
use syscost_harness::bencher::{Findings, Pass};
use syscost_harness::session::{Event, Observer, Options, Profile, Session};
use syscost_harness::worker::{Job, Program as WorkerProgram, Reply};
use syscost_results::{Fact, RoundSamples};

use crate::program::Program;
use xtask::workspace;

/// Arguments of `frozen`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where to write
    folder: PathBuf,
    /// The program; without it the release is built. The jobs are those of this workspace
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Leave out what takes minutes: the evidence
    #[arg(long)]
    quick: bool,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = match &arguments.program {
        Some(path) => Program { path: path.clone() },
        None => Program::build()?,
    };
    let write = |name: &str, text: &str| workspace::write(&arguments.folder.join(name), text);
    std::fs::create_dir_all(&arguments.folder).context("making the folder")?;
    let list = printed(&program, &["list", "--format", "json"])?;
    write("list.json", &list)?;
    // Of the benchmarks that this program has: it may be older than the workspace.
    let list: Vec<Value> = serde_json::from_str(&list).context("reading the list")?;
    let mut explained = String::new();
    for benchmark in list.iter().filter_map(|one| one["id"].as_str()) {
        explained += &printed(&program, &["explain", benchmark])?;
    }
    write("explain.txt", &explained)?;
    write("jobs.txt", &jobs()?)?;
    write("loops.txt", &loops(&program.path)?)?;
    if !arguments.quick {
        write("evidence.txt", &evidence(&program)?)?;
    }
    Ok(())
}

fn printed(program: &Program, arguments: &[&str]) -> Result<String> {
    // Explanations name values of kept runs: here there are none.
    let nothing = tempfile::tempdir().context("making a folder")?;
    let output = Command::new(&program.path)
        .args(arguments)
        .env("XDG_DATA_HOME", nothing.path())
        .output();
    let output = output.with_context(|| format!("starting {}", program.path.display()))?;
    if !output.status.success() {
        bail!(
            "`syscost {}` ended with {}",
            arguments.join(" "),
            output.status
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Names the file to which simulated workers add their jobs.
const JOBS: &str = "SYSCOST_FROZEN_JOBS";

/// The jobs of a run of all rows, as workers read them, without what the machine decides: CPUs, clock,
/// frequencies.
fn jobs() -> Result<String> {
    struct Silent;
    impl Observer for Silent {
        fn event(&mut self, _: Event<'_>) {}
    }
    let folder = tempfile::tempdir().context("making a folder")?;
    let log = folder.path().join("jobs");
    let environment = vec![(JOBS.to_owned(), Some(log.display().to_string()))];
    let here = Here::plain();
    let everything = CATALOGUE.groups().iter().flat_map(|group| group.benchmarks);
    let rows = Catalogue::rows(everything, &here);
    let program = WorkerProgram::this()?.with_environment(environment);
    let options = Options {
        budget: Some(Duration::from_secs(3600)),
        seed: Some(1),
        ..Options::quick(program, Duration::from_secs(10), "frozen")
    };
    let interrupted = AtomicBool::new(false);
    Session::new(rows, &options, &mut Silent, &interrupted)?.measure(&mut Silent);
    std::fs::read_to_string(&log).context("reading the workers' jobs")
}

/// A simulated worker: adds its job to the file that the environment names, and answers with
/// samples that the job's seed decides.
pub(crate) fn work() -> Result<()> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)?;
    let log = env::var(JOBS).context("only the chore `frozen` has such workers")?;
    let cases: Vec<String> = job
        .cases
        .iter()
        .map(|case| format!("{} {:?}", case.suffix, case.iterations))
        .collect();
    let text = format!(
        "{} {:?} {} {} {} {:?}\n  {}\n",
        job.benchmark,
        job.pass,
        job.keeps_order,
        job.seed,
        job.stack_offset,
        job.effort,
        cases.join("\n  ")
    );
    let mut log = OpenOptions::new().create(true).append(true).open(log)?;
    log.write_all(text.as_bytes())?;
    let answer = |reply: &Reply| -> Result<()> {
        let mut output = io::stdout().lock();
        serde_json::to_writer(&mut output, reply)?;
        Ok(output.write_all(b"\n")?)
    };
    answer(&Reply::Ready)?;
    let mut random = fastrand::Rng::with_seed(job.seed);
    for index in 0..job.cases.len() {
        answer(&Reply::Begin(index))?;
        let values = match job.pass {
            Pass::Timed => (0..job.effort.samples)
                .map(|_| 100.0 + random.f64())
                .collect(),
            Pass::Evidence => Vec::new(),
        };
        let findings = Findings {
            samples: RoundSamples {
                cpu: job.cpu,
                iterations: 1000,
                values,
                ..RoundSamples::default()
            },
            observed: true,
            ..Findings::default()
        };
        answer(&Reply::Done(index, Box::new(Ok(findings))))?;
    }
    Ok(())
}

/// What a run of all rows proves, a line a claim.
fn evidence(program: &Program) -> Result<String> {
    let run = program.run(
        Profile::Quick,
        &["--no-samples", "--budget", "900", "--dir", "/tmp"],
        &["*"],
    )?;
    let said = |fact: &Fact| match fact {
        Fact::Number(number) => number.to_string(),
        Fact::Text(text) => text.clone(),
    };
    let mut lines = BTreeSet::new();
    for row in &run.measurements {
        lines.insert(format!("{}\t{:?}", row.name, row.status));
        for one in &row.evidence {
            let expected = one.expected.as_ref().map_or("any".to_owned(), said);
            let verdict = one.verdict;
            lines.insert(format!(
                "{}\t{}\t{expected}\t{}\t{verdict:?}",
                row.name, one.claim.sentence, one.source
            ));
        }
    }
    Ok(lines.into_iter().collect::<Vec<_>>().join("\n") + "\n")
}

/// Where functions come from that time, or are timed.
const TIMED: [&str; 3] = [
    "syscost_benches::",
    "syscost_harness::bencher::",
    "syscost_sys::kernel::",
];

/// Instructions of the longest loop that is written down.
const LONGEST: usize = 64;

/// The innermost loops of such functions, one a line with its number: the straight ones, which are left only
/// at their end or by a jump out of it, as loops around a timed operation are.
fn loops(binary: &Path) -> Result<String> {
    let output = Command::new("objdump")
        .args(["--disassemble", "--no-show-raw-insn", "--demangle"])
        .arg(binary)
        .output()
        .context("starting objdump, which is in the package binutils")?;
    if !output.status.success() {
        bail!("objdump ended with {}", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for function in text.split("\n\n") {
        if let Some((head, code)) = function.trim_start().split_once('\n')
            && TIMED.iter().any(|from| head.contains(from))
        {
            for one in straight_loops(code) {
                *found.entry(one).or_default() += 1;
            }
        }
    }
    let line = |(one, times): (String, usize)| format!("{times} x {one}\n");
    Ok(found.into_iter().map(line).collect())
}

/// The straight loops of a function that `objdump` took apart.
fn straight_loops(code: &str) -> Vec<String> {
    let instruction = |line: &str| {
        let (address, text) = line.split_once(':')?;
        let address = u64::from_str_radix(address.trim(), 16).ok()?;
        Some((address, text.trim().to_owned()))
    };
    let code: Vec<(u64, String)> = code.lines().filter_map(instruction).collect();
    // Where an instruction jumps to, if that is within the function.
    let target = |text: &str| {
        let (jump, to) = text.split_once(' ')?;
        let to = jump.starts_with('j').then_some(to)?;
        let to = u64::from_str_radix(to.split_whitespace().next()?, 16).ok()?;
        code.binary_search_by_key(&to, |(address, _)| *address).ok()
    };
    let mut loops = Vec::new();
    for (end, (_, last)) in code.iter().enumerate() {
        let Some(start) = target(last).filter(|start| *start <= end && !last.starts_with("jmp"))
        else {
            continue;
        };
        let is_straight = code[start..end].iter().all(|(_, text)| {
            let leaves = ["jmp", "ret", "ud2"];
            !leaves.iter().any(|word| text.starts_with(word))
                && !target(text).is_some_and(|to| (start..=end).contains(&to))
        });
        if is_straight && end - start < LONGEST {
            loops.push(placeless(code[start..=end].iter().map(|(_, text)| text)));
        }
    }
    loops
}

/// A jump, a call, and an operand on the stack or beside the code, as `objdump` writes them.
static JUMP: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(j\w+)\s.*"));
static CALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^call\s+[0-9a-f]+ <(.*?)(::h\w{16})?>"));
static PLACE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(-?0x[0-9a-f]+)?\((%r[si]p)"));
/// A register that the compiler was free to take.
static REGISTER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"%([re]?(?:[abcd]x|[sd]i|bp)|[abcd][lh]|[sd]il|bpl|r\d+[dwb]?|[xyz]mm\d+)\b")
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant")
}

/// Instructions without what moves with them: addresses, hashes in names, and which registers were free.
fn placeless<'a>(instructions: impl Iterator<Item = &'a String>) -> String {
    let mut registers: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for text in instructions {
        let text = text.split('#').next().unwrap_or_default();
        let padding = ["nop", "data16", "cs nop", "xchg   %ax,%ax"];
        if padding.iter().any(|padding| text.starts_with(padding)) {
            continue;
        }
        let text = JUMP.replace(text, "$1");
        let text = CALL.replace(&text, "call <$1>");
        let text = PLACE.replace_all(&text, "($2");
        let text = REGISTER.replace_all(&text, |found: &Captures<'_>| {
            let whole = whole_register(&found[1]);
            let known = registers.iter().position(|other| *other == whole);
            let number = known.unwrap_or(registers.len());
            if known.is_none() {
                registers.push(whole);
            }
            format!("%{number}")
        });
        lines.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    lines.join("; ")
}

/// The register of which this is the whole or a part: `a` of `rax`, `eax` and `al`.
fn whole_register(name: &str) -> String {
    if name.ends_with(|last: char| last.is_ascii_digit()) {
        return name.to_owned();
    }
    match name.strip_prefix('r') {
        Some(numbered) if numbered.starts_with(|first: char| first.is_ascii_digit()) => {
            format!("r{}", numbered.trim_end_matches(['d', 'w', 'b']))
        }
        _ => {
            let short = name.trim_start_matches(['r', 'e']);
            short.trim_end_matches(['x', 'l', 'h']).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop around a system call, as `objdump` writes it, of a build with other addresses and registers.
    fn taken_apart(at: u64, counter: &str, number: &str, call: &str) -> String {
        [
            format!("  {at:x}:\tmov    0x18(%rsp),%rdi        # {at:x} <x>"),
            format!("  {:x}:\tmov    ${call},%e{number}", at + 4),
            format!("  {:x}:\tsyscall", at + 9),
            format!("  {:x}:\ttest   %r{number},%r{number}", at + 11),
            format!("  {:x}:\tjs     {:x} <f+0x99>", at + 14, at + 0x900),
            format!("  {:x}:\tdec    %{counter}", at + 16),
            format!("  {:x}:\tjne    {at:x} <f+0x10>", at + 19),
            format!("  {:x}:\tret", at + 21),
        ]
        .join("\n")
    }

    #[test]
    fn a_loop_that_moved_and_took_other_registers_is_the_same() {
        let before = straight_loops(&taken_apart(0x1000, "rbx", "ax", "0x6e"));
        assert_eq!(
            before,
            ["mov (%rsp),%0; mov $0x6e,%1; syscall; test %1,%1; js; dec %2; jne"]
        );
        let moved = straight_loops(&taken_apart(0x2340, "r12", "dx", "0x6e"));
        assert_eq!(before, moved);
        let other = straight_loops(&taken_apart(0x1000, "rbx", "ax", "0x27"));
        assert_ne!(before, other);
    }
}
