//! Whose page it is: the title, the machine in a line, and of several runs a table of what tells
//! them apart; and what each is called elsewhere.

use std::collections::BTreeSet;

use maud::{Markup, html};
use syscost_results::{Run, Status};

use crate::sentence::{self, Mark};
use crate::units::duration;

use super::comparison::Changes;
use super::trust::cores_ours;
use super::words::{bytes, counted};
use super::{MAX_COLUMNS, key, letter, trust};

pub(super) fn machines(runs: &[&Run]) -> usize {
    let machines: BTreeSet<[&str; 5]> = runs.iter().map(|run| run.machine.identity()).collect();
    machines.len()
}

/// When a run began, after its host where the runs are of several machines.
pub(super) fn place(run: &Run, runs: &[&Run]) -> String {
    let time = sentence::time(&run.started);
    match machines(runs) {
        0 | 1 => time,
        _ => format!("{}, {time}", sentence::host(&run.machine.hostname)),
    }
}

/// The names of the runs in the legends of charts.
pub(super) fn names(runs: &[&Run]) -> Vec<String> {
    let all = runs.iter().enumerate();
    let name = |(index, run): (usize, &&Run)| format!("{}: {}", letter(index), place(run, runs));
    all.map(name).collect()
}

/// The run of this index: its letter while runs are columns, else its place.
pub(super) fn whose(index: usize, runs: &[&Run]) -> Markup {
    let is_last = index + 1 == runs.len();
    html! {
        @if runs.len() <= MAX_COLUMNS { (key(index)) } @else {
            @if is_last { "the last run, " } @else { "not of the last run but of that of " }
            (place(runs[index], runs))
        }
    }
}

/// The name of a run's host, cut to a readable length.
fn host(run: &Run) -> String {
    sentence::host(&run.machine.hostname)
}

pub(super) fn title(runs: &[&Run], changes: Option<&Changes<'_>>) -> String {
    let hosts: Vec<&str> = runs.iter().map(|run| &*run.machine.hostname).collect();
    let one = hosts.first().filter(|host| {
        !host.is_empty() && hosts.iter().all(|other| other == *host) && machines(runs) == 1
    });
    match (runs, changes, one) {
        ([], ..) => "No run".to_owned(),
        (_, Some(_), Some(_)) => format!("What changed on {}", host(runs[0])),
        ([a, b], Some(_), None) if machines(runs) == 2 => {
            format!("From {} to {}", host(a), host(b))
        }
        (_, Some(_), None) => "What changed".to_owned(),
        ([run], None, Some(_)) => host(run),
        ([_], None, None) => "What this computer charges".to_owned(),
        (_, None, Some(_)) => format!("{}, {} runs", host(runs[0]), runs.len()),
        (_, None, None) => match machines(runs) {
            1 => format!("{} runs", runs.len()),
            machines if machines == runs.len() && machines <= MAX_COLUMNS => {
                format!("{machines} machines side by side")
            }
            machines => format!("{} runs of {machines} machines", runs.len()),
        },
    }
}

/// A fact of a run: its heading in the table, and its text.
type Fact = (&'static str, String);

/// What a run is of: what all runs of a page have in common stands beneath its title, what they
/// have not in a table.
fn facts(run: &Run) -> Vec<Fact> {
    let machine = &run.machine;
    let cpus = sentence::count(machine.cpus_online as usize, "CPU");
    let memory = machine.memory_bytes.map(bytes);
    let memory = memory.map(|bytes| format!("{bytes} of memory"));
    vec![
        ("processor", sentence::fact(&machine.cpu_model)),
        ("CPUs", cpus),
        ("memory", memory.unwrap_or_default()),
        ("system", machine.distribution.clone().unwrap_or_default()),
        ("kernel", sentence::fact(&machine.kernel)),
        ("hypervisor", machine.hypervisor.words().to_owned()),
        ("profile", format!("{} run", run.config.profile)),
    ]
}

/// How far a run can be trusted, in a cell each.
fn outcome(run: &Run) -> [Fact; 4] {
    let rows = run.measurements.iter();
    let measured = rows.filter(|row| row.status == Status::Ok);
    let within = |percent| format!("{}", trust::within(run, percent));
    [
        (
            "rows measured",
            format!("{} of {}", measured.count(), run.measurements.len()),
        ),
        (
            "✓ confirmed",
            trust::marked(run, Mark::Confirmed).to_string(),
        ),
        ("within 10 %", within(10.0)),
        ("cores ours", cores_ours(run).unwrap_or_default()),
    ]
}

/// What stands beneath the title: what the runs have in common, and when they were.
pub(crate) fn subtitle(runs: &[&Run], changes: Option<&Changes<'_>>) -> Markup {
    let Some((first, others)) = runs.split_first() else {
        return html! {};
    };
    let all: Vec<Vec<Fact>> = runs.iter().map(|run| facts(run)).collect();
    let is_common = |index: usize| all.iter().all(|facts| facts[index].1 == all[0][index].1);
    let common = all[0].iter().enumerate();
    let common = common.filter(|(index, (_, text))| is_common(*index) && !text.is_empty());
    let common: Vec<&str> = common.map(|(_, (_, text))| text.as_str()).collect();
    let are_columns = runs.len() <= MAX_COLUMNS || changes.is_some();
    html! {
        @if others.is_empty() {
            @let (profile, machine) = common.split_last().unwrap_or((&"", &[]));
            p class="lead" { (machine.join(" · ")) }
            p class="quiet" { (sentence::time(&first.started)) " · " (profile) ", " (duration(first.duration_s))
                @if let Some(peer) = sentence::peer(first) { " · " (peer) }
                @if let Some(nfs) = sentence::nfs(first) { " · " (nfs) }
            }
        } @else {
            p class="lead" { (common.join(" · ")) }
            @if are_columns {
                @let differing: Vec<usize> = (0..all[0].len()).filter(|index| !is_common(*index)).collect();
                (table(runs, &all, &differing, changes))
            } @else {
                @if machines(runs) > 1 { p class="lead" { (models(runs)) } }
                p class="quiet" { (span(runs)) " · " (runs.len()) " runs" }
                @if machines(runs) > 1 {
                    p class="note" { "As runs of one machine over time, the last is shown whole; " code { "syscost fleet report" }
                        " tells which of many machines is unlike the others." }
                }
            }
        }
    }
}

/// A line for each run: what tells it apart, how far to trust it.
fn table(
    runs: &[&Run],
    all: &[Vec<Fact>],
    differing: &[usize],
    changes: Option<&Changes<'_>>,
) -> Markup {
    let side = |index| changes.and_then(|changes| changes.side_of(index));
    let has_sides = (0..runs.len()).any(|index| side(index).is_some());
    html! {
        div class="box" tabindex="0" role="region" aria-label="Runs" {
            table class="stack" {
                caption class="spoken" { "The runs of this page" }
                thead { tr {
                    th scope="col" { "run" }
                    @if has_sides { th scope="col" { "side" } }
                    th scope="col" { "began" }
                    @for index in differing { th scope="col" { (all[0][*index].0) } }
                    @for (name, _) in outcome(runs[0]) { th scope="col" class="num" { (name) } }
                } }
                tbody {
                    @for (index, run) in runs.iter().enumerate() {
                        tr {
                            th scope="row" { (key(index)) " " (host(run)) }
                            @if has_sides { td data-head="side" { (side(index).unwrap_or_default()) } }
                            td { (sentence::time(&run.started)) }
                            @for fact in differing { @let (name, text) = &all[index][*fact];
                                td data-head=(name) { (text) } }
                            @for (name, text) in outcome(run) { td class="num" data-head=(name) { (text) } }
                        }
                    }
                }
            }
        }
    }
}

/// The processors of many runs, the most common first, each with its number of runs.
fn models(runs: &[&Run]) -> String {
    let models = runs.iter().map(|run| run.machine.cpu_model.as_str());
    let counts = counted(models).into_iter();
    let models: Vec<String> = counts
        .map(|(model, count)| format!("{model} ({})", sentence::count(count, "run")))
        .collect();
    models.join(", ")
}

/// From when to when runs began, in whatever order they are.
fn span(runs: &[&Run]) -> String {
    let began: BTreeSet<&str> = runs.iter().map(|run| run.started.as_str()).collect();
    let [first, last] = [began.first(), began.last()].map(|time| time.copied().unwrap_or_default());
    format!("{} to {}", sentence::time(first), sentence::time(last))
}
