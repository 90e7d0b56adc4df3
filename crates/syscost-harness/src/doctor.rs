//! What a run warns of: whether this machine and this process are fit to measure, and what to do where they are not.

mod cores;
mod directories;
mod environment;
mod machine_state;

use serde::Serialize;
use syscost_results::estimate::CONVERTED;
use syscost_results::run::{Clock, Noise, Warning};
use syscost_results::{Known, Machine, Measurement};
use syscost_sys::clock::Source;
use syscost_sys::clock::health::DRIFT;
use syscost_sys::counters::SchedStat;
use syscost_sys::platform;
use syscost_sys::process::{self, Class, ProcShows, Scheduling, Seccomp};

use crate::clock::RunClock;

use cores::Shares;

pub use cores::SHARED_CORE;
pub(crate) use directories::directory_warning;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Good,
    /// Worth knowing; changes what the numbers mean, not whether they hold.
    Note,
    /// Numbers will scatter or differ from other machines for this reason.
    Warning,
    /// Numbers will be wrong for most purposes.
    Bad,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name, e.g. `governor`.
    pub code: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What was seen.
    pub seen: String,
    /// What to do about it; empty when good.
    pub advice: &'static str,
}

/// Maximum share of time that the hypervisor may steal before results are called noisy, in percent.
const MAX_STEAL_PERCENT: f64 = 0.1;

/// Maximum CPU pressure over ten seconds before results are called noisy, in percent.
const MAX_PRESSURE_PERCENT: f64 = 5.0;

/// Maximum share of time that the noise probe may lose before a CPU is called noisy, in percent.
pub const MAX_LOST_PERCENT: f64 = 1.0;

/// A tracer's finding, and what to do about it.
const TRACER: &str = "tracer";
const DETACH: &str = "detach the debugger or strace";

/// The finding of a processor whose instructions are interpreted.
const EMULATOR: &str = "emulator";

/// The finding of a check that the clock failed.
pub const CLOCK: &str = "clock";

/// The finding of performance counters that a parent holds.
const PERF_EVENTS: &str = "perf_events";

/// Maximum conversion of times to the usual frequency without a warning, in percent.
const MAX_CONVERTED_PERCENT: f64 = 10.0;

/// The parts of this process's state that change what it measures; by default nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessState {
    /// Whether a seccomp filter is installed over this process.
    pub seccomp: Option<bool>,
    /// Whether a debugger or tracer is attached.
    pub traced: Option<bool>,
    /// Whether address randomisation is switched off for it.
    pub aslr_disabled: Option<bool>,
    /// Whose processes /proc shows.
    pub proc: ProcShows,
    /// Its scheduling class and nice value, which its workers inherit.
    pub scheduling: Option<Scheduling>,
    /// Its own mitigations and its own refusal of huge pages, in words.
    pub settings: Option<Vec<&'static str>>,
    /// Whether the kernel has given it a vDSO.
    pub has_vdso: Option<bool>,
    /// The program above it that holds performance counters, which it may have inherited.
    pub counted_by: Known<String>,
    /// How many layers of Landlock rules it has inherited.
    pub landlock_layers: Option<u32>,
    /// Whether the kernel reports how long its tasks wait for a CPU.
    pub reports_waits: Option<bool>,
    /// Variables of the environment that change what is measured, as `NAME=value`, and libraries
    /// that every program is given.
    pub environment: Vec<String>,
}

impl ProcessState {
    /// Reads the state of this process.
    pub fn read() -> Self {
        let proc = process::proc_shows();
        let reports_waits = SchedStat::open().is_ok();
        Self {
            seccomp: process::seccomp_mode()
                .ok()
                .map(|mode| mode != Seccomp::Off),
            traced: process::is_traced().ok(),
            aslr_disabled: process::personality_aslr_disabled().ok(),
            proc,
            scheduling: process::scheduling().ok(),
            settings: process::set_for_this_process(),
            has_vdso: Some(platform::vdso().is_ok()),
            counted_by: Known::told(
                process::observer()
                    .ok()
                    .map(|above| above.map(|above| above.name)),
            ),
            landlock_layers: process::landlock_layers().ok(),
            reports_waits: (proc != ProcShows::Nothing).then_some(reports_waits),
            environment: environment::variables(),
        }
    }
}

/// Every check of the machine and of this process, good ones included.
pub fn examine(machine: &Machine, state: &ProcessState) -> Vec<Finding> {
    let mut findings = of_process(machine, state);
    findings.extend(machine_state::of(machine));
    findings.extend(machine_state::load(machine));
    findings
}

fn of_process(machine: &Machine, state: &ProcessState) -> Vec<Finding> {
    let mut findings = process_findings(machine, state);
    findings.push(scheduling(state.scheduling));
    findings.push(environment::of(&state.environment));
    findings
}

/// What a reader should know of this process and its machine, whatever the hour.
pub fn of_this_process(machine: &Machine) -> Vec<Warning> {
    let findings = of_process(machine, &ProcessState::read()).into_iter();
    let findings = findings.chain(machine_state::of(machine));
    findings
        .filter(|finding| finding.level >= Level::Warning)
        .map(as_warning)
        .collect()
}

/// How a process differs from the one whose run began with these warnings, in what changes costs.
/// `None` if it does not: the rest of that run may be measured by it.
pub(crate) fn difference(
    machine: &Machine,
    state: &ProcessState,
    begun_with: &[Warning],
) -> Option<String> {
    of_process(machine, state).into_iter().find_map(|finding| {
        let mut begun = begun_with.iter().filter(|one| one.code == finding.code);
        let then = begun.next().map(|one| one.message.as_str());
        let is_bad = finding.level >= Level::Warning;
        match (then, is_bad.then_some(finding.seen.as_str())) {
            (None, None) => None,
            (None, Some(now)) => Some(format!("it did not begin with this: {now}")),
            (Some(then), None) => Some(format!("it began with this, which is gone: {then}")),
            (Some(then), Some(now)) => {
                (then != now).then(|| format!("it began with this: {then}; now it is: {now}"))
            }
        }
    })
}

fn finding(code: &'static str, bad: Option<(Level, &'static str)>, seen: String) -> Finding {
    let (level, advice) = bad.unwrap_or((Level::Good, ""));
    Finding {
        code,
        level,
        seen,
        advice,
    }
}

/// The finding for what the system does not report.
fn unknown(code: &'static str, why: &str, advice: &'static str) -> Finding {
    let seen = format!("unknown: {why}");
    finding(code, Some((Level::Note, advice)), seen)
}

/// The finding of what is so, is not, or is not known.
fn of_fact(
    code: &'static str,
    fact: Option<bool>,
    bad: (Level, &'static str),
    [so, not_so]: [&str; 2],
) -> Finding {
    match fact {
        None => unknown(code, NOT_REPORTED, WOULD_TELL),
        Some(true) => finding(code, Some(bad), so.to_owned()),
        Some(false) => finding(code, None, not_so.to_owned()),
    }
}

/// Why a fact is not known, and what could tell.
const NOT_REPORTED: &str = "the system does not report it";
const WOULD_TELL: &str = "/proc would tell, if it were mounted and the kernel were built with it";

fn scheduling(state: Option<Scheduling>) -> Finding {
    const CODE: &str = "scheduling";
    let Some(state) = state else {
        return unknown(CODE, NOT_REPORTED, "expect the usual one");
    };
    let bad = match (state.class, state.nice) {
        (Class::Normal, 0) => None,
        (Class::Normal, 1..) => Some((
            Level::Warning,
            "every other program goes first; start it without nice",
        )),
        (Class::Normal, _) => Some((
            Level::Note,
            "it goes before other programs: its numbers are better than theirs would be",
        )),
        (Class::Batch | Class::Other(_), _) => Some((
            Level::Warning,
            "switches and wake-ups cost something else in this class; start it in the usual one",
        )),
        (Class::Fifo(_), _) => Some((
            Level::Warning,
            "tasks that share a CPU do not take turns in this class; `--real-time` enters it where it is \
             measured",
        )),
    };
    finding(CODE, bad, state.to_string())
}

fn process_findings(machine: &Machine, state: &ProcessState) -> Vec<Finding> {
    let debug = machine.build.profile == "debug";
    vec![
        finding(
            "build",
            debug.then_some((
                Level::Bad,
                "measure with a release build: cargo run --release -- run",
            )),
            format!("{} build by {}", machine.build.profile, machine.build.rustc),
        ),
        of_fact(
            "seccomp",
            state.seccomp,
            (
                Level::Bad,
                "a seccomp filter (a container runtime's?) makes every system call slower; run outside of it or compare \
                 only with runs inside",
            ),
            ["this process runs under a seccomp filter", "no filter"],
        ),
        of_fact(
            TRACER,
            state.traced,
            (Level::Bad, DETACH),
            ["a tracer is attached", "none attached"],
        ),
        match &state.counted_by {
            Known::Unknown => unknown(PERF_EVENTS, NOT_REPORTED, WOULD_TELL),
            Known::No => finding(
                PERF_EVENTS,
                None,
                "nothing above this process holds performance counters".into(),
            ),
            Known::Yes(name) => finding(
                PERF_EVENTS,
                Some((
                    Level::Bad,
                    "counters and tracepoints are inherited, and cost at each switch and system call; \
                     start it without them",
                )),
                format!("{name}, which started this, holds performance counters"),
            ),
        },
        landlock(state.landlock_layers),
        of_fact(
            "schedstat",
            state.reports_waits.map(|reports| !reports),
            (
                Level::Warning,
                "samples taken beside other programs cannot be told by it; leave the machine idle",
            ),
            [
                "the kernel does not report how long tasks wait for a CPU",
                "the kernel reports how long tasks wait for a CPU",
            ],
        ),
        aslr(state.aslr_disabled, machine.aslr),
        settings(state.settings.as_deref()),
        of_fact(
            "vdso",
            state.has_vdso.map(|has| !has),
            (
                Level::Warning,
                "reading the clock is a system call, and its rows cost one; boot without vdso=0",
            ),
            [
                "the kernel has given this process no vDSO",
                "programs read the clock by the vDSO where the clock source allows it",
            ],
        ),
        proc(state.proc),
    ]
}

fn landlock(layers: Option<u32>) -> Finding {
    const CODE: &str = "landlock";
    let bad = (
        Level::Warning,
        "every path that is opened is checked against the rules; run outside of the sandbox, or \
         compare only with runs inside",
    );
    let under = match layers {
        None => {
            return unknown(
                CODE,
                "the kernel has no such rules, or does not tell",
                "opening files may cost more than elsewhere",
            );
        }
        Some(0) => return finding(CODE, None, "no Landlock rules".into()),
        Some(1) => "a layer".to_owned(),
        Some(layers) => format!("{layers} layers"),
    };
    let seen = format!("this process runs under {under} of Landlock rules");
    finding(CODE, Some(bad), seen)
}

/// Address randomisation: of this process, and of the machine.
fn aslr(is_disabled: Option<bool>, mode: Option<u32>) -> Finding {
    const CODE: &str = "aslr";
    let bad = (
        Level::Warning,
        "every process gets the same layout, which hides its bias; run without setarch -R, or set \
         kernel.randomize_va_space to 2",
    );
    match (is_disabled, mode) {
        (Some(true), _) => finding(
            CODE,
            Some(bad),
            "address randomisation is off for this process".into(),
        ),
        (_, None) | (None, _) => unknown(CODE, NOT_REPORTED, WOULD_TELL),
        (Some(false), Some(mode)) => finding(
            CODE,
            (mode == 0).then_some(bad),
            format!("kernel.randomize_va_space = {mode}"),
        ),
    }
}

fn settings(settings: Option<&[&str]>) -> Finding {
    const CODE: &str = "process_settings";
    let bad = (
        Level::Warning,
        "whoever started it asked for this (prctl), and other programs may not have it; start it \
         elsewhere, or compare only with runs that have it too",
    );
    match settings {
        None => unknown(CODE, NOT_REPORTED, WOULD_TELL),
        Some([]) => finding(CODE, None, "none of its own".into()),
        Some(settings) => finding(CODE, Some(bad), settings.join("; ")),
    }
}

fn proc(shows: ProcShows) -> Finding {
    let (bad, seen) = match shows {
        ProcShows::Us => (None, "/proc shows this process"),
        ProcShows::Others => (
            Some((
                Level::Warning,
                "what a worker leaves behind cannot be found, and much evidence is lacking; mount proc anew in this pid namespace",
            )),
            "/proc does not show this process",
        ),
        ProcShows::Nothing => (
            Some((Level::Bad, "no run can start; mount proc on /proc")),
            "there is no /proc",
        ),
    };
    finding("proc", bad, seen.into())
}

/// The warnings a run begins with.
pub fn warnings(machine: &Machine, noise: &[Noise], clock: &RunClock) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = examine(machine, &ProcessState::read())
        .into_iter()
        .filter(|finding| finding.level >= Level::Warning)
        .map(as_warning)
        .collect();
    warnings.extend(
        clock
            .fallback
            .as_deref()
            .map(|reason| as_warning(without_counter(reason))),
    );
    add_noise(&mut warnings, noise);
    warnings
}

/// What the CPUs that measure lost before the run, and how rarely their cores were ours.
fn of_noise(noise: &[Noise]) -> Vec<Warning> {
    let used = noise.iter().filter(|probe| probe.used);
    let used = used.filter(|probe| probe.lost_percent > MAX_LOST_PERCENT);
    let longest = used.clone().map(|probe| probe.longest_gap_us);
    let longest = longest.fold(0.0, f64::max);
    let lost = Shares::of(used.map(|probe| (probe.cpu, probe.lost_percent)));
    let lost = lost.map(|lost| {
        warning(
            "noise",
            format!(
                "{} lost {} of {} time to others, longest gap {}",
                lost.cpus,
                lost.percent,
                if lost.is_of_one { "its" } else { "their" },
                gap(longest)
            ),
            "end other programs, or measure at a quieter time",
        )
    });
    lost.into_iter().chain(cores::shared(noise)).collect()
}

/// Adds the warnings of noise on the CPUs that measure, in the place of those of fewer: others may have come
/// to it during the run.
pub(crate) fn add_noise(warnings: &mut Vec<Warning>, noise: &[Noise]) {
    let found = of_noise(noise);
    warnings.retain(|known| found.iter().all(|one| one.code != known.code));
    warnings.extend(found);
}

/// A time in µs, in ms from one on.
fn gap(us: f64) -> String {
    match us < 1000.0 {
        true => format!("{us:.0} µs"),
        false => format!("{:.1} ms", us / 1000.0),
    }
}

/// The warning that the far end is not another machine, by what tells one from another.
pub fn far_end_warning(near: &Machine, far: &Machine) -> Option<Warning> {
    near.is_same_as(far).then(|| {
        warning(
            "far_end",
            format!("the far end is {} too", near.hostname),
            "rows of path=remote pass through this kernel alone; for a network, name another machine by --peer",
        )
    })
}

/// The finding that the run's clock is not the processor's counter.
pub fn without_counter(reason: &str) -> Finding {
    let advice = "samples are timed by clock_gettime, whose readings cost more; batches are longer to make up for it";
    let seen = format!("the native counter is not used: {reason}");
    finding("clock_fallback", Some((Level::Warning, advice)), seen)
}

/// The findings on checks that the run's clock failed. Those of a counter that is not used are no fault
/// of it.
pub fn failed_checks(clock: &Clock) -> impl Iterator<Item = Finding> {
    let is_used = |check: &str| clock.source != Source::ClockGettime.name() || check == DRIFT;
    let failed = clock
        .health
        .iter()
        .filter(|health| health.ok == Some(false));
    failed
        .filter(move |health| is_used(&health.check))
        .map(|health| {
            let seen = format!(
                "the clock failed its {} check: {}",
                health.check, health.detail
            );
            let advice = "compare times of this run only with each other";
            finding(CLOCK, Some((Level::Bad, advice)), seen)
        })
}

/// The warnings a run ends with.
pub fn warnings_after(clock: &Clock, steal_percent: Option<f64>) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = failed_checks(clock).map(as_warning).collect();
    if let Some(steal) = steal_percent.filter(|steal| *steal > MAX_STEAL_PERCENT) {
        warnings.push(warning(
            "steal",
            format!("the hypervisor took {steal:.1} % of the measured CPU's time"),
            "measure on a dedicated instance, or take the careful profile at a quieter hour",
        ));
    }
    warnings
}

/// The warning that a tracer was attached to processes of the run; `None` if it began with one.
pub fn late_tracer(was_attached: bool, warnings: &[Warning]) -> Option<Warning> {
    let is_known = warnings.iter().any(|warning| warning.code == TRACER);
    (was_attached && !is_known).then(|| {
        let message = "a tracer was attached while the run measured".to_owned();
        warning(TRACER, message, DETACH)
    })
}

/// The warning that many times were converted far from the frequency at which they were measured.
pub fn converted(measurements: &[Measurement]) -> Option<Warning> {
    let moved = measurements
        .iter()
        .filter_map(|row| row.details.get(CONVERTED));
    let moved: Vec<f64> = moved.map(|detail| detail.abs()).collect();
    let far = moved
        .iter()
        .filter(|moved| **moved > MAX_CONVERTED_PERCENT)
        .count();
    let most = moved.iter().copied().fold(0.0, f64::max);
    (far > 0).then(|| {
        warning(
            "converted",
            format!(
                "{far} of {} rows were measured at another frequency than the usual one, by up to \
                 {most:.0} %: their times are converted",
                measurements.len()
            ),
            "what memory or devices take does not follow the frequency; measure when it is steady",
        )
    })
}

/// Warnings that numbers are wrong.
const WRONG: [&str; 9] = [
    "tracer",
    "kernel",
    EMULATOR,
    PERF_EVENTS,
    "build",
    CLOCK,
    "clock_fallback",
    "clocksource",
    "cgroup_quota",
];

/// Warnings of what was seen to disturb this run.
const DISTURBED: [&str; 5] = ["noise", SHARED_CORE, "steal", "cpu_pressure", "load"];

/// Warnings that hold for the machine at all times, and are in its description already.
const KNOWN: [&str; 1] = ["hypervisor"];

/// Orders warnings by importance; equally important ones keep their order.
pub(crate) fn worst_first(warnings: &mut [Warning]) {
    let rank = |warning: &Warning| {
        let is_in = |codes: &[&str]| codes.contains(&warning.code.as_str());
        match () {
            () if is_in(&WRONG) => 0,
            () if is_in(&DISTURBED) => 1,
            () if is_in(&KNOWN) => 3,
            () => 2,
        }
    };
    warnings.sort_by_key(rank);
}

fn as_warning(finding: Finding) -> Warning {
    warning(finding.code, finding.seen, finding.advice)
}

fn warning(code: &str, message: String, advice: &str) -> Warning {
    Warning {
        code: code.to_owned(),
        message,
        advice: advice.to_owned(),
    }
}

#[cfg(test)]
mod tests;
