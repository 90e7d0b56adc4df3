//! The conditions under which a run was measured, at a glance: what most often explains different
//! numbers elsewhere.

use maud::{Markup, html};
use syscost_results::run::Noise;
use syscost_results::{Machine, Run, Unit};

use crate::sentence;
use crate::units::quantity;

use super::whose::whose;
use super::{MAX_COLUMNS, key};

/// The strip below the title. For a few runs it shows each run's value where they differ.
pub(super) fn strip(runs: &[&Run]) -> Markup {
    if runs.is_empty() {
        return html! {};
    }
    // Of more runs than fit side by side, the last one's.
    let are_many = runs.len() > MAX_COLUMNS;
    let shown = match are_many {
        true => &runs[runs.len() - 1..],
        false => runs,
    };
    let all: Vec<Vec<(&str, String)>> = shown.iter().map(|run| of(run)).collect();
    html! {
        @if are_many { p class="note" { "Of " (whose(runs.len() - 1, runs)) ":" } }
        dl class="conditions" aria-label="Conditions of measurement" {
            @for (index, (name, first)) in all[0].iter().enumerate() {
                div {
                    dt { (name) }
                    @if all.iter().all(|one| one[index].1 == *first) {
                        dd { (first) }
                    } @else {
                        @for (run, one) in all.iter().enumerate() { dd { (key(run)) " " (one[index].1) } }
                    }
                }
            }
        }
    }
}

/// The conditions of a run by name, always the same ones; an unknown one says so.
fn of(run: &Run) -> Vec<(&'static str, String)> {
    let machine = &run.machine;
    let unknown = || "not known".to_owned();
    let used: Vec<&Noise> = run.noise.iter().filter(|noise| noise.used).collect();
    let ours = core_ours(&used);
    let ours = ours.map(|text| text.replacen("core ours ", "", 1));
    vec![
        ("Cores ours (not shared)", ours.unwrap_or_else(unknown)),
        ("Mitigations", mitigations(machine)),
        (
            "Huge pages (THP)",
            machine
                .transparent_hugepages
                .clone()
                .unwrap_or_else(unknown),
        ),
        ("Governor", governor(machine).unwrap_or_else(unknown)),
        ("Idle CPUs", machine.idle().unwrap_or_else(unknown)),
        (
            "Core clock",
            sentence::frequency(run).unwrap_or_else(unknown),
        ),
        (
            "Clock",
            format!(
                "{}, step {}",
                run.clock.source,
                quantity(Unit::Nanoseconds, run.clock.step_ns)
            ),
        ),
        ("Kernel", machine.kernel.clone()),
        (
            "Virtual",
            machine
                .hypervisor
                .clone()
                .unwrap_or_else(|| "no hypervisor seen".to_owned()),
        ),
    ]
}

/// How much of the time these cores were ours, and when: while they measured, or before the run if
/// nothing was measured or known.
pub(super) fn core_ours(noise: &[&Noise]) -> Option<String> {
    let shares = sentence::core_ours(noise.iter().copied())?;
    let measured = noise
        .iter()
        .filter(|noise| noise.measured_alone_percent.is_some())
        .count();
    let known = noise
        .iter()
        .filter(|noise| {
            noise
                .measured_alone_percent
                .or(noise.alone_percent)
                .is_some()
        })
        .count();
    let when = match measured {
        0 => "before the run",
        all if all == known => "while measuring",
        _ => "while measuring, or before the run where it did not measure",
    };
    Some(format!("{shares}, {when}"))
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
fn mitigations(machine: &Machine) -> String {
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
    match parts.is_empty() {
        true => "not known".to_owned(),
        false => parts.join("; "),
    }
}
