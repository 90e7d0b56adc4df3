//! Caches, memory and TLBs, next to what the system reports.

use maud::{Markup, html};
use syscost_results::Run;

use crate::document;
use crate::hierarchy::{blocks, finds_levels};

use super::rows::Row;
use super::runs::whose;

/// The table of the last run that found any levels, in the group, of these rows, that they were
/// found by; empty if none did.
pub(super) fn table(rows: &[&Row<'_>], runs: &[&Run]) -> Markup {
    let is_of_group = |run: usize| {
        let mut rows = rows.iter().filter_map(|row| row.of_runs[run]);
        rows.any(finds_levels)
    };
    let found = runs.iter().enumerate().rev();
    let found = found.filter(|(index, _)| is_of_group(*index));
    let mut found = found.map(|(index, run)| (index, blocks(run)));
    let Some((run, blocks)) = found.find(|(_, blocks)| !blocks.is_empty()) else {
        return html! {};
    };
    html! {
        div id="hierarchy" {
            p class="note" { "Memory hierarchy, inferred from latencies and bandwidths" @if runs.len() > 1 { "; " (whose(run, runs)) } }
            (document::html(&blocks))
        }
    }
}
