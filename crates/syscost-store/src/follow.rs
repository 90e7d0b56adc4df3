//! Follows metrics over time, using the index.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use rusqlite::params;
use serde::Serialize;
use syscost_results::history::{Point, Series};
use syscost_results::{Better, Unit};

use crate::index::{Index, KeptRun};
use crate::store::StoreError;
use crate::sync::BEYOND_NAME;

/// Which runs to follow: by default all those of the newest run's machine.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The machine, by host name or a prefix of its fingerprint.
    pub machine: Option<String>,
    /// Only runs that began then or later.
    pub since: Option<Timestamp>,
}

/// Metrics over the runs of one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Followed {
    /// Fingerprint of the machine; `None` without any runs.
    pub machine: Option<String>,
    /// Its host name.
    pub hostname: String,
    /// Number of runs that were considered.
    pub runs: usize,
    /// Number of runs of other machines, which were left out.
    pub other_machines: usize,
    /// Number of runs with another build (debug or release) than the newest, which were left out.
    pub other_builds: usize,
    /// The metrics, by name.
    pub series: Vec<Tracked>,
}

/// A metric over time, and the runs in which it is missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tracked {
    /// The metric.
    #[serde(flatten)]
    pub series: Series,
    /// Number of runs in which it has no number: withheld, below resolution, unsupported, failed or
    /// skipped.
    pub without_number: usize,
    /// Number of runs left out because its name meant something else in them: an earlier revision,
    /// another far end or another congestion control.
    pub other_revisions: usize,
}

/// A metric in the index: one name may have several, by revision, far end and congestion control.
struct Metric {
    number: i64,
    unit: Unit,
    better: Better,
}

impl Index {
    /// The metrics with the requested names, over the runs in scope, with their changes detected.
    pub fn follow(
        &self,
        scope: &Scope,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Followed, StoreError> {
        let all = self.runs()?;
        let mut followed = Followed {
            machine: None,
            hostname: String::new(),
            runs: 0,
            other_machines: 0,
            other_builds: 0,
            series: Vec::new(),
        };
        let Some(newest) = newest(&all, scope.machine.as_deref())? else {
            return Ok(followed);
        };
        followed.machine = Some(newest.machine.clone());
        followed.hostname = newest.hostname.clone();
        let of_machine = |run: &&KeptRun| run.machine == newest.machine;
        let of_build = |run: &&KeptRun| run.build == newest.build;
        followed.other_machines = all.len() - all.iter().filter(of_machine).count();
        let mine = all.iter().filter(of_machine);
        followed.other_builds = mine.clone().filter(|run| run.build != newest.build).count();
        let since = |run: &&KeptRun| {
            let started = run.started.parse::<Timestamp>().ok();
            scope.since.is_none_or(|since| started >= Some(since))
        };
        let mut runs: Vec<&KeptRun> = mine.filter(of_build).filter(since).collect();
        runs.reverse();
        followed.runs = runs.len();
        let places = self.answered(self.places(&runs))?;
        for (name, metrics) in self.answered(self.metrics())? {
            if wanted(&name) {
                let tracked = self.track(&name, &metrics, &runs, &places);
                followed.series.extend(self.answered(tracked)?);
            }
        }
        Ok(followed)
    }

    /// Maps a run's number in the index to its place in the list.
    fn places(&self, runs: &[&KeptRun]) -> rusqlite::Result<HashMap<i64, usize>> {
        let of_id: HashMap<&str, usize> = runs
            .iter()
            .enumerate()
            .map(|(place, run)| (&*run.id, place))
            .collect();
        let mut statement = self.connection.prepare("SELECT number, id FROM runs")?;
        let mut rows = statement.query([])?;
        let mut places = HashMap::new();
        while let Some(row) = rows.next()? {
            if let Some(&place) = of_id.get(&*row.get::<_, String>(1)?) {
                places.insert(row.get(0)?, place);
            }
        }
        Ok(places)
    }

    fn metrics(&self) -> rusqlite::Result<BTreeMap<String, Vec<Metric>>> {
        let mut statement = self
            .connection
            .prepare("SELECT name, number, unit, better FROM metrics")?;
        let mut rows = statement.query([])?;
        let mut metrics: BTreeMap<String, Vec<Metric>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let better = if row.get::<_, String>(3)? == "higher" {
                Better::Higher
            } else {
                Better::Lower
            };
            // An unknown unit cannot come from a document that this version has read.
            let Some(unit) = Unit::from_symbol(&row.get::<_, String>(2)?) else {
                continue;
            };
            let series: String = row.get(0)?;
            let name = series.split(BEYOND_NAME).next().unwrap_or_default();
            metrics.entry(name.to_owned()).or_default().push(Metric {
                number: row.get(1)?,
                unit,
                better,
            });
        }
        Ok(metrics)
    }

    /// The series of a name in its newest meaning; `None` if no run in scope has it.
    fn track(
        &self,
        name: &str,
        metrics: &[Metric],
        runs: &[&KeptRun],
        places: &HashMap<i64, usize>,
    ) -> rusqlite::Result<Option<Tracked>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT run, median, ci95_low, ci95_high FROM measurements WHERE metric = ?",
        )?;
        let mut meanings = Vec::new();
        for metric in metrics {
            let mut rows = statement.query(params![metric.number])?;
            let mut points = BTreeMap::new();
            while let Some(row) = rows.next()? {
                if let Some(&place) = places.get(&row.get(0)?) {
                    let run = runs[place];
                    let median: Option<f64> = row.get(1)?;
                    let (ci95_low, ci95_high) = (row.get(2)?, row.get(3)?);
                    points.insert(
                        place,
                        median.map(|median| Point {
                            run: run.id.clone(),
                            started: run.started.clone(),
                            tags: run.tags.clone(),
                            median,
                            ci95_low,
                            ci95_high,
                        }),
                    );
                }
            }
            meanings.push((metric, points));
        }
        let all: usize = meanings.iter().map(|(_, points)| points.len()).sum();
        let newest = meanings
            .into_iter()
            .max_by_key(|(_, points)| points.last_key_value().map(|(&place, _)| place));
        Ok(newest
            .filter(|(_, points)| !points.is_empty())
            .map(|(metric, points)| {
                let seen = points.len();
                let points: Vec<Point> = points.into_values().flatten().collect();
                Tracked {
                    without_number: seen - points.len(),
                    other_revisions: all - seen,
                    series: Series::new(name.to_owned(), metric.unit, metric.better, points),
                }
            }))
    }
}

/// The newest run of the named machine, or of any if none is named.
fn newest<'a>(
    runs: &'a [KeptRun],
    machine: Option<&str>,
) -> Result<Option<&'a KeptRun>, StoreError> {
    let Some(name) = machine else {
        return Ok(runs.first());
    };
    let mut machines: Vec<&KeptRun> = Vec::new();
    for run in runs {
        if machines.iter().all(|known| known.machine != run.machine) {
            machines.push(run);
        }
    }
    let is_meant = |run: &&&KeptRun| {
        run.hostname == name || (!name.is_empty() && run.machine.starts_with(name))
    };
    let meant: Vec<&&KeptRun> = machines.iter().filter(is_meant).collect();
    let problem = match meant[..] {
        [one] => return Ok(Some(one)),
        [] => "no machine of the kept runs",
        _ => "the name of several machines",
    };
    let known: Vec<String> = machines
        .iter()
        .map(|run| format!("{} ({}, {})", run.machine, run.hostname, run.cpu))
        .collect();
    Err(StoreError::Machine {
        name: name.to_owned(),
        problem,
        known: known.join(", "),
    })
}
