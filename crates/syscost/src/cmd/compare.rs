//! `syscost compare`: compares two sets of runs row by row.

use std::collections::BTreeSet;
use std::slice;

use anyhow::{Result, bail};
use syscost_report::compare::{markdown, table};
use syscost_report::sentence;
use syscost_results::Run;
use syscost_results::compare::{Comparison, Gated, How, Row, compare_as};
use syscost_store::LATEST;

use crate::cli::{CompareArguments, CompareFormat, CompareOutput, FailOn};
use crate::error::{exit, unless_broken_pipe};
use crate::{
    Failed, kept,
    terminal::{self, say},
};

/// Compares two runs measured in turn, and returns the exit code: that of the gate if it `is_judged`.
pub(super) fn pair(base: &Run, new: &Run, output: &CompareOutput, is_judged: bool) -> Result<u8> {
    let how = How {
        in_cycles: output.cycles,
        in_turn: true,
    };
    let comparison = compare_as(how, &[base], &[new], &[]);
    let runs = [base, new];
    if is_judged {
        return write_and_judge(&comparison, &runs, output);
    }
    unless_broken_pipe(write(&comparison, &runs, output))?;
    Ok(outcome(&comparison))
}

/// The exit code of a comparison that no gate judges: one of nothing is no success.
fn outcome(comparison: &Comparison) -> u8 {
    match comparison.rows.is_empty() {
        true => exit::FAILURE,
        false => exit::DONE,
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &CompareArguments) -> Result<u8> {
    let CompareArguments {
        base,
        new,
        more_base,
        spread,
        output,
    } = arguments;
    let [base, new] = match (base, &new[..]) {
        (None, _) => {
            let [base, new] = kept::latest_two()?;
            [[slice::from_ref(&base), more_base].concat(), vec![new]]
        }
        (Some(base), new) => {
            let latest = [LATEST.to_owned()];
            let new = if new.is_empty() { &latest } else { new };
            [[slice::from_ref(base), more_base].concat(), new.to_vec()]
        }
    };
    let [base, new] = [side(&base)?, side(&new)?];
    let spread = side(spread)?;
    // A run counted twice makes a spread or a change smaller than it is.
    kept::distinct(base.iter().chain(&new).chain(&spread))?;
    let how = How {
        in_cycles: output.cycles,
        in_turn: false,
    };
    let comparison = compare_as(
        how,
        &base.iter().collect::<Vec<_>>(),
        &new.iter().collect::<Vec<_>>(),
        &spread.iter().collect::<Vec<_>>(),
    );
    let runs: Vec<&Run> = base.iter().chain(&new).collect();
    write_and_judge(&comparison, &runs, output)
}

/// Writes a comparison and judges it, even if the output pipe is closed.
fn write_and_judge(comparison: &Comparison, runs: &[&Run], output: &CompareOutput) -> Result<u8> {
    let written = write(comparison, runs, output);
    let code = judge(comparison, output.fail_on, output.min_conclusive)?;
    unless_broken_pipe(written)?;
    Ok(code)
}

/// The runs of a side, which are pooled.
///
/// # Errors
/// When they are of different processors: pooled, their figures would be no machine's.
pub(super) fn side(names: &[String]) -> Result<Vec<Run>> {
    let runs = kept::runs(names)?;
    check_pooled(names, &runs)?;
    Ok(runs)
}

/// Refuses to pool runs of different processors, which have these names.
fn check_pooled(names: &[String], runs: &[Run]) -> Result<(), Failed> {
    let models = runs.iter().map(|run| run.machine.cpu_model.as_str());
    let models: BTreeSet<&str> = models.collect();
    if models.len() > 1 {
        let models: Vec<&str> = models.into_iter().collect();
        return Err(Failed::Usage(format!(
            "{} would be pooled, but are runs of different processors ({}): compare two at a time, or see \
             them side by side: syscost report RUN...",
            names.join(", "),
            models.join("; ")
        )));
    }
    Ok(())
}

/// Writes a comparison of these runs, which are its sides.
fn write(comparison: &Comparison, runs: &[&Run], output: &CompareOutput) -> Result<()> {
    let text = match output.format {
        CompareFormat::Json => {
            let mut text = serde_json::to_string_pretty(comparison)?;
            text.push('\n');
            text
        }
        CompareFormat::Markdown => markdown(comparison, output.verbose),
        CompareFormat::Table => table(comparison, &terminal::table_options(output.verbose)),
        CompareFormat::Html => super::report::of_comparison(runs, comparison),
    };
    super::print(&text)
}

/// Returns the exit code of a comparison.
///
/// # Errors
/// When less than `min_conclusive` percent of the rows that both sides were to measure are decided: a gate must not pass because
/// a name was misspelt, or because noise left nothing to judge.
fn judge(comparison: &Comparison, fail_on: Option<FailOn>, min_conclusive: f64) -> Result<u8> {
    let Some(fail_on) = fail_on else {
        return Ok(outcome(comparison));
    };
    let lost: Vec<(&str, &str)> = comparison.lost().collect();
    let judged = Judged::of(comparison, fail_on.worse_by);
    if let Some((_, reason)) = lost.first() {
        let names: Vec<&str> = lost.iter().map(|(name, _)| *name).collect();
        let are_lost = sentence::agreeing(lost.len(), "[is|are] lost on the new side");
        let names = sentence::listed(&names, 1);
        say!("the gate failed: {names} {are_lost} ({reason})");
        return Ok(exit::GATE);
    }
    if !judged.failed.is_empty() {
        let names: Vec<&str> = judged.failed.iter().map(|row| &*row.name).collect();
        let are_worse = sentence::agreeing(names.len(), "[is|are] worse");
        let names = sentence::listed(&names, 1);
        say!("the gate failed: {names} {are_worse}");
        return Ok(exit::GATE);
    }
    let (due, left_out) = (comparison.due(), judged.left_out());
    let rows = sentence::count(judged.all(), "row");
    if judged.passed == 0 || 100.0 * (judged.passed as f64) < min_conclusive * due as f64 {
        bail!(
            "--fail-on cannot tell: of {rows} {}, and --min-conclusive asks for {min_conclusive} %{}; measure again when the machine is \
             quieter, longer, or pool several runs of a side",
            sentence::agreeing(judged.passed, "# [is|are] no worse"),
            if left_out.is_empty() {
                left_out
            } else {
                format!(" ({left_out})")
            },
        );
    }
    if !left_out.is_empty() {
        say!("the gate passed by {} of {rows}: {left_out}", judged.passed);
    }
    Ok(exit::DONE)
}

/// What a gate makes of a comparison's rows.
struct Judged<'a> {
    failed: Vec<&'a Row>,
    passed: usize,
    in_company: usize,
    without_interval: usize,
    too_wide: usize,
    not_compared: usize,
}

impl<'a> Judged<'a> {
    fn of(comparison: &'a Comparison, worse_by: f64) -> Self {
        let of = |gated| {
            let rows = comparison.rows.iter();
            rows.filter(move |row| row.gated(worse_by) == gated)
        };
        let undecided = |is_counted: fn(&Row) -> bool| {
            of(Gated::Undecided).filter(|row| is_counted(row)).count()
        };
        Judged {
            failed: of(Gated::Failed).collect(),
            passed: of(Gated::Passed).count(),
            in_company: undecided(|row| !row.is_own()),
            without_interval: undecided(|row| row.is_own() && row.ci95_low.is_none()),
            too_wide: undecided(|row| row.is_own() && row.ci95_low.is_some()),
            not_compared: comparison.missing.len() + comparison.refused.len(),
        }
    }

    fn all(&self) -> usize {
        let undecided = self.in_company + self.without_interval + self.too_wide;
        self.failed.len() + self.passed + undecided + self.not_compared
    }

    /// Describes which rows are not judged, and why; empty if all are.
    fn left_out(&self) -> String {
        let parts = [
            (self.in_company, "on a shared core on one side or both"),
            (
                self.without_interval,
                "with too few processes for an interval",
            ),
            (self.too_wide, "with an interval that allows both"),
            (self.not_compared, "not compared (-v says why)"),
        ];
        let parts = parts.iter().filter(|(rows, _)| *rows > 0);
        let parts = parts.map(|(rows, what)| format!("{rows} {what}"));
        parts.collect::<Vec<String>>().join(", ")
    }
}
