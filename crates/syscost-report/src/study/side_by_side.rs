//! A study in a terminal, a column for each machine: the published ones, then those of the runs.

use std::ops::Range;

use syscost_results::study::VerdictKind;

use super::repeated::{QuantityBy, Repeated};
use super::text::{charts, closing, heading, quantity, ratios, style};
use crate::TableOptions;
use crate::grid::{Behind, Cell, Grid, INDENT, Name, in_parts, right};
use crate::page::Page;

/// Columns between two columns of the table, and before its first one.
const GAP: usize = 3;

/// A column: its heading, and for each quantity the lines of its cell.
struct Column {
    heading: String,
    cells: Vec<Vec<String>>,
}

/// A study, judged by several runs.
pub(super) fn side_by_side(repeated: &Repeated, options: &TableOptions) -> String {
    let mut page = Page::new(options);
    heading(&mut page, &repeated.study);
    let all = repeated.quantities();
    for quantities in all.chunk_by(|a, b| a.quantity.table == b.quantity.table) {
        page.heading(&quantities[0].quantity.table);
        table(&mut page, repeated, quantities);
        for one in quantities {
            verdicts(&mut page, one);
        }
    }
    ratios(&mut page, &repeated.study, &repeated.by);
    charts(&mut page, repeated);
    closing(&mut page, &repeated.study);
    page.out
}

/// The figures of these quantities; in several parts where they do not fit side by side.
fn table(page: &mut Page, repeated: &Repeated, quantities: &[QuantityBy<'_>]) {
    let columns = columns(repeated, quantities);
    let of = |part: Range<usize>| grid(quantities, &columns[part]);
    let parts = in_parts(columns.len(), page.columns, page.columns / 3, of);
    for (index, part) in parts.enumerate() {
        if index > 0 {
            page.line("");
        }
        page.grid(&part);
    }
}

fn grid<'t>(quantities: &[QuantityBy<'_>], columns: &[Column]) -> Grid<'t> {
    let mut grid = Grid::new(vec![right("").after(GAP); columns.len()]);
    let headings = columns.iter().map(|column| column.heading.clone());
    grid.headed(Cell::default(), headings.map(Cell::from).collect());
    for (index, one) in quantities.iter().enumerate() {
        let cells = columns.iter().map(|column| &column.cells[index]);
        let high = cells.clone().map(Vec::len).max().unwrap_or(0);
        for row in 0..high.max(1) {
            let title = if row == 0 { &*one.quantity.title } else { "" };
            let cells = cells.clone().map(|lines| lines.get(row).cloned());
            let cells = cells.map(|line| Cell::from(line.unwrap_or_default()));
            grid.line(Name::whole(title, INDENT), cells.collect(), Behind::Nothing);
        }
    }
    grid
}

fn columns(repeated: &Repeated, quantities: &[QuantityBy<'_>]) -> Vec<Column> {
    let cells = |of: &dyn Fn(&QuantityBy<'_>) -> Vec<String>| quantities.iter().map(of).collect();
    let machines = repeated.published_machines(quantities).into_iter();
    let published = machines.map(|machine| Column {
        heading: machine.to_owned(),
        cells: cells(&|one| super::published_lines(one, machine)),
    });
    let runs = repeated
        .by
        .iter()
        .enumerate()
        .map(|(index, (label, _))| Column {
            heading: label.clone(),
            cells: cells(&|one| super::here_lines(one.by[index].1)),
        });
    published.chain(runs).collect()
}

/// The procedure of a quantity, and each machine's verdict in a few words.
fn verdicts(page: &mut Page, one: &QuantityBy<'_>) {
    quantity(page, one.quantity);
    // What is said of several machines is said once.
    let mut said: Vec<(String, VerdictKind, Vec<&str>)> = Vec::new();
    for (label, judged) in &one.by {
        let text = super::short(judged);
        match said.iter_mut().find(|(other, ..)| *other == text) {
            Some((.., labels)) => labels.push(label),
            None => said.push((text, judged.verdict.kind, vec![label])),
        }
    }
    for (text, kind, labels) in said {
        page.paragraph(4, style(kind), &format!("{}: {text}", labels.join("; ")));
    }
}
