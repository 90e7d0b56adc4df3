//! The short answer: the machine, the few numbers people look for first, reference values beside
//! them, and where to find the rest.

mod closing;

use syscost_results::beside::figure;
use syscost_results::summary::{Aside, Block, Line, summary as blocks};
use syscost_results::{Run, Unit};

use crate::TableOptions;
use crate::layout::{fit, no_number_style};
use crate::page::Page;
use crate::paint::{self, cut_end, width};
use crate::sentence::{self, Mark};
use crate::table::Beside;
use crate::units::quantity;
use crate::view::{Column, RowView};

/// Columns between two columns.
const GAP: usize = 2;
/// Width of a mark, with a space on each side.
const MARK: usize = 3;
/// Minimum width of the signs.
const SIGNS: usize = 3;

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
            let value = figure(row, run, self.run)?.median;
            Some((row.name.clone(), quantity(row.unit, value)))
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
    page.dim(&sentence::hardware(&run.machine));
    page.dim(&sentence::settings(run));
    for text in [sentence::frequency(run), sentence::precision(run)] {
        text.iter().for_each(|text| page.dim(text));
    }
    if let Some(reference) = reference {
        page.dim(&reference.sentence());
    }
    let blocks = blocks(run, reference.map(|reference| reference.run));
    let widths = Widths::new(&blocks, page.columns);
    let mut are_signs_left_out = false;
    for block in &blocks {
        page.line("");
        page.heading(block, &widths);
        for line in &block.lines {
            are_signs_left_out |= page.row(block.aside, line, &widths);
        }
    }
    page.closing(run, &blocks, are_signs_left_out, options);
    page.out
}

/// A line's texts before they are laid out.
struct Cells {
    median: String,
    half_width: String,
    aside: String,
    reference: String,
    /// Grade and flags.
    signs: Vec<&'static str>,
}

impl Cells {
    fn of(aside: Aside, line: &Line<'_>) -> Option<Self> {
        let row = line.row;
        let view = RowView::of(row);
        let figures = view.figures.as_ref()?;
        let aside = match aside {
            Aside::P99 => Column::P99,
            Aside::Cycles => Column::Cycles,
        };
        Some(Cells {
            median: format!("{} {}", figures.median, figures.unit)
                .trim_end()
                .to_owned(),
            half_width: view.cell(Column::HalfWidth).text,
            aside: view.cell(aside).text,
            reference: line
                .reference
                .map_or_else(String::new, |value| quantity(row.unit, value.median)),
            signs: view.signs(),
        })
    }
}

/// As many whole signs as fit, with `+` and the number of further ones.
fn signs_in(signs: &[&str], room: usize) -> String {
    match fit(signs, room) {
        none if none.is_empty() && !signs.is_empty() => format!("+{}", signs.len()),
        fitting => fitting,
    }
}

struct Widths {
    title: usize,
    median: usize,
    half_width: usize,
    aside: usize,
    reference: usize,
}

impl Widths {
    fn new(blocks: &[Block<'_>], columns: usize) -> Self {
        let lines = || {
            let lines = blocks
                .iter()
                .flat_map(|block| block.lines.iter().map(|line| (block.aside, line)));
            lines.filter_map(|(aside, line)| Cells::of(aside, line))
        };
        let widest = |text: fn(&Cells) -> &String, heading: &str| {
            let widths = lines().map(|cells| width(text(&cells)));
            widths.max().unwrap_or(0).max(width(heading))
        };
        let has_reference = lines().any(|cells| !cells.reference.is_empty());
        let titles = blocks.iter().flat_map(|block| &block.lines);
        let title = titles.map(|line| width(&line.title)).max().unwrap_or(0);
        let median = widest(|cells| &cells.median, "median");
        let half_width = widest(|cells| &cells.half_width, "± 95 %");
        let aside = widest(|cells| &cells.aside, "cycles");
        let reference = match has_reference {
            true => widest(|cells| &cells.reference, "reference"),
            false => 0,
        };
        let numbers = median + half_width + aside + reference + 4 * GAP;
        // Two columns before the title; the mark and the signs after the numbers.
        let around = GAP + MARK + SIGNS;
        Widths {
            title: title.min(columns.saturating_sub(numbers + around)),
            median,
            half_width,
            aside,
            reference,
        }
    }
}

impl Page {
    fn dim(&mut self, text: &str) {
        self.paragraph(0, paint::DIM, text);
    }

    fn heading(&mut self, block: &Block<'_>, widths: &Widths) {
        let aside = match block.aside {
            Aside::P99 => "p99",
            Aside::Cycles => "cycles",
        };
        let title = cut_end(block.title, widths.title);
        let pad = " ".repeat(widths.title + 2 * GAP - width(&title));
        let reference = if widths.reference > 0 {
            "reference"
        } else {
            ""
        };
        let rest = format!(
            "{:>median$}  {:>half$}  {aside:>beside$}  {reference:>last$}",
            "median",
            "± 95 %",
            median = widths.median,
            half = widths.half_width,
            beside = widths.aside,
            last = widths.reference,
        );
        let title = self.paint.text(paint::HEADING, &title);
        let rest = self.paint.text(paint::DIM, rest.trim_end());
        self.line(&format!("{title}{pad}{rest}"));
    }

    /// Adds a line, and returns whether it has more signs than it shows.
    fn row(&mut self, aside: Aside, line: &Line<'_>, widths: &Widths) -> bool {
        let title = format!(
            "  {:<width$}",
            cut_end(&line.title, widths.title),
            width = widths.title
        );
        let Some(cells) = Cells::of(aside, line) else {
            let room = self.columns.saturating_sub(widths.title + 2 * GAP);
            let words = cut_end(&sentence::no_number(line.row), room);
            let style = no_number_style(line.row.status);
            let words = self.paint.text(style, &words);
            self.line(&format!("{title}  {words}"));
            return false;
        };
        let mark = Mark::of(&line.row.evidence);
        let numbers = format!(
            "{:>half$}  {:>beside$}  {:>last$}",
            cells.half_width,
            cells.aside,
            cells.reference,
            half = widths.half_width,
            beside = widths.aside,
            last = widths.reference,
        );
        let used = width(&title) + widths.median + width(&numbers) + 2 * GAP + MARK;
        let behind = signs_in(&cells.signs, self.columns.saturating_sub(used));
        let text = format!(
            "{title}  {:>median$}  {}{} {}",
            cells.median,
            self.paint.text(paint::DIM, &numbers),
            self.paint
                .text(paint::style(mark.tone()), &format!(" {}", mark.sign())),
            self.paint.text(paint::CARE, &behind),
            median = widths.median,
        );
        self.line(&text);
        if let Some((value, what)) = line.part {
            let value = quantity(Unit::Nanoseconds, value);
            let what = format!("    {what}");
            let columns = [widths.title + GAP, widths.median];
            let text = format!("{what:<0$}  {value:>1$}", columns[0], columns[1]);
            self.line(&text);
        }
        behind != cells.signs.join(", ")
    }
}

#[cfg(test)]
mod ending;

#[cfg(test)]
mod tests {
    use syscost_results::details::SWITCH;
    use syscost_results::summary::titles;
    use syscost_results::{Role, Status};

    use super::*;
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
        for line in text.lines() {
            assert!(width(line) <= 80, "{line}");
        }
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
            for line in text.lines() {
                assert!(width(line) <= columns, "{line}");
            }
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
        assert!(
            text.contains("failed: clock_reading: the clock went backwards"),
            "{text}"
        );
        assert!(!text.contains("reference"), "{text}");
    }
}
