//! What is wrong with a selector that means no row, and what would be right.

use syscost_results::row_name;

use super::selector::{Parameter, Selector};

/// Keys or values of one message at most.
const MAX_LISTED: usize = 12;

/// Which parameter of the selector no row has, and those that there are, if its id is one of these rows'.
///
/// Parameters are looked at one after the other, each among the rows that have those before it.
pub(super) fn parameter<'n>(
    selector: &Selector,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    let parts = selector.parts.as_ref()?;
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
            let whose = match had.is_empty() {
                true => parts.id.clone(),
                false => format!("{}{{{}}}", parts.id, had.join(",")),
            };
            return Some(format!("{whose} {}", lacking(parameter, &left)));
        }
        left = fitting;
        had.push(&parameter.text);
    }
    None
}

/// What all of these rows lack, and what they have instead.
fn lacking(wanted: &Parameter, rows: &[&str]) -> String {
    let parameters = || rows.iter().flat_map(|name| row_name::parameters(name));
    let (key, value) = (wanted.key(), wanted.value());
    let values = distinct(parameters().filter(|one| one.0 == key).map(|one| one.1));
    if !values.is_empty() {
        let (shown, more) = nearest(values, value);
        return format!(
            "has no {key}={value}; there are {key}={}",
            list(&shown, more)
        );
    }
    let mut keys = distinct(parameters().map(|one| one.0));
    if keys.is_empty() {
        return format!("has no parameter `{key}`, nor any other");
    }
    let more = keys.len().saturating_sub(MAX_LISTED);
    keys.truncate(MAX_LISTED);
    format!("has no parameter `{key}`; it has {}", list(&keys, more))
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

/// Those of the values that are nearest to this one, if all are sizes or times, else the first; and how many more there are.
fn nearest<'n>(mut values: Vec<&'n str>, wanted: &str) -> (Vec<&'n str>, usize) {
    let more = values.len().saturating_sub(MAX_LISTED);
    let amounts: Option<Vec<f64>> = values.iter().map(|value| amount(value)).collect();
    if amounts.is_some() {
        let of = |value: &str| amount(value).unwrap_or_default();
        if let Some(wanted) = amount(wanted) {
            let distance = |value: &&str| ((1.0 + of(value)) / (1.0 + wanted)).ln().abs();
            values.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        }
        values.truncate(MAX_LISTED);
        values.sort_by(|a, b| of(a).total_cmp(&of(b)));
    }
    values.truncate(MAX_LISTED);
    (values, more)
}

/// Of a size in bytes, of a time in nanoseconds.
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
        let selector = Selector::parse(selector).expect("a selector");
        parameter(&selector, names.iter().map(String::as_str))
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
        assert_eq!(of("a.b{size=4k}"), None, "nothing is wrong with it");
        assert_eq!(of("x.y{size=4k}"), None, "its id is");
    }

    #[test]
    fn of_many_values_a_dozen_is_listed_the_nearest_of_sizes() {
        let sizes: Vec<String> = (0..40).rev().map(|n| format!("a.b{{size={n}K}}")).collect();
        let message = said("a.b{size=20481}", &sizes).expect("a wrong size");
        assert!(
            message.ends_with(
                "there are size=15K, 16K, 17K, 18K, 19K, 20K, 21K, 22K, 23K, 24K, 25K, 26K and 28 more"
            ),
            "{message}"
        );
        let words: Vec<String> = (0..13).map(|n| format!("a.b{{of=w{n}}}")).collect();
        let message = said("a.b{of=x}", &words).expect("a wrong word");
        assert!(message.contains("of=w0, w1,") && message.ends_with("w11 and 1 more"));
    }
}
