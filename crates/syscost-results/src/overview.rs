//! What a machine is, in a dozen numbers: for those who see a run for the first time.

use crate::summary::{Line, essentials};
use crate::{Measurement, Role, Run, Status, row_name};

/// The answer.
#[derive(Debug, Clone)]
pub struct Overview<'r> {
    /// The run that it is of.
    pub run: &'r Run,
    /// The lines of the summary that say the most, limited to those that the run has rows for. A row
    /// may lack a number, and its status says why.
    pub lines: Vec<Line<'r>>,
    /// The data caches that were found, nearest first; none if the run did not look for them.
    pub caches: Vec<Cache>,
    /// The latency of a load by the amount of memory that loads in random order are spread over,
    /// sorted by the size of the pages, then by that amount.
    pub curve: Vec<Load<'r>>,
}

/// A cache that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cache {
    /// Its level, from 1.
    pub level: u32,
    /// Its size in bytes.
    pub bytes: f64,
}

/// A point of the latency curve.
#[derive(Debug, Clone)]
pub struct Load<'r> {
    /// The bytes that the loads are spread over.
    pub bytes: f64,
    /// The size of the pages, as the row's name has it: `4K`, `2M`.
    pub pages: &'r str,
    /// The row, which has a number.
    pub row: &'r Measurement,
}

/// What the measured machine is, beside a reference if there is one.
pub fn overview<'r>(run: &'r Run, reference: Option<&Run>) -> Overview<'r> {
    let measured = || {
        let rows = run.measurements.iter();
        rows.filter(|row| row.status == Status::Ok)
    };
    let size = |(role, level)| {
        let row = measured().find(|row| row.is(role))?;
        Some(Cache {
            level,
            bytes: row.estimate.median?,
        })
    };
    let load = |row: &'r Measurement| {
        Some(Load {
            bytes: row_name::number(row.case.get("size")?)?,
            pages: row.case.get("pages")?,
            row,
        })
    };
    let loads = measured().filter(|row| row.is(Role::RandomLoad));
    let mut curve: Vec<Load<'r>> = loads.filter_map(load).collect();
    let pages = |load: &Load<'_>| row_name::number(load.pages).unwrap_or(0.0);
    curve.sort_by(|one, other| {
        let by_pages = pages(one).total_cmp(&pages(other));
        by_pages.then(one.bytes.total_cmp(&other.bytes))
    });
    Overview {
        run,
        lines: essentials(run, reference),
        caches: Role::SIZES.into_iter().zip(1..).filter_map(size).collect(),
        curve,
    }
}

/// The last of these that found caches, if they hold for the loads of all: of one run, or of machines
/// that are known to have the same.
pub fn of_shared_caches<'o, 'r>(all: &'o [Overview<'r>]) -> Option<&'o Overview<'r>> {
    let told = |overview: &Overview<'r>| &overview.run.machine.caches;
    let are_alike = all
        .windows(2)
        .all(|pair| !told(&pair[0]).is_empty() && told(&pair[0]) == told(&pair[1]));
    let mut found = all.iter().rev().filter(|one| !one.caches.is_empty());
    found.next().filter(|_| are_alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, of_role};

    #[test]
    fn caches_and_the_curve_are_those_that_have_numbers() {
        let named = |role: Role, value| of_role(role, role.name(), value);
        let load = |pages, size| {
            let name = format!("load{{pages={pages},size={size}}}");
            of_role(Role::RandomLoad, &name, 1.0)
        };
        let mut unknown = named(Role::L3Size, 9.0);
        unknown.status = Status::Unsupported;
        let mut near = load("4K", "16K");
        near.roles.push(Role::LoadIn16K);
        let rows = vec![
            named(Role::SystemCall, 100.0),
            named(Role::ClockReading, 20.0),
            load("2M", "1K"),
            load("4K", "128M"),
            near,
            named(Role::L2Size, 1e6),
            named(Role::L1Size, 48e3),
            unknown,
        ];
        let run = fixture::run("r", rows);
        let found = overview(&run, Some(&run));
        let titles: Vec<&str> = found.lines.iter().map(|line| line.title.as_str()).collect();
        let chase = "Load-to-use latency, 16 KiB";
        assert_eq!(titles, ["Null system call", chase]);
        let beside = found.lines[0].reference.expect("of the same row");
        assert_eq!(beside.ratio(found.lines[0].row), Some(1.0));
        let caches: Vec<_> = found
            .caches
            .iter()
            .map(|one| (one.level, one.bytes))
            .collect();
        assert_eq!(caches, [(1, 48e3), (2, 1e6)]);
        let curve: Vec<_> = found
            .curve
            .iter()
            .map(|one| (one.pages, one.bytes))
            .collect();
        let (kib, mib) = (1024.0, 1_048_576.0);
        assert_eq!(
            curve,
            [("4K", 16.0 * kib), ("4K", 128.0 * mib), ("2M", kib)]
        );
    }

    #[test]
    fn caches_hold_for_the_loads_of_machines_known_to_have_the_same() {
        let told = |size_bytes| crate::machine::Cache {
            level: 1,
            kind: "data".to_owned(),
            size_bytes: Some(size_bytes),
            line_bytes: None,
            shared_by: None,
        };
        let run = |caches: &[u64], found: f64| {
            let rows = vec![of_role(Role::L1Size, "l1", found)];
            let mut run = fixture::run("r", rows);
            run.machine.caches = caches.iter().map(|size| told(*size)).collect();
            run
        };
        let found = |runs: &[Run]| {
            let all: Vec<_> = runs.iter().map(|run| overview(run, None)).collect();
            of_shared_caches(&all).map(|one| one.caches[0].bytes)
        };
        for (told, expected) in [
            (&[&[][..]][..], Some(1.0)),
            (&[&[32], &[32]], Some(2.0)),
            (&[&[32], &[48]], None),
            (&[&[], &[]], None),
        ] {
            let runs = told.iter().zip([1.0, 2.0]);
            let runs: Vec<Run> = runs.map(|(told, found)| run(told, found)).collect();
            assert_eq!(found(&runs), expected, "{told:?}");
        }
    }
}
