//! The report as a page: one file that loads nothing.

use maud::{Markup, html};
use syscost_report::html::{frame, name};
use syscost_report::sentence::count;
use syscost_report::units::quantity;

use super::text::{
    CONFIGURATION, change, configured, fact_changed, in_words, reason, summary, verdict,
    worse_or_better,
};
use super::{Heat, Report, Unlike, UnlikeRow};

/// Maximum number of machines shown with their rows; a page of ten thousand machines stays one to look at.
const MAX_MACHINES: usize = 100;
/// How many of them are unfolded.
const MAX_OPEN: usize = 5;
/// Maximum number of rows shown of a machine.
const MAX_ROWS: usize = 15;
/// Maximum number of lines of any other list.
const MAX_LINES: usize = 300;
/// The widest deviation that is drawn, as a logarithm.
const WIDEST: f64 = 1.0;

/// What the rows of a machine are held against, as the headings of its table say it.
#[derive(Clone, Copy)]
struct Against {
    /// What the deviation is from.
    from: &'static str,
    /// The figures beside each other.
    figures: &'static str,
}

/// The other machines of its cohort.
const OTHERS: Against = Against {
    from: "from the others",
    figures: "here, the others",
};
/// What it would have become, had it changed as the others did.
const OTHERS_CHANGE: Against = Against {
    from: "from the others' change",
    figures: "here, had it changed as they did",
};

/// The page.
pub fn page(report: &Report) -> String {
    let title = match report.outliers.len() {
        0 if report.cannot_tell() => "Cannot tell whether machines are alike".to_owned(),
        0 if report.judged < report.machines => {
            "The machines that could be judged are alike".to_owned()
        }
        0 => "All machines are alike".to_owned(),
        1 => "1 machine is not like the others".to_owned(),
        outliers => format!("{outliers} machines are not like the others"),
    };
    let mut links = vec![("machines", "machines")];
    if !report.heat.machines.is_empty() {
        links.push(("groups", "groups"));
    }
    if report.collections.len() > 1 {
        links.push(("changes", "changes"));
    }
    links.extend([("cohorts", "cohorts"), ("left-out", "left out")]);
    let dates = report.collections.iter();
    let dates: Vec<String> = dates
        .map(|one| format!("{} ({})", one.from, count(one.machines, "machine")))
        .collect();
    let below = html! {
        p class="lead" { (verdict(report)) }
        p class="quiet" { "Measured on " (dates.join(", ")) "." }
    };
    let sections = html! {
        section id="machines" aria-labelledby="title-machines" {
            h2 id="title-machines" { "Machines unlike the others" }
            @if report.outliers.is_empty() { p { "None." } }
            (machines(&report.outliers, OTHERS))
            @if !report.configuration.is_empty() {
                h3 { (CONFIGURATION) }
                (list(&report.configuration, |one| html! { (configured(one)) }))
            }
        }
        (heat(&report.heat))
        @if report.collections.len() > 1 { (changes(report)) }
        section id="cohorts" aria-labelledby="title-cohorts" {
            h2 id="title-cohorts" { "Held against each other" }
            p class="note" { "A machine is compared with those that have the same values of these facts." }
            (list(&report.cohorts, |cohort| html! { (in_words(cohort)) }))
        }
        section id="left-out" aria-labelledby="title-left-out" {
            h2 id="title-left-out" { "Not judged, and why" }
            @match report.measured - report.figures {
                0 if report.untold.len() + report.silent.len() + report.left_out.len() > 0 => {},
                0 => p { "Every figure of every machine was judged." },
                figures => p { (count(figures, "figure")) " of " (report.measured) " that the machines measured: no number beyond doubt, or too few machines have one of the row." },
            }
            @if !report.untold.is_empty() {
                h3 { "Of " (count(report.untold.len(), "machine")) " nothing can be said" }
                (list(&report.untold, |one| html! { b { (one.machine) } ": " (one.why) }))
            }
            @if !report.silent.is_empty() {
                h3 { (count(report.silent.len(), "node")) " gave no document" }
                (list(&report.silent, |node| html! { b { (node.node) } ": " (node.state.word()) @if !node.reason.is_empty() { ": " (node.reason) } }))
            }
            @if !report.left_out.is_empty() {
                h3 { (count(report.left_out.len(), "document")) " left out" }
                (list(&report.left_out, |left| html! { code { (left.what) } ": " (left.why) }))
            }
        }
    };
    frame(&title, &below, &links, &sections)
}

/// A list, and how many more lines it would have.
fn list<T>(list: &[T], line: impl Fn(&T) -> Markup) -> Markup {
    html! {
        ul class="plain" {
            @for one in list.iter().take(MAX_LINES) { li { (line(one)) } }
            @if list.len() > MAX_LINES { li class="quiet" { "and " (list.len() - MAX_LINES) " more; " code { "--format json" } " has all" } }
        }
    }
}

fn machines(machines: &[Unlike], against: Against) -> Markup {
    html! {
        @for (place, unlike) in machines.iter().take(MAX_MACHINES).enumerate() { (machine(unlike, against, place < MAX_OPEN)) }
        @if machines.len() > MAX_MACHINES {
            h3 { (machines.len() - MAX_MACHINES) " more" }
            (list(&machines[MAX_MACHINES..], |unlike| html! { b { (unlike.machine) } " " (summary(unlike)) }))
        }
    }
}

fn machine(unlike: &Unlike, against: Against, is_open: bool) -> Markup {
    let reach = unlike
        .rows
        .iter()
        .take(MAX_ROWS)
        .flat_map(|row| [row.low, row.high]);
    let reach = reach.map(|share| log(share).abs()).fold(0.05, f64::max);
    html! {
        details class="card unlike" open[is_open] {
            summary {
                h3 { (unlike.machine) @if let Some(since) = &unlike.since { " " span class="quiet" { "since " (since) } } }
                p { (summary(unlike)) }
            }
            @if !unlike.reasons.is_empty() || !unlike.changed_facts.is_empty() {
                ul {
                    @for one in &unlike.reasons { li { "goes with " (reason(one)) } }
                    @for fact in &unlike.changed_facts {
                        li { (fact_changed(fact)) }
                    }
                }
            }
            table {
                caption class="spoken" { "Rows in which " (unlike.machine) " differs" }
                colgroup { col class="name"; col class="plot"; col; col; }
                thead { tr {
                    th scope="col" { "row" }
                    th scope="col" { (against.from) ", ±" (format!("{:.0} %", 100.0 * reach.exp_m1())) }
                    th scope="col" { "difference" } th scope="col" { (against.figures) }
                } }
                tbody { @for row in unlike.rows.iter().take(MAX_ROWS) { (line(row, reach)) } }
            }
            @if unlike.rows.len() > MAX_ROWS { p class="note" { "and " (count(unlike.rows.len() - MAX_ROWS, "more row")) } }
        }
    }
}

fn line(row: &UnlikeRow, reach: f64) -> Markup {
    let place = |share: f64| 50.0 + 50.0 * (log(share) / reach).clamp(-1.0, 1.0);
    let (low, middle, high) = (place(row.low), place(row.change), place(row.high));
    let class = if row.worse { "bad" } else { "good" };
    html! {
        tr {
            th scope="row" class="case" { (name(&row.row)) }
            td class="plot" {
                span class={ "ci " (class) } {
                    span style=(format!("left:{low:.1}%;width:{:.1}%", high - low)) {}
                    i style=(format!("left:{middle:.1}%")) {}
                }
            }
            td class=(class) { (change(row.change, row.low, row.high)) span class="spoken" { " " (worse_or_better(row.worse)) } }
            td { (quantity(row.unit, row.median)) ", " span class="quiet" { (quantity(row.unit, row.expected)) } }
        }
    }
}

/// The logarithm of a share, within what is drawn.
fn log(share: f64) -> f64 {
    share.ln_1p().clamp(-WIDEST, WIDEST)
}

fn heat(heat: &Heat) -> Markup {
    html! {
        @if !heat.machines.is_empty() {
            section id="groups" aria-labelledby="title-groups" {
                h2 id="title-groups" { "By groups of rows" }
                p class="note" {
                    "How much worse than its cohort's median the middle row of each group is, in percent; below zero is better. Beneath the "
                    "machines unlike the others stand some that are next to them by name."
                }
                div class="box" tabindex="0" role="region" aria-label="Machines by groups of rows" {
                    table class="heat" {
                        caption class="spoken" { "Deviation by machine and group of rows, in percent" }
                        thead { tr { th scope="col" { "machine" } @for group in &heat.groups { th scope="col" { (group) } } } }
                        tbody {
                            @for machine in &heat.machines {
                                tr {
                                    th scope="row" { @if machine.is_outlier { b { (machine.machine) } } @else { (machine.machine) } }
                                    @for deviation in &machine.deviations {
                                        @match deviation {
                                            Some(log) => td class={ "num " (shade(*log)) } { (percent(*log)) },
                                            None => td {},
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A deviation to a tenth of a percent; nothing is below zero by nothing.
fn percent(log: f64) -> String {
    let tenths = (1000.0 * log.exp_m1()).round() + 0.0;
    format!("{:+.1}", tenths / 10.0)
}

/// The class of a cell; none within the margin.
fn shade(log: f64) -> &'static str {
    let step = match log.abs() {
        below if below < crate::deviation::MARGIN => return "",
        below if below < 0.05 => 0,
        below if below < 0.1 => 1,
        below if below < 0.25 => 2,
        _ => 3,
    };
    let shades = if log > 0.0 {
        ["w1", "w2", "w3", "w4"]
    } else {
        ["b1", "b2", "b3", "b4"]
    };
    shades[step]
}

fn changes(report: &Report) -> Markup {
    html! {
        section id="changes" aria-labelledby="title-changes" {
            h2 id="title-changes" { "Since measured before" }
            @if report.changed_together.is_empty() {
                p { "In no row did the machines of a cohort change together." }
            } @else {
                h3 { "In " (count(report.changed_together.len(), "row")) " the machines changed together" }
                (list(&report.changed_together, |row| html! {
                    span class="case" { (name(&row.row)) } " "
                    span class=(if row.worse { "bad" } else { "good" }) { (change(row.change, row.low, row.high)) }
                    ", the middle one of " (count(row.machines, "machine"))
                }))
            }
            @if report.changed.is_empty() {
                p { "No machine changed in another way than the others." }
            } @else {
                h3 { (count(report.changed.len(), "machine")) " changed as the others did not" }
                (machines(&report.changed, OTHERS_CHANGE))
            }
        }
    }
}
