//! Parameters that are given apart from what they are of: `--case size=4K`.

use syscost_benches::{CATALOGUE, PROCEDURES};
use syscost_harness::Testbed;
use syscost_harness::{Catalogue, Row};
use syscost_results::row_name;

use super::absent::{Wrong, wrong_parameter};
use super::selector::Parts;
use super::{Choice, Found, choose_of, note_found, own_or_all};
use crate::Failed;

/// Returns these selectors, each with these parameters
/// (`key=value`) as well; of several values of one key, any. Without selectors, all rows are meant. Words become the ids of what they find, as far as it has such rows, here or among `kept`.
///
/// # Errors
/// [`Failed::Usage`] when words find nothing, or nothing that has rows with these parameters.
pub(crate) fn with_parameters<'k>(
    selectors: &[String],
    parameters: &[String],
    kept: impl Iterator<Item = &'k str>,
    here: &Testbed,
) -> Result<Vec<String>, Failed> {
    let meant = narrowed(selectors, parameters, kept, here)?;
    Ok(meant.into_iter().flat_map(|one| one.selectors).collect())
}

/// As [`with_parameters`], for what is going to be measured: words mean syscost's own benchmarks
/// where these have such rows, and a note says what they found.
///
/// # Errors
/// As [`with_parameters`].
pub(crate) fn to_measure(
    selectors: &[String],
    parameters: &[String],
    here: &Testbed,
) -> Result<Vec<String>, Failed> {
    let mut all = Vec::new();
    for Meant { text, selectors } in narrowed(selectors, parameters, std::iter::empty(), here)? {
        let Some(text) = text else {
            all.extend(selectors);
            continue;
        };
        let own = own_or_all(selectors, |selector| row_name::id(selector));
        note_found(&text, &own);
        all.extend(own);
    }
    Ok(all)
}

/// What one selector, or some words, mean together with parameters.
struct Meant {
    /// The words, if it is not a name.
    text: Option<String>,
    selectors: Vec<String>,
}

fn narrowed<'k>(
    selectors: &[String],
    parameters: &[String],
    kept: impl Iterator<Item = &'k str>,
    here: &Testbed,
) -> Result<Vec<Meant>, Failed> {
    let named = |selectors| Meant {
        text: None,
        selectors,
    };
    if parameters.is_empty() {
        return Ok(vec![named(selectors.to_vec())]);
    }
    if selectors.is_empty() {
        return Ok(vec![named(each_with("*", parameters))]);
    }
    let kept: Vec<&str> = kept.collect();
    let rows = Catalogue::rows(CATALOGUE.benchmarks().chain(PROCEDURES), here);
    let mut names: Vec<String> = rows.iter().map(Row::name).collect();
    names.extend(kept.iter().map(|name| (*name).to_owned()));
    let choices = choose_of(kept.into_iter(), selectors, here)?;
    let meant = choices.into_iter().map(|choice| match choice {
        Choice::Named(selector) => Ok(named(each_with(&selector.text, parameters))),
        Choice::Found { text, found } => {
            let ids = found.iter().flat_map(|one| ids_of(one, &names));
            let all: Vec<String> = ids.flat_map(|id| each_with(&id, parameters)).collect();
            let mut selectors = all.clone();
            selectors.retain(|selector| is_of_any(selector, &names));
            match selectors.is_empty() {
                true => Err(none_has(&text, parameters, &all, &names)),
                false => Ok(Meant {
                    text: Some(text),
                    selectors,
                }),
            }
        }
    });
    meant.collect()
}

/// Whether any of these rows is meant by a selector with parameters.
fn is_of_any(selector: &str, names: &[String]) -> bool {
    let parts = Parts::parse(selector).ok().flatten();
    parts.is_some_and(|parts| names.iter().any(|name| parts.select(name)))
}

/// Explains that nothing these words find has these parameters, and what the likeliest of it has instead.
fn none_has(text: &str, parameters: &[String], meant: &[String], names: &[String]) -> Failed {
    let parts = meant.iter().filter_map(|one| Parts::parse(one).ok()?);
    let wrong = parts.filter_map(|parts| wrong_parameter(&parts, names.iter().map(String::as_str)));
    let wrong: Vec<Wrong> = wrong.collect();
    let likeliest = wrong.iter().find(|wrong| wrong.is_value).or(wrong.first());
    let instead = likeliest.map_or_else(String::new, |wrong| format!("; {wrong}"));
    let parameters = alternatives(parameters);
    Failed::Usage(format!(
        "no row found by `{text}` has {parameters}{instead}"
    ))
}

/// Returns selectors of a benchmark that was found: its id, with the values that it was found by, if
/// any.
fn ids_of(found: &Found, names: &[String]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for name in names.iter().filter(|name| found.selects(name)) {
        let values = found.values_in(name);
        let id = match values.is_empty() {
            true => row_name::id(name).to_owned(),
            false => format!("{}{{{}}}", row_name::id(name), values.join(",")),
        };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Joins parameters for a message: values of one key by `or`.
fn alternatives(parameters: &[String]) -> String {
    let mut of_keys: Vec<(&str, Vec<&str>)> = Vec::new();
    for parameter in parameters {
        let key = key_of(parameter);
        match of_keys.iter_mut().find(|one| one.0 == key) {
            Some((_, all)) => all.push(parameter),
            None => of_keys.push((key, vec![parameter])),
        }
    }
    let of_keys = of_keys.iter().map(|(_, all)| all.join(" or "));
    of_keys.collect::<Vec<String>>().join(", ")
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
        let (selectors, parameters) = (owned(selectors), owned(parameters));
        with_parameters(
            &selectors,
            &parameters,
            std::iter::empty(),
            &Testbed::plain(),
        )
    }

    #[test]
    fn parameters_given_apart_are_those_of_each_selector() {
        let given = ["a.b", "b.c{d=e}"];
        assert_eq!(with(&given, &[]).expect("unchanged"), given);
        assert_eq!(
            with(&given, &["size=4K", "via=x", "size=1M"]).expect("names"),
            [
                "a.b{size=4K,via=x}",
                "a.b{size=1M,via=x}",
                "b.c{d=e,size=4K,via=x}",
                "b.c{d=e,size=1M,via=x}"
            ]
        );
        assert_eq!(with(&[], &["size=4K"]).expect("all"), ["*{size=4K}"]);
        let selected =
            |selector: &str| rows(&[selector.to_owned()], &Testbed::plain()).expect("rows");
        let all = selected("*{size=4k}");
        assert!(all.len() > selected("memory{size=4K}").len());
        assert!(all.iter().all(|row| row.name().contains("size=4K")));
    }

    #[test]
    fn words_with_parameters_are_what_they_find_as_far_as_it_has_them() {
        let huge = ["memory.page_fault{kind=huge}"];
        assert_eq!(
            with(&["page", "fault"], &["kind=huge"]).expect("both"),
            huge
        );
        assert_eq!(with(&["page fault"], &["kind=huge"]).expect("both"), huge);
        let getpid = with(&["getpid"], &["via=libc"]).expect("one");
        assert_eq!(getpid, ["syscall.null{call=getpid,via=libc}"]);
        // To measure them, syscost's own alone, where any of them has such rows.
        let is_study = |id: &String| id.starts_with("study.");
        let (words, getpid) = ("system call".to_owned(), "call=getpid".to_owned());
        let found = with(&[&words], &[&getpid]).expect("some");
        let measured = to_measure(&[words], &[getpid], &Testbed::plain()).expect("some");
        assert!(found.iter().any(is_study) && !measured.iter().any(is_study));
        assert!(measured.contains(&"syscall.null{call=getpid}".to_owned()));
        let refusal = |parameter: &str| {
            let refusal = with(&["page", "fault"], &[parameter]).err();
            refusal.expect("no such row").to_string()
        };
        let value = refusal("kind=hugee");
        let begin =
            "no row found by `page fault` has kind=hugee; memory.page_fault has no kind=hugee; ";
        assert!(
            value.starts_with(begin) && value.contains("huge"),
            "{value}"
        );
        assert!(refusal("kin=huge").contains("has no parameter `kin`"));
        assert!(with(&["zebra"], &["kind=huge"]).is_err());
    }
}
