//! Checks that the probe detects SMT interference, whatever ran before it: one simulated by a slowed probe, and a real
//! one where the core has a second hardware thread that can be kept busy.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use serde::Serialize;
use syscost_harness::clock::RunClock;
use syscost_harness::cores::Cores;
use syscost_harness::noise;
use syscost_results::run::Noise;
use syscost_results::{Known, Machine};
use syscost_sys::core_probe::{Alone, Probe, Work, Worker};
use syscost_sys::cpu;

use super::Outcome;
use crate::terminal::{BOLD, DIM, RESET};

/// Duration of the probe that finds what each core shows while it is ours.
const CALIBRATION: Duration = Duration::from_millis(500);

/// How long the core is probed, with interference and without.
const LOOKING: Duration = Duration::from_millis(100);

/// Minimum share of the probes with interference that find the core shared, in percent.
const MIN_SEEN_PERCENT: f64 = 90.0;

/// Minimum share of the probes without it that find the core ours, in percent: with less,
/// there is nothing to compare. Guests of a busy host have seen 1.4.
const MIN_ALONE_PERCENT: f64 = 0.5;

/// Number of attempts to find the core ours: one that is shared now may be ours a moment later.
const TRIES: usize = 5;

/// The result of one source of interference.
#[derive(Debug, Serialize)]
pub(super) struct InterferenceResult {
    pub(super) source: &'static str,
    cpu: Option<u32>,
    /// Share of the probes without it that found the core ours, in percent.
    alone_percent: Option<f64>,
    /// Share of the probes with it that found the core shared, in percent.
    seen_percent: Option<f64>,
    pub(super) outcome: Outcome,
    reason: Option<&'static str>,
}

impl InterferenceResult {
    fn judged(source: &'static str, cpu: u32, alone: f64, seen: f64, is_certain: bool) -> Self {
        let (outcome, reason) = match (seen >= MIN_SEEN_PERCENT, alone >= MIN_ALONE_PERCENT) {
            (true, true) => (Outcome::Pass, None),
            (true, false) => (
                Outcome::Skip,
                Some(
                    "another guest or program ran on this core all the time, so nothing can be compared",
                ),
            ),
            (false, _) if is_certain => (Outcome::Fail, Some("the interference was not seen")),
            (false, _) => (
                Outcome::Skip,
                Some("not seen: what a virtual machine shows as siblings need not share a core"),
            ),
        };
        Self {
            source,
            cpu: Some(cpu),
            alone_percent: Some(alone),
            seen_percent: Some(seen),
            outcome,
            reason,
        }
    }

    /// Of probes after work, in comparison with the share of those without any that found the core ours.
    fn after(source: &'static str, cpu: u32, seen: AfterWork, control: f64) -> Self {
        let (own, shared) = (seen.own_percent(), seen.shared_percent());
        let few = "the core was ours too seldom to tell what work before a probe does";
        let (outcome, reason) = match () {
            () if seen.moments.min(seen.slowed) < MIN_MOMENTS => (Outcome::Skip, Some(few)),
            () if shared < 100.0 - MAX_WRONG_PERCENT => {
                (Outcome::Fail, Some("the interference was not seen"))
            }
            () if own < control - MAX_MISSED_PERCENT => (
                Outcome::Fail,
                Some("what ran before makes a core seem shared"),
            ),
            () => (Outcome::Pass, None),
        };
        Self {
            source,
            cpu: Some(cpu),
            alone_percent: Some(own),
            seen_percent: Some(shared),
            outcome,
            reason,
        }
    }

    fn skipped(source: &'static str, reason: &'static str) -> Self {
        Self {
            source,
            cpu: None,
            alone_percent: None,
            seen_percent: None,
            outcome: Outcome::Skip,
            reason: Some(reason),
        }
    }
}

/// How often each kind of work is done between two probes of each kind.
const AFTER_WORK: u32 = 1000;

/// Minimum number of moments in which the core was ours before and after it, for a judgement.
const MIN_MOMENTS: u32 = 100;

/// Maximum share of the slowed probes after work that may be judged wrongly, in percent.
const MAX_WRONG_PERCENT: f64 = 1.0;

/// By how much fewer of the probes after work than of those without any may find the core ours, in percentage points: a
/// neighbour comes in bursts, which one kind of work meets more of than another by some points; a probe that depends on what
/// ran before lost half of them and more (docs/lab/core-probes.md).
const MAX_MISSED_PERCENT: f64 = 10.0;

const NO_THREAD: &str = "this process may start no more threads";

const SLOWED: &str = "a probe slowed to half";
const AFTER: [&str; Work::ALL.len()] = [
    "probes one after the other",
    "a probe after system calls",
    "a probe after file look-ups",
    "a probe after a walk of 8 MiB",
    "a probe after floating point",
    "a probe after a sleep",
];
const SIBLING: &str = "a busy hardware thread of the same core";

/// Checks both sources.
pub(super) fn check(machine: &Machine) -> Vec<InterferenceResult> {
    let neither = |reason| {
        let sources = [SLOWED, SIBLING].into_iter().chain(AFTER);
        let skipped = sources.map(|source| InterferenceResult::skipped(source, reason));
        skipped.collect()
    };
    let Some((probe, alone, number)) = prepare() else {
        return neither("this processor has no probe, or its probes agree on no level");
    };
    with_both(machine, probe, alone, number).unwrap_or_else(|_| neither(NO_THREAD))
}

/// Probes the core without interference and with each source, in separate threads.
fn with_both(
    machine: &Machine,
    probe: Probe,
    alone: Alone,
    number: u32,
) -> io::Result<Vec<InterferenceResult>> {
    let mut own = 0.0;
    for _ in 0..TRIES {
        own = on(number, || alone_percent(&probe, &alone))?;
        if own >= MIN_ALONE_PERCENT {
            break;
        }
    }
    let slowed = 100.0 - on(number, || alone_percent(&probe.slowed(2), &alone))?;
    let allowed = cpu::allowed().unwrap_or_default();
    let sibling = cpu::siblings(number)
        .into_iter()
        .find(|cpu| allowed.contains(cpu));
    let beside = match sibling {
        Some(sibling) => {
            let seen = beside(sibling, &probe, || {
                on(number, || alone_percent(&probe, &alone))
            });
            let is_certain = machine.hypervisor == Known::No;
            match seen.flatten() {
                Ok(alone) => {
                    InterferenceResult::judged(SIBLING, number, own, 100.0 - alone, is_certain)
                }
                Err(_) => InterferenceResult::skipped(SIBLING, NO_THREAD),
            }
        }
        None => InterferenceResult::skipped(
            SIBLING,
            "the system shows no second hardware thread that may be used",
        ),
    };
    let mut results = vec![
        InterferenceResult::judged(SLOWED, number, own, slowed, true),
        beside,
    ];
    let seen = on(number, || after_work(&probe, &alone))?;
    let control = seen[0].own_percent();
    let judged = AFTER.into_iter().zip(seen);
    results.extend(
        judged.map(|(source, seen)| InterferenceResult::after(source, number, seen, control)),
    );
    Ok(results)
}

/// What probes after one kind of work showed.
#[derive(Debug, Clone, Copy, Default)]
struct AfterWork {
    /// Moments in which other probes found the core ours before and after.
    moments: u32,
    /// In how many of them the probe after the work did.
    own: u32,
    /// Slowed probes after the work in such moments, and how many of them found the core shared.
    slowed: u32,
    shared: u32,
}

impl AfterWork {
    fn own_percent(&self) -> f64 {
        100.0 * f64::from(self.own) / f64::from(self.moments.max(1))
    }

    fn shared_percent(&self) -> f64 {
        100.0 * f64::from(self.shared) / f64::from(self.slowed.max(1))
    }
}

/// Probes after each kind of [`Work`], in turn.
fn after_work(probe: &Probe, alone: &Alone) -> [AfterWork; Work::ALL.len()] {
    let slowed = probe.slowed(2);
    let mut worker = Worker::default();
    let mut all = [AfterWork::default(); Work::ALL.len()];
    let is_ours = || alone.holds(&probe.read());
    for _ in 0..AFTER_WORK {
        for (work, seen) in Work::ALL.into_iter().zip(&mut all) {
            let before = is_ours() && is_ours();
            worker.work(work);
            let own = alone.holds(&probe.read_again(alone));
            let after = is_ours() && is_ours();
            if before && after {
                seen.moments += 1;
                seen.own += u32::from(own);
            }
            worker.work(work);
            let is_shared = !alone.holds(&slowed.read_again(alone));
            // Beside a neighbour, who slows either part of a probe, another one cannot be simulated.
            if after && is_ours() && is_ours() {
                seen.slowed += 1;
                seen.shared += u32::from(is_shared);
            }
        }
    }
    all
}

/// Returns a probe, what the quietest core shows while it is ours, and its CPU.
fn prepare() -> Option<(Probe, Alone, u32)> {
    let cpus = cpu::allowed().ok()?;
    let mut clock = RunClock::choose(&cpus);
    let rough = clock.calibrate();
    let (cores, heard) = Cores::hear(&cpus, &rough, CALIBRATION, None);
    let noise: Vec<Noise> = heard.into_iter().map(|one| one.noise).collect();
    let number = noise::quietest(&noise)?;
    Some((cores.probe(rough), cores.alone(number)?, number))
}

/// Runs `work` on this CPU and returns its result.
fn on<T: Send>(number: u32, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let worker = Builder::new().spawn_scoped(scope, move || {
            // It was probed a moment ago, so it can be used.
            let _ = cpu::pin(number);
            work()
        })?;
        Ok(worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Runs `work` while the CPU `busy` is kept busy, and returns its result.
fn beside<T>(busy: u32, probe: &Probe, work: impl FnOnce() -> T) -> io::Result<T> {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        Builder::new().spawn_scoped(scope, || {
            let _ = cpu::pin(busy);
            while !is_done.load(Ordering::Relaxed) {
                probe.read();
            }
        })?;
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        Ok(result)
    })
}

/// Returns the share of the probes that find the core ours, in percent.
fn alone_percent(probe: &Probe, alone: &Alone) -> f64 {
    let (mut own, mut all) = (0_u32, 0_u32);
    let begun = Instant::now();
    while begun.elapsed() < LOOKING {
        own += u32::from(alone.holds(&probe.read()));
        all += 1;
    }
    100.0 * f64::from(own) / f64::from(all.max(1))
}

/// Renders the section of the report in lines of this width.
pub(super) fn text(results: &[InterferenceResult], width: usize) -> String {
    let mut out = format!(
        "\n{BOLD}SMT interference{RESET}  {DIM}must be seen when it is there, and only then{RESET}\n"
    );
    for result in results {
        let mut parts = Vec::new();
        if let (Some(cpu), Some(seen), Some(alone)) =
            (result.cpu, result.seen_percent, result.alone_percent)
        {
            parts.push(format!(
                "CPU {cpu} shared at {seen:.1} % of probes, ours at {alone:.1} % without"
            ));
        }
        parts.extend(result.reason.map(str::to_owned));
        let what = format!("{:<40}", result.source);
        out += &result.outcome.entry(&what, &parts.join(": "), width);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interference_must_be_seen_where_there_surely_is_some() {
        let outcome = |alone, seen, is_certain| {
            InterferenceResult::judged(SLOWED, 0, alone, seen, is_certain).outcome
        };
        assert_eq!(outcome(40.0, 99.0, true), Outcome::Pass);
        assert_eq!(outcome(40.0, 60.0, true), Outcome::Fail);
        assert_eq!(outcome(40.0, 60.0, false), Outcome::Skip);
        assert_eq!(outcome(0.1, 99.9, true), Outcome::Skip);
        assert_eq!(outcome(0.1, 60.0, true), Outcome::Fail);
    }

    #[test]
    fn what_ran_before_a_probe_may_hardly_change_what_it_shows() {
        let outcome = |moments, own, shared| {
            let seen = AfterWork {
                moments,
                own,
                slowed: 1000,
                shared,
            };
            InterferenceResult::after(AFTER[1], 0, seen, 99.0).outcome
        };
        assert_eq!(outcome(500, 493, 1000), Outcome::Pass);
        assert_eq!(outcome(500, 430, 1000), Outcome::Fail);
        assert_eq!(outcome(500, 500, 980), Outcome::Fail);
        assert_eq!(outcome(50, 20, 1000), Outcome::Skip);
    }

    #[test]
    fn each_source_has_its_line() {
        let results = [
            InterferenceResult::judged(SLOWED, 1, 62.04, 99.96, true),
            InterferenceResult::skipped(SIBLING, "there is none"),
        ];
        let shown = |width| anstream::adapter::strip_str(&text(&results, width)).to_string();
        assert_eq!(
            shown(120),
            "\nSMT interference  must be seen when it is there, and only then\n\
             pass  a probe slowed to half                   CPU 1 shared at 100.0 % of probes, ours at 62.0 % without\n\
             skip  a busy hardware thread of the same core  there is none\n"
        );
        let narrow = shown(80);
        assert!(
            narrow.contains("pass  a probe slowed to half\n      CPU 1 shared at"),
            "{narrow}"
        );
        assert!(narrow.lines().all(|line| line.len() <= 80), "{narrow}");
    }
}
