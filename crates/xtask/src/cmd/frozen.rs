//! `cargo xtask frozen FOLDER`: writes down what a redesign must not move, to be compared with `diff -r` before
//! and after it.
//!
//! - `list.json`, `explain.txt`: every row and every explanation, as the program prints them.
//! - `jobs.txt`: the jobs of a run of all rows with a fixed seed, whose workers are simulated.
//! - `evidence.txt`: of a run of all rows, each claim, what it expects, its source and its verdict. A busy
//!   machine leaves some unverified, so two runs of one program may differ, too.
//! - `loops.txt`: a hash of the machine code of every function that times or is timed, addresses taken out.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::OpenOptions;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use syscost_benches::CATALOGUE;
use syscost_harness::Catalogue;
use syscost_harness::Here;
use syscost_harness::bencher::{Findings, Pass};
use syscost_harness::session::{Event, Observer, Options, Profile, Session};
use syscost_harness::worker::{Job, Program as WorkerProgram, Reply};
use syscost_results::{Fact, RoundSamples};

use crate::program::Program;
use crate::workspace;

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
    write(
        "list.json",
        &printed(&program, &["list", "--format", "json"])?,
    )?;
    let mut explained = String::new();
    for benchmark in CATALOGUE.groups().iter().flat_map(|group| group.benchmarks) {
        explained += &printed(&program, &["explain", benchmark.id])?;
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
    let options = Options {
        profile: Profile::Quick,
        budget: Some(Duration::from_secs(3600)),
        seed: Some(1),
        cpus: None,
        time_limit: Duration::from_secs(10),
        selectors: Vec::new(),
        studies: Vec::new(),
        program: WorkerProgram::this()?.with_environment(environment),
        here,
        journal_folder: None,
        known_cores: None,
        kept_runs: None,
        peer: None,
        nfs: None,
        version: "frozen",
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
                row.name, one.claim, one.source
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

/// A line for each such function: its name without the compiler's hash, and a hash of its code. Functions that
/// differ only by their type arguments have one name, so names may stand more than once.
fn loops(binary: &Path) -> Result<String> {
    let output = Command::new("objdump")
        .args(["--disassemble", "--demangle"])
        .args(["--no-show-raw-insn", "--no-addresses"])
        .arg(binary)
        .output()
        .context("starting objdump, which is in the package binutils")?;
    if !output.status.success() {
        bail!("objdump ended with {}", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut functions: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for part in text.split("\n\n") {
        let Some((head, code)) = part.trim_start().split_once('\n') else {
            continue;
        };
        let Some(name) = head
            .trim()
            .strip_prefix('<')
            .and_then(|name| name.strip_suffix(">:"))
        else {
            continue;
        };
        if TIMED.iter().any(|from| name.contains(from)) {
            let mut hasher = DefaultHasher::new();
            for line in code.lines() {
                placeless(line).hash(&mut hasher);
            }
            functions
                .entry(nameless(name))
                .or_default()
                .push(hasher.finish());
        }
    }
    let mut lines = Vec::new();
    for (name, mut hashes) in functions {
        hashes.sort_unstable();
        lines.extend(hashes.iter().map(|hash| format!("{name} {hash:016x}\n")));
    }
    Ok(lines.concat())
}

/// A symbol without the hash at its end, which changes with each change of its crate.
fn nameless(symbol: &str) -> String {
    match symbol.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 => name.to_owned(),
        _ => symbol.to_owned(),
    }
}

/// An instruction without what moves with it: addresses, and the hashes of the names in its comment.
fn placeless(line: &str) -> String {
    let line = line.trim();
    // `call 12ab <name+0x3>`, `lea 0x123(%rip),%rax  # 45cd <name>`
    let (instruction, target) = line.split_once('<').unwrap_or((line, ""));
    let (instruction, comment) = instruction.split_once('#').unwrap_or((instruction, ""));
    let mut words: Vec<&str> = instruction.split_whitespace().collect();
    if comment.is_empty() && !target.is_empty() {
        words.pop();
    }
    let plain = words.iter().map(|word| match word.split_once("(%rip)") {
        Some((_, rest)) => format!("(%rip){rest}"),
        None => (*word).to_owned(),
    });
    let (symbol, offset) = match target.trim_end_matches('>').rsplit_once('+') {
        Some((symbol, offset)) if offset.starts_with("0x") => (symbol, offset),
        _ => (target.trim_end_matches('>'), ""),
    };
    let symbol = match comment.is_empty() {
        // Data has no name of its own: what stands next to it moves.
        false => String::new(),
        true => nameless(symbol),
    };
    let mut words: Vec<String> = plain.collect();
    words.extend([symbol, offset.to_owned()]);
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_only_moved_is_the_same() {
        let before = [
            "call   1234 <alloc::vec::push::h0123456789abcdef>",
            "lea    0x10(%rip),%rax        # 99 <anon.1>",
            "jne    77 <alloc::vec::push::h0123456789abcdef+0x1c>",
        ];
        let after = [
            "call   2234 <alloc::vec::push::hfedcba9876543210>",
            "lea    0x20(%rip),%rax        # 88 <anon.2>",
            "jne    78 <alloc::vec::push::hfedcba9876543210+0x1c>",
        ];
        assert_eq!(before.map(placeless), after.map(placeless));
        for other in [
            "call   1234 <other>",
            "jne    77 <alloc::vec::push+0x1d>",
            "lea    0x10(%rip),%rcx  # 9 <x>",
        ] {
            assert!(
                !before.map(placeless).contains(&placeless(other)),
                "{other}"
            );
        }
    }
}
