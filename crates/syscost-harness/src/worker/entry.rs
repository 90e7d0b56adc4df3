//! The worker's side.

use std::io::{self, BufRead, Write};
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::time::{Duration, Instant};

use syscost_results::{ClaimId, Evidence, RefutedBy, Unit, Verdict};
use syscost_sys::clock::{Clock, Source};
use syscost_sys::files::caches;
use syscost_sys::platform::EMULATORS;
use syscost_sys::{cpu, platform, process};

use super::foundations::{Rate, of_libraries};
use super::place::{self, Queue, Turn};
use super::{About, Job, JobCase, Reply};
use crate::bencher::{Findings, Plan, Situation};
use crate::benchmark::Entry;
use crate::case::Case;
use crate::catalogue::Catalogue;
use crate::failure::Failure;
use crate::pass::Pass;
use crate::testbed::Testbed;
use crate::variation;

/// Prints what this program is, for another one that is to use it for measurements.
///
/// # Errors
/// When standard output is closed.
pub fn print_about(version: &str) -> io::Result<()> {
    serde_json::to_writer(io::stdout().lock(), &About::this(version))?;
    Ok(())
}

/// Reads one job from standard input, does it, and answers on standard output.
///
/// # Errors
/// When the job cannot be read or the answer cannot be written: the coordinator has ended or is
/// another program.
pub fn run(catalogue: &Catalogue) -> io::Result<()> {
    // Its image may have been started as /proc/self/exe. It measures without a name, too.
    let _ = process::set_name(c"syscost");
    process::leave_no_core();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let mut job: Job = serde_json::from_str(&line)?;
    process::die_with_parent(job.parent).map_err(io::Error::other)?;
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
    let source = Source::from_str(&job.clock.source).map_err(|error| invalid(error.to_string()))?;
    let clock = Clock::new(source, job.clock.ticks_per_ns).map_err(io::Error::other)?;
    cpu::pin_to(&job.allowed).map_err(io::Error::other)?;
    // Listed before pinning: the CPUs in its cases are those that this process may use.
    let here = Testbed {
        allowed: job.allowed.clone(),
        targets: std::mem::take(&mut job.targets),
        programs: std::mem::take(&mut job.programs),
        commands: std::mem::take(&mut job.commands),
    };
    let time_limit = Duration::from_secs_f64(job.time_limit_s);
    process::limit_work(time_limit);
    let benchmark = catalogue
        .find(&job.benchmark)
        .map(|benchmark| (benchmark, (benchmark.cases)(&here)));
    // The set of CPUs that may be used may have shrunk meanwhile.
    let candidates = iter::once(job.cpu).chain(job.candidates.iter().copied());
    let place = candidates.into_iter().find(|cpu| cpu::pin(*cpu).is_ok());
    answer(&Reply::Ready)?;

    let Some(place) = place else {
        return refuse(&job, &taken(&[job.cpu]));
    };
    job.cpu = place;
    let Some((benchmark, known)) = benchmark else {
        // The coordinator is another build, and knows other cases.
        return refuse(&job, &absent(&job.benchmark));
    };
    if here.targets.drop_caches {
        caches::permit_dropping();
    }
    let effort = variation::applied(&job.effort);
    let (mut cpu, mut queue) = (job.cpu, Queue::new(job.cases.len(), job.keeps_order));
    while let Some(next) = queue.next() {
        let index = next.index;
        let JobCase {
            suffix,
            iterations,
            may_defer,
            is_audited,
            instead,
        } = &job.cases[index];
        let find = |suffix: &String| known.iter().find(|case| case.suffix() == *suffix);
        let Some(case) = find(suffix) else {
            decline(index, lacking(&format!("{}{suffix}", job.benchmark), &here))?;
            continue;
        };
        let other = instead.as_ref().map(|name| row(catalogue, &here, name));
        if let Some(None) = other {
            decline(
                index,
                lacking(instead.as_deref().unwrap_or_default(), &here),
            )?;
            continue;
        }
        let other = other.flatten();
        let by = other.as_ref().map_or(benchmark, |(other, _)| other);
        let mut effort = effort.with_setup(case.setup().unwrap_or(benchmark.setup));
        let mut waited_ns = 0.0;
        if job.pass == Pass::Evidence || benchmark.disregards(case) {
            cpu = place::moved_to(job.cpu);
        } else {
            let patience = Duration::from_nanos(effort.patience_ns as u64);
            let may_move = place::may_move(benchmark, case);
            let finds_core = || {
                let found = place::go(&job, clock, cpu, may_move);
                cpu = found.cpu;
                found.is_free
            };
            match queue.turn(next, *may_defer, patience, finds_core) {
                Turn::Now(waited) => waited_ns = waited.as_nanos() as f64,
                Turn::PutOff => continue,
                Turn::Deferred => {
                    decline(index, Failure::Deferred)?;
                    continue;
                }
            }
        }
        effort.patience_ns = (effort.patience_ns - waited_ns).max(0.0);
        answer(&Reply::Begin(index))?;
        let mut result = process::with_stack_offset(job.stack_offset, || {
            let situation = Situation {
                case,
                instead: other.as_ref().map(|(_, case)| case),
                pass: job.pass,
                is_audited: *is_audited,
                time_limit,
                effort: &effort,
                clock: &clock,
                clock_cost: job.clock.cost,
                iterations: *iterations,
                cpu,
                here: &here,
                cores: &job.cores,
                seed: job.seed.wrapping_add(index as u64),
            };
            settled(measure(benchmark, by, situation), &here.allowed)
        });
        if let Ok(findings) = &mut result {
            findings.waited_ns += waited_ns;
            findings.took_ns += waited_ns;
        }
        answer(&Reply::Done(index, Box::new(result)))?;
    }
    Ok(())
}

fn refuse(job: &Job, reason: &Failure) -> io::Result<()> {
    (0..job.cases.len()).try_for_each(|index| decline(index, reason.clone()))
}

/// Answers for a case that is not started.
fn decline(index: usize, failure: Failure) -> io::Result<()> {
    answer(&Reply::Begin(index))?;
    answer(&Reply::Done(index, Box::new(Err(failure))))
}

fn absent(name: &str) -> Failure {
    Failure::Unsupported(format!("this build of syscost has no {name}"))
}

/// The failure of a case of a known benchmark: those with a partner depend on the CPUs.
fn lacking(name: &str, here: &Testbed) -> Failure {
    Failure::Unsupported(format!(
        "there is no {name} on the CPUs that may be used now, {}, or not by this build",
        cpu::format_list(&here.allowed)
    ))
}

/// The row of this name, with its benchmark.
fn row(catalogue: &Catalogue, here: &Testbed, name: &str) -> Option<(&'static Entry, Case)> {
    let (id, _) = name.split_once('{').unwrap_or((name, ""));
    let benchmark = catalogue.find(id)?;
    let mut cases = (benchmark.cases)(here).into_iter();
    let case = cases.find(|case| format!("{id}{}", case.suffix()) == name)?;
    Some((benchmark, case))
}

/// The failure of a case whose CPUs were taken away.
fn taken(cpus: &[u32]) -> Failure {
    let cpus = cpu::format_list(cpus);
    Failure::Unsupported(format!("CPU {cpus} may no longer be used"))
}

/// What a case comes to: where CPUs were taken away while it was measured, what it failed with or saw
/// is not its own doing.
fn settled(result: Result<Findings, Failure>, allowed: &[u32]) -> Result<Findings, Failure> {
    let is_refuted = |found: &Findings| {
        let mut evidence = found.evidence.iter();
        evidence.any(|one| one.verdict == Verdict::Refuted)
    };
    let is_bad = match &result {
        Ok(found) => is_refuted(found),
        Err(failure) => matches!(failure, Failure::Failed(_) | Failure::Refuted(_)),
    };
    match is_bad.then(|| place::lost(allowed)) {
        Some(lost) if !lost.is_empty() => Err(taken(&lost)),
        _ => result,
    }
}

/// Runs one case of a benchmark in this process, measured `by` the same or, to put its evidence to
/// the test, another one. A panic is a failure of this case alone.
pub(crate) fn measure(
    benchmark: &Entry,
    by: &Entry,
    situation: Situation<'_>,
) -> Result<Findings, Failure> {
    let (begun, case, cpu) = (Instant::now(), situation.case, situation.cpu);
    (benchmark.support)(case, situation.here)?;
    let rate = Rate::of(situation.clock);
    let mut plan = Plan::new(benchmark.expect, situation);
    plan.id = by.id;
    if benchmark.disregards(case) {
        plan.ignore_interference();
    }
    let measure = AssertUnwindSafe(|| (by.measure)(plan));
    let outcome = catch_unwind(measure).map_err(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(|text| text.to_string())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        Failure::Failed(format!("panicked: {message}"))
    })??;
    let mut findings = outcome.finish()?;
    if let Some(cause) = of_tracer() {
        excuse(&mut findings.evidence, cause);
    }
    // What the kernel counts is counted where instructions are interpreted, too.
    findings.evidence.extend(of_emulator());
    findings.evidence.extend(of_libraries());
    findings.evidence.extend(rate.refuted());
    findings.samples.cpu = cpu;
    findings.took_ns = begun.elapsed().as_nanos() as f64;
    let measured = match (findings.bytes, findings.copies) {
        (Some(_), _) => Unit::BytesPerSecond,
        // The benchmark's unit says what an operation is.
        (None, Some(_)) if benchmark.unit == Unit::FlopsPerSecond => Unit::FlopsPerSecond,
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

const TRACERS: &str = "tracers of the process";
const TRACERS_SOURCE: &str = "/proc";

/// What a process that is traced, at the end of a case, says about its number: what it measured may
/// be the tracer's work. `None` where nothing traces it.
fn of_tracer() -> Option<Evidence> {
    let is_traced = process::is_traced().is_ok_and(|traced| traced);
    let reason = "a debugger or strace was attached, whose stops count as the row's";
    is_traced.then(|| {
        Evidence::new(TRACERS, 0.0, 1.0, TRACERS_SOURCE, Verdict::Unverified).because(reason)
    })
}

/// What a process says about its number whose instructions are interpreted. `None` where nothing tells
/// that they are.
fn of_emulator() -> Option<Evidence> {
    let is_emulated = platform::hypervisor().is_some_and(|name| EMULATORS.contains(&name.as_str()));
    let reason = "the instructions are interpreted, and cost what the interpreter does";
    is_emulated.then(|| {
        let claim = "emulators of the processor";
        Evidence::new(claim, 0.0, 1.0, "processor", Verdict::Unverified).because(reason)
    })
}

/// Adds a cause that was there all the time, as no other process can tell without it: what others can
/// break refutes nothing beside it.
fn excuse(evidence: &mut Vec<Evidence>, cause: Evidence) {
    let reason = cause.reason.clone();
    for one in evidence
        .iter_mut()
        .filter(|one| one.claim.refuted_by == RefutedBy::Most)
    {
        *one = one.clone().tolerated(|| reason.clone());
    }
    evidence.push(cause);
}

/// Whether this is what [`of_tracer`] says.
pub(crate) fn is_of_tracer(evidence: &Evidence) -> bool {
    evidence.claim.id == ClaimId::of(TRACERS) && evidence.source == TRACERS_SOURCE
}

fn answer(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    io::stdout().lock().write_all(&line)
}

#[cfg(test)]
mod tests {
    use syscost_results::Claim;

    use super::*;

    /// A processor that no machine has.
    const NOWHERE: u32 = 4095;

    fn refuted(claim: Claim) -> Evidence {
        Evidence::new(claim, 0.0, 2.0, "getrusage", Verdict::Refuted)
    }

    fn found(evidence: Evidence) -> Result<Findings, Failure> {
        let evidence = vec![evidence];
        Ok(Findings {
            evidence,
            ..Findings::default()
        })
    }

    #[test]
    fn a_standing_cause_excuses_what_others_can_break_and_nothing_else() {
        let switches = refuted(Claim::by_most("voluntary switches per operation"));
        let contents = refuted("contents of the file".into());
        let cause = Evidence::new(TRACERS, 0.0, 1.0, TRACERS_SOURCE, Verdict::Unverified);
        let mut evidence = vec![switches, contents];
        excuse(&mut evidence, cause.because("traced"));
        let verdicts: Vec<Verdict> = evidence.iter().map(|one| one.verdict).collect();
        use Verdict::{Refuted, Unverified};
        assert_eq!(verdicts, [Unverified, Refuted, Unverified]);
        assert_eq!(evidence[0].reason.as_deref(), Some("traced"));
    }

    #[test]
    fn what_is_seen_while_cpus_are_taken_away_refutes_nothing() {
        let mut allowed = cpu::allowed().expect("some");
        let seen = || found(refuted("CPUs that the measuring task may use".into()));
        let failed = || Err(Failure::Failed("a partner could not begin".to_owned()));
        for bad in [seen(), failed()] {
            assert_eq!(settled(bad.clone(), &allowed), bad);
        }
        allowed.push(NOWHERE);
        let unsupported = Err(taken(&[NOWHERE]));
        for bad in [seen(), failed()] {
            assert_eq!(settled(bad, &allowed), unsupported);
        }
        let fine = found(Evidence::note("a note", 1.0, "here"));
        assert_eq!(settled(fine.clone(), &allowed), fine);
        assert_eq!(place::lost(&[NOWHERE]), [NOWHERE]);
    }
}
