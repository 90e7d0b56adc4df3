//! What was measured, where and how: subtitle, warnings, the machine's facts.

mod all;

use maud::{Markup, html};
use syscost_results::run::{Noise, Warning};
use syscost_results::{Run, Unit};

use crate::{sentence, units::quantity};

use all::{all, counted, differences};

use super::change::Changes;
use super::whose::{machines, place};
use super::{MAX_COLUMNS, conditions, key, quantities, words};

/// Codes of warnings about the time just before a run.
const BEFORE: [&str; 4] = ["load", "cpu_pressure", "noise", "shared_core"];

/// The run in a line or two below the title.
pub(super) fn subtitle(runs: &[&Run]) -> Markup {
    html! {
        @match runs {
            [] => {},
            [run] => {
                p class="lead" { (lead(run)) }
                @if let Some(peer) = sentence::peer(run) { p class="lead" { (peer) } }
                @if let Some(nfs) = sentence::nfs(run) { p class="lead" { (nfs) } }
                @for directory in &run.directories { p class="quiet" { (directory.label) ": " (directory.storage()) } }
                p class="quiet" {
                    @if !run.machine.hostname.is_empty() { (run.machine.hostname) " · " }
                    (words::time(&run.started)) " · " (run.config.profile) " run · " (sentence::summary(run))
                }
            }
            runs => {
                @if machines(runs) == 1 { p class="lead" { (lead(runs[0])) } }
                @if runs.len() <= MAX_COLUMNS {
                    @for (index, run) in runs.iter().enumerate() {
                        p class="quiet" { (key(index)) " " (place(run, runs)) " · " (run.config.profile) " run"
                            @if machines(runs) > 1 { " · " (lead(run)) } }
                    }
                } @else {
                    @if machines(runs) > 1 { p class="lead" { (models(runs)) } }
                    p class="quiet" { (span(runs)) " · " (runs.len()) " runs" }
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
    let began = || runs.iter().map(|run| run.started.as_str());
    let [first, last] = [began().min(), began().max()].map(Option::unwrap_or_default);
    format!("{} to {}", words::time(first), words::time(last))
}

/// The machine; the conditions of the measurement are shown below it.
fn lead(run: &Run) -> String {
    let machine = &run.machine;
    let cpus = match machine.cpus_online {
        1 => "1 CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    };
    let memory = machine
        .memory_bytes
        .map(bytes)
        .map(|bytes| format!("{bytes} of memory"));
    let parts = [
        Some(machine.cpu_model.clone()),
        Some(cpus),
        memory,
        machine.distribution.clone(),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(", ")
}

/// Warnings of all runs, each kind once, with advice: in the words of each run that has a column,
/// or else of the last run that has the warning.
pub(super) fn warnings(runs: &[&Run]) -> Markup {
    let mut kinds: Vec<&str> = Vec::new();
    for warning in runs.iter().flat_map(|run| &run.warnings) {
        if !kinds.contains(&warning.code.as_str()) {
            kinds.push(&warning.code);
        }
    }
    let of_kind = |kind: &str| -> Vec<(usize, &Warning)> {
        let warnings = runs.iter().enumerate().filter_map(|(index, run)| {
            let found = run.warnings.iter().find(|warning| warning.code == kind);
            Some((index, found?))
        });
        warnings.collect()
    };
    let mut found: Vec<Vec<(usize, &Warning)>> = kinds.into_iter().map(of_kind).collect();
    found.sort_by_key(|warnings| std::cmp::Reverse(warnings.len()));
    html! {
        @if !found.is_empty() {
            section class="warnings" aria-labelledby="title-warnings" {
                h2 id="title-warnings" { "Before you believe these numbers" }
                ul {
                    @for warnings in &found {
                        li {
                            @if let Some((_, last)) = warnings.last() {
                                @if BEFORE.contains(&last.code.as_str()) { span class="quiet" { "before the run: " } }
                                (seen(warnings, runs.len()))
                                " " span class="advice" { (words::code(&last.advice)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What was seen: once if all runs saw the same, by run if runs are columns, else that of the last
/// one, with the number of runs.
fn seen(warnings: &[(usize, &Warning)], runs: usize) -> Markup {
    let Some((_, last)) = warnings.last() else {
        return html! {};
    };
    let is_same = warnings.iter().all(|(_, one)| one.message == last.message);
    html! {
        @if runs == 1 || (is_same && warnings.len() == runs) {
            strong { (last.message) }
        } @else if runs <= MAX_COLUMNS {
            @for (position, (index, warning)) in warnings.iter().enumerate() {
                @if position > 0 { "; " }
                (key(*index)) " " strong { (warning.message) }
            }
        } @else {
            strong { (last.message) }
            span class="quiet" { " (in " (warnings.len()) " of " (runs) " runs" @if !is_same { ", this is the last" } ")" }
        }
    }
}

/// The machine's facts: the main ones at once, all of them on demand; of several runs, those that
/// differ first.
pub(super) fn section(runs: &[&Run], changes: Option<&Changes<'_>>) -> Markup {
    let Some(last) = runs.last() else {
        return html! {};
    };
    let facts: Vec<Vec<(String, String)>> = runs.iter().map(|run| all(run)).collect();
    html! {
        section id="machine" aria-labelledby="title-machine" {
            h2 id="title-machine" { @if runs.len() == 1 { "Machine and run" } @else { "Machines and runs" } }
            @if let Some(changes) = changes { (changes.facts()) } @else if runs.len() > 1 { (differences(runs, &facts)) }
            @if runs.len() > 1 { p class="note" { "The last run, " (place(last, runs)) ":" } }
            dl class="card facts" {
                @for (name, value) in main(last) { div { dt { (name) } dd { (value) } } }
            }
            details {
                summary { "All facts" @if runs.len() > 1 { " of the last run" } }
                dl class="facts all" {
                    @for (name, value) in facts.last().into_iter().flatten() { div { dt title=(name) { (quantities::named(name)) } dd { (value) } } }
                }
            }
        }
    }
}

/// The most important facts of a machine.
fn main(run: &Run) -> Vec<(&'static str, String)> {
    let machine = &run.machine;
    let cores = match (machine.cpus_online, machine.cores) {
        (cpus, Some(cores)) => format!("{cpus} online, {cores} cores"),
        (cpus, None) => format!("{cpus} online"),
    };
    let core = run.core_ghz.map_or_else(
        || "not known".to_owned(),
        |ghz| quantity(Unit::Gigahertz, ghz),
    );
    let noise = run.noise.iter().filter(|noise| noise.used).map(|noise| {
        format!(
            "{:.1} % of CPU {} lost, longest gap {}",
            noise.lost_percent,
            noise.cpu,
            quantity(Unit::Nanoseconds, 1e3 * noise.longest_gap_us)
        )
    });
    let noise: Vec<String> = noise.collect();
    let mut facts = vec![
        ("Labels", labels(run)),
        ("Product", machine.product.clone().unwrap_or_default()),
        ("CPU", machine.cpu_model.clone()),
        ("CPUs", cores),
        (
            "Memory",
            machine.memory_bytes.map(bytes).unwrap_or_default(),
        ),
        ("Kernel", machine.kernel.clone()),
        ("System", machine.distribution.clone().unwrap_or_default()),
        (
            "Virtual",
            machine
                .hypervisor
                .clone()
                .unwrap_or_else(|| "no hypervisor seen".to_owned()),
        ),
        ("Core clock", core),
        (
            "Clock",
            format!(
                "{}, {:.3} GHz, step {:.1} ns",
                run.clock.source, run.clock.ghz, run.clock.step_ns
            ),
        ),
        ("Noise before the run", noise.join("; ")),
        ("Shared core", shared_core(run)),
        ("Far end", sentence::peer(run).unwrap_or_default()),
        ("NFS server", sentence::nfs(run).unwrap_or_default()),
    ];
    let directories = run.directories.iter().map(sentence::directory);
    facts.extend(directories.map(|directory| ("Directory", directory)));
    facts.push(("Run", run.id.clone()));
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// What the machine is to whoever asked: `instance=m5.large, rack=7`.
fn labels(run: &Run) -> String {
    let labels = run.config.labels.iter();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    labels.join(", ")
}

/// How much of the time each probed core was ours, those that measured first, and the cost of
/// sharing.
fn shared_core(run: &Run) -> String {
    let (used, others): (Vec<&Noise>, Vec<&Noise>) = run.noise.iter().partition(|noise| noise.used);
    let all: Vec<&Noise> = used.iter().chain(&others).copied().collect();
    let parts = [
        conditions::core_ours(&all),
        sentence::slower_while_shared(all),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn bytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}
