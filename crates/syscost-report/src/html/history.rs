//! Rows over time, first those whose level changed.

use jiff::tz::TimeZone;
use maud::{Markup, html};
use syscost_results::history::Series;

use crate::document::{self, Block};
use crate::history::{lines, one};

/// Maximum number of charts; the other rows have a line in the table.
const MAX_CHARTS: usize = 24;

/// The section; empty without series.
pub(super) fn section(history: &[Series]) -> Markup {
    let (changed, same): (Vec<&Series>, Vec<&Series>) = history
        .iter()
        .partition(|series| !series.changes.is_empty());
    let (drawn, others) = changed.split_at(changed.len().min(MAX_CHARTS));
    let others: Vec<Series> = others.iter().chain(&same).copied().cloned().collect();
    html! {
        @if !history.is_empty() {
            section id="history" aria-labelledby="title-history" {
                h2 id="title-history" { "Over time" }
                p { (changed.len()) " of " (history.len()) " rows changed their level." }
                div class="cards" {
                    @for series in drawn {
                        article class="card" {
                            h3 { code { (series.name) } }
                            (document::html(&one(series, &TimeZone::UTC)))
                        }
                    }
                }
                @if !others.is_empty() { details {
                    summary { "The other " (others.len()) " rows" }
                    (document::html(&[Block::Table(lines(&others, &TimeZone::UTC))]))
                } }
            }
        }
    }
}
