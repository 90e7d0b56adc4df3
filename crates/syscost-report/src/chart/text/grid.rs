//! A heat map as a table: each cell has a number and, before it, a shade that shows how it compares
//! with the others.

use syscost_results::Unit;

use super::TextOptions;
use crate::chart::{Panel, Scale};
use crate::paint;
use crate::units::quantity;

/// Shades from the smallest to the largest value.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
/// What stands between two columns.
const GAP: &str = "  ";

pub(super) fn draw(
    (across, down): (&str, &str),
    heads: &[String],
    rows: &[String],
    panels: &[Panel],
    runs: &[String],
    unit: Unit,
    options: TextOptions,
) -> String {
    let cells = panels.iter().flat_map(|panel| panel.cells.iter().flatten());
    let scale = Scale::exactly(cells.filter_map(|cell| *cell));
    let text = |cell: &Option<f64>| match cell {
        Some(value) => {
            let last = SHADES.len() - 1;
            let shade = SHADES[((scale.share(*value) * SHADES.len() as f64) as usize).min(last)];
            format!("{shade} {}", quantity(unit, *value))
        }
        None => String::new(),
    };
    let corner = format!("{down} by {across}");
    let mut out = String::new();
    for panel in panels {
        let heading = panel.heading(runs);
        if !heading.is_empty() {
            out.push_str(&format!("{heading}\n"));
        }
        // Columns too wide for the terminal follow below, with their own headings.
        let mut rest: Vec<usize> = (0..heads.len()).collect();
        while !rest.is_empty() {
            let part = |columns: &[usize]| {
                let heads = columns.iter().map(|column| heads[*column].clone());
                let mut lines: Vec<Vec<String>> =
                    vec![[corner.clone()].into_iter().chain(heads).collect()];
                for (row, cells) in rows.iter().zip(&panel.cells) {
                    // A row without any value is not drawn.
                    if cells.iter().any(Option::is_some) {
                        let shown = columns.iter().map(|column| text(&cells[*column]));
                        lines.push([row.clone()].into_iter().chain(shown).collect());
                    }
                }
                aligned(&lines)
            };
            let (table, taken) = fitting(&rest, part, options.width());
            for line in table {
                out.push_str(&line);
                out.push('\n');
            }
            out.push('\n');
            rest.drain(..taken);
        }
    }
    out
}

/// The lines with as many of these columns as fit the width, but at least one; and their number.
fn fitting(
    columns: &[usize],
    table: impl Fn(&[usize]) -> Vec<String>,
    width: usize,
) -> (Vec<String>, usize) {
    for count in (1..=columns.len()).rev() {
        let lines = table(&columns[..count]);
        let fits = lines.iter().all(|line| paint::width(line) <= width);
        if fits || count == 1 {
            return (lines, count);
        }
    }
    (Vec::new(), columns.len())
}

/// Cells in columns that end at the right.
fn aligned(lines: &[Vec<String>]) -> Vec<String> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| lines.iter().filter_map(move |line| line.get(column));
    let widest = |column| cells(column).map(|cell| paint::width(cell)).max();
    let widths: Vec<usize> = (0..columns).filter_map(widest).collect();
    let line = |cells: &Vec<String>| {
        let cells = cells.iter().zip(&widths);
        let cells = cells.map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    lines.iter().map(line).collect()
}
