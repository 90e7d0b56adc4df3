//! The rows of several directories side by side.

use maud::{Markup, html};
use syscost_results::Run;

use crate::document::{self, Block};
use crate::side_by_side::SideBySide;

use super::rows::Row;
use super::runs::whose;

/// The table of the last run's directories for a group; empty if it has at most one directory.
pub(super) fn table(rows: &[&Row<'_>], runs: &[&Run]) -> Markup {
    let Some(run) = runs.last() else {
        return html! {};
    };
    let of_run = rows.iter().filter_map(|row| *row.of_runs.last()?);
    let Some(beside) = SideBySide::of(of_run, &run.directories) else {
        return html! {};
    };
    html! {
        h3 { "Directories side by side" @if runs.len() > 1 { "; " (whose(runs.len() - 1, runs)) } }
        (document::html(&[Block::Table(beside.table("operation", false))]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::html::{PageOptions, page};

    #[test]
    fn several_directories_stand_beside_each_other_and_in_the_machines_card() {
        let run = fixture::of_directories();
        let page = page(&[&run], &PageOptions::default());
        for part in [
            "Directories side by side",
            "to ssd",
            "0.50x",
            "a file system in memory: its cache cannot be defeated",
            "<dt>Directory far</dt><dd>dir=far /mnt/export: nfs4 on server:/export",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn one_directory_needs_no_table_of_its_own() {
        let mut run = fixture::of_directories();
        run.measurements.truncate(3);
        let page = page(&[&run], &PageOptions::default());
        assert!(!page.contains("Directories side by side"));
    }
}
