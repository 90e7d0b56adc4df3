//! Finds the kept run that the user means.

use std::collections::BTreeSet;

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_harness::Testbed;
use syscost_harness::session::INTERRUPTED;
use syscost_results::{Measurement, Run, Status};
use syscost_store::{LATEST, Loaded, Store, StoreError};

use crate::selection::{Choice, choose_of, names_of, tell_found};
use crate::terminal::{note, warn};
use crate::{Failed, references};

/// Returns the run called `name`.
///
/// # Errors
/// When there is no such run, or its document cannot be read.
pub(crate) fn run(name: &str) -> Result<Run> {
    let found = having(name, |_| true);
    let (found, _) = found.map_err(|error| explain_missing(name, error))?;
    tell(name, &found);
    Ok(found.run)
}

/// Returns what [`Store::find_having`] finds, with what the rows stand for: every command reads kept
/// runs by this.
pub(crate) fn having(
    name: &str,
    mut has: impl FnMut(&Run) -> bool,
) -> Result<(Loaded, usize), StoreError> {
    let has = |run: &mut Run| {
        CATALOGUE.assign_roles(run);
        has(run)
    };
    let (mut loaded, passed) = Store::of_user().find_having(name, has)?;
    // A run that was named has not been asked what it has.
    CATALOGUE.assign_roles(&mut loaded.run);
    Ok((loaded, passed))
}

/// Says which run it is where its tag names several, and warns of the files in the directory of runs
/// that are later, but contain none.
pub(crate) fn tell(name: &str, loaded: &Loaded) {
    if loaded.older > 0 {
        let runs = loaded.older + 1;
        note!(
            "{runs} runs are tagged {name}; this is the newest, {}.",
            loaded.run.id
        );
    }
    /// Maximum number of files that are named.
    const NAMED: usize = 3;
    for problem in loaded.skipped.iter().take(NAMED) {
        warn(&format!("skipped: {problem}"));
    }
    if let more @ 1.. = loaded.skipped.len().saturating_sub(NAMED) {
        warn(&format!(
            "skipped: {more} more files; `syscost history` names all"
        ));
    }
}

/// Returns these names with the ids of its runs, oldest first, in place of a tag of several.
pub(crate) fn several(names: &[String]) -> Vec<String> {
    let store = Store::of_user();
    names.iter().flat_map(|name| store.each(name)).collect()
}

/// Returns the runs of these names: of a tag, all that have it.
pub(crate) fn runs(names: &[String]) -> Result<Vec<Run>> {
    several(names).iter().map(|name| run(name)).collect()
}

/// Refuses a run that is given twice.
pub(crate) fn distinct<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Result<(), Failed> {
    let mut seen = BTreeSet::new();
    runs.into_iter()
        .try_for_each(|run| distinct_from(&mut seen, run))
}

/// Refuses a run whose id is among these, and adds it to them.
pub(crate) fn distinct_from(seen: &mut BTreeSet<String>, run: &Run) -> Result<(), Failed> {
    match seen.insert(run.id.clone()) {
        true => Ok(()),
        false => Err(Failed::Usage(format!(
            "run {} is given twice; give each run once",
            run.id
        ))),
    }
}

/// Returns the run and the rows that the arguments `[RUN] [SELECTOR|WORDS]...` of a command mean. If
/// no run has the name given, and it names or finds rows, these rows of the latest run are meant:
/// `show syscall`, `plot context switch`.
///
/// # Errors
/// [`Failed::Usage`] when a run is named after the rows.
pub(crate) fn meant(
    command: &str,
    run: &str,
    rows: &[String],
    are_rows: impl Fn(&[String]) -> bool,
) -> Result<(String, Vec<String>), Failed> {
    let store = Store::of_user();
    if store.has(run) {
        return Ok((run.to_owned(), rows.to_vec()));
    }
    let mut all = [&[run.to_owned()], rows].concat();
    if are_rows(&all) {
        tell_found(run, &all);
        return Ok((LATEST.to_owned(), all));
    }
    if let Some(place) = all.iter().position(|word| store.has(word)) {
        let run = all.remove(place);
        let others = all.join(" ");
        if are_rows(&all) {
            let order = format!("the run goes before its rows: syscost {command} {run} {others}");
            return Err(Failed::Usage(order));
        }
    }
    Ok((run.to_owned(), rows.to_vec()))
}

/// Returns the runs and the rows that the arguments `[RUN]... [SELECTOR|WORDS]...` of a command mean:
/// the words before the first that is no run are runs, or tags of runs (see [`several`]); without any,
/// the latest run is meant.
pub(crate) fn all_meant(
    command: &str,
    words: &[String],
    are_rows: impl Fn(&[String]) -> bool,
) -> Result<(Vec<String>, Vec<String>), Failed> {
    let store = Store::of_user();
    let runs = words.iter().take_while(|word| store.has(word)).count();
    let (runs, rows) = words.split_at(runs);
    match (runs, rows) {
        ([], []) => Ok((vec![LATEST.to_owned()], Vec::new())),
        ([], [first, rest @ ..]) => {
            let (run, rows) = meant(command, first, rest, are_rows)?;
            Ok((vec![run], rows))
        }
        (runs, rows) => Ok((runs.to_vec(), rows.to_vec())),
    }
}

/// Explains that a shipped reference has no samples, so it cannot be compared or exported.
fn explain_missing(name: &str, error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Unknown { .. } if references::is_shipped(name) => Failed::Usage(format!(
            "`{name}` is a shipped reference without samples, which can only be shown beside a run: \
             syscost show latest --beside {name}"
        ))
        .into(),
        other => other.into(),
    }
}

/// Returns the run called `name`. If that is `latest`, and the latest run was interrupted or lacks
/// what is asked for, returns the latest run that is complete and has it, and says why on standard
/// error. `lack` returns what a run lacks.
///
/// # Errors
/// When there is no such run, or its document cannot be read.
pub(crate) fn find(name: &str, lack: impl Fn(&Run) -> Option<String>) -> Result<Run> {
    let mut first = None;
    let has = |run: &Run| {
        let lack = lack(run).or_else(|| was_interrupted(run).then(|| "was interrupted".to_owned()));
        let is_fit = lack.is_none();
        first = first.take().or_else(|| Some((run.id.clone(), lack?)));
        is_fit
    };
    let found = having(name, has);
    let (loaded, passed) = found.map_err(|error| explain_missing(name, error))?;
    tell(name, &loaded);
    if let Some((id, lack)) = first.filter(|_| passed > 0) {
        let others = match passed - 1 {
            0 => String::new(),
            others => syscost_report::sentence::agreeing(others, "; # more [was|were] passed over"),
        };
        note!(
            "This is run {}, an older one: the latest, {id}, {lack}{others}.",
            loaded.run.id
        );
    }
    Ok(loaded.run)
}

/// Whether the run was interrupted. A run that has used up its time counts as complete.
pub(crate) fn was_interrupted(run: &Run) -> bool {
    let is_cut = |row: &Measurement| {
        row.status == Status::Skipped && row.reason.as_deref() == Some(INTERRUPTED)
    };
    !run.complete && run.measurements.iter().any(is_cut)
}

/// Returns what a run lacks of the rows that these names mean. Of each name it must have tried at
/// least one row, whatever the outcome.
pub(crate) fn lacks_rows(run: &Run, names: &[String]) -> Option<String> {
    let choices = choose_of(names_of(run), names, &Testbed::plain()).ok()?;
    choices.iter().find_map(|choice| lacks(run, choice))
}

fn lacks(run: &Run, choice: &Choice) -> Option<String> {
    let meant = |row: &&Measurement| choice.selects(&row.name);
    let is_untried =
        |row: &Measurement| matches!(row.status, Status::Skipped | Status::Unsupported);
    let mut rows = run.measurements.iter().filter(meant).peekable();
    let Some(&first) = rows.peek() else {
        return Some(format!("has no row called {}", choice.text()));
    };
    let what = match first.status == Status::Unsupported {
        true => "could not measure",
        false => "skipped",
    };
    let reason = first.reason.as_deref();
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    let lack = format!("{what} {}{reason}", first.name);
    rows.all(is_untried).then_some(lack)
}
