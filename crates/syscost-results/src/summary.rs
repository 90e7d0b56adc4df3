//! The few numbers of a run that most people look for first, with reference values.

mod list;

use self::list::BLOCKS;
use crate::beside::{Beside, figure};
use crate::study::means;
use crate::{Measurement, Run, Status, directory, row_name};

/// A few lines of one kind.
#[derive(Debug, Clone)]
pub struct Block<'r> {
    /// Its heading.
    pub title: &'static str,
    /// What the additional column shows.
    pub aside: Aside,
    /// Its lines, limited to those that the run has rows for.
    pub lines: Vec<Line<'r>>,
}

/// What the additional column of a block shows.
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
    /// What it is, in standard terms, with what the run determined: one of several directories, a
    /// pair of CPUs.
    pub title: String,
    /// The row.
    pub row: &'r Measurement,
    /// A part of it in ns, and what that is, e.g. one switch of a round trip.
    pub part: Option<(f64, &'static str)>,
    /// The reference's figure, if it has one.
    pub reference: Option<Beside>,
}

/// A line of the summary.
pub(crate) struct Wanted {
    title: &'static str,
    /// Name of the row that provides its number; a parameter that a run determines is `*`.
    row: &'static str,
    /// A row to use instead in runs without it, and its title.
    instead: Option<(&'static str, &'static str)>,
    /// A detail of the row, in ns, and what it is.
    part: Option<(&'static str, &'static str)>,
    /// Whether it is one of the dozen that say what a machine is.
    is_of_overview: bool,
}

/// The summary of a run, compared with a reference if there is one.
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

/// The few lines of the summary that say what a machine is, in its order.
pub(crate) fn essentials<'r>(run: &'r Run, reference: Option<&Run>) -> Vec<Line<'r>> {
    let all = BLOCKS.iter().flat_map(|(_, _, wanted)| wanted.iter());
    let few = all.filter(|wanted| wanted.is_of_overview);
    few.filter_map(|wanted| line(wanted, run, reference))
        .collect()
}

/// The rows that the summary looks for, each followed by the one that replaces it in short runs;
/// `*` stands for what only a run determines.
pub fn sources() -> impl Iterator<Item = Vec<&'static str>> {
    let all = BLOCKS.iter().flat_map(|(_, _, wanted)| wanted.iter());
    all.map(|wanted| {
        let instead = wanted.instead.map(|(row, _)| row);
        std::iter::once(wanted.row).chain(instead).collect()
    })
}

/// The titles of the summary's rows, with the ids of their benchmarks.
pub fn titles() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = BLOCKS.iter().flat_map(|(_, _, wanted)| wanted.iter());
    let titles = all.flat_map(|wanted| {
        let first = std::iter::once((wanted.row, wanted.title));
        first.chain(wanted.instead)
    });
    titles.map(|(row, title)| (row_name::id(row), title))
}

/// Whether a run has a good part of the rows; a run of a few selected rows has not.
pub fn has_many(run: &Run) -> bool {
    let wanted = || BLOCKS.iter().flat_map(|(_, _, wanted)| wanted.iter());
    let found = wanted().filter(|wanted| row_of(wanted, run).is_some());
    3 * found.count() >= wanted().count()
}

fn line<'r>(wanted: &Wanted, run: &'r Run, reference: Option<&Run>) -> Option<Line<'r>> {
    let (row, title) = row_of(wanted, run)?;
    let part = wanted.part.and_then(|(detail, what)| {
        let value = row.details.get(detail)?;
        (row.status == Status::Ok).then_some((*value, what))
    });
    let directory = row.case.get("dir");
    let pair = row.case.get("from").zip(row.case.get("to"));
    let title = match (directory.filter(|_| run.directories.len() > 1), pair) {
        (Some(label), _) => format!("{title}, {label}"),
        // The distance between the two CPUs is what matters here.
        (None, Some((from, to))) => format!("{title}, CPUs {from} and {to}"),
        (None, None) => title.to_owned(),
    };
    Some(Line {
        title,
        row,
        part,
        reference: reference.and_then(|reference| figure(row, run, reference)),
    })
}

/// The row that provides a line's number, and its title. A row that was refuted or failed takes
/// precedence over its replacement.
fn row_of<'r>(wanted: &Wanted, run: &'r Run) -> Option<(&'r Measurement, &'static str)> {
    let find = |name: &str| {
        let rows = run.measurements.iter();
        first_of(rows.filter(move |row| means(name, &row.name)))
            .filter(|row| row.status != Status::Skipped)
    };
    let first = find(wanted.row).map(|row| (row, wanted.title));
    match first {
        Some((row, _)) if is_final(row) => first,
        Some(_) | None => {
            let instead = wanted.instead;
            let instead = instead.and_then(|(name, title)| Some((find(name)?, title)));
            instead.or(first)
        }
    }
}

/// Whether no other row may replace this one: it has a number, or it was refuted or failed.
pub(crate) fn is_final(row: &Measurement) -> bool {
    matches!(row.status, Status::Ok | Status::Withheld | Status::Failed)
}

/// The row that provides a line's number, of those that match its name, in the run's order.
///
/// For directories and pairs of CPUs, which titles name, it is the first row with a number. For
/// others (the widest vectors come first) it is the first that is final: otherwise a narrower one
/// would silently replace one that was refuted.
pub(crate) fn first_of<'r>(
    rows: impl Iterator<Item = &'r Measurement> + Clone,
) -> Option<&'r Measurement> {
    let find = |is_wanted: fn(&Measurement) -> bool| rows.clone().find(|row| is_wanted(row));
    find(|row| row.status == Status::Ok && is_in_title(row))
        .or_else(|| find(is_final))
        .or_else(|| find(|row| row.status != Status::Skipped))
        .or_else(|| find(|_| true))
}

/// Whether the title says which of several rows it is.
fn is_in_title(row: &Measurement) -> bool {
    let mut parameters = row_name::parameters(&row.name);
    parameters.any(|(key, _)| [directory::KEY, "from"].contains(&key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{row, run};

    fn rounds(value: f64) -> Vec<Vec<f64>> {
        vec![vec![value; 2]; 6]
    }

    #[test]
    fn a_row_without_a_number_has_a_stand_in_under_its_own_name() {
        let mut plateau = row("memory.cache_latency{level=1}", rounds(1.0));
        plateau.status = Status::Unsupported;
        let mut switch = row("switch.pipe{between=processes,cpus=same}", rounds(5000.0));
        switch.details.insert("switch_ns".to_owned(), 2500.0);
        let chase = row(
            "memory.latency{pages=4K,access=random,size=16K}",
            rounds(1.5),
        );
        let mine = run("mine", vec![plateau, chase, switch]);
        let mut revised = row("switch.pipe{between=processes,cpus=same}", rounds(9.0));
        revised.revision += 1;
        let other = run(
            "other",
            vec![
                row(
                    "memory.latency{pages=4K,access=random,size=16K}",
                    rounds(2.0),
                ),
                row("memory.cache_latency{level=1}", rounds(3.0)),
                revised,
            ],
        );
        let blocks = summary(&mine, Some(&other));
        let titles: Vec<&str> = blocks.iter().map(|block| block.title).collect();
        assert_eq!(titles, ["Scheduling and IPC", "Memory hierarchy"]);
        assert_eq!(
            blocks[0].lines[0].part,
            Some((2500.0, "each context switch"))
        );
        assert_eq!(blocks[0].lines[0].reference, None, "of another definition");
        let l1 = &blocks[1].lines[0];
        assert_eq!(l1.row.estimate.median, Some(1.5));
        assert_eq!(l1.title, "Load-to-use latency, 16 KiB");
        assert_eq!(
            l1.reference.map(|beside| beside.median),
            Some(2.0),
            "of the same row"
        );
        assert!(!has_many(&mine));
    }

    #[test]
    fn a_refuted_plateau_has_no_stand_in() {
        let mut plateau = row("memory.cache_latency{level=1}", rounds(1.0));
        plateau.status = Status::Withheld;
        let chase = row(
            "memory.latency{pages=4K,access=random,size=16K}",
            rounds(1.5),
        );
        let mine = run("mine", vec![plateau, chase]);
        let blocks = summary(&mine, None);
        assert_eq!(blocks[0].lines[0].row.status, Status::Withheld);
    }

    #[test]
    fn narrower_vectors_do_not_stand_in_for_refuted_ones() {
        let name = |simd| format!("memory.bandwidth{{op=read,simd={simd},size=512M,threads=1}}");
        let mut widest = row(&name("avx512"), rounds(9.0));
        let narrower = row(&name("sse2"), rounds(7.0));
        for (status, shown) in [
            (Status::Ok, "avx512"),
            (Status::Withheld, "avx512"),
            (Status::Failed, "avx512"),
            (Status::Unsupported, "sse2"),
            (Status::Skipped, "sse2"),
        ] {
            widest.status = status;
            let mine = run("mine", vec![widest.clone(), narrower.clone()]);
            let blocks = summary(&mine, None);
            assert_eq!(blocks[0].lines[0].row.name, name(shown), "{status:?}");
        }
    }

    #[test]
    fn of_directories_the_first_with_a_number_is_named() {
        let name = |label| format!("fs.read{{dir={label},access=random,cache=cold,size=4K}}");
        let mut first = row(&name("a"), rounds(9.0));
        first.status = Status::Failed;
        let mine = run("mine", vec![first, row(&name("b"), rounds(7.0))]);
        assert_eq!(summary(&mine, None)[0].lines[0].row.name, name("b"));
    }

    #[test]
    fn no_row_is_two_lines_and_no_title_stands_for_two() {
        let mut rows: Vec<&str> = sources().flatten().collect();
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
