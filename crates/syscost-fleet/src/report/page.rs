//! The report as a page: one file that loads nothing.

use maud::{Markup, html};
use syscost_report::document::{self, Block};
use syscost_report::html::frame;
use syscost_report::sentence::{agreeing, count};

use super::layout::{Shown, others, outliers};
use super::words::verdict;
use super::{Heat, Report, UnlikeRow};

/// What a page shows; one of ten thousand machines stays one to look at.
const SHOWN: Shown = Shown {
    machines: 100,
    open: 5,
    rows: 15,
    lines: 300,
    all: "--format json has all",
    plot: Some(plot),
};

/// The page.
pub fn page(report: &Report) -> String {
    let title = match report.outliers.len() {
        0 if report.cannot_tell() => "Cannot tell whether machines are alike".to_owned(),
        0 if report.judged < report.machines => {
            "The machines that could be judged are alike".to_owned()
        }
        0 => "All machines are alike".to_owned(),
        outliers => agreeing(outliers, "# machine[s] [is|are] not like the others"),
    };
    let (outliers, others) = (outliers(report, &SHOWN), others(report, &SHOWN));
    let heat = heat(&report.heat);
    let groups = (!report.heat.machines.is_empty()).then_some(("groups", "groups"));
    let links = outliers.iter().filter_map(link).chain(groups);
    let links: Vec<(&str, &str)> = links.chain(others.iter().filter_map(link)).collect();
    let dates = report.collections.iter();
    let dates: Vec<String> = dates
        .map(|one| format!("{} ({})", one.from, count(one.machines, "machine")))
        .collect();
    let below = html! {
        p class="lead" { (verdict(report)) }
        p class="quiet" { "Measured on " (dates.join(", ")) "." }
    };
    let sections = html! { (document::html(&outliers)) (heat) (document::html(&others)) };
    frame(&title, &below, &links, &sections, env!("CARGO_PKG_VERSION"))
}

/// The part that a heading begins, and the words of the link to it.
fn link(block: &Block) -> Option<(&str, &str)> {
    match block {
        Block::Heading { id, .. } if id == "left-out" => Some((id, "left out")),
        Block::Heading { id, .. } if !id.is_empty() => Some((id, id)),
        _ => None,
    }
}

/// How far a row deviates, along an axis that reaches this far, as a logarithm; without a row the
/// ends of that axis.
fn plot(row: Option<&UnlikeRow>, reach: f64) -> Markup {
    let Some(row) = row else {
        return html! { "±" (format!("{:.0} %", 100.0 * reach.exp_m1())) };
    };
    let place = |share: f64| 50.0 + 50.0 * (share.ln_1p() / reach).clamp(-1.0, 1.0);
    let (low, middle, high) = (place(row.low), place(row.change), place(row.high));
    let class = if row.worse { "bad" } else { "good" };
    html! {
        span class={ "ci " (class) } {
            span style=(format!("left:{low:.1}%;width:{:.1}%", high - low)) {}
            i style=(format!("left:{middle:.1}%")) {}
        }
    }
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
