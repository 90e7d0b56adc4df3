//! Reads a study from TOML, or says in one line what is wrong and where.

use std::collections::BTreeSet;

use toml::Spanned;

use super::places::{Fields, Lines, Places, QuantityPlaces, field, field_or_part, lines};
use super::{Figure, Quantity, Reason, Study};
use crate::Unit;

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

/// An error: its offset in the text, and what is wrong.
type Wrong = (usize, String);

impl Study {
    /// Reads a study.
    ///
    /// # Errors
    /// The first error: its line, the field and what is expected there.
    pub fn parse(text: &str) -> Result<Study, StudyError> {
        Ok(Self::parse_with_lines(text)?.0)
    }

    /// Reads a study, and the lines of what it refers to: only a program with a catalogue knows
    /// whether such rows and counts exist.
    ///
    /// # Errors
    /// As [`Study::parse`].
    pub fn parse_with_lines(text: &str) -> Result<(Study, Lines), StudyError> {
        let line_of = |offset: usize| 1 + text[..offset.min(text.len())].matches('\n').count();
        let read_as = |error: toml::de::Error| StudyError {
            line: error.span().map_or(1, |span| line_of(span.start)),
            problem: error.message().replace('\n', ", "),
        };
        let deserializer = toml::Deserializer::parse(text).map_err(read_as)?;
        let mut study: Study = serde_path_to_error::deserialize(deserializer).map_err(|error| {
            let field = error.path().to_string();
            let StudyError { line, problem } = read_as(error.into_inner());
            let problem = match &*field {
                // The study itself.
                "." => problem,
                field => format!("field `{field}`: {problem}"),
            };
            StudyError { line, problem }
        })?;
        let places: Places = toml::from_str(text).map_err(read_as)?;
        match wrong_in(&study, &places) {
            None => {
                study.name_own_rows();
                Ok((study, lines(&places, line_of)))
            }
            Some((offset, problem)) => Err(StudyError {
                line: line_of(offset),
                problem,
            }),
        }
    }
}

impl Study {
    /// The rows of quantities with a program or a command of their own.
    fn name_own_rows(&mut self) {
        let study = &self.id;
        for quantity in self.quantities.iter_mut().filter(|one| one.is_own()) {
            let row = format!("study.own{{study={study},quantity={}}}", quantity.id);
            quantity.as_published = Some(row);
        }
    }
}

/// The first error in what could be read.
fn wrong_in(study: &Study, places: &Places) -> Option<Wrong> {
    if study.id.is_empty() || !study.id.chars().all(is_of_an_id) {
        let problem = "field `id`: must be lower-case letters, digits and hyphens".to_owned();
        return Some((places.id.span().start, problem));
    }
    let mut machines = BTreeSet::new();
    for (machine, place) in study.machines.iter().zip(&places.machines) {
        let wrong = |name: &str, problem: &str| {
            let problem = format!("machine `{}`, field `{name}`: {problem}", machine.id);
            Some((field_or_part(place, name), problem))
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
    for (quantity, place) in study.quantities.iter().zip(&places.quantities) {
        let wrong = match quantities.insert(quantity.id.as_str()) {
            true => wrong_with_quantity(quantity, place, &machines),
            false => Some((
                place.get_ref().id.span().start,
                format!("field `id`: {TWICE}"),
            )),
        };
        if let Some((offset, problem)) = wrong {
            return Some((offset, format!("quantity `{}`, {problem}", quantity.id)));
        }
    }
    if quantities.is_empty() {
        let problem = "field `quantity`: there is none; each begins with [[quantity]]";
        return Some((0, problem.to_owned()));
    }
    let unknown = |ids: &[String]| {
        let id = ids.iter().find(|id| !quantities.contains(id.as_str()))?;
        Some(format!("no quantity is called `{id}`"))
    };
    for (ratio, place) in study.ratios.iter().zip(&places.ratios) {
        for (name, id) in [("of", &ratio.of), ("to", &ratio.to)] {
            if let Some(problem) = unknown(std::slice::from_ref(id)) {
                let problem = format!("ratio `{}`, field `{name}`: {problem}", ratio.title);
                return Some((field(place, name), problem));
            }
        }
        let unit = |id: &str| study.quantity(id).map(|quantity| quantity.unit);
        if unit(&ratio.of) != unit(&ratio.to) {
            let problem = format!(
                "ratio `{}`: its quantities have different units",
                ratio.title
            );
            return Some((field(place, "of"), problem));
        }
    }
    for (doubt, place) in study.doubts.iter().zip(&places.doubts) {
        if let Some(problem) = unknown(&doubt.shown_by) {
            let problem = format!("doubt, field `shown_by`: {problem}");
            return Some((field(place, "shown_by"), problem));
        }
    }
    for (chart, place) in study.charts.iter().zip(&places.charts) {
        if let Some(problem) = unknown(&chart.quantities) {
            let problem = format!("chart `{}`, field `quantities`: {problem}", chart.title);
            return Some((field(place, "quantities"), problem));
        }
    }
    None
}

fn is_of_an_id(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
}

const MUST_BE_POSITIVE: &str = "must be greater than 0";

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn wrong_with_quantity(
    quantity: &Quantity,
    place: &Spanned<QuantityPlaces>,
    machines: &BTreeSet<&str>,
) -> Option<Wrong> {
    if let Some(problem) = wrong_with_procedure(quantity) {
        return Some((place.span().start, problem.to_owned()));
    }
    let place = place.get_ref();
    let figures = quantity.published.iter().zip(&place.published);
    for (figure, place) in figures {
        let wrong = wrong_with_figure(figure, quantity.unit, place, machines);
        if let Some((offset, problem)) = wrong {
            return Some((offset, format!("field `published`, {problem}")));
        }
    }
    if let (Some(scale), Some(place)) = (quantity.ours_scale, &place.ours_scale)
        && !is_positive(scale)
    {
        let problem = format!("field `ours_scale`: {MUST_BE_POSITIVE}");
        return Some((place.span().start, problem));
    }
    let claims = quantity.claims.iter().zip(&place.claims);
    let claims = claims.map(|(one, place)| {
        let bounds = (one.at_least, one.at_most);
        ("claim", &one.counted, bounds, place)
    });
    let claims = claims.filter_map(|(part, counted, (min, max), place)| {
        let (name, problem) = wrong_with_bounds(min, max)?;
        Some((part, counted, name, problem, place))
    });
    let reasons = quantity.reasons.iter().zip(&place.reasons);
    let reasons = reasons.filter_map(|(one, place)| {
        let (name, problem) = wrong_with_reason(one, &quantity.reasons)?;
        Some(("reason", &one.counted, name, problem, place))
    });
    let (part, counted, name, problem, place) = claims.chain(reasons).next()?;
    let problem = format!("field `{part}`, of `{counted}`: {problem}");
    Some((field_or_part(place, name), problem))
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
    let procedures = usize::from(quantity.as_published.is_some())
        + usize::from(quantity.program.is_some())
        + usize::from(quantity.command.is_some());
    let is_own = quantity.is_own();
    let prints = quantity.prints.as_deref();
    if procedures == 0 && quantity.ours.is_none() && quantity.published.is_empty() {
        Some(
            "fields `published`, `as_published`, `program`, `command`, `ours`: one of them is needed",
        )
    } else if procedures > 1 {
        Some("fields `as_published`, `program`, `command`: give one of them")
    } else if is_own && quantity.unit != Unit::Nanoseconds {
        Some(
            "field `unit`: what a program prints is a time, so it must be `ns`; `prints` is the unit in which it prints",
        )
    } else if is_own && !quantity.id.chars().all(is_of_an_id) {
        Some("field `id`: must be lower-case letters, digits and hyphens")
    } else if prints.is_some_and(|unit| !TIMES.contains(&unit)) {
        Some("field `prints`: must be `ns`, `us`, `ms`, `s` or `cycles`")
    } else if prints.is_some() && !is_own {
        Some("field `prints`: there is no `program` or `command` that prints")
    } else if quantity.command.as_ref().is_some_and(Vec::is_empty) {
        Some("field `command`: give a program and its arguments")
    } else {
        None
    }
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

fn wrong_with_figure(
    figure: &Figure,
    unit: Unit,
    place: &Spanned<Fields>,
    machines: &BTreeSet<&str>,
) -> Option<Wrong> {
    if !machines.contains(figure.machine.as_str()) {
        let known: Vec<&str> = machines.iter().copied().collect();
        let problem = format!(
            "field `machine`: no machine is called `{}`; there are: {}",
            figure.machine,
            known.join(", ")
        );
        return Some((field_or_part(place, "machine"), problem));
    }
    let cycles = figure.cycles.iter().chain(&figure.meant);
    let values = figure.value.iter().map(|one| ("value", one, unit));
    let numbers = values.chain(cycles.map(|one| ("cycles", one, Unit::Count)));
    let of_runs = if figure.cycles.is_some() {
        Unit::Count
    } else {
        unit
    };
    for (name, one, unit) in numbers.chain(figure.runs.iter().map(|one| ("runs", one, of_runs))) {
        let what = match (is_positive(one.value()), one.is_in(unit)) {
            (true, true) => continue,
            (false, _) => MUST_BE_POSITIVE.to_owned(),
            (true, false) => format!("`{one}` is not in {}", unit.symbol()),
        };
        let problem = format!("field `{name}` of machine `{}`: {what}", figure.machine);
        return Some((field_or_part(place, name), problem));
    }
    let has_any = figure.words.is_some() || figure.value.is_some() || figure.cycles.is_some();
    let problem = || {
        format!(
            "of machine `{}`: `value`, `cycles` or `words` is needed",
            figure.machine
        )
    };
    (!has_any).then(|| (place.span().start, problem()))
}

#[cfg(test)]
mod tests;
