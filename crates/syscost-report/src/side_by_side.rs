//! Rows that differ only in their directory, side by side: a line for each row, a column for each
//! directory.

pub(crate) mod text;

use std::collections::BTreeMap;

use syscost_results::directory::{KEY, label_of};
use syscost_results::row_name;
use syscost_results::{Directory, Measurement};

use crate::units;
use crate::view::value;

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

impl Line<'_> {
    /// The id after its first dot.
    pub(crate) fn operation(&self) -> &str {
        row_name::operation(self.id)
    }

    /// A column's median divided by the first column's, if both are positive.
    pub(crate) fn ratio(&self, column: usize) -> Option<f64> {
        let (first, other) = self.cells[0].zip(self.cells[column])?;
        let [below, above] = [value(first)?.median, value(other)?.median];
        (first.unit == other.unit && below > 0.0 && above > 0.0).then(|| above / below)
    }

    /// That ratio: `0.25x`; empty without one.
    pub(crate) fn ratio_text(&self, column: usize) -> String {
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
    use super::*;
    use crate::fixture;

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
}
