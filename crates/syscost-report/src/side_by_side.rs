//! Rows that differ only in their directory, side by side: a line for each row, a column for each
//! directory.

use std::collections::BTreeMap;

use syscost_results::directory::{KEY, label_of};
use syscost_results::row_name;
use syscost_results::{Directory, Measurement};

use crate::document::{Column, Look, Place, Row, Table, Text};
use crate::footer;
use crate::paint::cut_end;
use crate::tone::Tone;
use crate::units;
use crate::view::{RowView, tone_without_number, value};

/// Maximum width of a directory's label in a heading.
const MAX_LABEL: usize = 24;

/// The rows of several directories.
#[derive(Debug)]
pub(crate) struct SideBySide<'a> {
    /// The directories' labels, in order of first appearance.
    pub(crate) labels: Vec<&'a str>,
    /// The lines, in order of their rows' first appearance.
    pub(crate) lines: Vec<Line<'a>>,
}

/// A row in each of the directories.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// Its benchmark.
    pub(crate) id: &'a str,
    /// What the benchmark measures.
    pub(crate) title: &'a str,
    /// The case without the directory: `access=random,size=4K`; may be empty.
    pub(crate) case: String,
    /// Its measurement in each directory, in the order of the labels; `None` if there is none.
    pub(crate) cells: Vec<Option<&'a Measurement>>,
}

impl<'a> SideBySide<'a> {
    /// The rows of these measurements that are of one of these directories; `None` unless they are
    /// of several. A row may name something else in place of a directory, such as `fs.remote` the
    /// server of `--nfs`.
    pub(crate) fn of(
        measurements: impl IntoIterator<Item = &'a Measurement>,
        directories: &[Directory],
    ) -> Option<Self> {
        let mut labels: Vec<&str> = Vec::new();
        let mut lines: Vec<Line<'a>> = Vec::new();
        let mut places: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for measurement in measurements {
            let label = label_of(&measurement.name)
                .filter(|label| directories.iter().any(|one| one.label == *label));
            let Some(label) = label else {
                continue;
            };
            let column = labels.iter().position(|known| *known == label);
            let column = column.unwrap_or_else(|| {
                labels.push(label);
                labels.len() - 1
            });
            let case = case_without_directory(&measurement.name);
            let place = places.entry((&measurement.id, case.clone()));
            let place = *place.or_insert_with(|| {
                lines.push(Line {
                    id: &measurement.id,
                    title: &measurement.title,
                    case,
                    cells: Vec::new(),
                });
                lines.len() - 1
            });
            let cells = &mut lines[place].cells;
            cells.resize(cells.len().max(column + 1), None);
            cells[column] = Some(measurement);
        }
        for line in &mut lines {
            line.cells.resize(labels.len(), None);
        }
        (labels.len() > 1).then_some(SideBySide { labels, lines })
    }
}

impl SideBySide<'_> {
    /// The lines as a table; `verbose`: with evidence, flags and details below each.
    pub(crate) fn table(&self, names: impl Into<Text>, verbose: bool) -> Table {
        let labels = self.labels.iter();
        let labels: Vec<String> = labels.map(|label| cut_end(label, MAX_LABEL)).collect();
        let columns = labels.iter().enumerate().flat_map(|(at, label)| {
            let ratio = (at > 0).then(|| Column::right(format!("to {}", labels[0])).rank(1));
            [Column::right(label)].into_iter().chain(ratio)
        });
        let mut rows = Vec::new();
        for of_one in self.lines.chunk_by(|one, other| one.id == other.id) {
            let place = if of_one.len() > 1 {
                Place::Below
            } else {
                Place::Row
            };
            if let ([first, ..], Place::Below) = (of_one, place) {
                let name = Text::of(Look::Code, first.operation());
                let name = name.with(Look::Plain, format!("  {}", first.title));
                rows.push(Row::heading(name, Place::Row));
            }
            rows.extend(of_one.iter().map(|line| self.row(line, place, verbose)));
        }
        Table {
            class: "stack",
            caption: "Directories side by side".to_owned(),
            names: names.into(),
            columns: columns.collect(),
            rows,
        }
    }

    fn row(&self, line: &Line<'_>, place: Place, verbose: bool) -> Row {
        let name = match (place, line.case.is_empty()) {
            (Place::Below, false) => line.case.clone(),
            (_, false) => format!("{}{{{}}}", line.operation(), line.case),
            (_, true) => line.operation().to_owned(),
        };
        let views = line.cells.iter().map(|cell| cell.map(RowView::of));
        let views: Vec<Option<RowView<'_>>> = views.collect();
        let cells = views.iter().enumerate().flat_map(|(at, view)| {
            let ratio = Text::from(line.ratio_text(at)).tone(Tone::Quiet);
            [number(view.as_ref())]
                .into_iter()
                .chain((at > 0).then_some(ratio))
        });
        let mut row = Row::new(Text::of(Look::Case, name), cells);
        row.place = place;
        let named = || self.labels.iter().zip(views.iter().flatten());
        row.signs = named()
            .filter_map(|(label, view)| first_sign(label, view))
            .collect();
        let notes = named().filter(|_| verbose).flat_map(|(label, view)| {
            let notes = footer::notes(view).into_iter();
            notes.map(move |note| Text::from(format!("{label}: {note}")).tone(Tone::Quiet))
        });
        row.notes = notes.collect();
        row
    }
}

/// A number with its interval and mark, or why there is none.
fn number(view: Option<&RowView<'_>>) -> Text {
    let Some(view) = view else {
        return Text::from("none").tone(Tone::Quiet);
    };
    match &view.figures {
        None => Text::from(view.row.status.words()).tone(tone_without_number(view.row.status)),
        Some(figures) => {
            let (side, unit, mark) = (figures.side(), figures.unit, view.mark.sign());
            Text::of(Look::Strong, &figures.median)
                .with(Look::Plain, format!("{side} {unit} {mark}"))
        }
    }
}

/// The first sign of a directory's number: `tmp: noisy +1`.
fn first_sign(label: &str, view: &RowView<'_>) -> Option<String> {
    let signs = view.signs();
    let more = match signs.len() {
        0 | 1 => String::new(),
        count => format!(" +{}", count - 1),
    };
    signs.first().map(|first| format!("{label}: {first}{more}"))
}

impl Line<'_> {
    /// The id after its first dot.
    fn operation(&self) -> &str {
        row_name::operation(self.id)
    }

    /// A column's median divided by the first column's, if both are positive.
    fn ratio(&self, column: usize) -> Option<f64> {
        let (first, other) = self.cells[0].zip(self.cells[column])?;
        let [below, above] = [value(first)?.median, value(other)?.median];
        (first.unit == other.unit && below > 0.0 && above > 0.0).then(|| above / below)
    }

    /// That ratio: `0.25x`; empty without one.
    fn ratio_text(&self, column: usize) -> String {
        self.ratio(column).map(units::ratio).unwrap_or_default()
    }
}

/// The case in a row's name, without the directory.
fn case_without_directory(name: &str) -> String {
    let others = row_name::parameters(name).filter(|(key, _)| *key != KEY);
    let others: Vec<String> = others
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    others.join(",")
}

#[cfg(test)]
mod tests {
    use syscost_results::beside::Beside;

    use super::*;
    use crate::expect::has;
    use crate::{TableOptions, fixture, table};

    #[test]
    fn rows_stand_beside_their_like_and_a_gap_stays_one() {
        let run = fixture::of_directories();
        let beside =
            SideBySide::of(&run.measurements, &run.directories).expect("there are several");
        assert_eq!(beside.labels, ["ssd", "tmp", "far"]);
        let first = &beside.lines[0];
        assert_eq!((first.id, first.operation()), ("fs.read", "read"));
        assert_eq!(first.case, "access=random,cache=warm,size=4K");
        assert!(first.cells.iter().all(Option::is_some));
        assert_eq!(first.ratio(0), Some(1.0));
        assert_eq!(first.ratio_text(1), "0.50x");
        let sync = beside.lines.iter().find(|line| line.id == "fs.sync");
        let sync = sync.expect("it is there");
        assert_eq!((sync.case.as_str(), sync.cells[1].is_none()), ("", true));
        assert_eq!(sync.ratio(1), None);
        // A withheld row has no ratio, and a row without a directory no line.
        let cold = &beside.lines[1];
        assert_eq!(
            cold.cells[1].map(|row| row.status),
            Some(syscost_results::Status::Unsupported)
        );
        assert_eq!(cold.ratio_text(1), "");
        assert!(beside.lines.iter().all(|line| line.id != "fs.nfs"));
    }

    #[test]
    fn one_directory_has_nothing_beside_it() {
        let mut run = fixture::of_directories();
        let is_other = |row: &Measurement| label_of(&row.name).is_some_and(|label| label != "ssd");
        run.measurements.retain(|row| !is_other(row));
        assert!(SideBySide::of(&run.measurements, &run.directories).is_none());
    }

    #[test]
    fn what_is_no_directory_is_no_column() {
        let mut run = fixture::of_directories();
        run.directories.retain(|directory| directory.label == "ssd");
        assert!(SideBySide::of(&run.measurements, &run.directories).is_none());
    }

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
