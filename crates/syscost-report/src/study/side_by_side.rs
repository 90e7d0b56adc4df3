//! A study in a terminal, a column for each machine: the published ones, then those of the runs.

use syscost_results::study::VerdictKind;

use super::repeated::{QuantityBy, Repeated, ratio_rows};
use super::text::{charts, closing, heading};
use crate::TableOptions;
use crate::page::Page;
use crate::paint::{self, width};

/// Columns between two columns of the table, and before its first one.
const GAP: usize = 3;

/// A column: its heading, and for each quantity the lines of its cell.
struct Column {
    heading: String,
    cells: Vec<Vec<String>>,
}

impl Column {
    fn width(&self) -> usize {
        let lines = self.cells.iter().flatten().chain([&self.heading]);
        GAP + lines.map(|line| width(line)).max().unwrap_or(0)
    }
}

/// A study, judged by several runs.
pub(super) fn side_by_side(repeated: &Repeated, options: &TableOptions) -> String {
    let mut page = Page::new(options);
    heading(&mut page, &repeated.study);
    let all = repeated.quantities();
    for quantities in all.chunk_by(|a, b| a.quantity.table == b.quantity.table) {
        page.line("");
        page.paragraph(0, paint::HEADING, &quantities[0].quantity.table);
        table(&mut page, repeated, quantities);
        for one in quantities {
            verdicts(&mut page, one);
        }
    }
    ratios(&mut page, repeated);
    charts(&mut page, repeated);
    closing(&mut page, &repeated.study);
    page.out
}

/// The figures of these quantities; in several parts where they do not fit side by side.
fn table(page: &mut Page, repeated: &Repeated, quantities: &[QuantityBy<'_>]) {
    let columns = columns(repeated, quantities);
    let all = columns.len();
    let titles = quantities.iter().map(|one| width(&one.quantity.title));
    // Long titles are wrapped.
    let first = titles.max().unwrap_or(0).min(page.columns / 3);
    let mut rest = &columns[..];
    while let Some((next, others)) = rest.split_first() {
        let mut used = 2 + first + next.width();
        let fits = |column: &&Column| {
            used += column.width();
            used <= page.columns
        };
        let many = 1 + others.iter().take_while(fits).count();
        let (shown, later) = rest.split_at(many);
        if rest.len() < all {
            page.line("");
        }
        part(page, quantities, shown, first);
        rest = later;
    }
}

/// These columns of the table.
fn part(page: &mut Page, quantities: &[QuantityBy<'_>], columns: &[Column], first: usize) {
    let line = |begin: &str, cells: &mut dyn Iterator<Item = &str>| {
        let mut line = format!("  {begin}{:1$}", "", first.saturating_sub(width(begin)));
        for (cell, column) in cells.zip(columns) {
            let pad = column.width().saturating_sub(width(cell));
            line += &format!("{:pad$}{cell}", "");
        }
        line
    };
    let headings = line(
        "",
        &mut columns.iter().map(|column| column.heading.as_str()),
    );
    let headings = page.paint.text(paint::HEADING, &headings);
    page.line(&headings);
    for (index, one) in quantities.iter().enumerate() {
        let title = crate::wrap::wrap(&one.quantity.title, first);
        let cells = || columns.iter().map(|column| &column.cells[index]);
        let high = cells().map(Vec::len).chain([title.len()]).max();
        for row in 0..high.unwrap_or(0) {
            let begin = title.get(row).map_or("", |text| text.as_str());
            let mut cells = cells().map(|lines| lines.get(row).map_or("", String::as_str));
            let text = line(begin, &mut cells);
            page.line(&text);
        }
    }
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
    page.line("");
    page.paragraph(2, paint::HEADING, &one.quantity.title);
    page.paragraph(4, paint::DIM, &one.quantity.procedure);
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
        let style = match kind {
            VerdictKind::NotWhatItSays => paint::BAD,
            VerdictKind::Differs => paint::CARE,
            VerdictKind::Agrees => paint::GOOD,
            VerdictKind::CannotTell | VerdictKind::NotCompared => anstyle::Style::new(),
        };
        page.paragraph(4, style, &format!("{}: {text}", labels.join("; ")));
    }
}

fn ratios(page: &mut Page, repeated: &Repeated) {
    let rows = ratio_rows(repeated);
    if !rows.is_empty() {
        page.line("");
        page.paragraph(0, paint::HEADING, "Ratios");
    }
    for row in rows {
        page.paragraph(2, paint::HEADING, row.title);
        let cells = row.cells.iter();
        let cells = cells.map(|(whose, ratio)| format!("{whose} {ratio}"));
        let words = (!row.words.is_empty()).then_some(row.words.clone());
        let parts: Vec<String> = cells.chain(words).collect();
        page.paragraph(4, anstyle::Style::new(), &parts.join("; "));
    }
}
