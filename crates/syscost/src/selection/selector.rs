//! Selectors: what a user writes to name rows.

use glob::Pattern;
use syscost_benches::CATALOGUE;
use syscost_harness::{Catalogue, Entry, Row, Testbed};
use syscost_results::row_name;

use crate::Failed;

/// A group, an id, a prefix of ids up to a dot, a row's name, a pattern of ids or names, or any of
/// the first three with some of the case's parameters, in any order: `memory.latency{size=1G}`. A
/// size or a time may be written in any way: `size=65536` and `size=64KiB` are `size=64K`.
pub(crate) struct Selector {
    pub(super) text: String,
    pattern: Pattern,
    /// Its ids and parameters, unless it is the name of a row.
    pub(super) parts: Option<Parts>,
}

/// A group, id or pattern of ids, and the parameters that its rows must have.
pub(super) struct Parts {
    pub(super) id: String,
    pattern: Pattern,
    pub(super) parameters: Vec<Parameter>,
}

/// A parameter with its value, or a pattern of both.
pub(super) struct Parameter {
    pub(super) text: String,
    pattern: Pattern,
}

impl Selector {
    /// Parses the pattern of a selector.
    pub(crate) fn parse(text: &str, here: &Testbed) -> Result<Self, Failed> {
        // The full name of a row means only that row, not those with more parameters.
        if text.ends_with('}') {
            let is_its = |one: &&Entry| one.id == row_name::id(text);
            let rows = Catalogue::rows(CATALOGUE.benchmarks().filter(is_its), here);
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

    /// Whether it means the row with this name: `id{case}`, or only an id.
    pub(crate) fn selects(&self, name: &str) -> bool {
        begins(&self.text, row_name::id(name))
            || name == self.text
            || self.pattern.matches(row_name::id(name))
            || self.pattern.matches(name)
            || self.parts.as_ref().is_some_and(|parts| parts.select(name))
    }
}

impl Parts {
    /// Parses `id{key=value,...}`; `None` for a name without parameters.
    ///
    /// # Errors
    /// [`Failed::Usage`] when one of them is not a valid pattern.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, Failed> {
        let Some(case) = row_name::case(text) else {
            return Ok(None);
        };
        let id = row_name::id(text);
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

    /// Whether the row has one of these ids.
    pub(super) fn are_of(&self, name: &str) -> bool {
        begins(&self.id, row_name::id(name)) || self.pattern.matches(row_name::id(name))
    }

    /// Whether the row has one of these ids and all parameters.
    pub(super) fn select(&self, name: &str) -> bool {
        self.are_of(name) && self.parameters.iter().all(|one| one.is_of(name))
    }
}

impl Parameter {
    /// Whether the row has this parameter.
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

/// Parses a part of the selector as a pattern.
fn pattern(part: &str, selector: &str) -> Result<Pattern, Failed> {
    Pattern::new(part)
        .map_err(|error| Failed::Usage(format!("`{selector}` is not a valid pattern: {error}")))
}

/// Whether the id is `text` or begins with it, up to a dot: `net` and `net.tcp` mean all such ids.
fn begins(text: &str, id: &str) -> bool {
    let rest = id.strip_prefix(text);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether two names mean the same row, however their values are written.
fn is_same_row(one: &str, other: &str) -> bool {
    let (of_one, of_other) = (row_name::parameters(one), row_name::parameters(other));
    row_name::id(one) == row_name::id(other)
        && of_one.count() == of_other.count()
        && row_name::parameters(one)
            .zip(row_name::parameters(other))
            .all(|(a, b)| a.0 == b.0 && row_name::is_same(a.1, b.1))
}
