//! The few numbers of a run that most people look for first, with reference values.

mod list;

use self::list::BLOCKS;
use crate::beside::{Beside, Figures};
use crate::{Measurement, Role, Run, Status, role};

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
    /// What the row that provides its number stands for.
    role: Role,
    /// Its title where the role's stand-in provides it.
    instead: Option<&'static str>,
    /// A detail of the row, in ns, and what it is.
    part: Option<(&'static str, &'static str)>,
    /// Whether it is one of the dozen that say what a machine is.
    is_of_overview: bool,
}

/// The summary of a run, compared with a reference if there is one.
pub fn summary<'r>(run: &'r Run, reference: Option<&Run>) -> Vec<Block<'r>> {
    let figures = reference.map(Figures::of);
    let blocks = BLOCKS.iter().map(|(title, aside, wanted)| Block {
        title,
        aside: *aside,
        lines: wanted
            .iter()
            .filter_map(|wanted| line(wanted, run, figures.as_ref()))
            .collect(),
    });
    blocks.filter(|block| !block.lines.is_empty()).collect()
}

/// The few lines of the summary that say what a machine is, in its order.
pub(crate) fn essentials<'r>(run: &'r Run, reference: Option<&Run>) -> Vec<Line<'r>> {
    let all = BLOCKS.iter().flat_map(|(_, _, wanted)| wanted.iter());
    let few = all.filter(|wanted| wanted.is_of_overview);
    let figures = reference.map(Figures::of);
    few.filter_map(|wanted| line(wanted, run, figures.as_ref()))
        .collect()
}

/// The titles of the summary's lines, with what their rows stand for: those of stand-ins, too.
pub fn titles() -> impl Iterator<Item = (Role, &'static str)> {
    let all = BLOCKS.iter().flat_map(|(_, _, wanted)| wanted.iter());
    all.flat_map(|wanted| role::titles(wanted.role, wanted.title, wanted.instead))
}

/// Whether a run has a good part of the rows; a run of a few selected rows has not.
pub fn has_many(run: &Run) -> bool {
    let wanted = || BLOCKS.iter().flat_map(|(_, _, wanted)| wanted.iter());
    let found = wanted().filter(|wanted| row_of(wanted, run).is_some());
    3 * found.count() >= wanted().count()
}

fn line<'r>(wanted: &Wanted, run: &'r Run, figures: Option<&Figures>) -> Option<Line<'r>> {
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
        reference: figures.and_then(|figures| figures.beside(row, run)),
    })
}

/// The row that provides a line's number, and its title.
fn row_of<'r>(wanted: &Wanted, run: &'r Run) -> Option<(&'r Measurement, &'static str)> {
    let (row, role) = role::find(run, wanted.role)?;
    let instead = wanted.instead.filter(|_| role != wanted.role);
    let title = instead.unwrap_or(wanted.title);
    (row.status != Status::Skipped).then_some((row, title))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::details::SWITCH;
    use crate::fixture::{of_role, run};

    fn named(role: Role, value: f64) -> Measurement {
        of_role(role, role.name(), value)
    }

    #[test]
    fn a_row_without_a_number_has_a_stand_in_under_its_own_name() {
        let mut plateau = named(Role::L1Latency, 1.0);
        plateau.status = Status::Unsupported;
        let mut switch = named(Role::PingPong, 5000.0);
        switch.details.insert(SWITCH.to_owned(), 2500.0);
        let mine = run("mine", vec![plateau, named(Role::LoadIn16K, 1.5), switch]);
        let mut revised = named(Role::PingPong, 9.0);
        revised.revision += 1;
        let of_others = [
            named(Role::LoadIn16K, 2.0),
            named(Role::L1Latency, 3.0),
            revised,
        ];
        let blocks = summary(&mine, Some(&run("other", of_others.to_vec())));
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
        let of_same_row = l1.reference.map(|beside| beside.median);
        assert_eq!(of_same_row, Some(2.0));
        assert!(!has_many(&mine));
    }

    #[test]
    fn a_row_that_was_not_tried_is_no_line_and_no_stand_in() {
        let both = |first, other| {
            let rows = [(Role::L1Latency, first), (Role::LoadIn16K, other)];
            let rows = rows.map(|(role, status)| Measurement {
                status,
                ..named(role, 1.0)
            });
            let mine = run("mine", rows.to_vec());
            let title = |block: &Block<'_>| block.lines[0].title.clone();
            summary(&mine, None).first().map(title)
        };
        let plateau = Some("L1 load-to-use latency".to_owned());
        let chase = Some("Load-to-use latency, 16 KiB".to_owned());
        for (first, other, shown) in [
            (Status::Withheld, Status::Ok, &plateau),
            (Status::Failed, Status::Ok, &plateau),
            (Status::Unsupported, Status::Skipped, &plateau),
            (Status::Unsupported, Status::Failed, &chase),
            (Status::Skipped, Status::Ok, &chase),
            (Status::Skipped, Status::Skipped, &None),
        ] {
            assert_eq!(&both(first, other), shown, "{first:?}, {other:?}");
        }
    }

    #[test]
    fn narrower_vectors_do_not_stand_in_for_refuted_ones() {
        let mut widest = of_role(Role::ReadBandwidth, "read{simd=avx512}", 9.0);
        let narrower = of_role(Role::ReadBandwidth, "read{simd=sse2}", 7.0);
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
            assert_eq!(blocks[0].lines[0].row.case["simd"], shown, "{status:?}");
        }
    }

    #[test]
    fn of_directories_the_first_with_a_number_is_named() {
        let of = |label| of_role(Role::ColdRead, &format!("read{{dir={label}}}"), 7.0);
        let mut first = of("a");
        first.status = Status::Failed;
        let mine = run("mine", vec![first, of("b")]);
        assert_eq!(summary(&mine, None)[0].lines[0].row.case["dir"], "b");
    }

    #[test]
    fn no_row_is_two_lines_and_no_title_stands_for_two() {
        let lines: Vec<(Role, &str)> = titles().collect();
        let roles: BTreeSet<Role> = lines.iter().map(|line| line.0).collect();
        let titles: BTreeSet<&str> = lines.iter().map(|line| line.1).collect();
        assert_eq!((roles.len(), titles.len()), (lines.len(), lines.len()));
    }
}
