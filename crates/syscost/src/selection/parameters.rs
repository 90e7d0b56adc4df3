//! Parameters that are given separately from selectors: `--case size=4K`.

use syscost_benches::{CATALOGUE, PROCEDURES};
use syscost_harness::{Catalogue, Row};

use super::selector::Parts;
use super::wrong::{self, Wrong};
use super::{Choice, Found, Selector, choose_of, own_or_all};
use crate::Failed;

/// Adds these parameters (`key=value`) to each of the selectors; several values of one key mean any
/// of them. Without selectors, selects from all rows. Words become the ids of what they find, as far
/// as that has such rows.
///
/// # Errors
/// [`Failed::Usage`] when words find nothing, or nothing with such rows.
pub(crate) fn with_parameters(
    selectors: &[String],
    parameters: &[String],
) -> Result<Vec<String>, Failed> {
    if parameters.is_empty() {
        return Ok(selectors.to_vec());
    }
    if selectors.is_empty() {
        return Ok(each_with("*", parameters));
    }
    let rows = Catalogue::rows(CATALOGUE.benchmarks().chain(PROCEDURES));
    let names: Vec<String> = rows.iter().map(Row::name).collect();
    let choices = choose_of(names.iter().map(String::as_str), selectors)?;
    let mut all = Vec::new();
    for choice in choices {
        match choice {
            Choice::Named(selector) => all.extend(each_with(&selector.text, parameters)),
            Choice::Found { text, found } => {
                let meant = found.iter().flat_map(|one| ids_of(one, &names));
                let meant = meant.flat_map(|id| each_with(&id, parameters));
                let meant: Vec<String> = meant.collect();
                let mut having = Vec::new();
                for selector in &meant {
                    let parsed = Selector::parse(selector)?;
                    if names.iter().any(|name| parsed.selects(name)) {
                        having.push(selector.clone());
                    }
                }
                if having.is_empty() {
                    return Err(none_has(&text, parameters, &meant, &names));
                }
                all.extend(own_or_all(having, |selector| id_of(selector)));
            }
        }
    }
    Ok(all)
}

/// Explains that nothing these words find has these parameters, and what the likeliest of it has instead.
fn none_has(text: &str, parameters: &[String], meant: &[String], names: &[String]) -> Failed {
    let parts = meant.iter().filter_map(|one| Parts::parse(one).ok()?);
    let wrong =
        parts.filter_map(|parts| wrong::parameter(&parts, names.iter().map(String::as_str)));
    let wrong: Vec<Wrong> = wrong.collect();
    let likeliest = wrong.iter().find(|wrong| wrong.is_value).or(wrong.first());
    let instead = likeliest.map_or_else(String::new, |wrong| format!("; {wrong}"));
    let parameters = parameters.join(", ");
    Failed::Usage(format!(
        "no row of what `{text}` finds has {parameters}{instead}"
    ))
}

/// Returns selectors of a benchmark that was found: its id, with the values that it was found by, if
/// any.
fn ids_of(found: &Found, names: &[String]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for name in names.iter().filter(|name| found.selects(name)) {
        let values = found.values_in(name);
        let id = match values.is_empty() {
            true => id_of(name).to_owned(),
            false => format!("{}{{{}}}", id_of(name), values.join(",")),
        };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

fn id_of(name: &str) -> &str {
    name.split('{').next().unwrap_or(name)
}

/// Returns the selector once for each combination of the parameters, with one value per key.
fn each_with(selector: &str, parameters: &[String]) -> Vec<String> {
    let mut found = vec![selector.to_owned()];
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

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    fn with(selectors: &[&str], parameters: &[&str]) -> Result<Vec<String>, Failed> {
        let owned = |texts: &[&str]| -> Vec<String> {
            let texts = texts.iter().map(|&text| text.into());
            texts.collect()
        };
        with_parameters(&owned(selectors), &owned(parameters))
    }

    #[test]
    fn parameters_given_apart_are_those_of_each_selector() {
        let given = ["memory", "b.c{d=e}"];
        assert_eq!(with(&given, &[]).expect("unchanged"), given);
        assert_eq!(
            with(&given, &["size=4K", "via=x", "size=1M"]).expect("names"),
            [
                "memory{size=4K,via=x}",
                "memory{size=1M,via=x}",
                "b.c{d=e,size=4K,via=x}",
                "b.c{d=e,size=1M,via=x}"
            ]
        );
        assert_eq!(with(&[], &["size=4K"]).expect("all"), ["*{size=4K}"]);
        let selected = |selector: &str| rows(&[selector.to_owned()]).expect("rows");
        let all = selected("*{size=4k}");
        assert!(all.len() > selected("memory{size=4K}").len());
        assert!(all.iter().all(|row| row.name().contains("size=4K")));
    }

    #[test]
    fn words_with_parameters_are_what_they_find_as_far_as_it_has_them() {
        let huge = ["memory.page_fault{kind=huge}"];
        assert_eq!(with(&["page", "fault"], &["kind=huge"]).expect("one"), huge);
        assert_eq!(with(&["page fault"], &["kind=huge"]).expect("one"), huge);
        let getpid = with(&["getpid"], &["via=libc"]).expect("one");
        assert_eq!(getpid, ["syscall.null{call=getpid,via=libc}"]);
        // Syscost's own alone, where any of them has it.
        let calls = with(&["system", "call"], &["call=getppid"]).expect("some");
        assert!(calls.contains(&"syscall.null{call=getppid}".to_owned()));
        assert!(
            calls.iter().all(|id| !id.starts_with("study.")),
            "{calls:?}"
        );
        let refusal = |parameter: &str| {
            let refusal = with(&["page", "fault"], &[parameter]).err();
            refusal.expect("no such row").to_string()
        };
        let value = refusal("kind=hugee");
        let begin = "no row of what `page fault` finds has kind=hugee; memory.page_fault has no kind=hugee; ";
        assert!(
            value.starts_with(begin) && value.contains("huge"),
            "{value}"
        );
        assert!(refusal("kin=huge").contains("has no parameter `kin`"));
        assert!(with(&["zebra"], &["kind=huge"]).is_err());
    }
}
