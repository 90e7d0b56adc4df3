//! How to read the page: its columns, signs and words.

use std::collections::BTreeSet;

use maud::{Markup, html};
use syscost_results::compare::{Change, MAX_SAME, MIN_MARGIN};
use syscost_results::{Flag, Run};

use crate::flags::{self, Words};
use crate::sentence::{Mark, share};

use super::comparison::{Changes, RATE, tag};
use super::table::{Shape, has_intervals};
use super::words;

/// Explains the columns and signs that occur in these runs. `changes`: what is
/// compared.
pub(super) fn legend(runs: &[&Run], samples: bool, changes: Option<&Changes<'_>>) -> Markup {
    let rows = || runs.iter().flat_map(|run| &run.measurements);
    let flags: BTreeSet<Flag> = rows()
        .filter(|row| row.status.has_figures())
        .flat_map(|row| row.flags.iter().copied())
        .filter(|flag| flags::is_shown(*flag))
        .collect();
    let shape = Shape::of(runs.len(), changes.is_some());
    // The median that the intervals are drawn around, where they are.
    let whose = match shape {
        Shape::One => Some("row's own"),
        Shape::SideBySide(runs) if has_intervals(runs, changes.is_some()) => Some("first run's"),
        _ => None,
    };
    let has_best = matches!(shape, Shape::One | Shape::SideBySide(_));
    html! {
        section id="legend" class="legend" aria-labelledby="title-legend" {
            h2 id="title-legend" { "How to read this page" }
            @if !samples {
                p class="note" { "The samples of the rows are not in this page: " code { "syscost report RUN --samples" }
                    " draws them, in a larger one." }
            }
            dl {
                dt { "median" } dd { "the median of the rounds' medians; a round is one fresh process" }
                dt { "± 95 %" } dd { "how far the 95 % confidence interval of that median reaches, on its longer side; with a plus sign "
                    "(3.9 +24) that is the upper side alone, which is longer than the median itself: the lower side is shorter" }
                @if let Some(whose) = whose {
                    dt { "picture" } dd { "the interval in shares of the " (whose) " median, on the same axis in all rows; an arrow: it goes on \
                        beyond; a hollow dot: there is no interval" }
                }
                @if has_best {
                    dt { "best" } dd { "the best sample: the smallest of a cost, the largest of a rate" }
                    dt { "cycles" } dd { "the median in cycles of the core's own clock, not ticks of the TSC" }
                }
                @if matches!(shape, Shape::One) {
                    dt { "company" } dd { "how many times the own price the operation costs while others use the core; \u{201c}only\u{201d}: \
                        the median is that price, as an own core was not seen meanwhile" }
                }
                @if let Some(changes) = changes { (of_changes(changes)) }
                @for mark in [Mark::Confirmed, Mark::Unverified, Mark::Refuted] {
                    dt { span class={ "mark " (words::class(mark)) } { (mark.sign()) } }
                    dd { (mark.meaning()) }
                }
                @for flag in flags {
                    @let Words { name, meaning, .. } = flags::words(flag);
                    dt { span class="flag" { (name) } } dd { (meaning) }
                }
                @if runs.len() > 1 { dt { span class="flag" { "+1" } } dd { "one flag more; the row's details name all" } }
            }
        }
    }
}

/// What only the page of a comparison shows.
fn of_changes(changes: &Changes<'_>) -> Markup {
    let ratio = changes.ratio_name();
    let [base, new] = changes.sides();
    let percent = |ratio: f64| share(100.0 * ratio);
    html! {
        dt { (ratio) } dd { (changes.about_ratio()) ". Beneath it, its 95 % confidence interval" }
        dt { (RATE) } dd { "a rate, of which more is better; without it, a cost, of which less is better. The column sorts by what became dearer" }
        @for (kind, meaning) in [
            (Change::Worse, "the whole interval lies beyond the margin, on the wrong side, and a correction for the number of rows lets it \
                stand".to_owned()),
            (Change::Better, "likewise, on the right side".to_owned()),
            (Change::Same, format!("the whole interval lies within {}, or as far as such runs differ when nothing changed, but at most {}",
                percent(MIN_MARGIN), percent(MAX_SAME))),
            (Change::Inconclusive, "the samples cannot tell; the row's details say why".to_owned()),
        ] {
            dt { (tag(kind)) } dd { (meaning) }
        }
        dt { "margin" } dd { "what a change must exceed: " (percent(MIN_MARGIN)) ", or as far as such runs differ when nothing changed, whichever is more" }
        dt { "cost" } dd { "of a group: the mean of its rows' " (ratio) ", a rate's turned over; above 1, " (new) " is dearer than " (base) }
        dt { "left out" } dd { "of a group's cost: rows without an interval, or are prices in company" }
    }
}
