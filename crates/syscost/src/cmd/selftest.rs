//! `syscost selftest`: measures operations of known cost (positive controls), lies that must be
//! refuted (negative controls), and SMT interference that must be seen.

mod interference;

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anstyle::Style;
use anyhow::{Context, Result};
use serde::Serialize;
use syscost_benches::selftest::Cost;
use syscost_benches::{FILE_BYTES, NEGATIVE_CONTROLS, Need, NegativeControl, POSITIVE_CONTROLS};
use syscost_harness::clock::RunClock;
use syscost_harness::session::Options;
use syscost_harness::worker::Program;
use syscost_report::wrap::beside;
use syscost_results::measurement::{Cause, Disturbance};
use syscost_results::{Flag, Measurement, Run, Status};
use syscost_sys::{cpu, process, scratch};

use self::interference::InterferenceResult;
use syscost_stats::order::median;
use syscost_sys::frequency::frequency_course;

use crate::cli::{Format, SelftestArguments};
use crate::error::exit;
use crate::progress::Progress;
use crate::selection;
use crate::terminal::{BOLD, DIM, GREEN, RED, RESET, text_width};

/// Maximum deviation from a known cost, relative.
const TOLERANCE: f64 = 0.01;

/// Maximum increase of a cost by interference, relative to the cost on a core that is not shared.
const MAX_INTERFERENCE: f64 = 1.0;

/// Time limit of the measurements.
const BUDGET: Duration = Duration::from_secs(60);

/// How often a known cost that is missed is measured, at most: what the instrument gets wrong it gets wrong each
/// time, what others do on the core comes and goes.
const ATTEMPTS: u32 = 3;

/// The results of the self-test.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(rename = "truths")]
    positives: Vec<PositiveControlResult>,
    #[serde(rename = "liars")]
    negatives: Vec<NegativeControlResult>,
    interference: Vec<InterferenceResult>,
    passed: bool,
}

impl Report {
    /// The checks by their names.
    fn checks(&self) -> impl Iterator<Item = (&str, Outcome)> {
        let positives = self.positives.iter().map(|one| (&*one.name, one.outcome));
        let negatives = self.negatives.iter().map(|one| (&*one.name, one.outcome));
        let interference = self
            .interference
            .iter()
            .map(|one| (one.source, one.outcome));
        positives.chain(negatives).chain(interference)
    }

    /// The names of those that ended so.
    fn ended(&self, outcome: Outcome) -> Vec<&str> {
        let ended = self.checks().filter(|(_, one)| *one == outcome);
        ended.map(|(name, _)| name).collect()
    }

    /// Whether any known cost was met; otherwise the self-test shows nothing.
    fn has_met_a_cost(&self) -> bool {
        self.positives
            .iter()
            .any(|positive| positive.outcome == Outcome::Pass)
    }
}

/// The result of an operation of known cost.
#[derive(Debug, Serialize)]
struct PositiveControlResult {
    name: String,
    unit: &'static str,
    #[serde(rename = "truth")]
    known: f64,
    measured: Option<f64>,
    ci95_low: Option<f64>,
    ci95_high: Option<f64>,
    bias_percent: Option<f64>,
    /// How often it was measured.
    attempts: u32,
    /// Skipped if interference may be the only reason for a miss, or if no frequency was
    /// known by which to count cycles.
    outcome: Outcome,
    reason: Option<String>,
}

/// The result of a negative control.
#[derive(Debug, Serialize)]
struct NegativeControlResult {
    name: String,
    title: String,
    expected: Status,
    status: Status,
    reason: Option<String>,
    /// Skipped if this machine lacks what it needs.
    outcome: Outcome,
}

/// Runs the command.
pub(crate) fn run(arguments: &SelftestArguments) -> Result<u8> {
    let missing = missing();
    let costs = POSITIVE_CONTROLS.iter().map(|positive| positive.row);
    let lies = NEGATIVE_CONTROLS.iter().map(|negative| negative.id);
    process::limit_work(arguments.time_limit);
    let run = measure(costs.chain(lies), arguments.time_limit)?;
    let mut positives = judged(&run);
    for _ in 1..ATTEMPTS {
        let missed = positives.iter().filter(|one| one.outcome != Outcome::Pass);
        let missed: Vec<String> = missed.map(|one| one.name.clone()).collect();
        if missed.is_empty() {
            break;
        }
        for again in judged(&measure(
            missed.iter().map(String::as_str),
            arguments.time_limit,
        )?) {
            if let Some(one) = positives.iter_mut().find(|one| one.name == again.name) {
                one.attempts += 1;
                // What failed without an excuse has failed unless it passes.
                if again.outcome == Outcome::Pass || one.outcome == Outcome::Skip {
                    let attempts = one.attempts;
                    *one = PositiveControlResult { attempts, ..again };
                }
            }
        }
    }
    let negatives: Vec<NegativeControlResult> = NEGATIVE_CONTROLS
        .iter()
        .filter_map(|negative| Some(judge_negative(find(&run, negative.id)?, negative, &missing)))
        .collect();
    let are_all_there =
        positives.len() == POSITIVE_CONTROLS.len() && negatives.len() == NEGATIVE_CONTROLS.len();
    let mut report = Report {
        positives,
        negatives,
        interference: interference::check(&run.machine),
        passed: false,
    };
    let has_failed = !report.ended(Outcome::Fail).is_empty();
    report.passed = are_all_there && report.has_met_a_cost() && !has_failed;
    let cannot_tell = are_all_there && !has_failed && !report.passed;
    match arguments.format {
        Format::Json => super::print_json(&report)?,
        Format::Table => super::print(&text(&report, text_width())?)?,
    }
    Ok(match report.passed {
        true => exit::DONE,
        false if cannot_tell => exit::NOTHING,
        false => exit::FAILURE,
    })
}

fn find<'a>(run: &'a Run, name: &str) -> Option<&'a Measurement> {
    run.measurements.iter().find(|row| row.name == name)
}

/// The results of the known costs that were measured in this run.
fn judged(run: &Run) -> Vec<PositiveControlResult> {
    // Looked for only where a cost was missed.
    let taken = LazyCell::new(taken_share);
    let rows = POSITIVE_CONTROLS
        .iter()
        .filter_map(|positive| Some((find(run, positive.row)?, &positive.cost)));
    rows.map(|(row, cost)| judge_positive(row, cost, &|| *taken))
        .collect()
}

fn measure<'a>(names: impl Iterator<Item = &'a str>, time_limit: Duration) -> Result<Run> {
    let interrupted = AtomicBool::new(false);
    let program = Program::this().context("finding this program's own file")?;
    let options = Options {
        // Enough even for a busy machine.
        budget: Some(BUDGET),
        ..Options::quick(program, time_limit, crate::VERSION)
    };
    let names: Vec<String> = names.map(str::to_owned).collect();
    let rows = selection::rows(&names, &options.here)?;
    super::measured(rows, &options, Progress::quiet("selftest"), &interrupted)
}

/// How long a loop is looked at for what takes its time, in ns.
const LOOKED_AT_NS: f64 = 1e8;

/// The share of a loop's time that is no time of its short pieces, as most of them show it: what a host takes
/// away in moments that no counter of a guest shows. 0 where that is not known.
fn taken_share() -> f64 {
    let cpus = cpu::allowed().unwrap_or_default();
    let clock = RunClock::choose(&cpus).calibrate();
    let course = frequency_course(&clock, LOOKED_AT_NS).unwrap_or_default();
    let lengths: Vec<f64> = course.iter().map(|moment| 1.0 / moment.ghz).collect();
    let usual = median(&lengths).unwrap_or(0.0) * lengths.len() as f64;
    let all: f64 = lengths.iter().sum();
    if all > 0.0 {
        (1.0 - usual / all).max(0.0)
    } else {
        0.0
    }
}

/// `taken` tells the share of a loop's time that others take unseen.
fn judge_positive(
    row: &Measurement,
    cost: &Cost,
    taken: &dyn Fn() -> f64,
) -> PositiveControlResult {
    let (known, unit) = match cost {
        Cost::CoreCycles(cycles) => (*cycles, "core cycles"),
        Cost::Nanoseconds(ns) => (*ns, "ns"),
        Cost::Ratio(ratio) => (*ratio, "x"),
    };
    // The interval in cycles is the interval in time, scaled by the same frequency.
    let scale = match cost {
        Cost::CoreCycles(_) => row
            .core_cycles
            .zip(row.estimate.median)
            .map(|(c, ns)| c / ns),
        Cost::Nanoseconds(_) | Cost::Ratio(_) => Some(1.0),
    };
    let scaled = |value: Option<f64>| Some(value? * scale?);
    let measured = scaled(row.estimate.median);
    let bias = measured.map(|measured| measured / known - 1.0);
    let is_met = row.status == Status::Ok && bias.is_some_and(|bias| bias.abs() <= TOLERANCE);
    let excuse = if is_met {
        None
    } else if row.status == Status::Skipped {
        Some("there was no time for it; try again when it is quieter")
    } else if may_be_interference(row, cost, bias) {
        Some("another guest or program ran on the core; try again when it is quieter")
    } else if matches!(cost, Cost::CoreCycles(_))
        && bias.is_some_and(|bias| (0.0..=taken() + TOLERANCE).contains(&bias))
    {
        Some(
            "a host takes as much of a loop's time, which no counter shows; try again when it is quieter",
        )
    } else if has_no_frequency(row, cost) {
        Some("no frequency was known to count core cycles by; try again when it is quieter")
    } else {
        None
    };
    let outcome = match excuse {
        Some(_) => Outcome::Skip,
        None => Outcome::of(is_met),
    };
    PositiveControlResult {
        name: row.name.clone(),
        unit,
        known,
        measured,
        ci95_low: scaled(row.estimate.ci95_low),
        ci95_high: scaled(row.estimate.ci95_high),
        bias_percent: bias.map(|bias| 100.0 * bias),
        attempts: 1,
        outcome,
        reason: excuse.map(str::to_owned).or_else(|| row.reason.clone()),
    }
}

/// Whether others may be why a known cost was missed: it is too high, which is their only effect, and
/// too few samples were undisturbed, or most waited for the CPU, for however long.
fn may_be_interference(row: &Measurement, cost: &Cost, bias: Option<f64>) -> bool {
    let is_cost = !matches!(cost, Cost::Ratio(_)) && row.status == Status::Ok;
    let most = match (mostly_waited(row), row.flags.contains(&Flag::Disturbed)) {
        (true, _) => f64::INFINITY,
        (false, true) => MAX_INTERFERENCE,
        (false, false) => return false,
    };
    is_cost && bias.is_some_and(|bias| (0.0..=most).contains(&bias))
}

/// Whether others had the CPU in most of its samples.
fn mostly_waited(row: &Measurement) -> bool {
    let rounds = row.samples.iter().flatten();
    let (mut waited, mut all) = (0, 0);
    for round in rounds {
        let others = |one: &&Disturbance| matches!(one.cause, Cause::Preempted | Cause::RunDelay);
        let samples: BTreeSet<u32> = round
            .disturbed
            .iter()
            .filter(others)
            .map(|one| one.sample)
            .collect();
        (waited, all) = (waited + samples.len(), all + round.values.len());
    }
    2 * waited > all
}

/// Whether the cost was measured in nanoseconds, but no sample has a core frequency: the core was
/// there all the time, or the frequency changed.
fn has_no_frequency(row: &Measurement, cost: &Cost) -> bool {
    let is_measured = row.status == Status::Ok && row.estimate.median.is_some();
    matches!(cost, Cost::CoreCycles(_)) && is_measured && row.core_cycles.is_none()
}

/// What negative controls need and this machine does not have.
fn missing() -> Vec<Need> {
    let is_alone = cpu::allowed().is_ok_and(|cpus| cpus.len() < 2);
    let has_no_room = scratch::filled("room", FILE_BYTES).is_err();
    [(is_alone, Need::TwoCpus), (has_no_room, Need::File)]
        .into_iter()
        .filter_map(|(is_missing, need)| is_missing.then_some(need))
        .collect()
}

/// Whether a negative control has the expected status. One that cannot run here may be unsupported
/// instead.
fn is_harmless(status: Status, control: &NegativeControl, missing: &[Need]) -> bool {
    let is_excused = || control.needs.iter().any(|need| missing.contains(need));
    status == control.expected || (status == Status::Unsupported && is_excused())
}

fn judge_negative(
    row: &Measurement,
    control: &NegativeControl,
    missing: &[Need],
) -> NegativeControlResult {
    let is_harmless = is_harmless(row.status, control, missing);
    let has_no_number = row.estimate.median.is_none();
    NegativeControlResult {
        name: row.name.clone(),
        title: row.title.clone(),
        expected: control.expected,
        status: row.status,
        reason: row.reason.clone(),
        outcome: match row.status {
            Status::Unsupported if is_harmless && has_no_number => Outcome::Skip,
            Status::Skipped => Outcome::Skip,
            _ => Outcome::of(is_harmless && has_no_number),
        },
    }
}

/// Renders the report in lines of this width.
fn text(report: &Report, width: usize) -> Result<String> {
    let mut out = String::new();
    writeln!(
        out,
        "{BOLD}Positive controls{RESET}  {DIM}operations of known cost, must be met within {} %{RESET}",
        100.0 * TOLERANCE
    )?;
    for positive in &report.positives {
        let what = format!(
            "{:<26} {:>8} {:<11}",
            positive.name, positive.known, positive.unit
        );
        out += &positive.outcome.entry(&what, &seen(positive), width);
    }
    writeln!(
        out,
        "\n{BOLD}Negative controls{RESET}  {DIM}benchmarks that lie: none may get a number{RESET}"
    )?;
    for negative in &report.negatives {
        let what = format!("{:<18} {:<34}", negative.name, negative.title);
        let reason = negative.reason.as_deref().unwrap_or("believed");
        let seen = format!("{:?}: {reason}", negative.status);
        out += &negative.outcome.entry(&what, &seen, width);
    }
    out += &interference::text(&report.interference, width);
    let failed = report.ended(Outcome::Fail);
    let end = match (report.passed, report.ended(Outcome::Skip).len()) {
        (true, 0) => "all passed".to_owned(),
        (true, skipped) => format!("passed, {skipped} skipped"),
        (false, _) if !failed.is_empty() => format!("the self-test failed: {}", failed.join(", ")),
        (false, _) => "the self-test cannot tell: no known cost was met".to_owned(),
    };
    writeln!(out, "\n{end}")?;
    Ok(out)
}

/// Describes what was measured of a known cost.
fn seen(positive: &PositiveControlResult) -> String {
    let Some((measured, bias)) = positive.measured.zip(positive.bias_percent) else {
        return positive
            .reason
            .clone()
            .unwrap_or_else(|| "no number".to_owned());
    };
    let low = positive.ci95_low.unwrap_or(f64::NAN);
    let high = positive.ci95_high.unwrap_or(f64::NAN);
    let reason = positive.reason.iter().map(|reason| format!(": {reason}"));
    let reason: String = reason.collect();
    let again = match positive.attempts {
        1 => String::new(),
        attempts => format!(" in {attempts} attempts"),
    };
    format!("measured {measured:.3} [{low:.3}, {high:.3}], bias {bias:+.2} %{again}{reason}")
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Pass,
    Fail,
    /// The check cannot be judged here.
    Skip,
}

impl Outcome {
    pub(super) fn of(has_passed: bool) -> Self {
        match has_passed {
            true => Self::Pass,
            false => Self::Fail,
        }
    }

    /// Renders the check for the report, with a newline at the end: its outcome, its name, and `seen`
    /// after that or below.
    pub(super) fn entry(self, what: &str, seen: &str, width: usize) -> String {
        let (style, word) = self.mark();
        let head = format!("{style}{word}{RESET}  {what} ");
        let lines = beside(&head, seen, width, "      ");
        lines.join("\n") + "\n"
    }

    /// The style and word that mark the outcome.
    fn mark(self) -> (Style, &'static str) {
        match self {
            Self::Pass => (GREEN, "pass"),
            Self::Fail => (RED, "FAIL"),
            Self::Skip => (DIM, "skip"),
        }
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::RoundSamples;

    use super::*;

    #[test]
    fn only_a_negative_control_that_is_excused_may_be_unsupported() {
        let file = NEGATIVE_CONTROLS
            .iter()
            .find(|one| one.needs == [Need::File] && one.expected == Status::Withheld)
            .expect("one that needs a file");
        assert!(is_harmless(Status::Withheld, file, &[]));
        assert!(!is_harmless(Status::Unsupported, file, &[]));
        assert!(is_harmless(Status::Unsupported, file, &[Need::File]));
        assert!(!is_harmless(Status::Unsupported, file, &[Need::TwoCpus]));
        assert!(!is_harmless(Status::Ok, file, &[Need::File]));
    }

    fn row() -> Measurement {
        Measurement {
            revision: 1,
            status: Status::Ok,
            flags: vec![Flag::Disturbed],
            ..Measurement::default()
        }
    }

    #[test]
    fn cycles_without_a_frequency_are_skipped_and_a_row_without_a_number_fails() {
        let mut row = row();
        row.flags.clear();
        row.estimate.median = Some(1.25);
        let outcome = |row: &Measurement, cost| judge_positive(row, &cost, &|| 0.0).outcome;
        assert_eq!(outcome(&row, Cost::CoreCycles(4.0)), Outcome::Skip);
        assert_eq!(outcome(&row, Cost::Nanoseconds(4.0)), Outcome::Fail);
        row.core_cycles = Some(5.0);
        assert_eq!(outcome(&row, Cost::CoreCycles(4.0)), Outcome::Fail);
        row.core_cycles = None;
        row.estimate.median = None;
        assert_eq!(outcome(&row, Cost::CoreCycles(4.0)), Outcome::Fail);
        row.status = Status::Withheld;
        assert_eq!(outcome(&row, Cost::CoreCycles(4.0)), Outcome::Fail);
        row.status = Status::Skipped;
        assert_eq!(outcome(&row, Cost::Ratio(2.0)), Outcome::Skip);
    }

    #[test]
    fn what_mostly_waited_for_its_cpu_may_have_cost_anything_more() {
        let disturbed = |samples: u32, cause| {
            let each = (0..samples).map(|sample| Disturbance { sample, cause });
            let round = RoundSamples {
                values: vec![1.0; 10],
                disturbed: each.collect(),
                ..RoundSamples::default()
            };
            Measurement {
                samples: Some(vec![round]),
                flags: Vec::new(),
                ..row()
            }
        };
        let may_be =
            |row: &Measurement, bias| may_be_interference(row, &Cost::Nanoseconds(5e4), Some(bias));
        assert!(may_be(&disturbed(6, Cause::Preempted), 16.3));
        assert!(!may_be(&disturbed(6, Cause::Preempted), -0.1), "too low");
        assert!(!may_be(&disturbed(5, Cause::RunDelay), 16.3));
        assert!(!may_be(&disturbed(10, Cause::Interrupted), 16.3));
    }

    #[test]
    fn only_a_cost_that_is_too_high_on_a_shared_core_may_be_interference() {
        let mut row = row();
        let cycles = Cost::CoreCycles(4.0);
        assert!(may_be_interference(&row, &cycles, Some(0.4)));
        for bias in [None, Some(-0.5), Some(9.0)] {
            assert!(!may_be_interference(&row, &cycles, bias), "{bias:?}");
        }
        assert!(!may_be_interference(&row, &Cost::Ratio(1.0), Some(0.4)));
        row.flags.clear();
        assert!(!may_be_interference(&row, &cycles, Some(0.4)));
    }
}
