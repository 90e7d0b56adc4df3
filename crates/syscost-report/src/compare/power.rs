//! How large a change could have been found in each row of a comparison.

use syscost_results::compare::{Comparison, Row};

use super::words::percent;
use super::{clean, code, medians, push_row};
use crate::TableOptions;
use crate::grid::{Behind, Cell, Grid, INDENT, Name, left, right};
use crate::page::Page;
use crate::paint;

/// What the list says.
const TITLE: &str = "power: the smallest change that four of five comparisons like this find, had it been the only one";

/// The rows, those in which the smallest change could have been found first, as text that ends in a
/// newline.
pub fn table(comparison: &Comparison, width: usize) -> String {
    let mut grid = Grid::new(vec![right("base"), left("could have found")]);
    grid.heading("", paint::DIM);
    for row in sorted(comparison) {
        let [base, _] = medians(row);
        let cells = [base, found(row)].map(Cell::from);
        let name = Name::new(clean(&row.name), INDENT);
        grid.line(name, cells.to_vec(), Behind::Nothing);
    }
    let mut page = Page::new(&TableOptions::of_width(width));
    page.line("");
    page.paragraph(0, anstyle::Style::new(), TITLE);
    page.grid(&grid);
    page.out
}

/// The same as Markdown.
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = format!("\n{TITLE}.\n\n| Row | Base | Could have found |\n|---|--:|--:|\n");
    for row in sorted(comparison) {
        let [base, _] = medians(row);
        push_row(&mut out, &[&code(&row.name), &base, &found(row)]);
    }
    out
}

fn sorted(comparison: &Comparison) -> Vec<&Row> {
    let mut rows: Vec<&Row> = comparison.rows.iter().collect();
    let detectable = |row: &Row| row.detectable.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| detectable(a).total_cmp(&detectable(b)));
    rows
}

/// The change that could have been found; a price in company is judged by no gate.
fn found(row: &Row) -> String {
    match row.detectable {
        Some(share) if row.is_own() => percent(share),
        Some(share) => format!("{}, in company", percent(share)),
        None => "none".to_owned(),
    }
}
