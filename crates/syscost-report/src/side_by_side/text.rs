//! The table in characters.

use std::ops::Range;

use crate::footer;
use crate::grid::{self, Behind, Cell, Grid, INDENT, Name, in_parts};
use crate::page::Page;
use crate::paint::{self, cut_end};
use crate::view::{Column, RowView, tone_without_number};

use super::{Line, SideBySide};

/// Names are not made narrower than this for the sake of one more directory.
const MIN_NAME: usize = 30;
/// Maximum width of a directory's label.
const MAX_LABEL: usize = 24;
/// The columns of a directory's number.
const NUMBER: usize = 4;

/// Adds the table, below a heading that begins with `title`; with evidence, flags and details below
/// each line if `verbose`. Directories that do not fit have a table of their own below, next to the
/// first directory again.
pub(crate) fn draw(table: &SideBySide<'_>, title: &str, verbose: bool, page: &mut Page) {
    let drawn = in_parts(table.labels.len() - 1, page.columns, MIN_NAME, |part| {
        grid(table, title, part.start + 1..part.end + 1, verbose, page)
    });
    let drawn: Vec<Grid<'_>> = drawn.collect();
    for (index, grid) in drawn.iter().enumerate() {
        if index > 0 {
            page.line("");
        }
        page.grid(grid);
    }
}

/// The first directory and some others.
fn grid<'t>(
    table: &'t SideBySide<'_>,
    title: &str,
    others: Range<usize>,
    verbose: bool,
    page: &Page,
) -> Grid<'t> {
    let label = |index: usize| cut_end(table.labels[index], MAX_LABEL);
    let shown: Vec<usize> = std::iter::once(0).chain(others).collect();
    let (mut columns, mut headings) = (Vec::new(), Vec::new());
    for &index in &shown {
        columns.extend([
            grid::right("").after(3),
            grid::left("").after(1),
            grid::left("").after(1).rank(1),
            grid::left("").after(1),
        ]);
        headings.push(Cell::from(label(index)).over(NUMBER));
        if index > 0 {
            columns.push(grid::right(""));
            headings.push(Cell::from(format!("to {}", label(0))));
        }
    }
    let mut grid = Grid::new(columns);
    grid.headed(Cell::new(title, paint::HEADING), headings);
    let mut above = "";
    for (index, line) in table.lines.iter().enumerate() {
        let is_nested = table.is_nested(index);
        if is_nested && line.id != above {
            grid.whole(page.benchmark(line.operation(), line.title));
        }
        above = line.id;
        let views = shown.iter().map(|at| line.cells[*at].map(RowView::of));
        let views: Vec<Option<RowView<'_>>> = views.collect();
        let cells = shown.iter().zip(&views).flat_map(|(at, view)| {
            let ratio = (*at > 0).then(|| Cell::new(line.ratio_text(*at), paint::DIM));
            number(view.as_ref()).into_iter().chain(ratio)
        });
        let labels = shown.iter().map(|at| table.labels[*at]);
        let named: Vec<(&str, &Option<RowView<'_>>)> = labels.zip(&views).collect();
        let flags = Cell::new(flags(&named), paint::CARE);
        grid.line(line.name(is_nested), cells.collect(), Behind::Text(flags));
        for (label, view) in named.iter().filter(|_| verbose) {
            for note in view.as_ref().map(footer::notes).unwrap_or_default() {
                grid.whole_lines(page.dim_lines(INDENT + 2, &format!("{label}: {note}")));
            }
        }
    }
    grid
}

/// The cells of a directory's number, or one that says why there is none.
fn number(view: Option<&RowView<'_>>) -> Vec<Cell> {
    let Some(view) = view else {
        return vec![Cell::new("none", paint::DIM).over(NUMBER)];
    };
    let Some(figures) = &view.figures else {
        let style = paint::style(tone_without_number(view.row.status));
        return vec![Cell::new(view.row.status.words(), style).over(NUMBER)];
    };
    let [median, unit, mark] =
        [Column::Median, Column::Unit, Column::Mark].map(|column| view.cell(column).into());
    let half_width = Cell::new(figures.side().trim_start(), paint::DIM);
    vec![median, unit, half_width, mark]
}

/// The flags of a line, the first of each directory: `ssd: wide, tmp: noisy +1`.
fn flags(named: &[(&str, &Option<RowView<'_>>)]) -> String {
    let of_one = |(label, view): &(&str, &Option<RowView<'_>>)| {
        let flags = view.as_ref()?.signs();
        let more = match flags.len() {
            0 | 1 => String::new(),
            count => format!(" +{}", count - 1),
        };
        flags.first().map(|first| format!("{label}: {first}{more}"))
    };
    let flags = named.iter().filter_map(of_one);
    flags.collect::<Vec<_>>().join(", ")
}

impl SideBySide<'_> {
    /// Whether a line's benchmark has several lines, which stand below one of its own.
    fn is_nested(&self, index: usize) -> bool {
        let id = |index: usize| self.lines.get(index).map(|line| line.id);
        let is_same = |other: usize| id(other) == id(index);
        is_same(index + 1) || index.checked_sub(1).is_some_and(is_same)
    }
}

impl<'a> Line<'a> {
    fn name(&self, is_nested: bool) -> Name<'a> {
        let operation = || self.operation().to_owned();
        let text = match (is_nested, self.case.is_empty()) {
            (true, false) => self.case.clone(),
            (false, false) => format!("{}{{{}}}", operation(), self.case),
            (_, true) => operation(),
        };
        match is_nested {
            true => Name {
                among: self.id,
                ..Name::new(text, 2 * INDENT)
            },
            false => Name::new(text, INDENT),
        }
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::beside::Beside;

    use crate::expect::has;
    use crate::{TableOptions, fixture, table};

    fn draw(width: usize, verbose: bool) -> String {
        let options = TableOptions::of_width(width).verbose(verbose);
        table(&fixture::of_directories(), &options)
    }

    #[test]
    fn three_directories_at_120_columns() {
        insta::assert_snapshot!(draw(120, false));
    }

    #[test]
    fn what_finds_no_room_stands_beneath() {
        insta::assert_snapshot!(draw(80, false));
    }

    #[test]
    fn a_table_says_where_the_reference_is() {
        let run = fixture::of_directories();
        let figures = run.measurements.iter().map(|row| {
            let median = row.estimate.median.unwrap_or(1.0);
            let (low, high) = (None, None);
            (
                row.name.clone(),
                Beside {
                    median,
                    low,
                    high,
                    clock: None,
                    is_of_one_kind: true,
                },
            )
        });
        let beside = crate::Beside {
            sentence: "reference: another".to_owned(),
            figures: figures.collect(),
        };
        let options = TableOptions {
            beside: Some(beside),
            ..TableOptions::default()
        };
        let text = table(&run, &options);
        assert!(text.contains("*{dir=ssd} shows it"), "{text}");
        assert!(!draw(100, false).contains("shows it"));
    }

    #[test]
    fn a_verbose_table_tells_whose_evidence_it_is() {
        let text = draw(100, true);
        has(&text, &["    tmp: ✓ bytes read per operation"]);
    }
}
