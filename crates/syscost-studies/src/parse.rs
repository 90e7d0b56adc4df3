//! Reads a study from TOML, or says in one line what is wrong and where.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::lines::Lines;
use super::scale::is_in;
use syscost_results::Unit;
use syscost_results::study::{Figure, Quantity, Reason, Study};

/// Why a text is not a study. Its text follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(":{line}: {problem}")]
pub struct StudyError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, with the field's name.
    pub problem: String,
}

const TWICE: &str = "used twice";
const MUST_BE_POSITIVE: &str = "must be greater than 0";
const MUST_BE_AN_ID: &str = "field `id`: must be lower-case letters, digits and hyphens";

/// What is wrong: the path of the part (see [`Lines::of`]), and the problem.
type Wrong = (String, String);

/// Reads a study.
///
/// # Errors
/// The first error: its line, the field and what is expected there.
pub fn parse(text: &str) -> Result<Study, StudyError> {
    Ok(parse_with_lines(text)?.0)
}

/// Reads a study, and the lines of what it refers to: only a program with a catalogue knows
/// whether such rows and counts exist.
pub fn parse_with_lines(text: &str) -> Result<(Study, Lines<'_>), StudyError> {
    let lines = Lines::parse(text)?;
    let read = Study::deserialize(lines.deserializer());
    let mut study = read.map_err(|error| {
        let field = lines.path_of(&error);
        let StudyError { line, problem } = lines.error(&error);
        let problem = match &*field {
            // The study itself.
            "" => problem,
            field => format!("field `{field}`: {problem}"),
        };
        StudyError { line, problem }
    })?;
    check(&study).map_err(|(at, problem)| StudyError {
        line: lines.of(&at),
        problem,
    })?;
    name_own_rows(&mut study);
    Ok((study, lines))
}

/// The rows of quantities with a program or a command of their own.
fn name_own_rows(study: &mut Study) {
    let id = &study.id;
    for quantity in study.quantities.iter_mut().filter(|one| one.is_own()) {
        let row = format!("study.own{{study={id},quantity={}}}", quantity.id);
        quantity.as_published = Some(row);
    }
}

/// Finds the first error in what could be read.
fn check(study: &Study) -> Result<(), Wrong> {
    if study.id.is_empty() || !study.id.chars().all(is_of_an_id) {
        return Err(("id".to_owned(), MUST_BE_AN_ID.to_owned()));
    }
    let mut machines = BTreeSet::new();
    for (index, machine) in study.machines.iter().enumerate() {
        let wrong = |name: &str, problem: &str| {
            let problem = format!("machine `{}`, field `{name}`: {problem}", machine.id);
            Err((format!("machine.{index}.{name}"), problem))
        };
        if !machines.insert(machine.id.as_str()) {
            return wrong("id", TWICE);
        }
        for (name, number) in [
            ("clock_ghz", machine.clock_ghz),
            ("cycle_ns", machine.cycle_ns),
        ] {
            if number.is_some_and(|number| !is_positive(number)) {
                return wrong(name, MUST_BE_POSITIVE);
            }
        }
    }
    let mut quantities = BTreeSet::new();
    for (index, quantity) in study.quantities.iter().enumerate() {
        let checked = match quantities.insert(quantity.id.as_str()) {
            true => check_quantity(quantity, &machines),
            false => Err(("id".to_owned(), format!("field `id`: {TWICE}"))),
        };
        checked.map_err(|(at, problem)| {
            let problem = format!("quantity `{}`, {problem}", quantity.id);
            (format!("quantity.{index}.{at}"), problem)
        })?;
    }
    if quantities.is_empty() {
        let problem = "field `quantity`: there is none; each begins with [[quantity]]";
        return Err((String::new(), problem.to_owned()));
    }
    let known = |ids: &[String], at: String, whose: &str| {
        let unknown = ids.iter().find(|id| !quantities.contains(id.as_str()));
        unknown.map_or(Ok(()), |id| {
            Err((at, format!("{whose}: no quantity is called `{id}`")))
        })
    };
    for (index, ratio) in study.ratios.iter().enumerate() {
        let (at, title) = (|name| format!("ratio.{index}.{name}"), &ratio.title);
        for (name, id) in [("of", &ratio.of), ("to", &ratio.to)] {
            let whose = format!("ratio `{title}`, field `{name}`");
            known(std::slice::from_ref(id), at(name), &whose)?;
        }
        let unit = |id: &str| study.quantity(id).map(|quantity| quantity.unit);
        if unit(&ratio.of) != unit(&ratio.to) {
            let problem = format!("ratio `{title}`: its quantities have different units");
            return Err((at("of"), problem));
        }
    }
    for (index, doubt) in study.doubts.iter().enumerate() {
        let at = format!("doubt.{index}.shown_by");
        known(&doubt.shown_by, at, "doubt, field `shown_by`")?;
    }
    for (index, chart) in study.charts.iter().enumerate() {
        let whose = format!("chart `{}`, field `quantities`", chart.title);
        let at = format!("chart.{index}.quantities");
        known(&chart.quantities, at, &whose)?;
    }
    Ok(())
}

fn is_of_an_id(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
}

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// As [`check`], with paths from the quantity on.
fn check_quantity(quantity: &Quantity, machines: &BTreeSet<&str>) -> Result<(), Wrong> {
    if let Some(problem) = wrong_with_procedure(quantity) {
        return Err((String::new(), problem.to_owned()));
    }
    for (index, figure) in quantity.published.iter().enumerate() {
        check_figure(figure, quantity.unit, machines).map_err(|(at, problem)| {
            let at = format!("published.{index}.{at}");
            (at, format!("field `published`, {problem}"))
        })?;
    }
    if quantity.ours_scale.is_some_and(|scale| !is_positive(scale)) {
        let problem = format!("field `ours_scale`: {MUST_BE_POSITIVE}");
        return Err(("ours_scale".to_owned(), problem));
    }
    let claims = quantity.claims.iter().enumerate().map(|(index, one)| {
        let wrong = wrong_with_bounds(one.at_least, one.at_most);
        ("claim", index, &one.counted, wrong)
    });
    let reasons = quantity.reasons.iter().enumerate().map(|(index, one)| {
        let wrong = wrong_with_reason(one, &quantity.reasons);
        ("reason", index, &one.counted, wrong)
    });
    for (part, index, counted, wrong) in claims.chain(reasons) {
        if let Some((name, problem)) = wrong {
            let problem = format!("field `{part}`, of `{counted}`: {problem}");
            return Err((format!("{part}.{index}.{name}"), problem));
        }
    }
    Ok(())
}

/// Why this is none of a quantity's reasons, and the field to point at.
fn wrong_with_reason(reason: &Reason, all: &[Reason]) -> Option<(&'static str, &'static str)> {
    let is_bounded = |one: &Reason| one.at_least.is_some() || one.at_most.is_some();
    let is_amount = |one: &Reason| !is_bounded(one) && one.says.is_none();
    let is_opposite =
        |one: &&Reason| is_amount(one) && one.counted == reason.counted && one.acts != reason.acts;
    match &reason.says {
        Some(_) if is_bounded(reason) => Some(("says", "it is given instead of bounds")),
        Some(_) => None,
        None if is_amount(reason) && all.iter().any(|one| is_opposite(&one)) => Some((
            "acts",
            "the same amount cannot make the figure both larger and smaller",
        )),
        None if is_amount(reason)
            && (reason.counted.ends_with("_ns") || reason.counted.ends_with("_percent")) =>
        {
            None
        }
        None => wrong_with_bounds(reason.at_least, reason.at_most),
    }
}

/// What is wrong with how it is repeated.
fn wrong_with_procedure(quantity: &Quantity) -> Option<&'static str> {
    /// Units of a number that a program prints alone.
    const TIMES: [&str; 5] = ["ns", "us", "ms", "s", "cycles"];
    let given = [
        quantity.as_published.is_some(),
        quantity.program.is_some(),
        quantity.command.is_some(),
    ];
    let procedures = given.iter().filter(|is_given| **is_given).count();
    let is_own = quantity.is_own();
    let prints = quantity.prints.as_deref();
    let problems = [
        (
            procedures == 0 && quantity.ours.is_none() && quantity.published.is_empty(),
            "fields `published`, `as_published`, `program`, `command`, `ours`: one of them is needed",
        ),
        (
            procedures > 1,
            "fields `as_published`, `program`, `command`: give one of them",
        ),
        (
            is_own && quantity.unit != Unit::Nanoseconds,
            "field `unit`: what a program prints is a time, so it must be `ns`; `prints` is the unit in which it prints",
        ),
        (
            is_own && !quantity.id.chars().all(is_of_an_id),
            MUST_BE_AN_ID,
        ),
        (
            prints.is_some_and(|unit| !TIMES.contains(&unit)),
            "field `prints`: must be `ns`, `us`, `ms`, `s` or `cycles`",
        ),
        (
            prints.is_some() && !is_own,
            "field `prints`: there is no `program` or `command` that prints",
        ),
        (
            quantity.command.as_ref().is_some_and(Vec::is_empty),
            "field `command`: give a program and its arguments",
        ),
    ];
    let wrong = problems.iter().find(|(is_wrong, _)| *is_wrong);
    wrong.map(|(_, problem)| *problem)
}

/// Why these bounds make no claim, and the field to point at: a claim that can never be broken, or
/// always is, says nothing.
fn wrong_with_bounds(min: Option<f64>, max: Option<f64>) -> Option<(&'static str, &'static str)> {
    // No field of the claim: the error points at the claim itself.
    const CLAIM: &str = "";
    const AT_LEAST: &str = "at_least";
    const AT_MOST: &str = "at_most";
    // TOML has `inf` and `nan`.
    if min.is_some_and(|min| !min.is_finite()) {
        return Some((AT_LEAST, "`at_least` must be a finite number"));
    }
    if max.is_some_and(|max| !max.is_finite()) {
        return Some((AT_MOST, "`at_most` must be a finite number"));
    }
    match (min, max) {
        (None, None) => Some((CLAIM, "`at_least` or `at_most` is needed")),
        // Counts are never negative.
        (Some(_) | None, Some(max)) if max < 0.0 => Some((
            AT_MOST,
            "`at_most` must not be less than 0: no count would hold",
        )),
        (Some(min), Some(max)) if min > max => {
            Some((AT_LEAST, "`at_least` is greater than `at_most`"))
        }
        (Some(min), None) if min <= 0.0 => {
            Some((AT_LEAST, "`at_least` of 0 or less can never be broken"))
        }
        (Some(_) | None, Some(_) | None) => None,
    }
}

fn check_figure(figure: &Figure, unit: Unit, machines: &BTreeSet<&str>) -> Result<(), Wrong> {
    let machine = &figure.machine;
    if !machines.contains(machine.as_str()) {
        let known: Vec<&str> = machines.iter().copied().collect();
        let known = known.join(", ");
        let problem =
            format!("field `machine`: no machine is called `{machine}`; there are: {known}");
        return Err(("machine".to_owned(), problem));
    }
    let of_runs = match figure.cycles {
        Some(_) => Unit::Count,
        None => unit,
    };
    let cycles = figure.cycles.iter().chain(&figure.meant);
    let values = figure.value.iter().map(|one| ("value", one, unit));
    let numbers = values.chain(cycles.map(|one| ("cycles", one, Unit::Count)));
    for (name, one, unit) in numbers.chain(figure.runs.iter().map(|one| ("runs", one, of_runs))) {
        let what = match (is_positive(one.value()), is_in(one, unit)) {
            (true, true) => continue,
            (false, _) => MUST_BE_POSITIVE.to_owned(),
            (true, false) => format!("`{one}` is not in {}", unit.symbol()),
        };
        let problem = format!("field `{name}` of machine `{machine}`: {what}");
        return Err((name.to_owned(), problem));
    }
    if figure.words.is_none() && figure.value.is_none() && figure.cycles.is_none() {
        let problem = format!("of machine `{machine}`: `value`, `cycles` or `words` is needed");
        return Err((String::new(), problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
