//! From TOML to a study, or to one line on what is wrong where.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;

use super::{Figure, Quantity, Study};

/// Why a text is no study. Its text follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(":{line}: {problem}")]
pub struct StudyError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, with the field's name.
    pub problem: String,
}

/// Where each part stands, which a [`Study`] no longer knows.
#[derive(Deserialize)]
struct Places {
    #[serde(default, rename = "machine")]
    machines: Vec<Spanned<toml::Value>>,
    #[serde(default, rename = "quantity")]
    quantities: Vec<Spanned<toml::Value>>,
    #[serde(default, rename = "doubt")]
    doubts: Vec<Spanned<toml::Value>>,
    #[serde(default, rename = "chart")]
    charts: Vec<Spanned<toml::Value>>,
}

impl Study {
    /// Reads a study.
    ///
    /// # Errors
    /// The first thing that is wrong: its line, the field and what is expected there.
    pub fn parse(text: &str) -> Result<Study, StudyError> {
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
        let at = |list: &[Spanned<toml::Value>], index: usize| {
            list.get(index).map_or(1, |one| line_of(one.span().start))
        };
        let wrong = |line, problem| Err(StudyError { line, problem });

        if study.id.is_empty() || !study.id.chars().all(is_of_an_id) {
            return wrong(
                1,
                "field `id`: small letters, digits and hyphens".to_owned(),
            );
        }
        let mut machines = BTreeSet::new();
        for (index, machine) in study.machines.iter().enumerate() {
            if !machines.insert(machine.id.as_str()) {
                let problem = format!("machine `{}`, field `id`: there are two", machine.id);
                return wrong(at(&places.machines, index), problem);
            }
            if machine.clock_ghz.is_some_and(|ghz| !is_positive(ghz)) {
                let problem = format!("machine `{}`, field `clock_ghz`: more than 0", machine.id);
                return wrong(at(&places.machines, index), problem);
            }
        }
        let mut quantities = BTreeSet::new();
        for (index, quantity) in study.quantities.iter().enumerate() {
            let unique = quantities.insert(quantity.id.as_str());
            let problem = match unique {
                true => problem_of(quantity, &machines),
                false => Some("field `id`: there are two".to_owned()),
            };
            if let Some(problem) = problem {
                let problem = format!("quantity `{}`, {problem}", quantity.id);
                return wrong(at(&places.quantities, index), problem);
            }
        }
        if quantities.is_empty() {
            return wrong(
                1,
                "field `quantity`: there is none; each begins with [[quantity]]".into(),
            );
        }
        let unknown = |ids: &[String]| {
            let id = ids.iter().find(|id| !quantities.contains(id.as_str()))?;
            Some(format!("no quantity is called `{id}`"))
        };
        for (index, doubt) in study.doubts.iter().enumerate() {
            if let Some(problem) = unknown(&doubt.shown_by) {
                let problem = format!("doubt, field `shown_by`: {problem}");
                return wrong(at(&places.doubts, index), problem);
            }
        }
        for (index, chart) in study.charts.iter().enumerate() {
            if let Some(problem) = unknown(&chart.quantities) {
                let problem = format!("chart `{}`, field `quantities`: {problem}", chart.title);
                return wrong(at(&places.charts, index), problem);
            }
        }
        Ok(study)
    }
}

fn is_of_an_id(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
}

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn problem_of(quantity: &Quantity, machines: &BTreeSet<&str>) -> Option<String> {
    if quantity.as_published.is_none() && quantity.ours.is_none() && quantity.published.is_empty() {
        let needs = "fields `published`, `as_published`, `ours`: one of them is needed";
        return Some(needs.to_owned());
    }
    if let Some(problem) = quantity
        .published
        .iter()
        .find_map(|one| problem_with(one, machines))
    {
        return Some(format!("field `published`, {problem}"));
    }
    if quantity.ours_scale.is_some_and(|scale| !is_positive(scale)) {
        return Some("field `ours_scale`: more than 0".to_owned());
    }
    let unbound = quantity
        .claims
        .iter()
        .find(|claim| claim.at_least.is_none() && claim.at_most.is_none())?;
    Some(format!(
        "field `claim`, of `{}`: `at_least` or `at_most` is needed",
        unbound.counted
    ))
}

fn problem_with(figure: &Figure, machines: &BTreeSet<&str>) -> Option<String> {
    if !machines.contains(figure.machine.as_str()) {
        let known: Vec<&str> = machines.iter().copied().collect();
        return Some(format!(
            "field `machine`: no machine is called `{}`; there are: {}",
            figure.machine,
            known.join(", ")
        ));
    }
    let numbers = [figure.value, figure.cycles];
    if numbers
        .iter()
        .flatten()
        .chain(&figure.runs)
        .any(|one| !is_positive(*one))
    {
        return Some(format!(
            "of machine `{}`: figures are more than 0",
            figure.machine
        ));
    }
    let has_any = figure.words.is_some() || numbers.iter().any(Option::is_some);
    (!has_any).then(|| {
        format!(
            "of machine `{}`: `value`, `cycles` or `words` is needed",
            figure.machine
        )
    })
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
            "mine.toml:12: quantity `getppid`, field `published`, field `machine`: no machine is called `desk`; there are: laptop"
        );
        let wrong = error(&GOOD.replace("cycles = 200.0, ", ""));
        assert!(
            wrong.contains("`value`, `cycles` or `words` is needed"),
            "{wrong}"
        );
        let wrong = error(&GOOD.replace("cycles = 200.0", "cycles = -1.0"));
        assert!(wrong.contains("figures are more than 0"), "{wrong}");
        let wrong = error(&GOOD.replace("id = \"mine\"", "id = "));
        assert!(wrong.starts_with("mine.toml:2: "), "{wrong}");
        assert!(error("").contains("missing field `id`"));
        let twice = format!("{GOOD}{}", &GOOD[GOOD.find("[[quantity]]").unwrap()..]);
        assert_eq!(
            error(&twice),
            "mine.toml:20: quantity `getppid`, field `id`: there are two"
        );
    }
}
