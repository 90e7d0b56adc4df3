//! `syscost selftest`: measures operations of known cost, lies that must be refuted, and neighbours
//! that must be seen.

mod neighbour;
mod outcome;

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use syscost_benches::selftest::Cost;
use syscost_benches::{FILE_BYTES, FILE_LIARS, LIARS, TRUTHS, TWO_CPU_LIARS};
use syscost_harness::Here;
use syscost_harness::session::{Options, Profile, Session};
use syscost_harness::worker::Program;
use syscost_results::{Flag, Measurement, Run, Status};
use syscost_sys::{cpu, scratch};

use self::neighbour::NeighbourResult;
use self::outcome::Outcome;
use crate::cli::{Format, SelftestArguments};
use crate::error::exit;
use crate::progress::Progress;
use crate::selection;
use crate::terminal::{BOLD, DIM, RESET, text_width};

/// Maximum deviation from a known cost, relative.
const TOLERANCE: f64 = 0.01;

/// Maximum increase of a cost by a neighbour, relative to the cost on a core that is not shared.
const MAX_BY_NEIGHBOURS: f64 = 1.0;

/// Time limit of the measurements.
const BUDGET: Duration = Duration::from_secs(60);

/// Time limit of one case, which ends the liar that hangs.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The results of the self-test.
#[derive(Debug, Serialize)]
struct Report {
    truths: Vec<TruthResult>,
    liars: Vec<LiarResult>,
    neighbours: Vec<NeighbourResult>,
    passed: bool,
}

impl Report {
    fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        let truths = self.truths.iter().map(|truth| truth.outcome);
        let liars = self.liars.iter().map(|liar| liar.outcome);
        let neighbours = self.neighbours.iter().map(|one| one.outcome);
        truths.chain(liars).chain(neighbours)
    }

    /// Whether any known cost was met; otherwise the self-test shows nothing.
    fn has_met_a_truth(&self) -> bool {
        self.truths
            .iter()
            .any(|truth| truth.outcome == Outcome::Pass)
    }
}

/// The result of an operation of known cost.
#[derive(Debug, Serialize)]
struct TruthResult {
    name: String,
    unit: &'static str,
    truth: f64,
    measured: Option<f64>,
    ci95_low: Option<f64>,
    ci95_high: Option<f64>,
    bias_percent: Option<f64>,
    /// Skipped if a neighbour on its core may be the only reason for a miss, or if no frequency was
    /// known by which to count cycles.
    outcome: Outcome,
    reason: Option<String>,
}

/// The result of a lie.
#[derive(Debug, Serialize)]
struct LiarResult {
    name: String,
    title: String,
    expected: Status,
    status: Status,
    reason: Option<String>,
    /// Skipped if this machine lacks what the lie needs.
    outcome: Outcome,
}

/// Runs the command.
pub(crate) fn run(arguments: &SelftestArguments) -> Result<u8> {
    let run = measure()?;
    let find = |name: &str| run.measurements.iter().find(|row| row.name == name);
    let truths: Vec<TruthResult> = TRUTHS
        .iter()
        .filter_map(|truth| Some(judge_truth(find(truth.row)?, &truth.cost)))
        .collect();
    let excused = excused();
    let liars: Vec<LiarResult> = LIARS
        .iter()
        .filter_map(|(name, expected)| Some(judge_liar(find(name)?, *expected, &excused)))
        .collect();
    let are_all_there = truths.len() == TRUTHS.len() && liars.len() == LIARS.len();
    let mut report = Report {
        truths,
        liars,
        neighbours: neighbour::check(&run.machine),
        passed: false,
    };
    let has_failed = report.outcomes().any(|outcome| outcome == Outcome::Fail);
    report.passed = are_all_there && report.has_met_a_truth() && !has_failed;
    match arguments.format {
        Format::Json => super::print_json(&report)?,
        Format::Table => super::print(&text(&report, text_width())?)?,
    }
    Ok(if report.passed {
        exit::DONE
    } else {
        exit::FAILURE
    })
}

fn measure() -> Result<Run> {
    let interrupted = AtomicBool::new(false);
    let options = Options {
        profile: Profile::Quick,
        // Enough even for a busy machine.
        budget: Some(BUDGET),
        seed: None,
        cpus: None,
        time_limit: TIME_LIMIT,
        selectors: Vec::new(),
        studies: Vec::new(),
        program: Program::this().context("finding this program's own file")?,
        journal_folder: None,
        known_cores: None,
        kept_runs: None,
        here: Here::plain(),
        peer: None,
        nfs: None,
        version: crate::VERSION,
    };
    let names: Vec<String> = TRUTHS
        .iter()
        .map(|truth| truth.row)
        .chain(LIARS.iter().map(|(name, _)| *name))
        .map(str::to_owned)
        .collect();
    let mut progress = Progress::quiet("selftest");
    let rows = selection::rows(&names, &Here::plain())?;
    let mut session = Session::new(rows, &options, &mut progress, &interrupted)?;
    session.measure(&mut progress);
    progress.done();
    Ok(session.finish(false).run)
}

fn judge_truth(row: &Measurement, cost: &Cost) -> TruthResult {
    let (truth, unit) = match cost {
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
    let bias = measured.map(|measured| measured / truth - 1.0);
    let is_met = row.status == Status::Ok && bias.is_some_and(|bias| bias.abs() <= TOLERANCE);
    let excuse = if is_met {
        None
    } else if may_be_due_to_a_neighbour(row, cost, bias) {
        Some("another guest or program ran on the core; try again when it is quieter")
    } else if has_no_frequency(row, cost) {
        Some("no frequency was known to count core cycles by; try again when it is quieter")
    } else {
        None
    };
    let outcome = match excuse {
        Some(_) => Outcome::Skip,
        None => Outcome::of(is_met),
    };
    TruthResult {
        name: row.name.clone(),
        unit,
        truth,
        measured,
        ci95_low: scaled(row.estimate.ci95_low),
        ci95_high: scaled(row.estimate.ci95_high),
        bias_percent: bias.map(|bias| 100.0 * bias),
        outcome,
        reason: excuse.map(str::to_owned).or_else(|| row.reason.clone()),
    }
}

/// Whether a neighbour may be why a known cost was missed: too few samples were undisturbed, and the
/// cost is too high, which is the only effect of a neighbour.
fn may_be_due_to_a_neighbour(row: &Measurement, cost: &Cost, bias: Option<f64>) -> bool {
    let is_cost = !matches!(cost, Cost::Ratio(_));
    let is_shared = row.status == Status::Ok && row.flags.contains(&Flag::Disturbed);
    is_cost && is_shared && bias.is_some_and(|bias| (0.0..=MAX_BY_NEIGHBOURS).contains(&bias))
}

/// Whether the cost was measured in nanoseconds, but no sample has a core frequency: a neighbour was
/// there all the time, or the frequency changed.
fn has_no_frequency(row: &Measurement, cost: &Cost) -> bool {
    let is_measured = row.status == Status::Ok && row.estimate.median.is_some();
    matches!(cost, Cost::CoreCycles(_)) && is_measured && row.core_cycles.is_none()
}

/// The liars whose requirements this machine does not meet.
fn excused() -> Vec<&'static str> {
    let is_alone = cpu::allowed().is_ok_and(|cpus| cpus.len() < 2);
    let has_no_room = scratch::filled("room", FILE_BYTES).is_err();
    [(is_alone, TWO_CPU_LIARS), (has_no_room, FILE_LIARS)]
        .into_iter()
        .filter(|(is_missing, _)| *is_missing)
        .flat_map(|(_, liars)| liars.iter().copied())
        .collect()
}

/// Whether a liar has the expected status. One that is excused, because it cannot run here, may be
/// unsupported instead.
fn is_harmless(id: &str, status: Status, expected: Status, excused: &[&str]) -> bool {
    status == expected || (status == Status::Unsupported && excused.contains(&id))
}

fn judge_liar(row: &Measurement, expected: Status, excused: &[&str]) -> LiarResult {
    let is_harmless = is_harmless(&row.id, row.status, expected, excused);
    let has_no_number = row.estimate.median.is_none();
    LiarResult {
        name: row.name.clone(),
        title: row.title.clone(),
        expected,
        status: row.status,
        reason: row.reason.clone(),
        outcome: match row.status {
            Status::Unsupported if is_harmless && has_no_number => Outcome::Skip,
            _ => Outcome::of(is_harmless && has_no_number),
        },
    }
}

/// Renders the report in lines of this width.
fn text(report: &Report, width: usize) -> Result<String> {
    let mut out = String::new();
    writeln!(
        out,
        "{BOLD}Operations of known cost{RESET}  {DIM}must be met within {} %{RESET}",
        100.0 * TOLERANCE
    )?;
    for truth in &report.truths {
        let what = format!("{:<26} {:>8} {:<11}", truth.name, truth.truth, truth.unit);
        out += &truth.outcome.entry(&what, &seen(truth), width);
    }
    writeln!(
        out,
        "\n{BOLD}Lies{RESET}  {DIM}none may get a number{RESET}"
    )?;
    for liar in &report.liars {
        let what = format!("{:<18} {:<34}", liar.name, liar.title);
        let reason = liar.reason.as_deref().unwrap_or("believed");
        let seen = format!("{:?}: {reason}", liar.status);
        out += &liar.outcome.entry(&what, &seen, width);
    }
    out += &neighbour::text(&report.neighbours, width);
    let skipped = report
        .outcomes()
        .filter(|outcome| *outcome == Outcome::Skip);
    let end = match (report.passed, skipped.count()) {
        (true, 0) => "all passed".to_owned(),
        (true, skipped) => format!("passed, {skipped} skipped"),
        (false, _) if !report.has_met_a_truth() => {
            "the self-test failed: no known cost was met".to_owned()
        }
        (false, _) => "the self-test failed".to_owned(),
    };
    writeln!(out, "\n{end}")?;
    Ok(out)
}

/// Describes what was measured of a known cost.
fn seen(truth: &TruthResult) -> String {
    let Some((measured, bias)) = truth.measured.zip(truth.bias_percent) else {
        return truth
            .reason
            .clone()
            .unwrap_or_else(|| "no number".to_owned());
    };
    let low = truth.ci95_low.unwrap_or(f64::NAN);
    let high = truth.ci95_high.unwrap_or(f64::NAN);
    let reason = truth.reason.iter().map(|reason| format!(": {reason}"));
    let reason: String = reason.collect();
    format!("measured {measured:.3} [{low:.3}, {high:.3}], bias {bias:+.2} %{reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_liar_that_is_excused_may_be_unsupported() {
        let came_out = |status, excused: &[&str]| {
            is_harmless("liar.warm_file", status, Status::Withheld, excused)
        };
        assert!(came_out(Status::Withheld, &[]));
        assert!(came_out(Status::Unsupported, FILE_LIARS));
        assert!(!came_out(Status::Unsupported, TWO_CPU_LIARS));
        assert!(!came_out(Status::Ok, FILE_LIARS));
    }

    fn row() -> Measurement {
        Measurement {
            name: String::new(),
            id: String::new(),
            case: Default::default(),
            title: String::new(),
            revision: 1,
            unit: syscost_results::Unit::Nanoseconds,
            better: syscost_results::Better::Lower,
            status: Status::Ok,
            reason: None,
            estimate: Default::default(),
            core_cycles: None,
            core_share: None,
            between_runs: None,
            flags: vec![Flag::Disturbed],
            evidence: Vec::new(),
            details: Default::default(),
            histogram: Vec::new(),
            samples: None,
        }
    }

    #[test]
    fn cycles_without_a_frequency_are_skipped_and_a_row_without_a_number_fails() {
        let mut row = row();
        row.flags.clear();
        row.estimate.median = Some(1.25);
        let outcome = |row: &Measurement, cost| judge_truth(row, &cost).outcome;
        assert_eq!(outcome(&row, Cost::CoreCycles(4.0)), Outcome::Skip);
        assert_eq!(outcome(&row, Cost::Nanoseconds(4.0)), Outcome::Fail);
        row.core_cycles = Some(5.0);
        assert_eq!(outcome(&row, Cost::CoreCycles(4.0)), Outcome::Fail);
        row.core_cycles = None;
        row.estimate.median = None;
        assert_eq!(outcome(&row, Cost::CoreCycles(4.0)), Outcome::Fail);
        row.status = Status::Withheld;
        assert_eq!(outcome(&row, Cost::CoreCycles(4.0)), Outcome::Fail);
    }

    #[test]
    fn only_a_cost_that_is_too_high_on_a_shared_core_may_be_due_to_a_neighbour() {
        let mut row = row();
        let cycles = Cost::CoreCycles(4.0);
        assert!(may_be_due_to_a_neighbour(&row, &cycles, Some(0.4)));
        for bias in [None, Some(-0.5), Some(9.0)] {
            assert!(!may_be_due_to_a_neighbour(&row, &cycles, bias), "{bias:?}");
        }
        assert!(!may_be_due_to_a_neighbour(
            &row,
            &Cost::Ratio(1.0),
            Some(0.4)
        ));
        row.flags.clear();
        assert!(!may_be_due_to_a_neighbour(&row, &cycles, Some(0.4)));
    }
}
