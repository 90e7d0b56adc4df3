//! Where a study's parts stand in its text.

use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::StudyError;
use syscost_results::study::Quantity;

/// The lines of a study's parts, of which a [`Study`](syscost_results::study::Study) knows nothing.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    table: Spanned<DeTable<'t>>,
}

impl<'t> Lines<'t> {
    /// Parses the text as TOML.
    pub(crate) fn parse(text: &'t str) -> Result<Self, StudyError> {
        let table = DeTable::parse(text).map_err(|error| of_text(text, &error))?;
        Ok(Lines { text, table })
    }

    pub(crate) fn deserializer(&self) -> Deserializer<'t> {
        Deserializer::from(self.table.clone())
    }

    /// The error as one of the study's.
    pub(crate) fn error(&self, error: &Error) -> StudyError {
        of_text(self.text, error)
    }

    /// The path of the innermost part that an error is about, such as `quantity[0].id`; empty for the study itself.
    pub(crate) fn path_of(&self, error: &Error) -> String {
        let at = error.span().map_or(0, |span| span.start);
        of_table(self.table.get_ref(), at).unwrap_or_default()
    }

    /// The line, from 1, of a part: the keys and places on the way to it, such as
    /// `quantity.0.published.2.value`. Of a part that is not there, that of the innermost one around it.
    pub fn of(&self, path: &str) -> usize {
        let mut found: Option<&Spanned<DeValue<'_>>> = None;
        for step in path.split('.') {
            let next = match found.map(Spanned::get_ref) {
                None => self.table.get_ref().get(step),
                Some(DeValue::Table(table)) => table.get(step),
                Some(DeValue::Array(all)) => step.parse().ok().and_then(|at: usize| all.get(at)),
                Some(_) => None,
            };
            if next.is_none() {
                break;
            }
            found = next;
        }
        line_of(self.text, found.map_or(0, |found| found.span().start))
    }
}

/// The path within a table of what stands at this offset.
fn of_table(table: &DeTable<'_>, at: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let inner = of_value(value.get_ref(), at);
        let is_here = inner.is_some() || key.span().contains(&at) || value.span().contains(&at);
        let key = key.get_ref();
        is_here.then(|| match inner.unwrap_or_default() {
            inner if inner.is_empty() || inner.starts_with('[') => format!("{key}{inner}"),
            inner => format!("{key}.{inner}"),
        })
    })
}

fn of_value(value: &DeValue<'_>, at: usize) -> Option<String> {
    match value {
        DeValue::Table(table) => of_table(table, at),
        DeValue::Array(all) => all.iter().enumerate().find_map(|(index, value)| {
            let inner = of_value(value.get_ref(), at);
            let is_here = inner.is_some() || value.span().contains(&at);
            is_here.then(|| match inner.unwrap_or_default() {
                inner if inner.is_empty() || inner.starts_with('[') => format!("[{index}]{inner}"),
                inner => format!("[{index}].{inner}"),
            })
        }),
        _ => None,
    }
}

fn of_text(text: &str, error: &Error) -> StudyError {
    StudyError {
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        problem: error.message().replace('\n', ", "),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset.min(text.len())].matches('\n').count()
}

/// The counts that its claims, its reasons and their texts name, each with the path of the field
/// (see [`Lines::of`]) from the quantity on.
pub fn counted(quantity: &Quantity) -> Vec<(String, &str)> {
    let claims = quantity.claims.iter().enumerate().map(|(index, one)| {
        let texts = [
            ("holds", one.holds.as_deref()),
            ("broken", Some(&*one.broken)),
        ];
        (format!("claim.{index}"), &one.counted, texts.to_vec())
    });
    let reasons = quantity.reasons.iter().enumerate().map(|(index, one)| {
        let texts = vec![("text", Some(&*one.text))];
        (format!("reason.{index}"), &one.counted, texts)
    });
    let mut found = Vec::new();
    for (part, counted, texts) in claims.chain(reasons) {
        found.push((format!("{part}.counted"), counted.as_str()));
        for (field, text) in texts {
            let inner = text.unwrap_or_default().split('{').skip(1);
            let names = inner.filter_map(|rest| Some(rest.split_once('}')?.0));
            let names = names.filter(|name| !name.is_empty());
            found.extend(names.map(|name| (format!("{part}.{field}"), name)));
        }
    }
    found
}
