//! Reads a study from TOML, or says in one line what is wrong and where.

use std::collections::BTreeSet;

use toml::Spanned;

use super::places::{Fields, Lines, Places, QuantityPlaces, field, field_or_part, lines};
use super::{Figure, Quantity, Study};

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
        let study: Study = serde_path_to_error::deserialize(deserializer).map_err(|error| {
            let field = error.path().to_string();
            let StudyError { line, problem } = read_as(error.into_inner());
            let problem = format!("field `{field}`: {problem}");
            StudyError { line, problem }
        })?;
        let places: Places = toml::from_str(text).map_err(read_as)?;
        match wrong_in(&study, &places) {
            None => Ok((study, lines(&places, line_of))),
            Some((offset, problem)) => Err(StudyError {
                line: line_of(offset),
                problem,
            }),
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
        if machine.clock_ghz.is_some_and(|ghz| !is_positive(ghz)) {
            return wrong("clock_ghz", MUST_BE_POSITIVE);
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
    if quantity.as_published.is_none() && quantity.ours.is_none() && quantity.published.is_empty() {
        let needs = "fields `published`, `as_published`, `ours`: one of them is needed";
        return Some((place.span().start, needs.to_owned()));
    }
    let place = place.get_ref();
    let figures = quantity.published.iter().zip(&place.published);
    for (figure, place) in figures {
        if let Some((offset, problem)) = wrong_with_figure(figure, place, machines) {
            return Some((offset, format!("field `published`, {problem}")));
        }
    }
    if let (Some(scale), Some(place)) = (quantity.ours_scale, &place.ours_scale)
        && !is_positive(scale)
    {
        let problem = format!("field `ours_scale`: {MUST_BE_POSITIVE}");
        return Some((place.span().start, problem));
    }
    let mut claims = quantity.claims.iter().zip(&place.claims);
    claims.find_map(|(claim, place)| {
        let (name, problem) = wrong_with_bounds(claim.at_least, claim.at_most)?;
        let problem = format!("field `claim`, of `{}`: {problem}", claim.counted);
        Some((field_or_part(place, name), problem))
    })
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
    let numbers = [
        ("value", figure.value.as_slice()),
        ("cycles", figure.cycles.as_slice()),
        ("runs", &figure.runs),
    ];
    for (name, all) in numbers {
        if all.iter().any(|one| !is_positive(*one)) {
            let problem = format!(
                "field `{name}` of machine `{}`: {MUST_BE_POSITIVE}",
                figure.machine
            );
            return Some((field_or_part(place, name), problem));
        }
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
mod tests {
    use super::*;

    const GOOD: &str = r#"
id = "mine"
title = "Mine"
source = "A note"
about = "What I measured."

[[machine]]
id = "laptop"
name = "A laptop"
clock_ghz = 2.0

[[quantity]]
id = "getppid"
title = "getppid()"
table = "System calls"
unit = "ns"
procedure = "In a loop."
ours = "syscall.null{call=getppid}"
published = [{ machine = "laptop", cycles = 200.0, place = "page 1" }]
"#;

    fn error(text: &str) -> String {
        format!("mine.toml{}", Study::parse(text).expect_err("it is wrong"))
    }

    #[test]
    fn a_study_is_read() {
        let study = Study::parse(GOOD).expect("it is right");
        assert_eq!(study.quantities[0].published[0].cycles, Some(200.0));
        let rows: Vec<&str> = study.rows().into_iter().collect();
        assert_eq!(rows, ["syscall.null{call=getppid}"]);
    }

    #[test]
    fn what_is_named_stands_on_a_line() {
        let claim =
            "\n[[quantity.claim]]\nat_least = 1.0\ncounted = \"calls\"\nbroken = \"None.\"\n";
        let text = format!("{GOOD}{claim}");
        let (_, lines) = Study::parse_with_lines(&text).expect("it is right");
        let [quantity] = &lines.quantities[..] else {
            panic!("one quantity: {lines:?}");
        };
        assert_eq!((lines.id, quantity.begin), (2, 12));
        assert_eq!((quantity.as_published, quantity.ours), (12, 18));
        assert_eq!(quantity.counted, [23]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_field() {
        let wrong = error(&GOOD.replace("clock_ghz", "clock_mhz"));
        assert!(
            wrong.starts_with("mine.toml:10: ") && wrong.contains("clock_mhz"),
            "{wrong}"
        );
        let wrong = error(&GOOD.replace("unit = \"ns\"", "unit = \"hours\""));
        assert!(
            wrong.starts_with("mine.toml:16: ") && wrong.contains("hours"),
            "{wrong}"
        );
        let wrong = error(&GOOD.replace("machine = \"laptop\"", "machine = \"desk\""));
        assert_eq!(
            wrong,
            "mine.toml:19: quantity `getppid`, field `published`, field `machine`: no machine is called `desk`; there are: laptop"
        );
        let wrong = error(&GOOD.replace("cycles = 200.0, ", ""));
        assert!(
            wrong.contains("`value`, `cycles` or `words` is needed"),
            "{wrong}"
        );
        let wrong = error(&GOOD.replace("cycles = 200.0", "cycles = -1.0"));
        assert!(
            wrong.contains("`cycles` of machine `laptop`: must be greater than 0"),
            "{wrong}"
        );
        let wrong = error(&GOOD.replace("id = \"mine\"", "id = "));
        assert!(wrong.starts_with("mine.toml:2: "), "{wrong}");
        let wrong = error(&GOOD.replace("id = \"mine\"", "id = \"My study\""));
        assert!(wrong.starts_with("mine.toml:2: field `id`"), "{wrong}");
        let scaled = GOOD.replace("ours =", "ours_scale = -1.0\nours =");
        let wrong = error(&scaled);
        assert!(
            wrong.starts_with("mine.toml:18: ") && wrong.contains("ours_scale"),
            "{wrong}"
        );
        let claim = "\n[[quantity.claim]]\ncounted = \"calls\"\nbroken = \"None.\"\n";
        let wrong = error(&format!("{GOOD}{claim}"));
        assert!(
            wrong.starts_with("mine.toml:21: ") && wrong.contains("`at_least`"),
            "{wrong}"
        );
        let several = GOOD.replace(
            "published = [{",
            "published = [\n  { machine = \"laptop\", value = 9.0, place = \"page 1\" },\n  {",
        );
        let wrong = error(&several.replace("cycles = 200.0", "cycles = 0.0"));
        assert!(
            wrong.starts_with("mine.toml:21: ") && wrong.contains("`cycles`"),
            "{wrong}"
        );
        let chart = "\n[[chart]]\ntitle = \"All\"\nkind = \"curve\"\nquantities = [\"getpid\"]\n";
        let wrong = error(&format!("{GOOD}{chart}"));
        assert!(
            wrong.starts_with("mine.toml:24: ") && wrong.contains("`getpid`"),
            "{wrong}"
        );
        assert!(error("").contains("missing field `id`"));
        let twice = format!("{GOOD}{}", &GOOD[GOOD.find("[[quantity]]").unwrap()..]);
        assert_eq!(
            error(&twice),
            "mine.toml:21: quantity `getppid`, field `id`: used twice"
        );
    }

    #[test]
    fn a_claim_that_cannot_fail_or_always_does_is_refused() {
        let parsed = |bounds: &str| {
            let claim = format!(
                "\n[[quantity.claim]]\ncounted = \"calls\"\nbroken = \"None.\"\n{bounds}\n"
            );
            Study::parse(&format!("{GOOD}{claim}")).map_err(|error| format!("mine.toml{error}"))
        };
        for (bounds, line, problem) in [
            ("at_most = inf", 24, "`at_most` must be a finite number"),
            ("at_least = nan", 24, "`at_least` must be a finite number"),
            ("at_least = -inf", 24, "`at_least` must be a finite number"),
            (
                "at_least = 0\nat_most = inf",
                25,
                "`at_most` must be a finite number",
            ),
            (
                "at_most = -1",
                24,
                "`at_most` must not be less than 0: no count would hold",
            ),
            (
                "at_least = -2\nat_most = -1",
                25,
                "`at_most` must not be less than 0: no count would hold",
            ),
            (
                "at_least = 0",
                24,
                "`at_least` of 0 or less can never be broken",
            ),
            (
                "at_least = -1.0",
                24,
                "`at_least` of 0 or less can never be broken",
            ),
            (
                "at_least = 2\nat_most = 1",
                24,
                "`at_least` is greater than `at_most`",
            ),
        ] {
            let expected = format!(
                "mine.toml:{line}: quantity `getppid`, field `claim`, of `calls`: {problem}"
            );
            assert_eq!(parsed(bounds).err(), Some(expected), "{bounds}");
        }
        for bounds in ["at_most = 0", "at_least = 0.5", "at_least = 0\nat_most = 3"] {
            assert!(parsed(bounds).is_ok(), "{bounds}");
        }
    }
}
