//! Messages about names and words that mean no row, and about rows that kept runs do not have: the
//! same for all commands.

use syscost_benches::{CATALOGUE, PROCEDURES};
use syscost_harness::Here;
use syscost_harness::session::Profile;
use syscost_harness::{Catalogue, Row};
use syscost_results::Run;

use super::selector::Parts;
use super::similar::MIN_SIMILARITY;
use super::wrong::Wrong;
use super::{Choice, names_of, programs, words, wrong};
use crate::Failed;

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
            profile: Profile::from_name(&run.config.profile)
                .filter(|_| run.config.selectors.is_empty()),
            look: format!("`syscost show {given} -v` lists the rows it has"),
        }
    }

    /// Describes a parameter that none of these rows has.
    fn wrong(&self, parts: Option<&Parts>) -> Option<Wrong> {
        wrong::parameter(parts?, self.names.iter().copied())
    }
}

/// Explains why none of the kept rows is meant: there is no such row, or they lack it.
pub(crate) fn absent(choice: &Choice, kept: &Kept<'_>) -> String {
    let (text, place) = (choice.text(), &kept.place);
    let parts = Parts::parse(text).ok().flatten();
    let here = kept.wrong(parts.as_ref());
    let rows = Catalogue::rows(CATALOGUE.benchmarks().chain(PROCEDURES), &Here::plain());
    let known: Vec<&Row> = rows
        .iter()
        .filter(|row| choice.selects(&row.name()))
        .collect();
    if !known.is_empty() {
        let lacks = match (choice.found(), here) {
            (Some((_, found)), _) => {
                let labels: Vec<String> = found.iter().map(words::Found::label).collect();
                let labels = some_of(&labels);
                format!("no row of what `{text}` finds is in {place} ({labels})")
            }
            (None, Some(wrong)) => format!("in {place}, {wrong}"),
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
    let all = names.iter().map(String::as_str);
    let all = all.chain(kept.names.iter().copied());
    let wrong = parts
        .as_ref()
        .and_then(|parts| wrong::parameter(parts, all));
    match (wrong, here) {
        (Some(wrong), Some(here)) if here.lacks == wrong.lacks && here.instead != wrong.instead => {
            format!("{wrong}; in {place}, {}", here.instead)
        }
        (Some(wrong), _) => wrong.to_string(),
        (None, _) => {
            let hint = hint(text).unwrap_or_else(|| kept.look.clone());
            format!("no row is called `{text}` in {place}; {hint}")
        }
    }
}

fn some_of(labels: &[String]) -> String {
    let named = labels.iter().take(MAX_NAMED).map(String::as_str);
    let named: Vec<&str> = named.collect();
    match labels.len().saturating_sub(MAX_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Whether this is the name of rows that only a run with a far end has.
pub(super) fn is_remote(name: &str) -> bool {
    name.contains("path=remote")
}

/// The error for an unknown name, with the nearest known ones.
pub(crate) fn unknown(name: &str) -> Failed {
    if let Some(reason) = programs::uncovered(name) {
        return Failed::Usage(reason);
    }
    Failed::Usage(match hint(name) {
        Some(hint) => format!("nothing is called `{name}`; {hint}"),
        None => format!("nothing matches `{name}`; to list everything: syscost list"),
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
        return Some(format!(
            "rows have it as a value: --case {}",
            some_of(&parameters)
        ));
    }
    let near = nearest(name);
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
}

/// Returns the groups, ids and terms with the most similar spelling, the nearest first; names of
/// rows as well if it looks like one.
fn nearest(name: &str) -> Vec<String> {
    let groups = CATALOGUE
        .visible_groups()
        .map(|group| group.name.to_owned());
    let ids = CATALOGUE
        .benchmarks()
        .map(|benchmark| benchmark.id.to_owned());
    let mut names: Vec<String> = groups.chain(ids).collect();
    if name.contains('{') {
        let rows = Catalogue::rows(CATALOGUE.benchmarks(), &Here::plain());
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
            &Here::plain(),
        );
        let choices = choices.expect("a name, or words that find something");
        absent(&choices[0], &kept)
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
            "memory.latency has no size=63K; nearest: 60K, 66K; in run x, there are size=16K"
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
}
