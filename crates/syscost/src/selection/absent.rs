//! Messages about names and words that mean no row, and about rows that kept runs do not have: the
//! same for all commands.

use std::path::PathBuf;

use syscost_benches::{CATALOGUE, PROCEDURES};
use syscost_harness::Testbed;
use syscost_harness::session::Profile;
use syscost_harness::{Catalogue, Row};
use syscost_params::Value;
use syscost_report::sentence::listed;
use syscost_results::renamed::{GONE, name_now};
use syscost_results::{Run, row_name};

use super::selector::{Parameter, Parts};
use super::{Choice, names_of, words};
use crate::Failed;

/// Minimum Jaro-Winkler similarity, a number up to 1, of a typed word to the known one that it may mean: two
/// or three letters of a word may be wrong.
const MIN_SIMILARITY: f64 = 0.85;

/// Minimum similarity of a suggested term. With this number of terms, some are always a little
/// similar.
const MIN_SIMILARITY_OF_TERMS: f64 = 0.9;

/// Maximum number of names in a message.
const MAX_NAMED: usize = 3;

/// Kept rows that lack some that were asked for.
pub(crate) struct Kept<'k> {
    /// Where they are kept: `run 20261125T222718.390Z-8adfa2`.
    pub(crate) place: String,
    /// Their names.
    pub(crate) names: Vec<&'k str>,
    /// The profile that chose them; `None` where they were selected, or are of several runs.
    pub(crate) profile: Option<Profile>,
    /// How to list them.
    pub(crate) look: String,
}

impl<'k> Kept<'k> {
    /// The rows of a run. `given` is the name by which it was given.
    pub(super) fn of(run: &'k Run, given: &str) -> Self {
        Self {
            place: format!("run {}", run.id),
            names: names_of(run).collect(),
            profile: Profile::read(&run.config.profile).filter(|_| run.config.selectors.is_empty()),
            look: format!("`syscost show {given} -v` lists the rows it has"),
        }
    }
}

/// Explains why none of the kept rows is meant: there is no such row, or they lack it.
pub(crate) fn absent(choice: &Choice, kept: &Kept<'_>) -> String {
    let (text, place) = (choice.text(), &kept.place);
    let parts = Parts::parse(text).ok().flatten();
    let wrong = |names: &mut dyn Iterator<Item = &str>| wrong_parameter(parts.as_ref()?, names);
    let here = wrong(&mut kept.names.iter().copied()).map(|wrong| format!("in {place}, {wrong}"));
    let rows = Catalogue::rows(CATALOGUE.benchmarks().chain(PROCEDURES), &Testbed::plain());
    let known: Vec<&Row> = rows
        .iter()
        .filter(|row| choice.selects(&row.name()))
        .collect();
    if !known.is_empty() {
        let lacks = match (choice.found(), here) {
            (Some((_, found)), _) => {
                let labels: Vec<String> = found.iter().map(words::Found::label).collect();
                let labels = listed(&labels, MAX_NAMED);
                format!("no row of what `{text}` finds is in {place} ({labels})")
            }
            (None, Some(wrong)) => wrong,
            (None, None) => format!("no row is called `{text}` in {place}"),
        };
        let leaves_out = |profile: &Profile| !known.iter().any(|row| profile.measures(row));
        let why = match kept.profile.filter(leaves_out) {
            Some(profile) => format!("{} runs leave it out; ", profile.name()),
            None => String::new(),
        };
        let quoted = match text.contains(['{', '*', '?', '[']) {
            true => format!("'{text}'"),
            false => text.to_owned(),
        };
        return format!("{lacks}; {why}`syscost run {quoted}` measures it");
    }
    let names: Vec<String> = rows.iter().map(Row::name).collect();
    let wrong = here.or_else(|| wrong(&mut names.iter().map(String::as_str)));
    wrong.unwrap_or_else(|| {
        let hint = hint(text).unwrap_or_else(|| kept.look.clone());
        format!("no row is called `{text}` in {place}; {hint}")
    })
}

/// Whether this is the name of rows that only a run with a far end has.
pub(super) fn is_remote(name: &str) -> bool {
    name.contains("path=remote")
}

/// The error for an unknown name, with the nearest known ones.
pub(crate) fn unknown(name: &str) -> Failed {
    if let Some(reason) = gone(name).or_else(|| words::uncovered(name)) {
        return Failed::Usage(reason);
    }
    Failed::Usage(match hint(name) {
        // No row's name has a slash.
        hint if name.contains('/') || hint.is_none() && command(name).is_some() => {
            format!("`{name}` is a command: syscost time '{name}' measures it")
        }
        Some(hint) => format!("nothing is called `{name}`; {hint}"),
        None => format!("nothing matches `{name}`; to list everything: syscost list"),
    })
}

/// The file that a shell would execute for this name, which has no slash.
pub(crate) fn command(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// Says what a row of an earlier version is called now, or what tells as much.
fn gone(name: &str) -> Option<String> {
    let now = name_now(name).map(|now| format!("`{name}` is called `{now}` now"));
    now.or_else(|| {
        let mut gone = GONE.iter();
        let (id, instead) = gone.find(|(id, _)| *id == row_name::id(name))?;
        Some(format!(
            "`{id}` is measured no longer; `{instead}` tells as much"
        ))
    })
}

/// Suggests what an unknown name may have been meant to be.
fn hint(name: &str) -> Option<String> {
    if is_remote(name) {
        let hint = "rows of path=remote need a far end: --peer HOST --token-file FILE";
        return Some(hint.to_owned());
    }
    let parameters = words::parameters_of(name);
    if !parameters.is_empty() {
        let parameters = parameters.iter().map(|one| format!("`*{{{one}}}`"));
        let listed = listed(&parameters.collect::<Vec<String>>(), MAX_NAMED);
        return Some(format!("rows have it as a value: {listed}"));
    }
    let near = nearest_names(name);
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
}

/// Returns the groups, ids and terms with the most similar spelling, the nearest first; names of
/// rows as well if it looks like one.
fn nearest_names(name: &str) -> Vec<String> {
    let groups = CATALOGUE
        .visible_groups()
        .map(|group| group.name.to_owned());
    let ids = CATALOGUE
        .benchmarks()
        .map(|benchmark| benchmark.id.to_owned());
    let mut names: Vec<String> = groups.chain(ids).collect();
    if name.contains('{') {
        let rows = Catalogue::rows(CATALOGUE.benchmarks(), &Testbed::plain());
        names.extend(rows.iter().map(Row::name));
    }
    let mut near: Vec<(f64, String)> = names
        .into_iter()
        .map(|known| (nearness(name, &known), known))
        .filter(|(nearness, _)| *nearness > MIN_SIMILARITY)
        .collect();
    let terms = words::terms().map(|term| (strsim::jaro_winkler(name, &term), term));
    near.extend(terms.filter(|(nearness, _)| *nearness > MIN_SIMILARITY_OF_TERMS));
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.dedup();
    near.truncate(MAX_NAMED);
    near.into_iter().map(|(_, name)| name).collect()
}

/// The similarity of a typed name to a known one, or to its part after the group, from 0 to 1.
fn nearness(typed: &str, known: &str) -> f64 {
    let operation = known
        .split_once('.')
        .map_or(known, |(_, operation)| operation);
    strsim::jaro_winkler(typed, known).max(strsim::jaro_winkler(typed, operation))
}

/// Maximum number of keys or values in a message.
const MAX_LISTED: usize = 12;

/// From this number of sizes or times on, only those next to the wanted one are named.
const MANY_AMOUNTS: usize = 4;

/// Names the first parameter that no row has, and those that exist: `memory.latency has no size=63K; nearest: 60K, 66K`; `None` if there is none, or no
/// row has such an id.
///
/// Parameters are checked one after the other, each among the rows that have those before it.
pub(super) fn wrong_parameter<'n>(
    parts: &Parts,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
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
            return Some(match instead.is_empty() {
                true => lacks,
                false => format!("{lacks}; {instead}"),
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
    let keys = distinct(parameters().map(|one| one.0));
    if keys.is_empty() {
        let lacking = format!("parameter `{key}`, nor any other");
        return (lacking, String::new());
    }
    let has = format!("it has {}", listed(&keys, MAX_LISTED));
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
    format!("there are {key}={}", listed(&values, MAX_LISTED))
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

/// Returns the known names that are similar to what was typed, the most similar first.
pub(crate) fn similar<T: AsRef<str>>(typed: &str, known: impl IntoIterator<Item = T>) -> Vec<T> {
    let is_similar = |one: &T| strsim::jaro_winkler(typed, one.as_ref()) > MIN_SIMILARITY;
    most_similar(typed, known.into_iter().filter(is_similar))
}

/// Returns the known names that are most similar to what was typed, however little.
pub(crate) fn most_similar<T: AsRef<str>>(
    typed: &str,
    known: impl IntoIterator<Item = T>,
) -> Vec<T> {
    let similarity = |one: &T| strsim::jaro_winkler(typed, one.as_ref());
    let mut known: Vec<T> = known.into_iter().collect();
    known.sort_by(|a, b| similarity(b).total_cmp(&similarity(a)));
    known.truncate(MAX_NAMED);
    known
}

#[cfg(test)]
mod tests {
    use super::super::choice::choose;
    use super::*;

    fn said(text: &str, profile: Option<Profile>) -> String {
        let kept = Kept {
            place: "run x".to_owned(),
            names: vec![
                "syscall.null{call=getppid}",
                "memory.latency{pages=4K,access=random,size=16K}",
            ],
            profile,
            look: "look".to_owned(),
        };
        let choices = choose(
            &[text.to_owned()],
            |selector| !words::may_be_words(&selector.text),
            |selector| unknown(&selector.text),
            &Testbed::plain(),
        );
        let choices = choices.expect("a name, or words that find something");
        absent(&choices[0], &kept)
    }

    #[test]
    fn what_is_measured_no_longer_names_rows_that_are() {
        for (id, instead) in GONE {
            assert!(CATALOGUE.find(id).is_none(), "{id}");
            let found = super::super::rows(&[(*instead).to_owned()], &Testbed::plain());
            assert!(found.is_ok_and(|rows| !rows.is_empty()), "{instead}");
            let told = unknown(id).to_string();
            assert_eq!(
                told,
                format!("`{id}` is measured no longer; `{instead}` tells as much")
            );
        }
    }

    #[test]
    fn rows_that_a_run_lacks_are_distinguished_from_those_that_do_not_exist() {
        assert_eq!(
            said("syscall.null{call=getpid}", None),
            "in run x, syscall.null has no call=getpid; there are call=getppid; `syscost run 'syscall.null{call=getpid}'` measures it"
        );
        assert_eq!(
            said("memory.tlb_reach", Some(Profile::Quick)),
            "no row is called `memory.tlb_reach` in run x; quick runs leave it out; `syscost run memory.tlb_reach` measures it"
        );
        assert!(said("net.model", Some(Profile::Standard)).contains("standard runs leave it out"));
        assert_eq!(
            said("TLB reach", None),
            "no row of what `TLB reach` finds is in run x (memory.tlb_reach); `syscost run TLB reach` measures it"
        );
        assert_eq!(
            said("memory.latency{size=63K}", None),
            "in run x, memory.latency has no size=63K; there are size=16K"
        );
        let near = said("syscall.nul", None);
        assert!(
            near.starts_with(
                "no row is called `syscall.nul` in run x; did you mean `syscall.null`"
            ),
            "{near}"
        );
        assert_eq!(
            said("qqq.rrr", None),
            "no row is called `qqq.rrr` in run x; look"
        );
    }

    fn wrong(selector: &str, names: &[String]) -> Option<String> {
        let parts = Parts::parse(selector)
            .expect("patterns")
            .expect("parameters");
        wrong_parameter(&parts, names.iter().map(String::as_str))
    }

    #[test]
    fn a_wrong_value_is_answered_with_the_right_ones() {
        let few = ["a.b{via=fork,size=4K}", "a.b{via=vfork,size=0}", "a.c"].map(str::to_owned);
        let of = |selector| wrong(selector, &few);
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
            wrong("a.b{size=3K}", &some).as_deref(),
            Some("a.b has no size=3K; nearest: 2K, 4K")
        );
        assert_eq!(of("a.b{size=4k}"), None, "nothing is wrong with it");
        assert_eq!(of("x.y{size=4k}"), None, "its id is");
    }

    #[test]
    fn of_many_values_the_nearest_are_named_or_a_dozen() {
        let sizes: Vec<String> = (0..40).rev().map(|n| format!("a.b{{size={n}K}}")).collect();
        let of = |size: &str| wrong(&format!("a.b{{size={size}}}"), &sizes);
        for (size, near) in [("20481", "20K, 21K"), ("1G", "39K"), ("1", "0K, 1K")] {
            let expected = format!("a.b has no size={size}; nearest: {near}");
            assert_eq!(of(size), Some(expected));
        }
        // Not every value of that key need be a size.
        let mixed: Vec<String> = ["a.b{size=all}".to_owned()]
            .into_iter()
            .chain(sizes.clone())
            .collect();
        let message = wrong("*{size=20481}", &mixed);
        assert_eq!(
            message.as_deref(),
            Some("no row has size=20481; nearest: 20K, 21K")
        );
        let words: Vec<String> = (0..13).map(|n| format!("a.b{{of=w{n}}}")).collect();
        let message = wrong("a.b{of=x}", &words).expect("a wrong word");
        assert!(message.contains("of=w0, w1,") && message.ends_with("w11 and 1 more"));
        let calls: Vec<String> = ["getpid", "getppid"]
            .into_iter()
            .map(str::to_owned)
            .chain((0..13).map(|n| format!("other{n}")))
            .map(|call| format!("a.b{{call={call}}}"))
            .collect();
        let message = wrong("a.b{call=getpidd}", &calls);
        assert_eq!(
            message.as_deref(),
            Some("a.b has no call=getpidd; nearest: getpid, getppid")
        );
    }
}
