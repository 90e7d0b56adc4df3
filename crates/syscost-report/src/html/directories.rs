//! The rows of several directories side by side.

use maud::{Markup, html};
use syscost_results::{Measurement, Run};

use crate::sentence;
use crate::side_by_side::{Line, SideBySide};

use super::whose::whose;
use super::words;

/// The table of the last run's directories for a group; empty if it has at most one directory.
pub(super) fn table(group: &str, runs: &[&Run]) -> Markup {
    let Some(run) = runs.last() else {
        return html! {};
    };
    let rows = run.measurements.iter();
    let of_group = rows.filter(|row| row.group() == group);
    let Some(beside) = SideBySide::of(of_group, &run.directories) else {
        return html! {};
    };
    let first = beside.labels[0];
    html! {
        div class="box" id={ "directories-" (group) } tabindex="0" role="region" aria-label="Directories side by side" {
            table class="stack" {
                caption { span { "Directories side by side" @if runs.len() > 1 { "; " (whose(runs.len() - 1, runs)) } } }
                thead { tr {
                    th scope="col" { "operation" }
                    @for (column, label) in beside.labels.iter().enumerate() {
                        th scope="col" class="num" title=[title(run, label)] { (label) }
                        @if column > 0 { th scope="col" class="num" { "to " (first) } }
                    }
                } }
                tbody {
                    @for line in &beside.lines {
                        tr {
                            th scope="row" { (line.operation()) " " span class="case" { (line.case) } }
                            (cells(line, &beside.labels))
                        }
                    }
                }
            }
        }
    }
}

/// The storage of the directory with this label.
fn title(run: &Run, label: &str) -> Option<String> {
    let mut directories = run.directories.iter();
    let directory = directories.find(|directory| directory.label == label)?;
    Some(sentence::directory(directory))
}

fn cells(line: &Line<'_>, labels: &[&str]) -> Markup {
    html! {
        @for (column, row) in line.cells.iter().enumerate() {
            td class="num" data-head=(labels[column]) { (number(*row)) }
            @if column > 0 { td class="num quiet" data-head={ "to " (labels[0]) } { (line.ratio_text(column)) } }
        }
    }
}

/// A number with its interval and mark, or why there is none.
fn number(row: Option<&Measurement>) -> Markup {
    match row {
        None => html! { span class="quiet" { "none" } },
        Some(row) if row.status.has_figures() => {
            html! { (words::number(row)) " " (words::mark(&row.evidence)) }
        }
        Some(row) => words::number(row),
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
