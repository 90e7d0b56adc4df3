//! Where and how it was measured: the conditions that most often explain different numbers
//! elsewhere, the machine's facts, and what differs between runs.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::Value;
use syscost_results::facts::{self, Varies};
use syscost_results::run::Noise;
use syscost_results::{Machine, Run, Unit};

use crate::markup::broken;
use crate::sentence;
use crate::units::{duration, quantity};

use super::comparison::Changes;
use super::runs::place;
use super::words::{bytes, counted};
use super::{MAX_COLUMNS, key, quantities};

pub(super) type Facts = Vec<(String, String)>;

/// The main facts at once, all of them on demand. Of a few runs each fact is told once, or by run
/// where they differ; of more, those of the last.
pub(super) fn section(runs: &[&Run], changes: Option<&Changes<'_>>) -> Markup {
    let Some(last) = runs.last() else {
        return html! {};
    };
    let are_many = runs.len() > MAX_COLUMNS;
    let shown = match are_many {
        true => &runs[runs.len() - 1..],
        false => runs,
    };
    html! {
        section id="machine" aria-labelledby="title-machine" {
            h2 id="title-machine" { @if runs.len() == 1 { "Machine and run" } @else { "Machines and runs" } }
            @if runs.len() > 1 && changes.is_none() {
                @let mut differing = by_name(runs, all);
                @let () = differing.retain(|(name, values)| !is_one(values) && !differs_always(name));
                h3 { "What differs between the runs" }
                (list("facts", &differing))
                h3 { @if are_many { "The last run, " (place(last, runs)) } @else { "Conditions and machines" } }
            }
            (list("facts", &by_name(shown, main)))
            details {
                summary { "All facts" @if are_many { " of the last run" } }
                (list("facts all", &by_name(shown, all)))
            }
        }
    }
}

/// A fact's name, and its value in every run; empty where a run lacks it.
type Fact = (String, Vec<String>);

fn by_name(runs: &[&Run], of: fn(&Run) -> Facts) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (index, run) in runs.iter().enumerate() {
        for (name, value) in of(run) {
            let place = *places.entry(name.clone()).or_insert_with(|| {
                facts.push((name, vec![String::new(); runs.len()]));
                facts.len() - 1
            });
            facts[place].1[index] = value;
        }
    }
    facts.retain(|(_, values)| values.iter().any(|value| !value.is_empty()));
    facts
}

/// Whether a fact is the same in all runs.
fn is_one(values: &[String]) -> bool {
    values.iter().all(|value| *value == values[0])
}

/// Each fact once, or by run where they differ; of many runs, its most common values with the
/// number of runs that have each.
fn list(class: &str, facts: &[Fact]) -> Markup {
    /// Maximum number of values.
    const SHOWN: usize = 4;
    let or_none = |value: &str| match value {
        "" => html! { span class="quiet" { "not known" } },
        value => broken(value),
    };
    html! {
        dl class=(class) {
            @for (name, values) in facts {
                div {
                    dt { (quantities::named(name)) }
                    @if is_one(values) { dd { (broken(&values[0])) } }
                    @else if values.len() <= MAX_COLUMNS {
                        @for (run, value) in values.iter().enumerate() { dd { (key(run)) " " (or_none(value)) } }
                    } @else {
                        @let counts = counted(values.iter().map(String::as_str));
                        @for (value, count) in counts.iter().take(SHOWN) { dd { (or_none(value)) " (" (count) ")" } }
                        @if counts.len() > SHOWN { dd { "and " (counts.len() - SHOWN) " more" } }
                    }
                }
            }
        }
    }
}

/// The conditions of a run and the most important facts of its machine.
fn main(run: &Run) -> Facts {
    let machine = &run.machine;
    let cores = match (machine.cpus_online, machine.cores) {
        (cpus, Some(cores)) => format!("{cpus} online, {cores} cores"),
        (cpus, None) => format!("{cpus} online"),
    };
    let clock = format!(
        "{}, {:.3} GHz, step {}",
        run.clock.source,
        run.clock.ghz,
        quantity(Unit::Nanoseconds, run.clock.step_ns)
    );
    // Not to know these is to know less of the numbers: they are told in any case.
    let conditions = [
        ("Cores ours (not shared)", shared_core(run)),
        ("This hour", sentence::hour(run)),
        ("Noise before the run", noise(run)),
        ("Mitigations", mitigations(machine)),
        ("Huge pages (THP)", machine.transparent_hugepages.clone()),
        ("Governor", governor(machine)),
        ("Idle CPUs", machine.idle()),
        ("Core clock", sentence::frequency(run)),
        ("Clock", Some(clock)),
    ];
    let others = [
        ("Kernel", Some(machine.kernel.clone())),
        ("System", machine.distribution.clone()),
        (
            "Virtual",
            sentence::hypervisor(machine).or_else(|| Some(machine.hypervisor.words().to_owned())),
        ),
        ("CPU", Some(machine.cpu_model.clone())),
        ("CPUs", Some(cores)),
        ("Memory", machine.memory_bytes.map(bytes)),
        ("Product", machine.product.clone()),
    ];
    let conditions =
        conditions.map(|(name, value)| (name, value.unwrap_or_else(|| "not known".to_owned())));
    let others = others.map(|(name, value)| (name, value.unwrap_or_default()));
    let known = conditions.into_iter().chain(others);
    let known = known.map(|(name, value)| (name.to_owned(), value));
    let mut facts: Facts = known.collect();
    let directories = run.directories.iter().map(|directory| {
        let name = format!("Directory {}", directory.label);
        (name, sentence::directory(directory))
    });
    facts.extend(directories);
    let others = [
        ("Far end", sentence::peer(run).unwrap_or_default()),
        ("NFS server", sentence::nfs(run).unwrap_or_default()),
        ("Labels", labels(run)),
        ("Run", run.id.clone()),
    ];
    facts.extend(others.map(|(name, value)| (name.to_owned(), value)));
    facts
}

/// In how many probes each core was ours, those that measured first; when that was seen, and the
/// cost of sharing.
fn shared_core(run: &Run) -> Option<String> {
    let (used, others): (Vec<&Noise>, Vec<&Noise>) = run.noise.iter().partition(|noise| noise.used);
    let all: Vec<&Noise> = used.iter().chain(&others).copied().collect();
    let shares = sentence::core_ours(all.iter().copied())?.replacen("core ours in ", "", 1);
    let count =
        |share: fn(&Noise) -> Option<f64>| all.iter().filter_map(|noise| share(noise)).count();
    let measured = count(|noise| noise.measured_alone_percent);
    let known = count(|noise| noise.measured_alone_percent.or(noise.alone_percent));
    let when = match measured {
        0 => "before the run",
        all if all == known => "while measuring",
        _ => "while measuring, or before the run where it did not measure",
    };
    let slower = sentence::slower_while_shared(all);
    let slower = slower.map_or_else(String::new, |slower| format!("; {slower}"));
    Some(format!("{shares}, {when}{slower}"))
}

fn noise(run: &Run) -> Option<String> {
    let used = run.noise.iter().filter(|noise| noise.used).map(|noise| {
        format!(
            "{:.1} % of CPU {} lost, longest gap {}",
            noise.lost_percent,
            noise.cpu,
            quantity(Unit::Nanoseconds, 1e3 * noise.longest_gap_us)
        )
    });
    let used: Vec<String> = used.collect();
    (!used.is_empty()).then(|| used.join("; "))
}

/// `performance (intel_pstate), turbo on`.
fn governor(machine: &Machine) -> Option<String> {
    let mut text = machine.governor.clone()?;
    if let Some(driver) = &machine.frequency_driver {
        text += &format!(" ({driver})");
    }
    if let Some(turbo) = machine.turbo {
        text += if turbo { ", turbo on" } else { ", turbo off" };
    }
    Some(text)
}

/// The vulnerabilities that the kernel mitigates and those that are open, by name, and how many do
/// not affect this processor.
fn mitigations(machine: &Machine) -> Option<String> {
    let of = |start: &str| -> Vec<&str> {
        let all = machine.mitigations.iter();
        all.filter(|(_, state)| state.starts_with(start))
            .map(|(name, _)| name.as_str())
            .collect()
    };
    let (on, open, clear) = (of("Mitigation"), of("Vulnerable"), of("Not affected"));
    let others = machine.mitigations.len() - on.len() - open.len() - clear.len();
    let mut parts = Vec::new();
    for (names, word) in [(&on, "on"), (&open, "vulnerable")] {
        if !names.is_empty() {
            parts.push(format!("{word}: {}", names.join(", ")));
        }
    }
    if others > 0 {
        parts.push(format!("{others} of unknown state"));
    }
    if !clear.is_empty() {
        parts.push(format!("{} not needed", clear.len()));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What the machine is to whoever asked: `instance=m5.large, rack=7`.
fn labels(run: &Run) -> String {
    let labels = run.config.labels.iter();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    labels.join(", ")
}

/// Every fact of the document's machine, clock and configuration, by its name in the document.
fn all(run: &Run) -> Facts {
    let mut facts = vec![
        ("id".to_owned(), run.id.clone()),
        ("started".to_owned(), sentence::time(&run.started)),
        ("duration".to_owned(), duration(run.duration_s)),
        ("tool.version".to_owned(), run.tool.version.clone()),
    ];
    if let Some(ghz) = run.core_ghz {
        facts.push(("core_ghz".to_owned(), quantity(Unit::Gigahertz, ghz)));
    }
    let of_machine = run.machine.facts().into_iter();
    let others = [
        // These types have no keys that JSON cannot represent.
        ("peer", serde_json::to_value(&run.peer)),
        ("nfs", serde_json::to_value(&run.nfs)),
        ("directories", serde_json::to_value(&run.directories)),
        ("clock", serde_json::to_value(&run.clock)),
        ("config", serde_json::to_value(&run.config)),
        ("noise", serde_json::to_value(&run.noise)),
    ];
    let others = others.into_iter();
    let others = others.flat_map(|(part, value)| facts::leaves(part, value.unwrap_or_default()));
    let told = of_machine.chain(others).map(|(name, value)| {
        let text = in_words(&name, value);
        (name, text)
    });
    facts.extend(told.filter(|(_, text)| !text.is_empty()));
    facts
}

/// A fact's value, with the unit that its name ends in.
fn in_words(name: &str, value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Number(number) => quantities::fact(name, &number),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            items.join(", ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Facts that differ between any two runs and explain nothing; each run's full list has them.
fn differs_always(name: &str) -> bool {
    let is_how_full = name.starts_with("directories[") && name.ends_with(".free_bytes");
    is_how_full
        || facts::field_of(name)
            .is_some_and(|field| matches!(field.varies, Varies::Slightly | Varies::ByHour))
}
