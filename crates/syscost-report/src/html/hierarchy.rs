//! Caches, memory and TLBs, next to what the system reports.

use maud::{Markup, html};
use syscost_results::Run;

use crate::hierarchy::{HEADS, columns, finds_levels, levels};

use super::whose::whose;

/// The table of the last run that found any levels, in the group that they were found by; empty if
/// none did.
pub(super) fn table(group: &str, runs: &[&Run]) -> Markup {
    let is_of_group = |run: &Run| {
        let mut rows = run.measurements.iter();
        rows.any(|row| row.group() == group && finds_levels(row))
    };
    let found = runs.iter().enumerate().rev();
    let found = found.filter(|(_, run)| is_of_group(run));
    let mut found = found.map(|(index, run)| (index, levels(run)));
    let Some((run, levels)) = found.find(|(_, levels)| !levels.is_empty()) else {
        return html! {};
    };
    let columns = columns(&levels);
    html! {
        div class="box" id="hierarchy" tabindex="0" role="region" aria-label="Memory hierarchy" {
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
