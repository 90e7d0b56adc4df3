//! What rows count: the claims that their evidence is about, and details. Much of that only a run of them shows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use syscost_benches::CATALOGUE;
use syscost_harness::Row;
use syscost_harness::session::{Options, Profile, Session};
use syscost_harness::worker::Program;
use syscost_results::{Measurement, Run, Status};
use syscost_store::{LATEST, Store};

use crate::progress::Progress;

/// How long rows are tried, at least, and each of them.
const MIN_TRIAL: Duration = Duration::from_secs(1);
const TRIAL: Duration = Duration::from_millis(300);

/// How long one may take in one process.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// What rows count.
pub(super) trait Counts {
    /// The names of all that each of these rows counts, by the row's name; rows of which that is not known are absent.
    fn of<'r>(self, rows: impl Iterator<Item = &'r Row>) -> BTreeMap<String, Vec<String>>;
}

/// As a short run of them shows that is not kept, and the latest kept run: some details occur in longer runs only.
pub(super) struct Tried;

impl Counts for Tried {
    fn of<'r>(self, rows: impl Iterator<Item = &'r Row>) -> BTreeMap<String, Vec<String>> {
        let rows: BTreeMap<String, Row> = rows.map(|row| (row.name(), row.clone())).collect();
        let names: Vec<String> = rows.keys().cloned().collect();
        let Some(tried) = tried(rows.into_values().collect()) else {
            return BTreeMap::new();
        };
        let counts = names.into_iter().filter_map(|name| {
            let mut all = counted(&tried, &name)?;
            all.extend(kept(&name).unwrap_or_default());
            Some((name, all.into_iter().collect()))
        });
        counts.collect()
    }
}

/// A short run of these rows; nothing of none, or where nothing can be measured.
fn tried(rows: Vec<Row>) -> Option<Run> {
    let count = u32::try_from(rows.len()).ok().filter(|count| *count > 0)?;
    let interrupted = AtomicBool::new(false);
    let options = Options {
        profile: Profile::Quick,
        budget: Some(MIN_TRIAL.max(count * TRIAL)),
        seed: None,
        cpus: None,
        time_limit: TIME_LIMIT,
        selectors: Vec::new(),
        program: Program::this().ok()?,
        journal_folder: None,
        known_cores: None,
        peer: None,
        nfs: None,
        version: crate::VERSION,
    };
    let mut progress = Progress::quiet();
    let rows = CATALOGUE.with_sources(rows);
    let mut session = Session::new(rows, &options, &mut progress, &interrupted).ok()?;
    session.measure(&mut progress);
    progress.done();
    Some(session.finish(false).run)
}

/// What the row counted in the latest kept run that has a figure of it.
fn kept(name: &str) -> Option<BTreeSet<String>> {
    let has = |run: &Run| counted(run, name).is_some();
    let (loaded, _) = Store::of_user().find_having(LATEST, has).ok()?;
    counted(&loaded.run, name)
}

/// What the row counted in this run, if it has a figure: only then all of it is there.
fn counted(run: &Run, name: &str) -> Option<BTreeSet<String>> {
    let is_it = |row: &&Measurement| row.name == name && row.status == Status::Ok;
    let row = run.measurements.iter().find(is_it)?;
    let claims = row.evidence.iter().map(|one| one.claim.clone());
    Some(claims.chain(row.details.keys().cloned()).collect())
}
