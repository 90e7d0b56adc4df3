//! What a person writes to mean rows.

use glob::Pattern;
use syscost_benches::CATALOGUE;
use syscost_harness::{Catalogue, Row};
use syscost_results::row_name;

use crate::Failed;

/// What a person writes to mean rows: a group, an id, the beginning of ids up to a dot, a row's name, a pattern of ids or names, or any of the first
/// three with some of the case's parameters, in any order: `memory.latency{size=1G}`. A size or a time may be written in any
/// way: `size=65536` and `size=64KiB` are `size=64K`.
pub(crate) struct Selector {
    pub(super) text: String,
    pattern: Pattern,
    /// Ids and parameters, if it is not the name of a row.
    pub(super) parts: Option<Parts>,
}

/// Ids, and parameters that their rows must have.
pub(super) struct Parts {
    pub(super) id: String,
    pattern: Pattern,
    pub(super) parameters: Vec<Parameter>,
}

/// A parameter with its value, or a pattern of that.
pub(super) struct Parameter {
    pub(super) text: String,
    pattern: Pattern,
}

impl Selector {
    /// # Errors
    /// [`Failed::Usage`] when it is no pattern.
    pub(crate) fn parse(text: &str) -> Result<Self, Failed> {
        // The whole name of a row means that row, not also those with parameters more.
        if text.ends_with('}') {
            let rows = Catalogue::rows(CATALOGUE.benchmarks());
            let mut names = rows.iter().map(Row::name);
            if let Some(name) = names.find(|name| is_same_row(name, text)) {
                return Ok(Self {
                    pattern: pattern(&name, text)?,
                    text: name,
                    parts: None,
                });
            }
        }
        Ok(Self {
            text: text.to_owned(),
            pattern: pattern(text, text)?,
            parts: Parts::parse(text)?,
        })
    }

    /// Whether it means the row of this name: `id{case}`, or the id alone.
    pub(crate) fn selects(&self, name: &str) -> bool {
        begins(&self.text, id_of(name))
            || name == self.text
            || self.pattern.matches(id_of(name))
            || self.pattern.matches(name)
            || self.parts.as_ref().is_some_and(|parts| parts.select(name))
    }
}

impl Parts {
    /// Those of `id{key=value,...}`; none of a name without parameters.
    ///
    /// # Errors
    /// [`Failed::Usage`] when one of them is no pattern.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, Failed> {
        let split = text.strip_suffix('}').and_then(|text| text.split_once('{'));
        let Some((id, case)) = split else {
            return Ok(None);
        };
        let parameters = case.split(',').map(|parameter| {
            Ok(Parameter {
                text: parameter.to_owned(),
                pattern: pattern(parameter, text)?,
            })
        });
        Ok(Some(Self {
            id: id.to_owned(),
            pattern: pattern(id, text)?,
            parameters: parameters.collect::<Result<_, Failed>>()?,
        }))
    }

    /// Whether the row is of these ids.
    pub(super) fn are_of(&self, name: &str) -> bool {
        begins(&self.id, id_of(name)) || self.pattern.matches(id_of(name))
    }

    /// Whether all parameters that they name are the row's.
    fn select(&self, name: &str) -> bool {
        self.are_of(name) && self.parameters.iter().all(|one| one.is_of(name))
    }
}

impl Parameter {
    /// Whether the row has it.
    pub(super) fn is_of(&self, name: &str) -> bool {
        row_name::parameters(name).any(|(key, value)| {
            self.pattern.matches(&format!("{key}={value}"))
                || (self.key() == key && row_name::is_same(self.value(), value))
        })
    }

    pub(super) fn key(&self) -> &str {
        self.text.split('=').next().unwrap_or_default()
    }

    pub(super) fn value(&self) -> &str {
        self.text.split_once('=').map_or("", |(_, value)| value)
    }
}

/// The pattern that a part of the selector is.
fn pattern(part: &str, selector: &str) -> Result<Pattern, Failed> {
    Pattern::new(part)
        .map_err(|error| Failed::Usage(format!("`{selector}` is no pattern: {error}")))
}

fn id_of(name: &str) -> &str {
    name.split('{').next().unwrap_or(name)
}

/// Whether the id is this one or begins so: `net` and `net.tcp` mean all that do.
fn begins(text: &str, id: &str) -> bool {
    let rest = id.strip_prefix(text);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether two names are of the same row, however their values are written.
fn is_same_row(one: &str, other: &str) -> bool {
    let (of_one, of_other) = (row_name::parameters(one), row_name::parameters(other));
    id_of(one) == id_of(other)
        && of_one.count() == of_other.count()
        && row_name::parameters(one)
            .zip(row_name::parameters(other))
            .all(|(a, b)| a.0 == b.0 && row_name::is_same(a.1, b.1))
}

/// These selectors, each with these parameters (`key=value`) as well; of one key's values, either. Without selectors, all rows.
pub(crate) fn with_parameters(selectors: &[String], parameters: &[String]) -> Vec<String> {
    if parameters.is_empty() {
        return selectors.to_vec();
    }
    let mut found = match selectors {
        [] => vec!["*".to_owned()],
        some => some.to_vec(),
    };
    let mut keys: Vec<&str> = Vec::new();
    for parameter in parameters {
        let key = key_of(parameter);
        if keys.contains(&key) {
            continue;
        }
        keys.push(key);
        found = found
            .iter()
            .flat_map(|selector| {
                let values = parameters.iter().filter(|one| key_of(one) == key);
                values.map(move |parameter| with_parameter(selector, parameter))
            })
            .collect();
    }
    found
}

fn key_of(parameter: &str) -> &str {
    parameter.split('=').next().unwrap_or_default()
}

fn with_parameter(selector: &str, parameter: &str) -> String {
    match selector.strip_suffix('}') {
        Some(begin) => format!("{begin},{parameter}}}"),
        None => format!("{selector}{{{parameter}}}"),
    }
}
