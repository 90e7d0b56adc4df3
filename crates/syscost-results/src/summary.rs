//! The few numbers of a run that most people look for first, and what is normal beside them.

mod list;

use self::list::BLOCKS;
use crate::study::means;
use crate::{Measurement, Run, Status, Unit};

/// A few lines of one kind.
#[derive(Debug, Clone)]
pub struct Block<'r> {
    /// Its heading.
    pub title: &'static str,
    /// What stands beside the numbers.
    pub aside: Aside,
    /// Its lines, those that the run has rows for.
    pub lines: Vec<Line<'r>>,
}

/// What stands beside the numbers of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    /// The 99th percentile of single operations.
    P99,
    /// Core cycles.
    Cycles,
}

/// One line.
#[derive(Debug, Clone)]
pub struct Line<'r> {
    /// What it is, in standard terms.
    pub title: &'static str,
    /// The row.
    pub row: &'r Measurement,
    /// A part of it in ns, and what that is: of a round trip, one switch.
    pub part: Option<(f64, &'static str)>,
    /// The reference's figure, in the row's unit; null where it has none.
    pub reference: Option<f64>,
}

/// A line that is wanted.
pub(crate) struct Wanted {
    title: &'static str,
    /// Names of rows that tell it, the best first; a parameter that a run decides is `*`.
    rows: &'static [&'static str],
    /// A detail of the row, in ns, and what it is.
    part: Option<(&'static str, &'static str)>,
}

/// The summary of a run, beside a reference if there is one.
pub fn summary<'r>(run: &'r Run, reference: Option<&Run>) -> Vec<Block<'r>> {
    let blocks = BLOCKS.iter().map(|(title, aside, wanted)| Block {
        title,
        aside: *aside,
        lines: wanted
            .iter()
            .filter_map(|wanted| line(wanted, run, reference))
            .collect(),
    });
    blocks.filter(|block| !block.lines.is_empty()).collect()
}

/// The rows that the summary looks for; `*` stands for what only a run decides. Each inner list has the rows
/// that tell the same thing, the best first.
pub fn sources() -> impl Iterator<Item = &'static [&'static str]> {
    let all = BLOCKS.iter().flat_map(|(_, _, wanted)| wanted.iter());
    all.map(|wanted| wanted.rows)
}

/// Whether a run has a good part of them: one of a few rows that were asked for has not.
pub fn has_many(run: &Run) -> bool {
    let (mut found, mut all) = (0, 0);
    for rows in sources() {
        all += 1;
        found += usize::from(row_of(rows, run).is_some());
    }
    3 * found >= all
}

fn line<'r>(wanted: &Wanted, run: &'r Run, reference: Option<&Run>) -> Option<Line<'r>> {
    let row = row_of(wanted.rows, run)?;
    let part = wanted.part.and_then(|(detail, what)| {
        let value = row.details.get(detail)?;
        (row.status == Status::Ok).then_some((*value, what))
    });
    let reference = reference.and_then(|reference| {
        let same = reference
            .measurements
            .iter()
            .find(|other| other.name == row.name);
        let other = same.or_else(|| row_of(wanted.rows, reference))?;
        figure_of(other, row.unit)
    });
    Some(Line {
        title: wanted.title,
        row,
        part,
        reference,
    })
}

/// The median of a row with a number in this unit.
pub fn figure_of(row: &Measurement, unit: Unit) -> Option<f64> {
    let has_it = row.status == Status::Ok && row.unit == unit;
    row.estimate.median.filter(|_| has_it)
}

/// The first of these rows with a number, or the first there is.
fn row_of<'r>(names: &[&str], run: &'r Run) -> Option<&'r Measurement> {
    let all = || {
        names
            .iter()
            .flat_map(|name| run.measurements.iter().filter(|row| means(name, &row.name)))
    };
    all()
        .find(|row| row.status == Status::Ok)
        .or_else(|| all().find(|row| row.status != Status::Skipped))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{row, run};

    fn rounds(value: f64) -> Vec<Vec<f64>> {
        vec![vec![value; 2]; 6]
    }

    #[test]
    fn a_line_is_told_by_the_first_row_with_a_number() {
        let mut plateau = row("memory.cache_latency{level=1}", rounds(1.0));
        plateau.status = Status::Failed;
        let mut switch = row("switch.pipe{between=processes,cpus=same}", rounds(5000.0));
        switch.details.insert("switch_ns".to_owned(), 2500.0);
        let chase = row(
            "memory.latency{pages=4K,access=random,size=16K}",
            rounds(1.5),
        );
        let mine = run("mine", vec![plateau, chase, switch]);
        let other = run(
            "other",
            vec![row("memory.cache_latency{level=1}", rounds(2.0))],
        );
        let blocks = summary(&mine, Some(&other));
        let titles: Vec<&str> = blocks.iter().map(|block| block.title).collect();
        assert_eq!(titles, ["Scheduling and IPC", "Memory hierarchy"]);
        assert_eq!(blocks[0].lines[0].part, Some((2500.0, "each switch")));
        assert_eq!(blocks[0].lines[0].reference, None);
        let l1 = &blocks[1].lines[0];
        assert_eq!(l1.row.estimate.median, Some(1.5));
        assert_eq!(l1.reference, Some(2.0));
        assert!(!has_many(&mine));
    }

    #[test]
    fn no_row_is_two_lines_and_no_title_stands_for_two() {
        let mut rows: Vec<&str> = sources().flatten().copied().collect();
        let count = rows.len();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), count);
        let titles = BLOCKS
            .iter()
            .flat_map(|(_, _, lines)| lines.iter().map(|line| line.title));
        let mut titles: Vec<&str> = titles.collect();
        let count = titles.len();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), count);
    }
}
