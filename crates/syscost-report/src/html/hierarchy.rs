//! Caches, memory and TLBs, next to what the system reports.

use maud::{Markup, html};
use syscost_results::Run;

use crate::hierarchy::{HEADS, Level, columns, levels};

use super::whose::whose;

/// The id of the table in the page.
pub(super) const ID: &str = "hierarchy";

/// The levels of the last run that found any, and that run's index.
pub(super) fn found(runs: &[&Run]) -> Option<(usize, Vec<Level>)> {
    let found = runs.iter().enumerate().rev();
    let mut found = found.map(|(index, run)| (index, levels(run)));
    found.find(|(_, levels)| !levels.is_empty())
}

/// The table of the last run that found any levels; empty if none did.
pub(super) fn table(runs: &[&Run]) -> Markup {
    let Some((run, levels)) = found(runs) else {
        return html! {};
    };
    let columns = columns(&levels);
    html! {
        div class="box" id=(ID) tabindex="0" role="region" aria-label="Memory hierarchy" {
            table class="stack" {
                caption { span { "Memory hierarchy, inferred from latencies and bandwidths" @if runs.len() > 1 { "; " (whose(run, runs)) } } }
                thead { tr {
                    @for &column in &columns {
                        th scope="col" class=[(column > 0).then_some("num")] { (HEADS[column]) }
                    }
                } }
                tbody {
                    @for level in &levels {
                        tr {
                            th scope="row" { (level.cells[0]) }
                            @for &column in &columns[1..] {
                                td class="num" data-head=(HEADS[column]) {
                                    (level.cells[column])
                                    @if column == 2 && level.differs {
                                        span title="differs from what was found: a virtual machine may be told another size, and others may use the same cache" { " ≠" }
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
