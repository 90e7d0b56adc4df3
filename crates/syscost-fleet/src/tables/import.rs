//! Documents to tables.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use parquet::data_type::{ByteArray, ByteArrayType};
use syscost_report::export::ExportError;
use syscost_results::document::Digest;
use syscost_store::{LoadError, load_packed};

use super::column::TableReader;
use super::part::{Part, Stage};
use super::{Key, TablesError, files_of};
use crate::collection::name_machine;

/// Documents that one thread reads into one part: so many machines have a file together.
const DOCUMENTS_PER_PART: usize = 256;

/// What became of the documents.
#[derive(Debug, Default)]
pub struct Imported {
    /// Runs that were added.
    pub runs: usize,
    /// Rows of these.
    pub rows: usize,
    /// Runs that the tables had already.
    pub known: usize,
    /// Documents that are not in the tables.
    pub left_out: Vec<LeftOut>,
}

/// Why a document is not in the tables.
#[derive(Debug, thiserror::Error)]
pub enum LeftOut {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] LoadError),
    /// Another document is of the same run.
    #[error("{0}: its run is that of {1}; of one run only one document counts")]
    Twice(PathBuf, PathBuf),
    /// No table can hold its run.
    #[error("{0}: {1}")]
    Unfit(PathBuf, ExportError),
}

/// Adds the runs in these documents to the tables in a directory, which is made if it does not exist.
/// `done` is called after each document.
///
/// # Errors
/// [`TablesError`] if the tables cannot be written. A document that cannot be read is no error: it is
/// left out and named.
pub fn import(
    documents: &[PathBuf],
    tables: &Path,
    done: &(dyn Fn() + Sync),
) -> Result<Imported, TablesError> {
    let stage = Stage::open(tables)?;
    let import = Import {
        stage: &stage,
        tables,
        known: Mutex::default(),
        done,
    };
    let parts: Vec<&[PathBuf]> = documents.chunks(DOCUMENTS_PER_PART).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut all = Imported::default();
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = import.part(part)?;
            all.add(one);
        }
        Ok(all)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(parts.len()).max(1);
    let results: Vec<Result<Imported, TablesError>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect()
    });
    let mut all = Imported::default();
    for result in results {
        all.add(result?);
    }
    all.left_out.sort_by_cached_key(LeftOut::to_string);
    Ok(all)
}

impl Imported {
    fn add(&mut self, more: Imported) {
        self.runs += more.runs;
        self.rows += more.rows;
        self.known += more.known;
        self.left_out.extend(more.left_out);
    }
}

/// What the threads of an import share.
struct Import<'i> {
    stage: &'i Stage,
    tables: &'i Path,
    /// The runs of each day that the tables have, with the document of those that were just added.
    known: Mutex<BTreeMap<String, HashMap<Key, Option<PathBuf>>>>,
    done: &'i (dyn Fn() + Sync),
}

impl Import<'_> {
    fn part(&self, documents: &[PathBuf]) -> Result<Imported, TablesError> {
        let mut imported = Imported::default();
        let mut parts: BTreeMap<String, Part> = BTreeMap::new();
        for path in documents {
            match self.document(path, &mut parts) {
                Ok(Outcome::Added { rows }) => {
                    imported.runs += 1;
                    imported.rows += rows;
                }
                Ok(Outcome::Known) => imported.known += 1,
                Ok(Outcome::LeftOut(why)) => imported.left_out.push(why),
                Err(error) => return Err(error),
            }
            (self.done)();
        }
        for (day, part) in parts {
            self.stage.end(part, &day)?;
        }
        Ok(imported)
    }

    fn document(
        &self,
        path: &Path,
        parts: &mut BTreeMap<String, Part>,
    ) -> Result<Outcome, TablesError> {
        let (mut digest, packed) = match load_packed(path) {
            Ok(read) => read,
            Err(cause) => return Ok(Outcome::LeftOut(cause.into())),
        };
        name_machine(&mut digest.machine, &digest.config, path);
        let day = match day_of(&digest) {
            Ok(day) => day,
            Err(cause) => return Ok(Outcome::unfit(path, cause)),
        };
        if let Some(outcome) = self.claim(path, &digest, &day)? {
            return Ok(outcome);
        }
        let part = match parts.remove(&day) {
            Some(part) => part,
            None => self.stage.begin()?,
        };
        let part = parts.entry(day).or_insert(part);
        match part.add(&digest, packed) {
            Ok(()) => Ok(Outcome::Added {
                rows: digest.rows.len(),
            }),
            Err(TablesError::Export(cause)) => Ok(Outcome::unfit(path, cause)),
            Err(error) => Err(error),
        }
    }

    /// Takes the run for this document, unless it is in the tables or another document's.
    fn claim(
        &self,
        path: &Path,
        digest: &Digest,
        day: &str,
    ) -> Result<Option<Outcome>, TablesError> {
        let mut known = self
            .known
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        if !known.contains_key(day) {
            let runs = runs_of(self.tables, day)?;
            let runs = runs.into_iter().map(|run| (run, None)).collect();
            known.insert(day.to_owned(), runs);
        }
        let runs = known.entry(day.to_owned()).or_default();
        let key = (digest.id.clone(), digest.machine.hostname.clone());
        Ok(match runs.get(&key) {
            Some(Some(other)) => {
                let why = LeftOut::Twice(path.to_owned(), other.clone());
                Some(Outcome::LeftOut(why))
            }
            Some(None) => Some(Outcome::Known),
            None => {
                runs.insert(key, Some(path.to_owned()));
                None
            }
        })
    }
}

/// What became of one document.
enum Outcome {
    Added { rows: usize },
    Known,
    LeftOut(LeftOut),
}

impl Outcome {
    fn unfit(path: &Path, cause: ExportError) -> Self {
        Outcome::LeftOut(LeftOut::Unfit(path.to_owned(), cause))
    }
}

/// The day on which a run began, UTC.
fn day_of(digest: &Digest) -> Result<String, ExportError> {
    let started: Result<Timestamp, _> = digest.started.parse();
    let started = started.map_err(|cause| ExportError::Started {
        run: digest.id.clone(),
        started: digest.started.clone(),
        cause,
    })?;
    Ok(started.to_zoned(TimeZone::UTC).date().to_string())
}

/// The runs of a day that the tables have.
fn runs_of(tables: &Path, day: &str) -> Result<HashSet<Key>, TablesError> {
    let mut runs = HashSet::new();
    for path in files_of(tables, "runs", Some(day))? {
        let mut read = || {
            let file = TableReader::open(&path)?;
            for group in file.groups() {
                let group = group?;
                let hosts = group.column::<ByteArrayType>("hostname")?;
                let ids = group.column::<ByteArrayType>("run")?;
                for (run, host) in ids.into_iter().zip(hosts) {
                    let text = |bytes: Option<ByteArray>| {
                        let bytes = bytes.unwrap_or_default();
                        bytes.as_utf8().map(str::to_owned)
                    };
                    runs.insert((text(run)?, text(host)?));
                }
            }
            Ok(())
        };
        read().map_err(TablesError::table(&path))?;
    }
    Ok(runs)
}
