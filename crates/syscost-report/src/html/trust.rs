//! Whether to believe a run: what was measured and confirmed, how precisely, what is unusual, and
//! what a reader is warned of.

use maud::{Markup, html};
use syscost_results::precision::half_width_percent;
use syscost_results::run::Warning;
use syscost_results::{Machine, Run, Status};

use crate::sentence::{self, Mark};

use super::{MAX_COLUMNS, key, words};

/// In how many of the probes the cores that measured were ours: `90 %`, `88 to 91 %`.
pub(super) fn cores_ours(run: &Run) -> Option<String> {
    let (low, high) = sentence::ends_of_ours(run)?;
    Some(match low == high {
        true => format!("{low} %"),
        false => format!("{low} to {high} %"),
    })
}

/// Codes of warnings about the time just before a run.
const BEFORE: [&str; 4] = ["load", "cpu_pressure", "noise", "shared_core"];

/// Number of a run's rows whose 95 % interval reaches at most so many percent from the median.
pub(super) fn within(run: &Run, percent: f64) -> usize {
    let measured = run
        .measurements
        .iter()
        .filter(|row| row.status == Status::Ok);
    let widths = measured.filter_map(|row| half_width_percent(&row.estimate));
    widths.filter(|width| *width <= percent).count()
}

/// Number of a run's rows with figures whose evidence says this.
pub(super) fn marked(run: &Run, mark: Mark) -> usize {
    let rows = run.measurements.iter();
    let rows = rows.filter(|row| row.status.has_figures() && Mark::of(&row.evidence) == mark);
    rows.count()
}

/// The counts of one run; those that the filter knows lead to their rows.
pub(super) fn counts(run: &Run) -> Markup {
    let count = |status| {
        let rows = run.measurements.iter();
        rows.filter(|row| row.status == status).count()
    };
    let others = Status::ALL
        .into_iter()
        .filter(|status| !matches!(status, Status::Ok | Status::Withheld) && count(*status) > 0);
    let others: Vec<String> = others
        .map(|status| format!("{} {}", count(status), status.words()))
        .collect();
    let tile = |number: &str, class: &str, filter: Option<&str>, words: &str| {
        html! {
            li {
                @if let Some(filter) = filter { a href="#content" data-which=(filter) { b class=(class) { (number) } } }
                @else { b { (number) } }
                " " span { (words) }
            }
        }
    };
    let all = run.measurements.len();
    let number = |count: usize| count.to_string();
    html! {
        ul class="trust" aria-label="Can it be trusted" {
            (tile(&format!("{} of {all}", count(Status::Ok)), "", None, &match others.is_empty() {
                true => "rows measured".to_owned(),
                false => format!("rows measured; {}", others.join(", ")),
            }))
            (tile(&format!("✓ {}", marked(run, Mark::Confirmed)), "good", Some("good"), "confirmed: what was done was counted"))
            (tile(&format!("? {}", marked(run, Mark::Unverified)), "care", Some("care"), "unverified: not all could be counted"))
            @let withheld = count(Status::Withheld);
            (tile(&number(withheld), if withheld > 0 { "bad" } else { "" }, (withheld > 0).then_some("withheld"), "withheld: the evidence contradicts"))
            @if let Some(ours) = cores_ours(run) { (tile(&ours, "", None, "of the probes found the cores ours")) }
            (tile(&number(within(run, 10.0)), "", None, &format!("known within ±10 %, {} of them within ±2 %", within(run, 2.0))))
        }
        @let special = special(run);
        @if !special.is_empty() { p class="special" { b { "Special here: " } (special.join("; ")) } }
    }
}

/// What is unusual about a machine and explains numbers that differ elsewhere.
fn special(run: &Run) -> Vec<String> {
    let machine = &run.machine;
    let open: Vec<&str> = open(machine).collect();
    let is_powersave = machine.governor.as_deref() == Some("powersave");
    let has_all_huge = machine.transparent_hugepages.as_deref() == Some("always");
    let clock =
        Some(&run.clock.source).filter(|source| !["tsc", "cntvct"].contains(&source.as_str()));
    let parts = [
        machine
            .container
            .name()
            .map(|name| format!("in a container ({name})")),
        (!open.is_empty()).then(|| format!("vulnerable, without mitigation: {}", open.join(", "))),
        has_all_huge.then(|| "transparent huge pages always".to_owned()),
        is_powersave.then(|| "frequency governor powersave".to_owned()),
        (machine.turbo == Some(false)).then(|| "turbo off".to_owned()),
        machine
            .cgroup_cpu_quota
            .what()
            .map(|quota| format!("CPU quota of {quota:.2} CPUs")),
        (machine.cpus_allowed > 0 && machine.cpus_allowed < machine.cpus_online).then(|| {
            format!(
                "may use {} of {} CPUs",
                machine.cpus_allowed, machine.cpus_online
            )
        }),
        clock.map(|source| format!("clock {source}")),
    ];
    parts.into_iter().flatten().collect()
}

/// The vulnerabilities that are not mitigated.
fn open(machine: &Machine) -> impl Iterator<Item = &str> {
    let all = machine.mitigations.iter();
    all.filter(|(_, state)| state.starts_with("Vulnerable"))
        .map(|(name, _)| name.as_str())
}

/// Warnings of all runs, each kind once in a line, with advice: in the words of each run that has a
/// column, or else of the last run that has the warning.
pub(super) fn warnings(runs: &[&Run]) -> Markup {
    let mut kinds: Vec<&str> = Vec::new();
    for warning in runs.iter().flat_map(|run| &run.warnings) {
        if !kinds.contains(&warning.code.as_str()) {
            kinds.push(&warning.code);
        }
    }
    let of_kind = |kind: &str| -> Vec<(usize, Warning)> {
        let warnings = runs.iter().enumerate().filter_map(|(index, run)| {
            // A run has several of a kind if several of its CPUs deserve one.
            let all = || run.warnings.iter().filter(|warning| warning.code == kind);
            let messages: Vec<&str> = all().map(|warning| &*warning.message).collect();
            let warning = Warning {
                message: messages.join("; "),
                ..all().next()?.clone()
            };
            Some((index, warning))
        });
        warnings.collect()
    };
    let mut found: Vec<Vec<(usize, Warning)>> = kinds.into_iter().map(of_kind).collect();
    found.sort_by_key(|warnings| std::cmp::Reverse(warnings.len()));
    html! {
        @if !found.is_empty() {
            ul class="warnings" aria-label="Before you believe these numbers" {
                @for warnings in &found {
                    @if let Some((_, last)) = warnings.last() {
                        li {
                            @if BEFORE.contains(&last.code.as_str()) { span class="quiet" { "before the run: " } }
                            (seen(warnings, runs.len()))
                            " " span class="quiet" { (words::code(&last.advice)) }
                        }
                    }
                }
            }
        }
    }
}

/// What was seen: once if all runs saw the same, by run if runs are columns, else that of the last
/// one, with the number of runs.
fn seen(warnings: &[(usize, Warning)], runs: usize) -> Markup {
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
            span class="quiet" { " (in " (warnings.len()) " of " (sentence::count(runs, "run")) @if !is_same { ", this is the last" } ")" }
        }
    }
}
