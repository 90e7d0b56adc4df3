//! Kernel Test Anything Protocol, version 1 (Documentation/dev-tools/ktap.rst of the Linux kernel).

use std::fmt::Write;

use syscost_results::{Measurement, Run, Status, Verdict};

use super::on_one_line;
use crate::flags;
use crate::sentence;
use crate::units::quantity;
use crate::view::RowView;

/// A test's result: `ok` or not, and what follows the test's number.
struct Outcome {
    passed: bool,
    skipped: bool,
    /// What follows `#`; may be empty.
    comment: String,
}

/// A test for each run, with a subtest for each group, with a subtest for each row.
///
/// A row passes if it has a number or a bound. It is skipped if this machine does not support it or
/// it was not run. It fails, along with its group and run, if its number is withheld or it failed;
/// the lines before it name the refuted claims.
pub fn to_ktap(runs: &[&Run]) -> String {
    let runs = runs.iter().map(|run| {
        let (body, outcome) = self::run(run);
        (run.id.as_str(), body, outcome)
    });
    tests(runs.collect(), 0).0
}

fn run(run: &Run) -> (String, Outcome) {
    let groups = run
        .measurements
        .chunk_by(|a, b| a.group() == b.group())
        .map(|rows| {
            let rows_of_group = rows
                .iter()
                .map(|row| (row.name.as_str(), claims(row), outcome(row)));
            let (body, all) = tests(rows_of_group.collect(), 2);
            (rows[0].group(), body, all)
        });
    let (body, mut outcome) = tests(groups.collect(), 1);
    outcome.comment = sentence::summary(run);
    (body, outcome)
}

/// Version line, plan and results at this nesting level, and the overall result: failed if any
/// failed, skipped if all were skipped.
fn tests(tests: Vec<(&str, String, Outcome)>, level: usize) -> (String, Outcome) {
    let indent = "  ".repeat(level);
    let mut text = format!("{indent}KTAP version 1\n{indent}1..{}\n", tests.len());
    let passed = tests.iter().all(|(.., outcome)| outcome.passed);
    let skipped = !tests.is_empty() && tests.iter().all(|(.., outcome)| outcome.skipped);
    for (index, (name, before, outcome)) in tests.into_iter().enumerate() {
        let result = if outcome.passed { "ok" } else { "not ok" };
        // `#` ends the description, so the description must not contain it.
        let name = on_one_line(name).replace('#', "_");
        let skip = if outcome.skipped { "SKIP " } else { "" };
        let comment = match format!("{skip}{}", on_one_line(&outcome.comment)).trim_end() {
            "" => String::new(),
            comment => format!(" # {comment}"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{before}{indent}{result} {} {name}{comment}",
            index + 1
        );
    }
    let outcome = Outcome {
        passed,
        skipped,
        comment: String::new(),
    };
    (text, outcome)
}

fn outcome(row: &Measurement) -> Outcome {
    let view = RowView::of(row);
    let (passed, skipped, comment) = match row.status {
        Status::Ok => (true, false, number(&view)),
        Status::BelowResolution | Status::AboveRange => (true, false, bound(&view)),
        Status::Unsupported | Status::Skipped => (true, true, sentence::no_number(row)),
        Status::Withheld => (false, false, sentence::no_number(row)),
        Status::Failed => (false, false, format!("ERROR {}", sentence::no_number(row))),
    };
    Outcome {
        passed,
        skipped,
        comment,
    }
}

/// The refuted claims of a row, one diagnostic line each.
fn claims(row: &Measurement) -> String {
    row.evidence
        .iter()
        .filter(|evidence| evidence.verdict == Verdict::Refuted)
        .map(|evidence| format!("    # refuted: {}\n", on_one_line(&evidence.to_string())))
        .collect()
}

/// `median 79.1 ns, 95 % 78.2 ns to 79.8 ns`, and the flags.
fn number(view: &RowView<'_>) -> String {
    let Some(value) = view.value else {
        return "no number".to_owned();
    };
    let quantity = |value| quantity(view.row.unit, value);
    let mut text = format!("median {}", quantity(value.median));
    if let Some((low, high)) = value.low.zip(value.high) {
        let _ = write!(text, ", 95 % {} to {}", quantity(low), quantity(high));
    }
    for flag in &view.row.flags {
        let _ = write!(text, ", {}", flags::words(*flag).name);
    }
    text
}

fn bound(view: &RowView<'_>) -> String {
    let status = view.row.status.words();
    match &view.figures {
        Some(bound) => format!("{status}: {} {}", bound.median, bound.unit),
        None => status.to_owned(),
    }
}
