//! The worker's side.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::time::Instant;

use syscost_results::Unit;
use syscost_sys::clock::{Clock, Source};
use syscost_sys::neighbour::Probe;
use syscost_sys::{cpu, process};

use super::{About, Job, Reply};
use crate::bencher::{Bencher, Findings, Pass, Situation};
use crate::benchmark::Benchmark;
use crate::case::Case;
use crate::catalogue::Catalogue;
use crate::failure::Failure;
use crate::trial::{self, Trial};

/// Tells who this program is, for one that would have it measure.
///
/// # Errors
/// When nobody listens.
pub fn tell_about(version: &str) -> io::Result<()> {
    serde_json::to_writer(io::stdout().lock(), &About::this(version))?;
    Ok(())
}

/// Reads one job from standard input, does it, answers on standard output.
///
/// # Errors
/// When the job cannot be read or the answer cannot be written: the coordinator is gone or not ours.
pub fn run(catalogue: Catalogue) -> io::Result<()> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let mut job: Job = serde_json::from_str(&line)?;
    process::die_with_parent(job.parent).map_err(io::Error::other)?;
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
    let source = Source::from_str(&job.clock.source).map_err(|error| invalid(error.to_string()))?;
    let clock = Clock::new(source, job.clock.ticks_per_ns).map_err(io::Error::other)?;
    cpu::pin_to(&job.allowed).map_err(io::Error::other)?;
    // Listed before pinning: cases about several CPUs are those this process may use.
    let benchmark = catalogue
        .find(&job.benchmark)
        .map(|benchmark| (benchmark, benchmark.cases.list()));
    cpu::pin(job.cpu).map_err(io::Error::other)?;
    answer(&Reply::Ready)?;

    let Some((benchmark, known)) = benchmark else {
        // Another build leads the run, and knows more.
        return refuse(&job);
    };
    let effort = match Trial::Batch.given() {
        Some(factor) => trial::lengthened(&job.effort, factor),
        None => job.effort.clone(),
    };
    if let Some(factor) = Trial::Margin.given() {
        job.cores.widen(factor);
    }
    let mut cpu = job.cpu;
    for (index, (suffix, iterations)) in job.cases.iter().enumerate() {
        answer(&Reply::Begin(index))?;
        let result = match known.iter().find(|case| case.suffix() == *suffix) {
            Some(case) => {
                cpu = match job.pass {
                    Pass::Timed if may_move(benchmark, case) => free_now(&job, clock, cpu),
                    Pass::Timed | Pass::Evidence => go_to(job.cpu, cpu),
                };
                process::with_stack_offset(job.stack_offset, || {
                    let setup = case.setup().unwrap_or(benchmark.setup);
                    let situation = Situation {
                        pass: job.pass,
                        effort: &effort.with_setup(setup),
                        clock: &clock,
                        clock_cost: job.clock.cost,
                        iterations: *iterations,
                        cpu,
                        allowed: &job.allowed,
                        cores: &job.cores,
                        seed: job.seed.wrapping_add(index as u64),
                    };
                    measure(benchmark, case, situation)
                })
            }
            None => Err(absent(&format!("{}{suffix}", job.benchmark))),
        };
        answer(&Reply::Done(index, Box::new(result)))?;
    }
    Ok(())
}

/// Whether a case may be measured on another CPU than its worker was sent to: not where it names CPUs, which are those beside that one, or
/// where memory is lent from case to case, which lies near it.
fn may_move(benchmark: &Benchmark, case: &Case) -> bool {
    let names = |parameter: &&str| !case.get(parameter).is_empty();
    let names_cpus = ["cpus", "cpu", "from", "threads", "copies"]
        .iter()
        .any(names);
    !benchmark.stays && (!names_cpus || case.get("cpus") == "same")
}

/// Moves this process there; returns where it is then.
fn go_to(cpu: u32, now: u32) -> u32 {
    match cpu == now || cpu::pin(cpu).is_ok() {
        true => cpu,
        false => now,
    }
}

/// Looks at a core before a case, in units of the shortest: some tens of microseconds.
const LOOKS: u32 = 64;

/// If as large a share of these find a core ours, no other is looked at.
const FREE: f64 = 0.9;

/// Moves this process to the CPU whose core works for nobody else now, if `cpu`'s does: a case is short beside the stretches in which somebody else
/// works. Returns where it is then.
fn free_now(job: &Job, clock: Clock, cpu: u32) -> u32 {
    let Some(probe) = Probe::new(clock, job.cores.grain).filter(|_| job.candidates.len() > 1)
    else {
        return cpu;
    };
    let looks = (LOOKS / probe.scale()).max(8);
    let share_ours = |cpu: u32| -> Option<f64> {
        let alone = job.cores.alone_or_alike(cpu)?;
        cpu::pin(cpu).ok()?;
        // The first one still pays for the way here.
        probe.look();
        let ours = (0..looks).filter(|_| alone.holds(&probe.look())).count();
        Some(ours as f64 / f64::from(looks))
    };
    let others = job.candidates.iter().copied().filter(|other| *other != cpu);
    let mut best = (cpu, -1.0);
    for candidate in std::iter::once(cpu).chain(others) {
        let Some(share) = share_ours(candidate) else {
            continue;
        };
        if share > best.1 {
            best = (candidate, share);
        }
        if best.1 >= FREE {
            break;
        }
    }
    // Pinned where it looked last.
    match cpu::pin(best.0) {
        Ok(()) => best.0,
        Err(_) => cpu::current().unwrap_or(cpu),
    }
}

fn refuse(job: &Job) -> io::Result<()> {
    for index in 0..job.cases.len() {
        answer(&Reply::Begin(index))?;
        let reason = Err(absent(&job.benchmark));
        answer(&Reply::Done(index, Box::new(reason)))?;
    }
    Ok(())
}

fn absent(name: &str) -> Failure {
    Failure::Unsupported(format!("this build of syscost has no {name}"))
}

/// Runs one case in this process. A panic is a failure of this case alone.
pub(crate) fn measure(
    benchmark: &Benchmark,
    case: &Case,
    situation: Situation<'_>,
) -> Result<Findings, Failure> {
    let (begun, cpu) = (Instant::now(), situation.cpu);
    (benchmark.support)(case)?;
    let mut bencher = Bencher::new(case, benchmark.expect, situation);
    catch_unwind(AssertUnwindSafe(|| (benchmark.run)(&mut bencher))).map_err(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(|text| text.to_string())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        Failure::Failed(format!("panicked: {message}"))
    })??;
    let mut findings = bencher.finish()?;
    findings.cpu = Some(cpu);
    findings.took_ns = begun.elapsed().as_nanos() as f64;
    let measured = match (findings.bytes, findings.copies) {
        (Some(_), _) => Unit::BytesPerSecond,
        (None, Some(_)) => Unit::OperationsPerSecond,
        (None, None) => Unit::Nanoseconds,
    };
    if !findings.observed && benchmark.unit != measured {
        let what = format!(
            "measures {} and calls it {}",
            measured.symbol(),
            benchmark.unit.symbol()
        );
        return Err(Failure::Broken(what));
    }
    Ok(findings)
}

fn answer(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    io::stdout().lock().write_all(&line)
}
