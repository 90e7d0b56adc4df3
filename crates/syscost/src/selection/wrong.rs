//! Explains what is wrong with a selector that means no row, and what would be right.

use std::fmt;

use syscost_results::row_name;

use super::selector::{Parameter, Parts};
use super::similar::similar;

/// Maximum number of keys or values in a message.
const MAX_LISTED: usize = 12;

/// From this number of sizes or times on, only those next to the wanted one are named.
const MANY_AMOUNTS: usize = 4;

/// A parameter that no row has.
pub(super) struct Wrong {
    /// What is missing: `memory.latency has no size=63K`.
    pub(super) lacks: String,
    /// What exists instead: `nearest: 60K, 66K`; empty if nothing does.
    pub(super) instead: String,
    /// Whether there is such a parameter, with other values.
    pub(super) is_value: bool,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instead.is_empty() {
            true => out.write_str(&self.lacks),
            false => write!(out, "{}; {}", self.lacks, self.instead),
        }
    }
}

/// Finds the first parameter that no row has, and those that exist; `None` if there is none, or no
/// row has such an id.
///
/// Parameters are checked one after the other, each among the rows that have those before it.
pub(super) fn parameter<'n>(
    parts: &Parts,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<Wrong> {
    let names = names.into_iter();
    let mut left: Vec<&str> = names.filter(|name| parts.are_of(name)).collect();
    if left.is_empty() {
        return None;
    }
    let mut had: Vec<&str> = Vec::new();
    for parameter in &parts.parameters {
        let fitting = left.iter().copied().filter(|name| parameter.is_of(name));
        let fitting: Vec<&str> = fitting.collect();
        if fitting.is_empty() {
            let (lacking, instead) = lacking(parameter, &left);
            let lacks = match (had.is_empty(), parts.id.as_str()) {
                (true, "*") => format!("no row has {lacking}"),
                (true, id) => format!("{id} has no {lacking}"),
                (false, id) => format!("{id}{{{}}} has no {lacking}", had.join(",")),
            };
            let key = parameter.key();
            let mut keys = left.iter().flat_map(|name| row_name::parameters(name));
            return Some(Wrong {
                lacks,
                instead,
                is_value: keys.any(|one| one.0 == key),
            });
        }
        left = fitting;
        had.push(&parameter.text);
    }
    None
}

/// Returns what these rows lack, to follow `has no`, and what they have instead.
fn lacking(wanted: &Parameter, rows: &[&str]) -> (String, String) {
    let parameters = || rows.iter().flat_map(|name| row_name::parameters(name));
    let (key, value) = (wanted.key(), wanted.value());
    let values = distinct(parameters().filter(|one| one.0 == key).map(|one| one.1));
    if !values.is_empty() {
        return (format!("{key}={value}"), instead(key, values, value));
    }
    let mut keys = distinct(parameters().map(|one| one.0));
    if keys.is_empty() {
        let lacking = format!("parameter `{key}`, nor any other");
        return (lacking, String::new());
    }
    let more = keys.len().saturating_sub(MAX_LISTED);
    keys.truncate(MAX_LISTED);
    let has = format!("it has {}", list(&keys, more));
    (format!("parameter `{key}`"), has)
}

fn distinct<'n>(values: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut found: Vec<&str> = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Lists what exists instead of this value: all values if they are few, else the nearest.
fn instead(key: &str, mut values: Vec<&str>, wanted: &str) -> String {
    let max = match amount(wanted) {
        Some(_) => MANY_AMOUNTS - 1,
        None => MAX_LISTED,
    };
    let near = match values.len() > max {
        true => nearest(&values, wanted),
        false => Vec::new(),
    };
    if !near.is_empty() {
        return format!("nearest: {}", near.join(", "));
    }
    let sizes = values.iter().filter_map(|value| amount(value)).count();
    if sizes == values.len() {
        let of = |value: &str| amount(value).unwrap_or_default();
        values.sort_by(|a, b| of(a).total_cmp(&of(b)));
    }
    let more = values.len().saturating_sub(MAX_LISTED);
    values.truncate(MAX_LISTED);
    format!("there are {key}={}", list(&values, more))
}

/// Returns the sizes or times next to this one, below and above; of other values, those with a
/// similar spelling.
fn nearest<'n>(values: &[&'n str], wanted: &str) -> Vec<&'n str> {
    let Some(goal) = amount(wanted) else {
        return similar(wanted, values.iter().copied());
    };
    let amounts = values
        .iter()
        .filter_map(|value| Some((amount(value)?, *value)));
    let mut amounts: Vec<(f64, &str)> = amounts.collect();
    amounts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let above = amounts.partition_point(|(amount, _)| *amount < goal);
    let around = &amounts[above.saturating_sub(1)..amounts.len().min(above + 1)];
    around.iter().map(|(_, value)| *value).collect()
}

/// Parses a size, in bytes, or a time, in nanoseconds.
fn amount(value: &str) -> Option<f64> {
    let amount = row_name::size(value).or_else(|| row_name::nanoseconds(value));
    amount.map(|amount| amount as f64)
}

fn list(values: &[&str], more: usize) -> String {
    match more {
        0 => values.join(", "),
        more => format!("{} and {more} more", values.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(selector: &str, names: &[String]) -> Option<String> {
        let parts = Parts::parse(selector)
            .expect("patterns")
            .expect("parameters");
        let wrong = parameter(&parts, names.iter().map(String::as_str))?;
        Some(wrong.to_string())
    }

    #[test]
    fn a_wrong_value_is_answered_with_the_right_ones() {
        let few = ["a.b{via=fork,size=4K}", "a.b{via=vfork,size=0}", "a.c"].map(str::to_owned);
        let of = |selector| said(selector, &few);
        assert_eq!(
            of("a.b{via=clone}").as_deref(),
            Some("a.b has no via=clone; there are via=fork, vfork")
        );
        assert_eq!(
            of("a.b{size=4096,via=vfork}").as_deref(),
            Some("a.b{size=4096} has no via=vfork; there are via=fork"),
            "each for itself there is"
        );
        assert_eq!(
            of("a.b{by=fork}").as_deref(),
            Some("a.b has no parameter `by`; it has via, size")
        );
        assert_eq!(
            of("a.c{by=fork}").as_deref(),
            Some("a.c has no parameter `by`, nor any other")
        );
        assert_eq!(
            of("a{size=1}").as_deref(),
            Some("a has no size=1; there are size=0, 4K")
        );
        let some = ["1K", "2K", "4K", "8K"].map(|size| format!("a.b{{size={size}}}"));
        assert_eq!(
            said("a.b{size=3K}", &some).as_deref(),
            Some("a.b has no size=3K; nearest: 2K, 4K")
        );
        assert_eq!(of("a.b{size=4k}"), None, "nothing is wrong with it");
        assert_eq!(of("x.y{size=4k}"), None, "its id is");
    }

    #[test]
    fn of_many_values_the_nearest_are_named_or_a_dozen() {
        let sizes: Vec<String> = (0..40).rev().map(|n| format!("a.b{{size={n}K}}")).collect();
        let of = |size: &str| said(&format!("a.b{{size={size}}}"), &sizes);
        for (size, near) in [("20481", "20K, 21K"), ("1G", "39K"), ("1", "0K, 1K")] {
            let expected = format!("a.b has no size={size}; nearest: {near}");
            assert_eq!(of(size), Some(expected));
        }
        // Not every value of that key need be a size.
        let mixed: Vec<String> = ["a.b{size=all}".to_owned()]
            .into_iter()
            .chain(sizes.clone())
            .collect();
        let message = said("*{size=20481}", &mixed);
        assert_eq!(
            message.as_deref(),
            Some("no row has size=20481; nearest: 20K, 21K")
        );
        let words: Vec<String> = (0..13).map(|n| format!("a.b{{of=w{n}}}")).collect();
        let message = said("a.b{of=x}", &words).expect("a wrong word");
        assert!(message.contains("of=w0, w1,") && message.ends_with("w11 and 1 more"));
        let calls: Vec<String> = ["getpid", "getppid"]
            .into_iter()
            .map(str::to_owned)
            .chain((0..13).map(|n| format!("other{n}")))
            .map(|call| format!("a.b{{call={call}}}"))
            .collect();
        let message = said("a.b{call=getpidd}", &calls);
        assert_eq!(
            message.as_deref(),
            Some("a.b has no call=getpidd; nearest: getpid, getppid")
        );
    }
}
