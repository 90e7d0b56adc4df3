//! The rows of several runs, matched by name.

use std::collections::HashMap;

use syscost_results::row_name;
use syscost_results::{Measurement, Run, Unit};

/// A row with its measurement in each run; `None` where a run has none.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    /// The newest measurement, which provides title, unit and evidence.
    pub(super) latest: &'a Measurement,
    /// The run of the newest measurement.
    pub(super) run: usize,
    pub(super) of_runs: Vec<Option<&'a Measurement>>,
}

impl<'a> Row<'a> {
    pub(super) fn id(&self) -> &'a str {
        &self.latest.id
    }

    pub(super) fn unit(&self) -> Unit {
        self.latest.unit
    }

    /// The id after its first dot.
    pub(super) fn operation(&self) -> &'a str {
        self.latest.operation()
    }

    /// The case in readable form: `call=getppid, via=libc`.
    pub(super) fn case(&self) -> String {
        let case = row_name::case(self.name).unwrap_or_default();
        case.replace(',', ", ")
    }

    fn group(&self) -> &'a str {
        self.latest.group()
    }

    /// Whether a measurement of this name may stand on a line with the newest: in the same unit, by
    /// the same definition.
    pub(super) fn is_alike(&self, other: &Measurement) -> bool {
        (other.unit, other.revision) == (self.latest.unit, self.latest.revision)
    }

    /// The measurements of all runs, without those that are not alike.
    pub(super) fn alike(&self) -> impl Iterator<Item = Option<&'a Measurement>> + Clone {
        let all = self.of_runs.iter().copied();
        all.map(|row| row.filter(|row| self.is_alike(row)))
    }

    pub(super) fn medians(&self) -> impl Iterator<Item = f64> {
        self.alike().flatten().filter_map(median)
    }
}

/// All rows, in the catalogue's order.
pub(super) struct Rows<'a> {
    rows: Vec<Row<'a>>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(runs: &[&'a Run]) -> Self {
        let mut rows: Vec<Row<'a>> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (index, run) in runs.iter().enumerate() {
            for measurement in &run.measurements {
                let at = *known.entry(&measurement.name).or_insert_with(|| {
                    rows.push(Row {
                        name: &measurement.name,
                        latest: measurement,
                        run: index,
                        of_runs: vec![None; runs.len()],
                    });
                    rows.len() - 1
                });
                rows[at].of_runs[index] = Some(measurement);
                rows[at].latest = measurement;
                rows[at].run = index;
            }
        }
        // Rows that only a later run has are placed in their own group and benchmark.
        let mut order: HashMap<&str, usize> = HashMap::new();
        for row in &rows {
            for key in [row.group(), row.id()] {
                let next = order.len();
                order.entry(key).or_insert(next);
            }
        }
        rows.sort_by_key(|row| (order[row.group()], order[row.id()]));
        Rows { rows }
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = (&'a str, Vec<&Row<'a>>)> {
        self.rows
            .chunk_by(|a, b| a.group() == b.group())
            .map(|rows| (rows[0].group(), rows.iter().collect()))
    }
}

/// The median of a row, if its status allows one.
pub(super) fn median(row: &Measurement) -> Option<f64> {
    crate::view::value(row).map(|value| value.median)
}
