//! What was measured, where and how: subtitle, warnings, the machine's facts.

use std::collections::BTreeMap;

use maud::{Markup, html};
use syscost_results::run::{Noise, Warning};
use syscost_results::{Run, Unit};

use crate::{sentence, units::quantity};

use super::change::Changes;
use super::{MAX_COLUMNS, conditions, key, words};

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
                @for directory in &run.directories { p class="lead" { (sentence::directory(directory)) } }
                p class="quiet" { (words::time(&run.started)) " · " (run.config.profile) " run · " (sentence::summary(run)) }
            }
            [first, .., last] => {
                p class="lead" { (first.machine.cpu_model) @if first.machine.cpu_model != last.machine.cpu_model { " and others" } }
                p class="quiet" { (words::time(&first.started)) " to " (words::time(&last.started)) " · " (runs.len()) " runs" }
            }
        }
    }
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
            @if runs.len() > 1 { p class="note" { "The last run, " (words::time(&last.started)) ":" } }
            dl class="card facts" {
                @for (name, value) in main(last) { div { dt { (name) } dd { (value) } } }
            }
            details {
                summary { "All facts" @if runs.len() > 1 { " of the last run" } }
                dl class="facts all" {
                    @for (name, value) in facts.last().into_iter().flatten() { div { dt { (name) } dd { (value) } } }
                }
            }
        }
    }
}

/// Facts that differ between the runs.
fn differences(runs: &[&Run], facts: &[Vec<(String, String)>]) -> Markup {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in facts.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let lookup: Vec<BTreeMap<&String, &String>> = facts
        .iter()
        .map(|facts| facts.iter().map(|(name, value)| (name, value)).collect())
        .collect();
    names.retain(|name| {
        if differs_always(name) {
            return false;
        }
        let first = lookup[0].get(name);
        lookup.iter().any(|facts| facts.get(name) != first)
    });
    let columns = runs.len() <= MAX_COLUMNS;
    html! {
        div class="box" tabindex="0" role="region" aria-label="Facts that differ between the runs" {
            table class="differences" {
                caption { "What differs between the runs" }
                thead { tr {
                    th scope="col" { "fact" }
                    @if columns {
                        @for (index, run) in runs.iter().enumerate() {
                            th scope="col" { (key(index)) " " (words::time(&run.started)) }
                        }
                    } @else { th scope="col" { "values, the number of runs in brackets" } }
                } }
                tbody {
                    @for name in names {
                        tr {
                            th scope="row" { (name) }
                            @if columns {
                                @for facts in &lookup { td { (facts.get(name).map_or("", |value| value)) } }
                            } @else { td { (values(&lookup, name)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Facts that differ between any two runs and explain nothing; each run's full list has them.
fn differs_always(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "id",
        "started",
        "duration",
        "config.seed",
        "config.worker_start_ms",
        "clock.",
        "noise[",
        "machine.load1",
        "machine.cpu_pressure_avg10",
    ];
    if name.starts_with("directories[") && name.ends_with(".free_bytes") {
        return true;
    }
    NAMES.iter().any(|one| match one.ends_with(['.', '[']) {
        true => name.starts_with(one),
        false => name == *one,
    })
}

/// The values of a fact over many runs, the most common first.
fn values(lookup: &[BTreeMap<&String, &String>], name: &String) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for facts in lookup {
        *counts
            .entry(facts.get(name).map_or("unknown", |value| value))
            .or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown: Vec<String> = counts
        .iter()
        .take(4)
        .map(|(value, count)| format!("{value} ({count})"))
        .collect();
    match counts.len().saturating_sub(4) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
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
    let noise = run.noise.iter().find(|noise| noise.used).map(|noise| {
        format!(
            "{:.1} % of CPU {} lost, longest gap {:.0} µs",
            noise.lost_percent, noise.cpu, noise.longest_gap_us
        )
    });
    let mut facts = vec![
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
        ("Noise before the run", noise.unwrap_or_default()),
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

/// Every fact of the document's machine, clock and configuration, by its name in the document.
fn all(run: &Run) -> Vec<(String, String)> {
    let mut facts = vec![
        ("id".to_owned(), run.id.clone()),
        ("started".to_owned(), words::time(&run.started)),
        (
            "duration".to_owned(),
            crate::units::duration(run.duration_s),
        ),
        ("tool.version".to_owned(), run.tool.version.clone()),
    ];
    if let Some(ghz) = run.core_ghz {
        facts.push(("core_ghz".to_owned(), format!("{ghz:.2}")));
    }
    for (part, value) in [
        ("machine", serde_json::to_value(&run.machine)),
        ("peer", serde_json::to_value(&run.peer)),
        ("nfs", serde_json::to_value(&run.nfs)),
        ("directories", serde_json::to_value(&run.directories)),
        ("clock", serde_json::to_value(&run.clock)),
        ("config", serde_json::to_value(&run.config)),
        ("noise", serde_json::to_value(&run.noise)),
    ] {
        // These types have no keys that JSON cannot represent.
        flatten(part, &value.unwrap_or_default(), &mut facts);
    }
    facts
}

fn flatten(name: &str, value: &serde_json::Value, facts: &mut Vec<(String, String)>) {
    use serde_json::Value;
    let text = match value {
        Value::Null => return,
        Value::Object(fields) => {
            for (field, value) in fields {
                flatten(&format!("{name}.{field}"), value, facts);
            }
            return;
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&format!("{name}[{index}]"), item, facts);
            }
            return;
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            items.join(", ")
        }
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() => format!("{}", (value * 1e4).round() / 1e4),
            _ => number.to_string(),
        },
        Value::Bool(flag) => flag.to_string(),
    };
    if !text.is_empty() {
        facts.push((name.to_owned(), text));
    }
}

fn bytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}
