//! Finds the rows of the catalogue that selectors and words mean.

mod absent;
mod choice;
mod selector;
mod words;

use anyhow::Result;
use syscost_benches::{CATALOGUE, PROCEDURES};
use syscost_harness::session::Profile;
use syscost_harness::{Case, Catalogue, Entry, Row, Testbed};
use syscost_results::{Measurement, Run, row_name};
use syscost_sys::cpu;

use crate::Failed;
use crate::terminal::{note, wrapped};

use absent::is_remote;
pub(crate) use absent::{Kept, absent, command, unknown};
#[cfg(feature = "studies")]
pub(crate) use absent::{most_similar, similar};
pub(crate) use choice::Choice;
use choice::choose;
pub(crate) use selector::Selector;
pub(crate) use words::{Found, is_procedure, own_or_all, program, search};

/// Returns the rows that these selectors name, or whose titles and tags have these words, in the
/// catalogue's order; all visible ones without any selector.
///
/// # Errors
/// [`Failed::Usage`] when a selector names nothing and finds nothing, with the nearest names or the
/// existing parameters.
pub(crate) fn rows(selectors: &[String], here: &Testbed) -> Result<Vec<Row>> {
    chosen(selectors, here).map(|(rows, _)| rows)
}

/// As [`rows`], and how they were chosen.
fn chosen(selectors: &[String], here: &Testbed) -> Result<(Vec<Row>, Vec<Choice>)> {
    if selectors.is_empty() {
        let all = Catalogue::rows(CATALOGUE.default_benchmarks(), here);
        return Ok((all, Vec::new()));
    }
    let all = Catalogue::rows(CATALOGUE.benchmarks(), here);
    // A hidden benchmark is selected only by its exact id, or by its group's name: `run bill` prices all calls.
    let is_selected = |benchmark: &&Entry| {
        selectors.iter().any(|selector| {
            row_name::id(selector) == benchmark.id || *selector == benchmark.group()
        })
    };
    let hidden = CATALOGUE
        .groups()
        .filter(|group| group.hidden)
        .flat_map(|group| group.benchmarks)
        .filter(is_selected);
    let mut rows: Vec<Row> = all
        .into_iter()
        .chain(Catalogue::rows(hidden, here))
        .collect();
    let names: Vec<String> = rows.iter().map(Row::name).collect();
    let is_name = |selector: &Selector| names.iter().any(|name| selector.selects(name));
    let choices = choose(
        selectors,
        is_name,
        |selector| no_row(selector, &rows, here),
        here,
    )?;
    let found = choices.iter().filter_map(Choice::found);
    let found: Vec<&str> = found
        .flat_map(|(_, found)| found.iter().map(|one| one.benchmark.id))
        .collect();
    let procedures = PROCEDURES.iter().filter(|one| found.contains(&one.id));
    let mut procedures = Catalogue::rows(procedures, here);
    procedures.retain(|row| !names.contains(&row.name()));
    rows.extend(procedures);
    rows.retain(|row| {
        let name = row.name();
        choices.iter().any(|choice| choice.selects(&name))
    });
    Ok((rows, choices))
}

/// Returns the rows that a run measures: all of this profile, or those selected and the sources of
/// computed ones.
pub(crate) fn planned(selectors: &[String], profile: Profile, here: &Testbed) -> Result<Vec<Row>> {
    // Only behind `--` does one begin so.
    if selectors.iter().any(|selector| selector.starts_with('-')) {
        let command = selectors.join(" ");
        let words =
            format!("`{command}` is no row; a command is measured by: syscost time '{command}'");
        return Err(Failed::Usage(words).into());
    }
    let (mut rows, mut choices) = chosen(selectors, here)?;
    choices.iter_mut().for_each(Choice::prefer_own);
    if selectors.is_empty() {
        // A computed row is computed from those of its sources that the profile has.
        rows.retain(|row| profile.measures(row));
        return Ok(rows);
    }
    rows.retain(|row| choices.iter().any(|one| one.selects(&row.name())));
    // The words alone do not show what is going to be measured.
    for (text, found) in choices.iter().filter_map(Choice::found) {
        let labels: Vec<String> = found.iter().map(Found::label).collect();
        note_found(text, &labels);
    }
    let mut rows = CATALOGUE.with_sources(rows, here);
    if profile != Profile::Careful {
        let (careful, common): (Vec<Row>, Vec<Row>) = rows
            .iter()
            .cloned()
            .partition(|row| row.profile() == Profile::Careful);
        let selects = |selector: &Selector, rows: &[Row]| {
            rows.iter().any(|row| selector.selects(&row.name()))
        };
        // A selector that means no other rows means the careful ones.
        let mut by_case = Vec::new();
        for text in selectors.iter().filter(|text| text.contains('{')) {
            let selector = Selector::parse(text, here)?;
            if selects(&selector, &careful) && !selects(&selector, &common) {
                by_case.push(selector);
            }
        }
        rows.retain(|row| {
            let is_named = || by_case.iter().any(|selector| selector.selects(&row.name()));
            row.profile() != Profile::Careful || is_named()
        });
    }
    Ok(rows)
}

/// Prints how the programs of lmbench among the choices differ from what is measured here.
fn note_programs(choices: &[Choice]) {
    let names = choices.iter().filter_map(Choice::found);
    names.for_each(|(text, _)| note_program(text));
}

/// Prints what is shown of the latest run where words were given, the first of which could be a misspelt run.
pub(crate) fn tell_found(first: &str, words: &[String]) {
    let choices = choose_of(std::iter::empty(), words, &Testbed::plain());
    let choices = choices.unwrap_or_default();
    for (text, found) in choices.iter().filter_map(Choice::found) {
        let labels: Vec<String> = found.iter().map(Found::label).collect();
        let found = format!(
            "No run is called `{first}`; of the latest, what `{text}` finds: {}",
            labels.join(", ")
        );
        note!("{}", wrapped(&found, ""));
    }
}

/// Prints what these words find and so is going to be measured, and how it differs from a program
/// of lmbench that has this name.
fn note_found(text: &str, found: &[String]) {
    let found = format!("Measures what `{text}` finds: {}", found.join(", "));
    note!("{}", wrapped(&found, ""));
    note_program(text);
}

/// Prints how this program of lmbench, if it is one, differs from what is measured here.
fn note_program(text: &str) {
    if let Some(program) = program(text) {
        note!("{}", wrapped(&words::about(program), ""));
    }
}

/// A benchmark and its selected cases.
pub(crate) struct Selected {
    /// The benchmark.
    pub(crate) benchmark: &'static Entry,
    /// The selected cases.
    pub(crate) cases: Vec<Case>,
}

/// Returns the benchmarks whose rows these selectors mean.
pub(crate) fn benchmarks(selectors: &[String], here: &Testbed) -> Result<Vec<Selected>> {
    let (rows, choices) = chosen(selectors, here)?;
    note_programs(&choices);
    let mut found: Vec<Selected> = Vec::new();
    for Row { benchmark, case } in rows {
        match found.last_mut() {
            Some(last) if last.benchmark.id == benchmark.id => last.cases.push(case),
            Some(_) | None => found.push(Selected {
                benchmark,
                cases: vec![case],
            }),
        }
    }
    Ok(found)
}

/// Returns the rows of a run that any of these names means, in the run's order. `given` is the
/// name by which the run was given.
///
/// # Errors
/// [`Failed::Usage`] when a name means no row of the run.
pub(crate) fn rows_of<'a>(
    run: &'a Run,
    given: &str,
    names: &[String],
) -> Result<Vec<&'a Measurement>> {
    let choices = choose_of(names_of(run), names, &Testbed::plain())?;
    let selects = |choice: &Choice| run.measurements.iter().any(|row| choice.selects(&row.name));
    if let Some(lacking) = choices.iter().find(|choice| !selects(choice)) {
        let what = absent(lacking, &Kept::of(run, given));
        return Err(Failed::Usage(what).into());
    }
    let meant = |row: &&Measurement| choices.iter().any(|choice| choice.selects(&row.name));
    Ok(run.measurements.iter().filter(meant).collect())
}

/// Returns what these names mean among kept rows. A name of the catalogue counts as a name, whether
/// a row of it was kept or not; anything else that cannot be words, as a name of another version.
///
/// # Errors
/// [`Failed::Usage`] when an argument is not a name and finds nothing.
pub(crate) fn choose_of<'a>(
    kept: impl Iterator<Item = &'a str>,
    names: &[String],
    here: &Testbed,
) -> Result<Vec<Choice>, Failed> {
    let rows = Catalogue::rows(CATALOGUE.all(), here);
    let mut known: Vec<String> = rows.iter().map(Row::name).collect();
    known.extend(kept.map(str::to_owned));
    let is_name = |selector: &Selector| {
        !words::may_be_words(&selector.text) || known.iter().any(|name| selector.selects(name))
    };
    choose(names, is_name, |selector| unknown(&selector.text), here)
}

/// Returns the names of a run's rows.
pub(crate) fn names_of(run: &Run) -> impl Iterator<Item = &str> {
    run.measurements.iter().map(|row| row.name.as_str())
}

/// Checks that some row of the selector's ids has its parameters.
///
/// # Errors
/// [`Failed::Usage`] with the existing parameters.
pub(crate) fn check(selector: &str, here: &Testbed) -> Result<(), Failed> {
    let names: Vec<String> = Catalogue::rows(CATALOGUE.benchmarks(), here)
        .iter()
        .map(Row::name)
        .collect();
    let parsed = Selector::parse(selector, here)?;
    match wrong_parameter(&parsed, &names) {
        Some(wrong) => Err(Failed::Usage(wrong)),
        None => Ok(()),
    }
}

/// The error for a selector that means none of these rows.
fn no_row(selector: &Selector, rows: &[Row], here: &Testbed) -> Failed {
    let names: Vec<String> = rows.iter().map(Row::name).collect();
    match wrong_parameter(selector, &names).or_else(|| without_rows(selector, here)) {
        Some(wrong) => Failed::Usage(wrong),
        None => unknown(&selector.text),
    }
}

/// Says that what this selector names has no rows here, if it names a benchmark.
fn without_rows(selector: &Selector, here: &Testbed) -> Option<String> {
    let mut benchmarks = CATALOGUE.benchmarks();
    let named = benchmarks.find(|one| one.id == row_name::id(&selector.text))?;
    (!is_remote(&selector.text)).then(|| {
        format!(
            "{} has no rows here: which there are depends on the machine, and on the CPUs that \
             may be used ({})",
            named.id,
            cpu::format_list(&here.allowed)
        )
    })
}

/// Describes the parameter of the selector that none of these rows has, if any. Parameters of a far
/// end are not checked: only a run with one has such rows.
fn wrong_parameter(selector: &Selector, names: &[String]) -> Option<String> {
    let parts = selector.parts.as_ref()?;
    let wrong = absent::wrong_parameter(parts, names.iter().map(String::as_str))?;
    Some(wrong).filter(|_| !is_remote(&selector.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(selectors: &[&str], profile: Profile) -> Vec<String> {
        let selectors: Vec<String> = selectors.iter().map(|one| (*one).to_owned()).collect();
        let rows = planned(&selectors, profile, &Testbed::plain()).expect("they exist");
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
        let sizes = of("memory.bandwidth{size=*K,op=memcpy}");
        assert!(sizes.len() < both.len() && sizes.iter().all(|name| both.contains(name)));
        assert_eq!(
            of("*.bandwidth{size=24K}"),
            of("memory.bandwidth{size=24K}")
        );
        assert!(rows(&["memory.bandwidth{op=mem}".to_owned()], &Testbed::plain()).is_err());
    }

    #[test]
    fn words_measure_procedures_of_studies_only_where_nothing_else_is_found() {
        let measured = names(&["context", "switch"], Profile::Standard);
        assert!(measured.iter().any(|name| name.starts_with("switch.pipe")));
        assert!(
            !measured.iter().any(|name| name.starts_with("study.")),
            "{measured:?}"
        );
        let listed =
            benchmarks(&["context switch".to_owned()], &Testbed::plain()).expect("they exist");
        assert!(
            listed
                .iter()
                .any(|one| one.benchmark.id == "study.switch_costs.process_switch")
        );
        let published = names(&["as published"], Profile::Standard);
        assert!(
            published.iter().all(|name| name.starts_with("study.")),
            "{published:?}"
        );
    }

    #[test]
    fn a_value_means_the_rows_that_have_it() {
        let measured = names(&["gettid"], Profile::Standard);
        assert!(!measured.is_empty());
        assert!(measured.iter().all(|name| name.contains("call=gettid")));
        let listed = benchmarks(&["gettid".to_owned()], &Testbed::plain()).expect("it exists");
        let selected: usize = listed.iter().map(|one| one.cases.len()).sum();
        assert_eq!(selected, measured.len(), "the list says what is measured");
    }

    #[test]
    fn sizes_and_times_are_the_same_however_they_are_written() {
        let of = |selector: &str| names(&[selector], Profile::Careful);
        let sizes = of("memory.latency{size=48K}");
        assert!(!sizes.is_empty());
        for size in ["48k", "49152", "48KiB"] {
            assert_eq!(of(&format!("memory.latency{{size={size}}}")), sizes);
        }
        let sleeps = of("timing.sleep{delay=50us}");
        assert!(!sleeps.is_empty());
        for delay in ["50000ns", "0.05ms", "50µs"] {
            assert_eq!(of(&format!("timing.sleep{{delay={delay}}}")), sleeps);
        }
        // The whole name of a row is that row's alone.
        let one = "memory.latency{pages=4K,access=random,size=";
        assert_eq!(of(&format!("{one}49152}}")), [format!("{one}48K}}")]);
    }

    #[test]
    fn an_error_says_what_is_wrong_with_a_selector() {
        let refused = |selector: &str| {
            let refusal = rows(&[selector.to_owned()], &Testbed::plain())
                .err()
                .expect("no such row");
            refusal.to_string()
        };
        let size = refused("memory.latency{access=random,size=63K}");
        assert!(
            size.starts_with("memory.latency{access=random} has no size=63K; nearest: ")
                && size.ends_with("66K"),
            "{size}"
        );
        assert!(refused("memroy").contains("did you mean `memory`"));
        assert_eq!(
            refused("memory.latency{bytes=64K}"),
            "memory.latency has no parameter `bytes`; it has pages, access, size"
        );
        assert!(refused("net.tcp.connect{path=remote}").contains("need a far end"));
        assert!(
            check("memory.latency{size=48k}", &Testbed::plain()).is_ok()
                && check("memory.latency", &Testbed::plain()).is_ok()
        );
        assert!(check("memory.latency{size=63K}", &Testbed::plain()).is_err());
    }

    #[test]
    fn a_benchmark_without_rows_here_is_not_called_unknown() {
        let alone = Testbed {
            allowed: vec![0],
            ..Testbed::plain()
        };
        let refused = |text: &str| {
            rows(&[text.to_owned()], &alone)
                .err()
                .map(|no| no.to_string())
        };
        let why = "sync.atomic has no rows here: which there are depends on the machine, and on the \
                   CPUs that may be used (0)";
        assert_eq!(refused("sync.atomic").as_deref(), Some(why));
        assert_eq!(
            refused("sync.atomic{cpus=same_cache}").as_deref(),
            Some(why)
        );
        assert_eq!(refused("sync.barrier"), None);
    }

    #[test]
    fn a_prefix_of_ids_means_all_of_them() {
        let selects = |text, name| {
            Selector::parse(text, &Testbed::plain()).is_ok_and(|one| one.selects(name))
        };
        for text in ["net", "net.tcp", "net.tcp.connect", "net.*.connect"] {
            assert!(selects(text, "net.tcp.connect{step=reset}"), "{text}");
        }
        for text in ["ne", "net.t", "net.tcp.con", "tcp", "net.udp"] {
            assert!(!selects(text, "net.tcp.connect{step=reset}"), "{text}");
        }
    }

    #[test]
    fn careful_rows_are_measured_if_nothing_else_is_named() {
        let of = |selector| names(&[selector], Profile::Standard);
        let random = of("memory.latency{pages=4K,access=random}");
        assert!(!random.is_empty());
        assert!(random.iter().all(|name| !name.contains("1G")));
        let named = of("memory.latency{pages=4K,access=random,size=1G}");
        assert_eq!(named.len(), 1);
    }

    #[test]
    fn points_between_points_are_for_careful_runs_or_by_name() {
        let of = |profile| names(&["memory.latency"], profile);
        let (common, all) = (of(Profile::Standard), of(Profile::Careful));
        let between = all.iter().find(|name| !common.contains(name)).expect("one");
        assert!(all.len() > common.len() && all.len() > of(Profile::Quick).len());
        let named = names(&[between], Profile::Standard);
        assert_eq!(named, std::slice::from_ref(between));
        let computed = names(&["memory.cache_size"], Profile::Standard);
        assert!(computed.len() > 40 && !computed.contains(between));
    }

    #[test]
    fn a_default_run_leaves_out_what_is_measured_by_name() {
        let [standard, full, careful] =
            [Profile::Standard, Profile::Full, Profile::Careful].map(|profile| names(&[], profile));
        let left_out = full.iter().find(|name| !standard.contains(name));
        let left_out = left_out.expect("a full run has more rows");
        assert!(standard.len() < full.len() && full.len() < careful.len());
        for selector in [left_out, row_name::id(left_out)] {
            assert!(names(&[selector], Profile::Standard).contains(left_out));
        }
    }
}
