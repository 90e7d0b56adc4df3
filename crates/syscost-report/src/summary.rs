//! The short answer: the machine, the few numbers people look for first, reference values beside
//! them, and where to find the rest.

mod closing;

use syscost_results::beside::figure;
use syscost_results::summary::{Aside, Block, summary as blocks};
use syscost_results::{Run, Unit};

use crate::Beside;
use crate::TableOptions;
use crate::grid::{self, Behind, Cell, Grid, INDENT, Name};
use crate::page::Page;
use crate::paint;
use crate::sentence;
use crate::units::quantity;
use crate::view::{Column, RowView};

/// Another run for reference, and its name.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'r> {
    /// Its name, e.g. `epyc-guest`.
    pub name: &'r str,
    /// The run.
    pub run: &'r Run,
}

impl Reference<'_> {
    /// Its figures for a table of this run's rows.
    pub fn beside(&self, run: &Run) -> Beside {
        let rows = run.measurements.iter();
        let figures = rows.filter_map(|row| {
            let figure = figure(row, run, self.run)?;
            Some((row.name.clone(), figure))
        });
        Beside {
            sentence: self.sentence(),
            figures: figures.collect(),
        }
    }

    /// What the reference is, in a line.
    pub fn sentence(&self) -> String {
        let hardware = sentence::hardware(&self.run.machine);
        let day = self.run.started.get(..10).unwrap_or(&self.run.started);
        format!("reference: {}, {hardware}, {day}", self.name)
    }
}

/// The summary of a run, ending in a newline; at most 50 lines if there are 80 columns or more.
pub fn summary(run: &Run, reference: Option<Reference<'_>>, options: &TableOptions) -> String {
    let mut page = Page::new(options);
    // How far to believe the rest.
    if let Some(hour) = sentence::hour(run) {
        page.paragraph(0, paint::HEADING, &sentence::capital(&hour));
    }
    page.dim(&sentence::hardware(&run.machine));
    page.dim(&sentence::settings(run));
    let lines = [sentence::frequency(run), sentence::precision(run)];
    for text in lines {
        text.iter().for_each(|text| page.dim(text));
    }
    if let Some(reference) = reference {
        page.dim(&reference.sentence());
    }
    let blocks = blocks(run, reference.map(|reference| reference.run));
    let drawn = grid(&blocks).draw(page.columns, page.paint);
    drawn.lines.iter().for_each(|line| page.line(line));
    page.closing(run, &blocks, &drawn, options);
    page.out
}

/// The column that is another in some blocks.
const ASIDE: usize = 3;

/// The columns of a block, and in which order they are left out where there is no room.
fn columns(aside: Aside) -> [(Column, u8); 7] {
    let aside = match aside {
        Aside::P99 => Column::P99,
        Aside::Cycles => Column::Cycles,
    };
    [
        (Column::Median, 0),
        (Column::Unit, 0),
        (Column::HalfWidth, 3),
        (aside, 5),
        (Column::Reference, 1),
        (Column::Ratio, 2),
        (Column::Mark, 0),
    ]
}

fn grid<'t>(blocks: &'t [Block<'_>]) -> Grid<'t> {
    let laid_out = |aside| columns(aside).map(|(column, rank)| column.in_grid(rank));
    let mut columns_of_all = laid_out(Aside::P99);
    columns_of_all[ASIDE] = grid::right("p99, cycles").rank(5);
    let mut grid = Grid::new(columns_of_all.to_vec());
    for block in blocks {
        let columns = columns(block.aside);
        grid.whole("");
        let headings = laid_out(block.aside).map(grid::Column::heading);
        grid.headed(Cell::new(block.title, paint::HEADING), headings.to_vec());
        for line in &block.lines {
            let view = RowView::of(line.row).beside(line.reference);
            let name = Name::whole(&*line.title, INDENT);
            grid.row(name, &view, &columns);
            if let Some((value, what)) = line.part {
                let value = quantity(Unit::Nanoseconds, value);
                let (value, unit) = value.split_once(' ').unwrap_or((&value, ""));
                let cells = [value, unit].map(|text| Cell::from(text.to_owned()));
                grid.line(
                    Name::whole(what, 2 * INDENT),
                    cells.to_vec(),
                    Behind::Nothing,
                );
            }
        }
    }
    grid
}

#[cfg(test)]
mod ending;

#[cfg(test)]
mod tests {
    use syscost_results::details::SWITCH;
    use syscost_results::summary::titles;
    use syscost_results::{Role, Status};

    use super::*;
    use crate::expect::{fits, has};
    use crate::fixture;

    /// A run with every row of the summary, each as long as rows can be.
    pub(super) fn full() -> Run {
        let mut run = fixture::run();
        run.measurements.clear();
        let stand_ins: Vec<Role> = titles().filter_map(|line| line.0.stand_in()).collect();
        let roles = titles().map(|line| line.0);
        for role in roles.filter(|role| !stand_ins.contains(role)) {
            let name = match role {
                Role::CoreToCore => "core_to_core{from=0,to=0}",
                Role::ColdRead => "cold_read{dir=0}",
                Role::Fsync => "fsync{dir=0}",
                other => other.name(),
            };
            let mut row = fixture::measured(
                name,
                [1180.0, 1234.5, 1390.0, 1100.0],
                Some(4567.0),
                Vec::new(),
            );
            row.estimate.p99 = Some(45_465.5);
            row.details.insert(SWITCH.to_owned(), 617.25);
            row.roles = vec![role];
            run.measurements.push(row);
        }
        run
    }

    #[test]
    fn the_last_line_is_as_wide_as_asked_however_rows_came_out() {
        let mut run = full();
        run.complete = false;
        let others = Status::ALL.into_iter().skip(1);
        for (row, status) in run.measurements.iter_mut().zip(others) {
            row.status = status;
        }
        let options = TableOptions::of_width(80);
        let text = summary(&run, None, &options);
        assert!(text.contains("1 skipped"), "{text}");
        fits(&text, 80);
    }

    #[test]
    fn a_summary_is_at_most_fifty_lines_and_as_wide_as_asked() {
        let run = full();
        let reference = Reference {
            name: "epyc-guest",
            run: &run,
        };
        for columns in [80, 120] {
            let options = TableOptions {
                width: columns,
                saved_to: Some(
                    "~/.local/share/syscost/runs/20261125T135701.853Z-d5a1b4.json".to_owned(),
                ),
                ..TableOptions::default()
            };
            let text = summary(&run, Some(reference), &options);
            assert!(text.lines().count() <= 50, "{text}");
            fits(&text, columns);
            insta::assert_snapshot!(format!("summary_at_{columns}_columns"), text);
        }
    }

    #[test]
    fn a_row_without_a_number_says_why_and_rows_that_failed_are_named() {
        let mut run = full();
        run.measurements[0].status = Status::Failed;
        run.measurements[0].reason = Some("the clock went backwards".to_owned());
        let text = summary(&run, None, &TableOptions::default());
        assert!(text.contains("failed: the clock went backwards"), "{text}");
        has(&text, &["failed: clock_reading: the clock went backwards"]);
        assert!(!text.contains("reference"), "{text}");
    }
}
