//! `syscost compare`: compares two sets of runs row by row.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use syscost_report::compare::{markdown, power, table};
use syscost_report::sentence;
use syscost_report::table::TableOptions;
use syscost_results::Run;
use syscost_results::compare::{Change, Comparison, How, Row, compare_as};

use crate::cli::{CompareArguments, CompareFormat, CompareOutput, FailOn};
use crate::error::{exit, unless_broken_pipe};
use crate::{
    Failed, files, kept,
    terminal::{self, note, say},
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
    if let Some(path) = &output.output {
        files::check_writable(path)?;
        output.form()?;
    }
    let base = side(&[std::slice::from_ref(base), more_base].concat())?;
    let new = side(new)?;
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
pub(super) fn check_pooled(names: &[String], runs: &[Run]) -> Result<(), Failed> {
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
    let text = match output.form()? {
        CompareFormat::Json => {
            let mut text = serde_json::to_string_pretty(comparison)?;
            text.push('\n');
            text
        }
        CompareFormat::Markdown => {
            let power = output.power.then(|| power::markdown(comparison));
            markdown(comparison, output.verbose) + &power.unwrap_or_default()
        }
        CompareFormat::Table => {
            let power = output
                .power
                .then(|| power::table(comparison, terminal::width()));
            text(comparison, output.verbose, output.output.is_none()) + &power.unwrap_or_default()
        }
        CompareFormat::Html => super::report::of_comparison(runs, comparison)?,
    };
    match &output.output {
        Some(path) => {
            files::write(path, text.as_bytes())?;
            if path.as_os_str() != "-" {
                note!("Wrote {}", path.display());
            }
            Ok(())
        }
        None => super::print(&text),
    }
}

/// Renders the comparison as a table.
pub(super) fn text(comparison: &Comparison, verbose: bool, color: bool) -> String {
    table(
        comparison,
        &TableOptions {
            width: terminal::width(),
            color,
            verbose,
            quiet: terminal::is_quiet(),
            ..TableOptions::default()
        },
    )
}

/// Returns the exit code of a comparison.
///
/// # Errors
/// When a gate can judge no row, or less than `min_conclusive` percent of them come to a
/// conclusion: it must not pass because a name was misspelt, or because noise left nothing to
/// judge.
pub(super) fn judge(
    comparison: &Comparison,
    fail_on: Option<FailOn>,
    min_conclusive: Option<f64>,
) -> Result<u8> {
    let Some(fail_on) = fail_on else {
        return Ok(outcome(comparison));
    };
    let lost: Vec<(&str, &str)> = comparison.lost().collect();
    let judged = Judged::of(comparison);
    if judged.rows == 0 && lost.is_empty() {
        bail!(
            "--fail-on has nothing to judge: {}",
            judged.why_none(comparison)
        );
    }
    if judged.rows < judged.all() {
        say!(
            "the gate judges {} of {}: {}",
            judged.rows,
            sentence::count(judged.all(), "row"),
            judged.left_out()
        );
    }
    if let Some((name, reason)) = lost.first() {
        let verb = if lost.len() == 1 { "is" } else { "are" };
        let others = and_more(lost.len() - 1);
        say!("the gate failed: {name}{others} {verb} lost on the new side ({reason})");
        return Ok(exit::GATE);
    }
    let is_too_much = |row: &&Row| {
        row.worse_by_at_least()
            .is_some_and(|by| by >= fail_on.worse_by)
    };
    let (worse, with_interference): (Vec<&Row>, Vec<&Row>) = comparison
        .rows
        .iter()
        .filter(is_too_much)
        .partition(|row| row.is_for_gates());
    if let Some(first) = with_interference.first() {
        say!(
            "worse, but not judged: {}{}; prices in company, and what else ran on the cores may be \
             the whole change",
            first.name,
            and_more(with_interference.len() - 1)
        );
    }
    let Some(first) = worse.first() else {
        if 2 * judged.rows < comparison.due() {
            bail!(
                "cannot tell: nothing is worse, but the gate judges less than half of the rows; measure again when the machine is quieter"
            );
        }
        check_conclusive(comparison, min_conclusive)?;
        return Ok(exit::DONE);
    };
    let verb = if worse.len() == 1 { "is" } else { "are" };
    say!(
        "the gate failed: {}{} {verb} worse",
        first.name,
        and_more(worse.len() - 1)
    );
    Ok(exit::GATE)
}

/// Checks that enough rows came to a conclusion.
///
/// # Errors
/// When less than `min_percent` of the rows that both sides were to measure are better, worse or
/// the same beyond doubt.
fn check_conclusive(comparison: &Comparison, min_percent: Option<f64>) -> Result<()> {
    let Some(min) = min_percent else {
        return Ok(());
    };
    let is_conclusive = |row: &&Row| row.verdict != Change::Inconclusive && row.is_for_gates();
    let conclusive = comparison.rows.iter().filter(is_conclusive).count();
    let all = comparison.due();
    if 100.0 * (conclusive as f64) < min * all as f64 {
        bail!(
            "only {conclusive} of {} came to a conclusion (better, worse or the same), and --min-conclusive requires {min} %; measure \
             longer, or when the machine is quieter",
            sentence::count(all, "row")
        );
    }
    Ok(())
}

/// How many rows a gate judges, and how many it cannot.
struct Judged {
    rows: usize,
    without_interval: usize,
    with_interference: usize,
    not_compared: usize,
}

impl Judged {
    fn of(comparison: &Comparison) -> Self {
        let count = |is_counted: fn(&Row) -> bool| {
            let rows = comparison.rows.iter();
            rows.filter(|row| is_counted(row)).count()
        };
        Judged {
            rows: count(|row| row.ci95_low.is_some() && row.is_for_gates()),
            without_interval: count(|row| row.ci95_low.is_none() && row.is_for_gates()),
            with_interference: count(|row| !row.is_for_gates()),
            not_compared: comparison.missing.len() + comparison.refused.len(),
        }
    }

    fn all(&self) -> usize {
        self.rows + self.without_interval + self.with_interference + self.not_compared
    }

    /// Describes which rows are not judged, and why; empty if all are.
    fn left_out(&self) -> String {
        let parts = [
            (
                self.without_interval,
                "has too few processes for an interval of the ratio",
                "have too few processes for an interval of the ratio",
            ),
            (
                self.with_interference,
                "was measured on a shared core on one side or both",
                "were measured on a shared core on one side or both",
            ),
            (
                self.not_compared,
                "could not be compared (-v names it)",
                "could not be compared (-v names them)",
            ),
        ];
        let parts = parts.iter().filter(|(rows, ..)| *rows > 0);
        let parts = parts.map(|(rows, one, more)| {
            let what = if *rows == 1 { one } else { more };
            format!("{rows} {what}")
        });
        parts.collect::<Vec<String>>().join(", ")
    }

    /// Explains why no row is judged, and what to do.
    fn why_none(&self, comparison: &Comparison) -> String {
        let to_noise = comparison.missing.iter().filter(|row| row.to_noise).count();
        let compared = comparison.rows.len();
        match (compared, to_noise) {
            (0, 0) => "no row has a number on both sides; measure the same rows on both".to_owned(),
            (0, rows) => format!(
                "no row has a number on both sides, and noise kept {} from being measured; measure again when the machine is quieter",
                sentence::count(rows, "row")
            ),
            _ if self.without_interval == compared => {
                "no row has an interval; more processes give one: measure longer, or pool runs"
                    .to_owned()
            }
            _ => format!(
                "of {}, {}; measure again when the machine is quieter",
                sentence::count(self.all(), "row"),
                self.left_out()
            ),
        }
    }
}

/// ` and 2 more`; empty if there are none.
fn and_more(others: usize) -> String {
    match others {
        0 => String::new(),
        others => format!(" and {others} more"),
    }
}
