//! What the runs of this machine showed, kept over runs: its usual frequency, and of each row how
//! it depends on the frequency and how far runs differ.
//!
//! The file is a convenience: without it a run is the first of its machine.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use syscost_results::estimate::KeptRuns;
use syscost_results::estimate::between::Level;
use syscost_results::{Machine, Measurement, Run, compare};
use syscost_stats::order::median;

use super::row::RowState;
use crate::cores::known::{read, replace};

/// Number of runs of which levels and frequencies are kept.
const RUNS: usize = 12;

/// Number of machines that one file keeps: homes may be shared.
const MACHINES: usize = 32;

/// Number of rows of each: those of some kernels and settings.
const ROWS: usize = 6000;

/// A line is as good as one over this many processes at most, so that it can change.
const MAX_FREEDOM: f64 = 500.0;

/// The usual frequency is replaced once the median of this many runs differs from it by this share:
/// the machine has moved, or is cooled differently. Other guests alone moved it by 11 % within ten
/// minutes, and each replacement changes all costs in ns.
const MOVED_RUNS: usize = 7;
const MOVED: f64 = 0.2;

/// What is kept of one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The frequency at which costs are given, in GHz.
    pub(super) usual_ghz: Option<f64>,
    /// That of each of the latest runs, the oldest first.
    ghz: Vec<f64>,
    /// The rows, by [`KeptFile::row_key`].
    rows: BTreeMap<String, KeptRuns>,
    /// When it was last changed: a count over all machines.
    changed: u64,
}

/// All that is kept, by [`machine_key`].
type Machines = BTreeMap<String, Kept>;

/// Where it is kept, and what this machine's part was when the run began.
#[derive(Debug, Clone, Default)]
pub(super) struct KeptFile {
    path: Option<PathBuf>,
    /// What rows of one name may differ by.
    setting: String,
    pub(super) before: Kept,
}

impl KeptFile {
    /// Reads this machine's part, for runs like this one, whose rows are yet to be measured; without
    /// a path, or where nothing is kept, it is empty.
    pub(super) fn open(path: Option<&Path>, run: &Run) -> Self {
        let machines = path.map(read_all).unwrap_or_default();
        Self {
            path: path.map(Path::to_owned),
            setting: setting(run),
            before: machines
                .get(&machine_key(&run.machine))
                .cloned()
                .unwrap_or_default(),
        }
    }

    /// The same without a place to add to: halves of a pair say nothing about the next run.
    pub(super) fn read_only(self) -> Self {
        Self { path: None, ..self }
    }

    pub(super) fn of(&self, state: &RowState) -> Option<&KeptRuns> {
        self.before.rows.get(&self.row_key(state))
    }

    /// Adds this run: its usual frequency, and the rows that have a number. If it cannot be
    /// written, the next run does without.
    pub(super) fn add<'a>(
        &self,
        machine: &Machine,
        run: &str,
        ghz: Option<f64>,
        rows: impl Iterator<Item = (&'a RowState, &'a Measurement)>,
    ) {
        let Some(path) = &self.path else { return };
        // Another run may have added to it meanwhile.
        let mut machines = read_all(path);
        let latest = machines.values().map(|kept| kept.changed).max();
        let kept = machines.entry(machine_key(machine)).or_default();
        kept.changed = latest.unwrap_or_default() + 1;
        kept.learn(ghz);
        for (state, row) in rows {
            if let Some((line, level)) = state.shown(row) {
                let known = kept.rows.entry(self.row_key(state)).or_default();
                known.line = known.line.and(line).at_most(MAX_FREEDOM);
                known.levels.push(Level {
                    run: run.to_owned(),
                    ..level
                });
                let old = known.levels.len().saturating_sub(RUNS);
                known.levels.drain(..old);
            }
        }
        if kept.rows.len() > ROWS {
            kept.rows.retain(|key, _| key.ends_with(&self.setting));
        }
        while machines.len() > MACHINES {
            let oldest = machines.iter().min_by_key(|(_, kept)| kept.changed);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            machines.remove(&oldest);
        }
        replace(path, &machines);
    }

    /// A row that measures the same in all runs with this key.
    fn row_key(&self, state: &RowState) -> String {
        let (name, revision) = (state.row.name(), state.row.benchmark.revision);
        format!("{name} r{revision}, {}", self.setting)
    }
}

impl Kept {
    /// Adds the frequency of a run. The median of the first [`MOVED_RUNS`] is the usual one, until
    /// as many others agree on another: the first alone may be that of a laptop without its
    /// charger.
    fn learn(&mut self, ghz: Option<f64>) {
        self.ghz.extend(ghz);
        let old = self.ghz.len().saturating_sub(RUNS);
        self.ghz.drain(..old);
        let latest = &self.ghz[self.ghz.len().saturating_sub(MOVED_RUNS)..];
        let middle = median(latest);
        let has_moved = |(middle, usual): (f64, f64)| (middle / usual - 1.0).abs() > MOVED;
        let is_first = self.ghz.len() <= MOVED_RUNS;
        if is_first || middle.zip(self.usual_ghz).is_none_or(has_moved) {
            self.usual_ghz = middle;
        }
    }
}

/// All recorded facts by which rows of one name may differ, in short.
fn setting(run: &Run) -> String {
    let mut hasher = DefaultHasher::new();
    compare::setting(run).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// What a file keeps, without what no run can have shown.
fn read_all(path: &Path) -> Machines {
    let mut machines: Machines = read(path);
    for kept in machines.values_mut() {
        let is_plausible = |ghz: &f64| (0.01..100.0).contains(ghz);
        kept.usual_ghz = kept.usual_ghz.filter(is_plausible);
        kept.ghz.retain(is_plausible);
        kept.rows.retain(|_, row| row.is_plausible());
    }
    machines
}

/// A machine, measured by builds of one kind.
fn machine_key(machine: &Machine) -> String {
    format!(
        "{}, {}",
        machine.identity().join(", "),
        machine.build.profile
    )
}

#[cfg(test)]
mod tests {
    use syscost_results::estimate::core_share::LineSums;

    use super::*;

    #[test]
    fn the_first_runs_set_the_usual_frequency_and_many_others_move_it() {
        let mut kept = Kept::default();
        kept.learn(None);
        for ghz in [4.0, 3.7, 4.1, 3.8, 3.7, 3.9, 3.7, 3.8] {
            kept.learn(Some(ghz));
        }
        assert_eq!(kept.usual_ghz, Some(3.8), "other guests come and go");
        for _ in 0..MOVED_RUNS {
            kept.learn(Some(3.0));
        }
        assert_eq!(kept.usual_ghz, Some(3.0));
    }

    #[test]
    fn what_no_run_can_have_shown_is_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept.json");
        let row = |ghz: f64, level: f64, xy: f64| KeptRuns {
            line: LineSums {
                freedom: 4.0,
                xx: 1.0,
                xy,
                yy: 1.0,
            },
            levels: vec![Level {
                ghz: Some(ghz),
                level,
                error: 0.01,
                run: "id".to_owned(),
            }],
        };
        let kept = |usual, rows: [KeptRuns; 4]| Kept {
            usual_ghz: Some(usual),
            ghz: vec![usual, 3.0],
            rows: (0..).map(|n: u32| n.to_string()).zip(rows).collect(),
            changed: 1,
        };
        let sound = row(3.0, 5.0, 0.9);
        let odd = [row(0.0, 5.0, 0.9), row(3.0, 1e300, 0.9), row(3.0, 5.0, 7.0)];
        let [a, b, c] = odd;
        let key = machine_key(&Machine::default());
        for (usual, expected) in [(3.0, Some(3.0)), (0.0, None), (-3.0, None), (1e300, None)] {
            let rows = [sound.clone(), a.clone(), b.clone(), c.clone()];
            replace(&path, &Machines::from([(key.clone(), kept(usual, rows))]));
            let read = KeptFile::open(Some(&path), &Run::default()).before;
            assert_eq!(read.usual_ghz, expected);
            assert!(read.ghz.iter().all(|ghz| *ghz == 3.0), "{:?}", read.ghz);
            assert_eq!(read.rows, BTreeMap::from([("0".to_owned(), sound.clone())]));
        }
    }

    #[test]
    fn a_file_keeps_machines_apart_and_forgets_the_oldest() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept.json");
        let machine = |name: &str| Machine {
            hostname: name.to_owned(),
            ..Machine::default()
        };
        let run = |name: &str| Run {
            machine: machine(name),
            ..Run::default()
        };
        let add = |name: &str, ghz| {
            let file = KeptFile::open(Some(&path), &run(name));
            file.add(&machine(name), "id", Some(ghz), std::iter::empty());
        };
        let kept = |name: &str| KeptFile::open(Some(&path), &run(name));
        let usual = |name: &str| kept(name).before.usual_ghz;
        add("a", 3.0);
        add("b", 4.0);
        assert_eq!(
            (usual("a"), usual("b"), usual("c")),
            (Some(3.0), Some(4.0), None)
        );
        add("b", 4.0);
        add("a", 3.0);
        for number in 0..MACHINES - 1 {
            add(&number.to_string(), 2.0);
        }
        assert_eq!((usual("a"), usual("b")), (Some(3.0), None));
        std::fs::write(&path, "no JSON").expect("written");
        assert_eq!(usual("a"), None);
        add("a", 3.5);
        assert_eq!(usual("a"), Some(3.5));
    }
}
