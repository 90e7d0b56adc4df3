//! From selectors to rows of the catalogue.

use anyhow::Result;
use glob::Pattern;
use syscost_benches::CATALOGUE;
use syscost_harness::session::Profile;
use syscost_harness::{Benchmark, Catalogue, Row};
use syscost_results::{Measurement, Run};

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
        let (careful, common): (Vec<Row>, Vec<Row>) = rows
            .iter()
            .cloned()
            .partition(|row| (row.benchmark.careful)(&row.case));
        let selects = |selector: &Selector, rows: &[Row]| {
            rows.iter().any(|row| selector.selects(&row.name()))
        };
        // Who names nothing else means these.
        let mut by_case = Vec::new();
        for text in selectors.iter().filter(|text| text.contains('{')) {
            let selector = Selector::parse(text)?;
            if selects(&selector, &careful) && !selects(&selector, &common) {
                by_case.push(selector);
            }
        }
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

/// The rows of a run, given as `given`, that any of these names means, in the run's order.
///
/// # Errors
/// [`Failed::Usage`] when a name means none of them.
pub(crate) fn rows_of<'a>(
    run: &'a Run,
    given: &str,
    names: &[String],
) -> Result<Vec<&'a Measurement>> {
    let mut selectors = Vec::new();
    for name in names {
        let selector = Selector::parse(name)?;
        if !run
            .measurements
            .iter()
            .any(|row| selector.selects(&row.name))
        {
            return Err(Failed::Usage(format!(
                "run {} has no row called `{name}`; `syscost show {given} -v` tells the rows it has",
                run.id
            ))
            .into());
        }
        selectors.push(selector);
    }
    let meant = |row: &&Measurement| selectors.iter().any(|selector| selector.selects(&row.name));
    Ok(run.measurements.iter().filter(meant).collect())
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
    let is_remote = name.contains("path=remote");
    let hint = match near.len() {
        _ if is_remote => {
            "rows of path=remote need a far end: --peer HOST --token-file FILE".to_owned()
        }
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

/// What a person writes to mean rows: a group, an id, the beginning of ids up to a dot, a row's name, a pattern of ids or names, or an id with some
/// of the case's parameters, in any order: `memory.latency{bytes=1G}`.
pub(crate) struct Selector {
    text: String,
    pattern: Pattern,
    /// Of the id, and of each parameter.
    parts: Option<(Pattern, Vec<Pattern>)>,
}

impl Selector {
    /// # Errors
    /// [`Failed::Usage`] when it is no pattern.
    pub(crate) fn parse(text: &str) -> Result<Self, Failed> {
        let pattern = |part: &str| {
            Pattern::new(part)
                .map_err(|error| Failed::Usage(format!("`{text}` is no pattern: {error}")))
        };
        // The whole name of a row means that row, not also those with parameters more.
        let is_row = || {
            let rows = Catalogue::rows(CATALOGUE.benchmarks());
            rows.iter().any(|row| row.name() == text)
        };
        let parts = text
            .strip_suffix('}')
            .and_then(|text| text.split_once('{'))
            .filter(|_| !is_row());
        let parts = parts.map(|(id, case)| {
            let parameters = case.split(',').map(pattern);
            Ok::<_, Failed>((pattern(id)?, parameters.collect::<Result<_, _>>()?))
        });
        Ok(Self {
            text: text.to_owned(),
            pattern: pattern(text)?,
            parts: parts.transpose()?,
        })
    }

    /// Whether it means the row of this name: `id{case}`, or the id alone.
    pub(crate) fn selects(&self, name: &str) -> bool {
        let id = name.split('{').next().unwrap_or(name);
        // `net` and `net.tcp` mean all that begin so.
        let rest = id.strip_prefix(&*self.text);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            || name == self.text
            || self.pattern.matches(id)
            || self.pattern.matches(name)
            || self.selects_case(name)
    }

    /// Whether all parameters that it names are the row's.
    fn selects_case(&self, name: &str) -> bool {
        let row = name.strip_suffix('}').and_then(|name| name.split_once('{'));
        match (&self.parts, row) {
            (Some((id, parameters)), Some((row_id, case))) => {
                let has = |wanted: &Pattern| case.split(',').any(|one| wanted.matches(one));
                id.matches(row_id) && parameters.iter().all(has)
            }
            _ => false,
        }
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
    fn some_parameters_mean_all_rows_that_have_them() {
        let of = |selector| names(&[selector], Profile::Standard);
        let both = of("memory.bandwidth{threads=1,op=memcpy}");
        assert!(both.len() > 1 && both.iter().all(|name| name.contains("op=memcpy,")));
        assert_eq!(
            of("syscall.null{call=getppid}").len(),
            1,
            "the name of a row"
        );
        let sizes = of("memory.bandwidth{bytes=*K,op=memcpy}");
        assert!(sizes.len() < both.len() && sizes.iter().all(|name| both.contains(name)));
        assert_eq!(
            of("*.bandwidth{bytes=24K}"),
            of("memory.bandwidth{bytes=24K}")
        );
        assert!(rows(&["memory.bandwidth{op=mem}".to_owned()]).is_err());
    }

    #[test]
    fn the_beginning_of_ids_means_all_of_them() {
        let selects = |text, name| Selector::parse(text).is_ok_and(|one| one.selects(name));
        for text in ["net", "net.tcp", "net.tcp.connect", "net.*.connect"] {
            assert!(selects(text, "net.tcp.connect{step=reset}"), "{text}");
        }
        for text in ["ne", "net.t", "net.tcp.con", "tcp", "net.udp"] {
            assert!(!selects(text, "net.tcp.connect{step=reset}"), "{text}");
        }
    }

    #[test]
    fn what_only_careful_runs_have_is_there_for_who_names_nothing_else() {
        let of = |selector| names(&[selector], Profile::Standard);
        assert!(!of("memory.latency{order=random}").is_empty());
        assert!(
            of("memory.latency{order=random}")
                .iter()
                .all(|name| !name.contains("1G"))
        );
        assert_eq!(of("memory.latency{bytes=1G}").len(), 1);
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
