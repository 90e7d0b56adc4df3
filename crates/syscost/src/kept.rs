//! Finds the kept run that the user means.

use std::collections::BTreeSet;

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_harness::Testbed;
use syscost_harness::session::INTERRUPTED;
use syscost_results::{Measurement, Run, Status};
use syscost_store::{LATEST, Loaded, Store, StoreError};

use crate::selection::{Choice, choose_of, is_procedure, names_of, tell_found};
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

/// Says which run it is where its tag names several or a file has its name, and warns of the files in the directory
/// of runs that are later, but contain none.
pub(crate) fn tell(name: &str, loaded: &Loaded) {
    tell_passed(name);
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

/// Says that a name means a kept run where a file that holds none has it, too.
pub(crate) fn tell_passed(name: &str) {
    if let Some(problem) = Store::of_user().passed_file(name) {
        note!("`{name}` is taken for the kept run: {problem}");
    }
}

/// Returns these names with the ids of its runs, oldest first, in place of a tag of several.
pub(crate) fn several(names: &[String]) -> Vec<String> {
    let store = Store::of_user();
    let each = |name: &String| {
        let each = store.each(name);
        // By an id nothing would tell what the tag is.
        if each.len() > 1 {
            tell_passed(name);
        }
        each
    };
    names.iter().flat_map(each).collect()
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
    if is_run(&store, run, &are_rows) {
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

/// Whether this word names a run: a folder `memory` hides no rows of that name.
fn is_run(store: &Store, word: &str, are_rows: impl Fn(&[String]) -> bool) -> bool {
    store.has(word) && !(are_rows(&[word.to_owned()]) && store.is_stray(word))
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
    let runs = words.iter();
    let runs = runs.take_while(|word| is_run(&store, word, &are_rows));
    let runs = runs.count();
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

/// Returns the ids of the latest run and, before it, of the latest earlier one that was asked for the same; where there
/// is none, of one that has rows of it. Says which runs were passed over.
///
/// # Errors
/// [`Failed::Usage`] when no earlier run has any of its rows; as [`run`].
pub(crate) fn latest_two() -> Result<[String; 2]> {
    /// Maximum number of runs that are named.
    const NAMED: usize = 3;
    let (newest, _) = having(LATEST, |_| true)?;
    tell(LATEST, &newest);
    let Loaded { run: new, path, .. } = newest;
    let asked = new.asked();
    let measured = |run: &Run| -> BTreeSet<String> {
        let rows = run.measurements.iter();
        let rows = rows.filter(|row| row.status == Status::Ok);
        rows.map(|row| row.name.clone()).collect()
    };
    let rows = measured(&new);
    let (mut later, mut related) = (Vec::new(), None);
    for (earlier, _) in Store::of_user().earlier(&path)? {
        let its = earlier.asked();
        let is_alike = its == asked && earlier.config.profile == new.config.profile;
        if is_alike {
            related = Some((earlier.id, "of the same rows", later.len()));
            break;
        }
        if related.is_none() && !measured(&earlier).is_disjoint(&rows) {
            related = Some((earlier.id.clone(), "with rows in common", later.len()));
        }
        later.push(format!("{} ({its})", earlier.id));
    }
    let Some((base, which, passed)) = related else {
        let why = match later.is_empty() {
            true => format!("only one run is kept, {}; measure again", new.id),
            false => format!(
                "no earlier run has rows of the latest, {} ({asked}); measure it again",
                new.id
            ),
        };
        let advice = "or name the two: syscost compare BASE NEW";
        return Err(Failed::Usage(format!("{why}, {advice}")).into());
    };
    if passed > 0 {
        let passed = syscost_report::sentence::listed(&later[..passed], NAMED);
        note!(
            "Compared is the latest run, {} ({asked}), with {base}, the latest earlier one {which}; passed over: {passed}.",
            new.id
        );
    }
    Ok([base, new.id])
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
    let mut choices = choose_of(names_of(run), names, &Testbed::plain()).ok()?;
    // A study's procedures are no answer where words find own rows.
    choices.iter_mut().for_each(Choice::prefer_own);
    choices.iter().find_map(|choice| lacks(run, choice))
}

fn lacks(run: &Run, choice: &Choice) -> Option<String> {
    let is_own = |row: &Measurement| !is_procedure(&row.id);
    let meant = |row: &&Measurement| choice.selects(&row.name);
    let is_untried =
        |row: &Measurement| matches!(row.status, Status::Skipped | Status::Unsupported);
    let mut rows = run.measurements.iter().filter(meant).peekable();
    let Some(&first) = rows.peek() else {
        return Some(format!("has no row called {}", choice.text()));
    };
    // Some rows of a group are not what was asked for, nor what is looked for.
    let is_whole = !choice.text().contains('.');
    if is_whole && run.repeats_studies() && run.measurements.iter().filter(meant).all(is_own) {
        return Some(format!("was to repeat {}", run.asked()));
    }
    let what = match first.status == Status::Unsupported {
        true => "could not measure",
        false => "skipped",
    };
    let reason = first.reason.as_deref();
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    let lack = format!("{what} {}{reason}", first.name);
    rows.all(is_untried).then_some(lack)
}
