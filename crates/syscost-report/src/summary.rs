//! The short answer: the machine, the few numbers people look for first, reference values beside
//! them, and where to find the rest.

mod closing;

use syscost_results::beside::Figures;
use syscost_results::summary::{self, Aside};
use syscost_results::{Nearness, Run, Unit};

use crate::Beside;
use crate::TableOptions;
use crate::document::{self, Block, Look, Place, Row, Table, Text, terminal};
use crate::sentence;
use crate::units::quantity;
use crate::view::{Column, RowView, tone_without_number};

/// Another run for reference, and its name.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'r> {
    /// Its name, e.g. `epyc-guest`.
    pub name: &'r str,
    /// Family of its processor, e.g. `AMD Zen 5`, in place of a name that may not tell it.
    pub family: Option<&'r str>,
    /// The run.
    pub run: &'r Run,
}

impl Reference<'_> {
    /// Its figures for a table of this run's rows.
    pub fn beside(&self, run: &Run) -> Beside {
        let rows = run.measurements.iter();
        let others = Figures::of(self.run);
        let figures = rows.filter_map(|row| {
            let figure = others.beside(row, run)?;
            Some((row.name.clone(), figure))
        });
        Beside {
            sentence: self.sentence(run),
            figures: figures.collect(),
        }
    }

    /// What the reference is, and how near its processor is to that of this run, in a line.
    pub fn sentence(&self, run: &Run) -> String {
        let mut machine = self.run.machine.clone();
        let nearness = match machine.is_same_as(&run.machine) {
            true => "the same machine".to_owned(),
            false => Nearness::of(&machine, &run.machine).to_string(),
        };
        if let Some(family) = self.family {
            family.clone_into(&mut machine.cpu_model);
        }
        let hardware = sentence::hardware(&machine);
        let day = self.run.started.get(..10).unwrap_or(&self.run.started);
        format!("reference: {}, {hardware}, {day}: {nearness}", self.name)
    }
}

/// The summary of a run for a terminal: some fifty lines if there are 80 columns or more.
pub fn summary(run: &Run, reference: Option<Reference<'_>>, options: &TableOptions) -> String {
    terminal(&blocks(run, reference, options), options)
}

fn blocks(run: &Run, reference: Option<Reference<'_>>, options: &TableOptions) -> Vec<Block> {
    // How far to believe the rest.
    let hour = sentence::hour(run).map(|hour| sentence::capital(&hour));
    let hour = hour.map(|hour| Block::heading(2, hour));
    let machine = [sentence::hardware(&run.machine), sentence::settings(run)];
    let lines = machine.into_iter().chain(sentence::frequency(run));
    let lines = lines.chain(sentence::precision(run));
    let lines = lines.chain(reference.map(|reference| reference.sentence(run)));
    let parts = summary::summary(run, reference.map(|reference| reference.run));
    let all = hour.into_iter().chain(lines.map(Block::note));
    let all = all.chain([Block::Table(table(&parts))]);
    all.chain(closing::blocks(run, &parts, options)).collect()
}

/// The columns, and in which order they are left out where there is no room.
const COLUMNS: [(Column, u8); 6] = [
    (Column::HalfWidth, 3),
    (Column::P99, 5),
    (Column::Cycles, 5),
    (Column::Reference, 1),
    (Column::Ratio, 2),
    (Column::Mark, 0),
];

fn table(parts: &[summary::Block<'_>]) -> Table {
    let right = |(column, rank): (Column, u8)| match column {
        Column::Mark => document::Column::left(""),
        _ => document::Column::right(column.heading()).rank(rank),
    };
    let median = document::Column::right(Column::Median.heading());
    let strong = |part: &summary::Block<'_>| Text::of(Look::Strong, part.title);
    let mut rows = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            rows.push(Row::heading(strong(part), Place::Part));
        }
        for line in &part.lines {
            rows.push(row(line, part.aside));
            let part = line.part.map(|(value, what)| Row {
                place: Place::Below,
                ..Row::new(what, [quantity(Unit::Nanoseconds, value), String::new()])
            });
            rows.extend(part);
        }
    }
    Table {
        class: "stack",
        caption: "Summary".to_owned(),
        names: parts.first().map(strong).unwrap_or_default(),
        columns: std::iter::once(median).chain(COLUMNS.map(right)).collect(),
        rows,
    }
}

/// A row's number and what stands beside it, or why it has none.
fn row(line: &summary::Line<'_>, aside: Aside) -> Row {
    let view = RowView::of(line.row).beside(line.reference);
    if let Some(reason) = view.no_number() {
        let reason = Text::from(reason).tone(tone_without_number(line.row.status));
        return Row::new(&*line.title, [reason]);
    }
    let left_out = match aside {
        Aside::P99 => Column::Cycles,
        Aside::Cycles => Column::P99,
    };
    let cell = |column| {
        let cell = view.cell(column);
        Text::from(cell.text).tone(cell.tone)
    };
    let [median, unit] = [Column::Median, Column::Unit].map(|column| view.cell(column).text);
    let others = COLUMNS.map(|(column, _)| match column == left_out {
        true => Text::default(),
        false => cell(column),
    });
    let median = Text::from(format!("{median} {unit}").trim_end().to_owned());
    Row {
        signs: view.signs().into_iter().map(str::to_owned).collect(),
        ..Row::new(&*line.title, std::iter::once(median).chain(others))
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
            family: Some("AMD Zen 5"),
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
