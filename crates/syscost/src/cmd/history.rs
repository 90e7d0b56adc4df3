//! `syscost history`: shows the kept runs, and metrics over time.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Result;
use indicatif::ProgressBar;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::json;
use syscost_harness::Testbed;
use syscost_harness::session::journal;
use syscost_report::TableOptions;
use syscost_report::document::{Block, terminal as written};
use syscost_report::history::{ListedRun, changes, lines, list, over_time};
use syscost_report::sentence;
use syscost_report::units::quantity;
use syscost_results::history::Series;
use syscost_results::row_name;
use syscost_stats::changes::MIN_VALUES;
use syscost_stats::order;
use syscost_store::{Followed, Index, KeptRun, Scope, Store, StoreError};

use crate::cli::{Format, HistoryArguments, HistoryCommand, PruneArguments};
use crate::error::{Failed, exit};
use crate::kept;
use crate::selection::{Choice, Kept, absent, choose_of, own_or_all};
use crate::terminal::{self, note, warn};

/// In the place of a machine's name.
const ALL: &str = "all";
/// From this many documents on, indexing them takes long enough to show progress.
const MANY: usize = 50;

/// Runs the command.
pub(crate) fn run(arguments: &HistoryArguments) -> Result<u8> {
    let store = Store::of_user();
    match &arguments.command {
        Some(HistoryCommand::Tag { runs, tag, delete }) => set_tag(&store, runs, tag, *delete)?,
        Some(HistoryCommand::Prune(which)) => prune(&store, which)?,
        None => {
            let index = open(&store)?;
            let names = &arguments.names[..];
            match names {
                [] if arguments.changes => print_changes(&index, arguments)?,
                [] => print_list(&index, arguments.format)?,
                names if arguments.machine.as_deref() == Some(ALL) => {
                    show_machines(&index, names, arguments)?;
                }
                names => show(&index, names, arguments)?,
            }
        }
    }
    Ok(exit::DONE)
}

/// Gives these runs a tag, or takes it away from them. All are known before the first is changed.
fn set_tag(store: &Store, runs: &[String], tag: &str, is_removed: bool) -> Result<()> {
    let mut text = String::new();
    for id in ids(store, runs)? {
        let what = match is_removed {
            false => store.tag(&id, tag).map(|()| "is tagged")?,
            true if store.untag(&id, tag)? => "is no longer tagged",
            true => "was not tagged",
        };
        text += &format!("{id} {what} {tag}\n");
    }
    super::print(&text)
}

/// The ids of these kept runs.
fn ids(store: &Store, names: &[String]) -> Result<Vec<String>, StoreError> {
    let ids = names.iter().map(|name| {
        kept::tell_passed(name);
        store.kept_ids(name)
    });
    Ok(ids.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Opens the index and updates it; problems in the folder are reported once, on standard error.
pub(super) fn open(store: &Store) -> Result<Index> {
    let mut bar: Option<ProgressBar> = None;
    let index = Index::open(store, &mut |done, all| {
        if all < MANY {
            return;
        }
        let bar = bar.get_or_insert_with(|| {
            if !std::io::stderr().is_terminal() {
                note!("indexing {all} runs");
            }
            // Draws on a terminal only.
            ProgressBar::new(all as u64)
        });
        bar.set_position(done as u64);
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let index = index?;
    for problem in &index.fresh_problems {
        warn(&format!("skipped: {}", problem.problem));
    }
    if let Some(cause) = &index.not_kept {
        warn(&format!(
            "the index cannot be kept, so every command reads all runs: {cause}"
        ));
    }
    Ok(index)
}

/// A document as this terminal shows it.
fn text(blocks: &[Block]) -> String {
    let options = TableOptions::of_width(terminal::width());
    written(
        blocks,
        &TableOptions {
            color: true,
            ..options
        },
    )
}

fn print_list(index: &Index, format: Format) -> Result<()> {
    let (runs, problems) = (index.runs()?, index.problems()?);
    if let Format::Json = format {
        return super::print_json(&json!({"runs": runs, "problems": problems}));
    }
    let mut text = if runs.is_empty() {
        "no run is kept yet; measure first: syscost run\n".to_owned()
    } else {
        self::text(&list(&listed(&runs), Timestamp::now(), &TimeZone::system()))
    };
    if !problems.is_empty() {
        let names: Vec<String> = problems
            .iter()
            .map(|problem| format!("{:?}", problem.file))
            .collect();
        text += &format!(
            "skipped, because they are not readable runs: {}\n",
            names.join(", ")
        );
    }
    super::print(&text)
}

/// Returns the runs as the list shows them; machines with the same host name are distinguished.
fn listed(runs: &[KeptRun]) -> Vec<ListedRun> {
    let is_shared = |run: &KeptRun| {
        let namesake =
            |other: &KeptRun| other.hostname == run.hostname && other.machine != run.machine;
        runs.iter().any(namesake)
    };
    runs.iter()
        .map(|run| ListedRun {
            id: run.id.clone(),
            started: run.started.parse().unwrap_or(Timestamp::UNIX_EPOCH),
            machine: if is_shared(run) {
                format!("{} {}", run.hostname, run.machine)
            } else {
                run.hostname.clone()
            },
            kernel: run.kernel.clone(),
            profile: run.profile.clone(),
            asked: run.asked.clone(),
            complete: run.complete,
            rows: run.rows,
            measured: run.measured,
            size_bytes: run.size_bytes,
            tags: run.tags.clone(),
        })
        .collect()
}

/// Follows the rows that are wanted over the runs of a machine, if not given that of the newest run.
fn follow(
    index: &Index,
    machine: Option<&str>,
    since: Option<Timestamp>,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Followed> {
    let machine = machine.map(str::to_owned);
    Ok(index.follow(&Scope { machine, since }, wanted)?)
}

/// Returns what these names mean, and the history of its rows.
///
/// # Errors
/// When one of them means no row that was kept.
fn meant(
    index: &Index,
    names: &[String],
    machine: Option<&str>,
    since: Option<Timestamp>,
) -> Result<(Vec<Choice>, Followed)> {
    if let Ok(choices) = choose_of(std::iter::empty(), names, &Testbed::plain()) {
        let is_meant = |row: &str| choices.iter().any(|choice| choice.selects(row));
        let followed = follow(index, machine, since, &is_meant)?;
        if followed.runs == 0 || lacking(&choices, &followed).is_none() {
            return Ok((choices, followed));
        }
    }
    // Rows of other versions have names that only kept runs know.
    let mut followed = follow(index, machine, since, &|_| true)?;
    let kept: Vec<String> = followed
        .series
        .iter()
        .map(|one| one.series.name.clone())
        .collect();
    let choices = choose_of(kept.iter().map(String::as_str), names, &Testbed::plain())?;
    if let Some(lacking) = lacking(&choices, &followed) {
        let kept = Kept {
            place: runs(followed.runs, ""),
            names: kept.iter().map(String::as_str).collect(),
            profile: None,
            look: "see `syscost list` and `syscost history`".to_owned(),
        };
        return Err(Failed::Usage(absent(lacking, &kept)).into());
    }
    let is_meant = |row: &str| choices.iter().any(|choice| choice.selects(row));
    followed.series.retain(|one| is_meant(&one.series.name));
    Ok((choices, followed))
}

/// Returns the first choice that none of these rows has.
fn lacking<'c>(choices: &'c [Choice], followed: &Followed) -> Option<&'c Choice> {
    let has_rows = |choice: &Choice| {
        let mut names = followed.series.iter().map(|one| &one.series.name);
        names.any(|name| choice.selects(name))
    };
    choices.iter().find(|choice| !has_rows(choice))
}

fn show(index: &Index, names: &[String], arguments: &HistoryArguments) -> Result<()> {
    let (machine, since) = (arguments.machine.as_deref(), arguments.since);
    let (choices, mut followed) = meant(index, names, machine, since)?;
    if followed.runs == 0 {
        let why = match index.runs()?.is_empty() {
            true => "no run is kept yet; measure first: syscost run",
            false => "no kept run is that recent, or of that machine; see `syscost history`",
        };
        return Err(Failed::Usage(why.to_owned()).into());
    }
    // Words find procedures of published experiments, too.
    if choices.iter().all(Choice::is_words) {
        followed.series = own_or_all(followed.series, |one| row_name::id(&one.series.name));
    }
    if let Format::Json = arguments.format {
        return super::print_json(&followed);
    }
    let mut text = text(&over_time(&series(&followed), &TimeZone::system()));
    text += &left_out(&followed);
    super::print(&text)
}

/// Shows the metrics of every machine that has them, a line for each machine below each metric.
fn show_machines(index: &Index, names: &[String], arguments: &HistoryArguments) -> Result<()> {
    let runs = index.runs()?;
    let mut machines: BTreeMap<&str, String> = BTreeMap::new();
    for (run, listed) in runs.iter().zip(listed(&runs)) {
        machines.entry(&run.machine).or_insert(listed.machine);
    }
    let mut all = Vec::new();
    let mut lacking = None;
    for (machine, called) in machines {
        match meant(index, names, Some(machine), arguments.since) {
            Ok((_, followed)) if followed.runs > 0 => all.push((called, followed)),
            Ok(_) => {}
            Err(error) => lacking = Some(error),
        }
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    match (all.is_empty(), lacking) {
        (true, Some(error)) => return Err(error),
        (true, None) => {
            let none = "no run is kept, or none that recent; see `syscost history`";
            return Err(Failed::Usage(none.to_owned()).into());
        }
        (false, _) => {}
    }
    if let Format::Json = arguments.format {
        let all: Vec<Followed> = all.into_iter().map(|(_, followed)| followed).collect();
        return super::print_json(&all);
    }
    let mut metrics: BTreeMap<String, Vec<Series>> = BTreeMap::new();
    for (called, followed) in all {
        for mut series in series(&followed) {
            let name = std::mem::replace(&mut series.name, called.clone());
            metrics.entry(name).or_default().push(series);
        }
    }
    let block = |(name, machines): (&String, &Vec<Series>)| {
        let latest = machines.iter().flat_map(|one| one.points.last());
        let latest: Vec<f64> = latest.map(|point| point.median).collect();
        let middle = order::median(&latest).zip(machines.first());
        let middle = middle.map_or_else(String::new, |(value, one)| {
            format!(", the middle one {}", quantity(one.unit, value))
        });
        let count = sentence::count(machines.len(), "machine");
        let lines = text(&[Block::Table(lines(machines, &TimeZone::system()))]);
        format!("{name}: {count}{middle}\n{lines}")
    };
    let blocks: Vec<String> = metrics.iter().map(block).collect();
    super::print(&blocks.join("\n"))
}

fn print_changes(index: &Index, arguments: &HistoryArguments) -> Result<()> {
    let (machine, since) = (arguments.machine.as_deref(), arguments.since);
    let mut followed = follow(index, machine, since, &|_| true)?;
    let metrics = followed.series.len();
    let counts = followed.series.iter().map(|one| one.series.points.len());
    let judged = counts.filter(|count| *count >= MIN_VALUES).count();
    followed
        .series
        .retain(|tracked| !tracked.series.changes.is_empty());
    if let Format::Json = arguments.format {
        return super::print_json(&followed);
    }
    let changed = followed.series.len();
    let over = runs(followed.runs, "");
    let few = format!("fewer than {MIN_VALUES} runs have a number there");
    let mut text = match (judged, metrics - judged) {
        (0, 1..) => {
            format!("cannot tell whether any of {metrics} metrics changed over {over}: {few}\n")
        }
        (_, 0) => format!("{changed} of {metrics} metrics changed over {over}\n"),
        (judged, untold) => format!(
            "{changed} of {judged} metrics changed over {over}; of {untold} more nothing can be said: {few}\n"
        ),
    };
    text += &self::text(&changes(&series(&followed), &TimeZone::system()));
    text += &left_out(&followed);
    super::print(&text)
}

fn series(followed: &Followed) -> Vec<Series> {
    followed
        .series
        .iter()
        .map(|tracked| tracked.series.clone())
        .collect()
}

/// Says in one line what was left out; empty if nothing was.
fn left_out(followed: &Followed) -> String {
    let mut parts = Vec::new();
    if followed.other_machines > 0 {
        parts.push(format!(
            "{} (--machine)",
            runs(followed.other_machines, " of other machines")
        ));
    }
    if followed.other_builds > 0 {
        parts.push(runs(followed.other_builds, " of another build"));
    }
    if let [only] = &followed.series[..] {
        if only.other_revisions > 0 {
            parts.push(runs(
                only.other_revisions,
                " of another revision of the benchmark, or of another far end or congestion control",
            ));
        }
        if only.without_number > 0 {
            parts.push(runs(only.without_number, " without a number"));
        }
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!("left out: {}\n", parts.join(", "))
    }
}

fn runs(count: usize, which: &str) -> String {
    format!("{}{which}", sentence::count(count, "run"))
}

/// Removes old runs, after asking.
fn prune(store: &Store, arguments: &PruneArguments) -> Result<()> {
    let runs = open(store)?.runs()?;
    let now = Timestamp::now();
    let (spared, going): (Vec<KeptRun>, Vec<KeptRun>) = old(runs, arguments, now)
        .into_iter()
        .partition(|run| !run.tags.is_empty());
    let bytes: u64 = going.iter().map(|run| run.size_bytes).sum();
    super::print(&report_of_pruning(&going, spared.len(), bytes, now))?;
    if !going.is_empty() && (arguments.yes || confirmed(going.len())?) {
        for run in &going {
            store.remove(&run.id)?;
            // Nor is it to be resumed, unless that is going on.
            let journal = store.journals().join(format!("{}.journal", run.id));
            if !journal::is_busy(&journal) {
                let _ = fs::remove_file(journal);
            }
        }
        super::print("removed\n")?;
    }
    Ok(())
}

/// Returns the runs, given newest first, that are beyond the limits of number and age. With both
/// limits, a run must be beyond both.
fn old(runs: Vec<KeptRun>, arguments: &PruneArguments, now: Timestamp) -> Vec<KeptRun> {
    let is_old = |run: &KeptRun| {
        arguments.older_than.is_none_or(|age| {
            // A run whose time cannot be read is not old.
            run.started
                .parse::<Timestamp>()
                .is_ok_and(|started| now.duration_since(started) > age)
        })
    };
    runs.into_iter()
        .skip(arguments.keep.unwrap_or(0))
        .filter(is_old)
        .collect()
}

fn report_of_pruning(going: &[KeptRun], spared: usize, bytes: u64, now: Timestamp) -> String {
    let mut text = String::new();
    if going.is_empty() {
        text += "there is nothing to remove\n";
    } else {
        text += &self::text(&list(&listed(going), now, &TimeZone::system()));
        text += &format!("{}, {:.1} MB\n", runs(going.len(), ""), bytes as f64 / 1e6);
    }
    if spared > 0 {
        text += &format!(
            "{} (syscost history tag --delete takes a tag away)\n",
            sentence::agreeing(spared, "# run[s] with a tag [stays|stay]"),
        );
    }
    text
}

/// Asks for confirmation on the terminal.
///
/// # Errors
/// [`Failed::Usage`] without a terminal: then only `--yes` confirms it.
fn confirmed(count: usize) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Failed::Usage(format!(
            "{} would be removed, and there is no terminal to ask on; add --yes",
            runs(count, "")
        ))
        .into());
    }
    let mut question = io::stderr();
    write!(question, "remove {}? [y/N] ", runs(count, ""))?;
    question.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
