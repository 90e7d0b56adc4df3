//! From selectors to rows of the catalogue.

use anyhow::Result;
use glob::Pattern;
use syscost_benches::CATALOGUE;
use syscost_harness::session::Profile;
use syscost_harness::{Benchmark, Catalogue, Row};

use crate::Failed;

/// The rows these selectors name, in the catalogue's order; all visible ones if there is no selector.
///
/// # Errors
/// [`Failed::Usage`] with the nearest names when a selector names nothing.
pub(crate) fn rows(selectors: &[String]) -> Result<Vec<Row>> {
    let all = Catalogue::rows(CATALOGUE.benchmarks());
    if selectors.is_empty() {
        return Ok(all);
    }
    let parsed = selectors
        .iter()
        .map(|text| Selector::parse(text))
        .collect::<Result<Vec<Selector>, Failed>>()?;
    // A hidden benchmark is selected by its exact id only.
    let hidden = CATALOGUE
        .groups()
        .iter()
        .filter(|group| group.hidden)
        .flat_map(|group| group.benchmarks)
        .filter(|benchmark| {
            selectors
                .iter()
                .any(|s| s.split('{').next() == Some(benchmark.id))
        });
    let everything: Vec<Row> = all.into_iter().chain(Catalogue::rows(hidden)).collect();
    for selector in &parsed {
        if !everything.iter().any(|row| selector.selects(&row.name())) {
            return Err(unknown(&selector.text).into());
        }
    }
    Ok(everything
        .into_iter()
        .filter(|row| {
            let name = row.name();
            parsed.iter().any(|selector| selector.selects(&name))
        })
        .collect())
}

/// The rows a run measures: those selected, or all of this profile, and what derived ones are computed from.
///
/// # Errors
/// As [`rows`].
pub(crate) fn planned(selectors: &[String], profile: Profile) -> Result<Vec<Row>> {
    let mut rows = rows(selectors)?;
    if selectors.is_empty() && profile == Profile::Quick {
        rows.retain(|row| (row.benchmark.quick)(&row.case));
    }
    let mut rows = CATALOGUE.with_sources(rows);
    if profile != Profile::Careful {
        let by_case: Vec<Selector> = selectors
            .iter()
            .filter(|selector| selector.contains('{'))
            .map(|selector| Selector::parse(selector))
            .collect::<Result<_, _>>()?;
        rows.retain(|row| {
            let is_named = || by_case.iter().any(|selector| selector.selects(&row.name()));
            !(row.benchmark.careful)(&row.case) || is_named()
        });
    }
    Ok(rows)
}

/// The benchmarks these selectors name.
///
/// # Errors
/// As [`rows`].
pub(crate) fn benchmarks(selectors: &[String]) -> Result<Vec<&'static Benchmark>> {
    let mut found: Vec<&'static Benchmark> = Vec::new();
    for row in rows(selectors)? {
        if found.last().is_none_or(|last| last.id != row.benchmark.id) {
            found.push(row.benchmark);
        }
    }
    Ok(found)
}

/// The error for a name that is none, with the nearest that are.
pub(crate) fn unknown(name: &str) -> Failed {
    let mut names: Vec<String> = CATALOGUE
        .visible_groups()
        .map(|group| group.name.to_owned())
        .collect();
    for benchmark in CATALOGUE.benchmarks() {
        names.push(benchmark.id.to_owned());
    }
    if name.contains('{') {
        names.extend(
            Catalogue::rows(CATALOGUE.benchmarks())
                .iter()
                .map(Row::name),
        );
    }
    let mut near: Vec<(f64, String)> = names
        .into_iter()
        .map(|known| (nearness(name, &known), known))
        .filter(|(nearness, _)| *nearness > 0.6)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let hint = match near.len() {
        0 => "see `syscost list`".to_owned(),
        _ => {
            let names: Vec<String> = near
                .into_iter()
                .take(3)
                .map(|(_, name)| format!("`{name}`"))
                .collect();
            format!("did you mean {}?", names.join(", "))
        }
    };
    Failed::Usage(format!("nothing is called `{name}`; {hint}"))
}

/// How near a typed name is to a known one, 0 to 1: to the whole, or to the part behind the group.
fn nearness(typed: &str, known: &str) -> f64 {
    let operation = known
        .split_once('.')
        .map_or(known, |(_, operation)| operation);
    strsim::jaro_winkler(typed, known).max(strsim::jaro_winkler(typed, operation))
}

/// What a person writes to mean rows: a group, an id, a row's name, or a pattern of ids or names.
pub(crate) struct Selector {
    text: String,
    pattern: Pattern,
}

impl Selector {
    /// # Errors
    /// [`Failed::Usage`] when it is no pattern.
    pub(crate) fn parse(text: &str) -> Result<Self, Failed> {
        let pattern = Pattern::new(text)
            .map_err(|error| Failed::Usage(format!("`{text}` is no pattern: {error}")))?;
        Ok(Self {
            text: text.to_owned(),
            pattern,
        })
    }

    /// Whether it means the row of this name: `id{case}`, or the id alone.
    pub(crate) fn selects(&self, name: &str) -> bool {
        let id = name.split('{').next().unwrap_or(name);
        let group = id.split('.').next().unwrap_or(id);
        [group, id, name].contains(&&*self.text)
            || self.pattern.matches(id)
            || self.pattern.matches(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(selectors: &[&str], profile: Profile) -> Vec<String> {
        let selectors: Vec<String> = selectors.iter().map(|one| (*one).to_owned()).collect();
        let rows = planned(&selectors, profile).expect("they exist");
        rows.iter().map(Row::name).collect()
    }

    #[test]
    fn points_between_points_are_for_careful_runs_or_by_name() {
        let of = |profile| names(&["memory.latency"], profile);
        let (common, all) = (of(Profile::Standard), of(Profile::Careful));
        let between = all.iter().find(|name| !common.contains(name)).expect("one");
        assert!(all.len() > common.len() && all.len() > of(Profile::Quick).len());
        let named = names(&[between], Profile::Standard);
        assert_eq!(named, std::slice::from_ref(between));
        let derived = names(&["memory.cache_size"], Profile::Standard);
        assert!(derived.len() > 40 && !derived.contains(between));
    }
}
