//! Table of contents of the page: a group's charts follow all its rows, of which there may be
//! hundreds.

use maud::{Markup, html};
use syscost_results::Run;

use super::rows::Rows;
use super::{benchmarks, hierarchy};
use crate::sentence;

/// A line for each group, with links to its rows, its charts and its other tables; empty without
/// groups.
pub(super) fn list(rows: &Rows<'_>, runs: &[&Run]) -> Markup {
    html! {
        @if rows.groups().next().is_some() {
            nav class="contents" aria-labelledby="title-contents" {
                h2 id="title-contents" { "Contents" }
                ul {
                    @for (group, rows) in rows.groups() {
                        li {
                            a href={ "#group-" (group) } { (group) }
                            span class="quiet" { (sentence::count(rows.len(), "row")) }
                            a href={ "#" (benchmarks::place(group)) } { "charts" }
                            @if group == "memory" && hierarchy::found(runs).is_some() {
                                a href={ "#" (hierarchy::ID) } { "hierarchy" }
                            }
                        }
                    }
                }
            }
        }
    }
}
