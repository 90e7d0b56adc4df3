//! The index of the stored runs: an SQLite file next to them.
//!
//! The documents are the truth; the index is derived from them, brought up to date whenever it is
//! opened, and may be removed at any time. It is written in short transactions under SQLite's own
//! lock with a rollback journal, as a write-ahead log does not work on network file systems.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use serde::Serialize;

use crate::store::{Store, StoreError};
use crate::sync::Problem;

/// Identifies the file as ours: `sysc`.
const APPLICATION: i32 = 0x7379_7363;
/// Version of the tables.
pub(crate) const VERSION: i32 = 2;
/// How long to wait for a lock held by another process.
const PATIENCE: Duration = Duration::from_secs(30);

const TABLES: &str = "
DROP TABLE IF EXISTS files;
DROP TABLE IF EXISTS machines;
DROP TABLE IF EXISTS runs;
DROP TABLE IF EXISTS metrics;
DROP TABLE IF EXISTS measurements;
CREATE TABLE files (
    file TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    problem TEXT
) WITHOUT ROWID;
CREATE TABLE machines (
    fingerprint TEXT PRIMARY KEY,
    hostname TEXT NOT NULL,
    cpu TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    file TEXT NOT NULL UNIQUE,
    machine TEXT NOT NULL,
    started TEXT NOT NULL,
    started_us INTEGER NOT NULL,
    duration_s REAL NOT NULL,
    complete INTEGER NOT NULL,
    kernel TEXT NOT NULL,
    version TEXT NOT NULL,
    build TEXT NOT NULL,
    profile TEXT NOT NULL,
    asked TEXT NOT NULL,
    rows INTEGER NOT NULL,
    measured INTEGER NOT NULL
);
CREATE TABLE metrics (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    unit TEXT NOT NULL,
    better TEXT NOT NULL,
    UNIQUE (name, revision, unit, better)
);
CREATE TABLE measurements (
    metric INTEGER NOT NULL,
    run INTEGER NOT NULL,
    status TEXT NOT NULL,
    median REAL,
    ci95_low REAL,
    ci95_high REAL,
    PRIMARY KEY (metric, run)
) WITHOUT ROWID;
";

/// Why the index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The directory of runs cannot be read.
    #[error("cannot read {path}: {cause}")]
    Folder {
        /// The directory.
        path: PathBuf,
        /// Why not.
        cause: std::io::Error,
    },
    /// A newer syscost wrote it.
    #[error(
        "{path} was written by a newer syscost (version {found}, this one knows {VERSION}) and is left as it is; update syscost"
    )]
    Newer {
        /// The index.
        path: PathBuf,
        /// Its version.
        found: i32,
    },
    /// Another program wrote it.
    #[error("{path} is an SQLite file of another program and is left as it is; move it elsewhere")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It is damaged.
    #[error(
        "{path} is damaged ({cause}); remove it: it is built anew from the runs beside it, and nothing is lost"
    )]
    Damaged {
        /// The index.
        path: PathBuf,
        /// SQLite's error.
        cause: rusqlite::Error,
    },
    /// Another process has held its lock for too long.
    #[error("{path} is in use by another process; try again")]
    Busy {
        /// The index.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("cannot use {path}: {cause}; see whether the folder can be written and has room")]
    Sqlite {
        /// The index.
        path: PathBuf,
        /// Why not.
        cause: rusqlite::Error,
    },
}

impl IndexError {
    pub(crate) fn of(path: &Path, cause: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match cause.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                IndexError::Damaged { path, cause }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => IndexError::Busy { path },
            _ => IndexError::Sqlite { path, cause },
        }
    }

    /// Whether the directory is at fault, not the index: the index can then be built in memory.
    fn is_unwritable(&self) -> bool {
        let IndexError::Sqlite { cause, .. } = self else {
            return false;
        };
        matches!(
            cause.sqlite_error_code(),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::DiskFull)
        )
    }
}

/// A run as stored in the index.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeptRun {
    /// Its id.
    pub id: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// How long it took, in seconds.
    pub duration_s: f64,
    /// Whether every row got its minimum number of rounds.
    pub complete: bool,
    /// Fingerprint of the machine: equal for the same host name, processor and hypervisor.
    pub machine: String,
    /// Host name of the machine.
    pub hostname: String,
    /// Its processor's name.
    pub cpu: String,
    /// Operating system's kernel and release.
    pub kernel: String,
    /// Version of syscost.
    pub version: String,
    /// `release` or `debug`.
    pub build: String,
    /// `quick`, `standard`, `full` or `careful`.
    pub profile: String,
    /// What was asked for: `run syscall`, `time make`.
    pub asked: String,
    /// Rows of the document.
    pub rows: u32,
    /// Rows with a number.
    pub measured: u32,
    /// Size of the document in bytes.
    pub size_bytes: u64,
    /// Its tags.
    pub tags: Vec<String>,
}

/// The index, up to date with the directory of runs as it was when opened.
#[derive(Debug)]
pub struct Index {
    pub(crate) connection: Connection,
    pub(crate) store: Store,
    pub(crate) path: PathBuf,
    /// Files that could not be read, without those reported before.
    pub fresh_problems: Vec<Problem>,
    /// Why the index was built in memory and not saved; `None` if it was saved.
    pub not_kept: Option<IndexError>,
}

/// Renames a damaged index, and removes what SQLite would apply to a new one of its name.
fn set_aside(path: &Path) -> io::Result<()> {
    fs::rename(path, path.with_extension("sqlite.damaged"))?;
    match fs::remove_file(path.with_extension("sqlite-journal")) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

impl Index {
    /// Opens the index of a store and brings it up to date by reading each new or changed document
    /// once. `progress` is called with the number of documents read and their total.
    ///
    /// # Errors
    /// If the index is of a newer version or foreign, in which case it is not changed. A damaged one is
    /// set aside as `index.sqlite.damaged` and built anew. An unwritable directory is not an error: the
    /// index is then built in memory.
    pub fn open(store: &Store, progress: &mut dyn FnMut(usize, usize)) -> Result<Self, StoreError> {
        let path = store.folder().join("index.sqlite");
        if !store.runs().exists() && !path.exists() {
            // Nothing has been stored yet: merely looking must not create a directory.
            return Ok(Self::prepared(store, Connection::open_in_memory(), &path)?);
        }
        let mut open = || {
            Self::prepared(store, Connection::open(&path), &path)
                .and_then(|mut index| index.sync(progress).map(|()| index))
        };
        let on_disk = match open() {
            // It is derived: it is built anew from the runs beside it.
            Err(IndexError::Damaged { .. }) if set_aside(&path).is_ok() => open(),
            other => other,
        };
        match on_disk {
            Err(cause) if cause.is_unwritable() => {
                let mut index = Self::prepared(store, Connection::open_in_memory(), &path)?;
                index.sync(progress)?;
                index.not_kept = Some(cause);
                Ok(index)
            }
            other => Ok(other?),
        }
    }

    fn prepared(
        store: &Store,
        connection: rusqlite::Result<Connection>,
        path: &Path,
    ) -> Result<Self, IndexError> {
        let failed = |cause| IndexError::of(path, cause);
        let mut connection = connection.map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        if !is_ready(&connection, path)? {
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(failed)?;
            // Another process may have created the tables in the meantime.
            if !is_ready(&transaction, path)? {
                transaction.execute_batch(TABLES).map_err(failed)?;
                transaction
                    .pragma_update(None, "application_id", APPLICATION)
                    .map_err(failed)?;
                transaction
                    .pragma_update(None, "user_version", VERSION)
                    .map_err(failed)?;
            }
            transaction.commit().map_err(failed)?;
        }
        Ok(Self {
            connection,
            store: store.clone(),
            path: path.to_owned(),
            fresh_problems: Vec::new(),
            not_kept: None,
        })
    }

    /// The stored runs, newest first.
    pub fn runs(&self) -> Result<Vec<KeptRun>, StoreError> {
        let mut tags = self.store.tags();
        let query = "SELECT id, started, duration_s, complete, machine, hostname, cpu, kernel, version, build, profile, \
            asked, rows, measured, size FROM runs JOIN machines ON machine = fingerprint JOIN files USING (file) \
            ORDER BY started_us DESC, id DESC";
        let mut read = || {
            let mut statement = self.connection.prepare(query)?;
            let runs = statement.query_map([], |row| {
                let id: String = row.get(0)?;
                Ok(KeptRun {
                    tags: tags.remove(&id).unwrap_or_default(),
                    id,
                    started: row.get(1)?,
                    duration_s: row.get(2)?,
                    complete: row.get(3)?,
                    machine: row.get(4)?,
                    hostname: row.get(5)?,
                    cpu: row.get(6)?,
                    kernel: row.get(7)?,
                    version: row.get(8)?,
                    build: row.get(9)?,
                    profile: row.get(10)?,
                    asked: row.get(11)?,
                    rows: row.get::<_, u32>(12)?,
                    measured: row.get::<_, u32>(13)?,
                    size_bytes: row.get::<_, i64>(14)?.unsigned_abs(),
                })
            })?;
            runs.collect()
        };
        self.answered(read())
    }

    /// Every file of the directory that contains no readable run, by name.
    pub fn problems(&self) -> Result<Vec<Problem>, StoreError> {
        let read = || {
            let query = "SELECT file, problem FROM files WHERE problem IS NOT NULL ORDER BY file";
            let mut statement = self.connection.prepare(query)?;
            let problems = statement.query_map([], |row| {
                Ok(Problem {
                    file: row.get(0)?,
                    problem: row.get(1)?,
                })
            })?;
            problems.collect()
        };
        self.answered(read())
    }

    pub(crate) fn answered<T>(&self, answer: rusqlite::Result<T>) -> Result<T, StoreError> {
        answer.map_err(|cause| IndexError::of(&self.path, cause).into())
    }
}

/// Whether the file is an index of this version; false if it is empty, or of an older one, which is made anew.
fn is_ready(connection: &Connection, path: &Path) -> Result<bool, IndexError> {
    // A single statement reads a single state of the file: between several, another process may
    // create the tables.
    let state = "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), \
                 (SELECT count(*) FROM sqlite_schema)";
    let (application, version, tables): (i32, i32, i32) = connection
        .query_row(state, [], |row| row.try_into())
        .map_err(|cause| IndexError::of(path, cause))?;
    let path = path.to_owned();
    match (application, version) {
        (APPLICATION, VERSION) => Ok(true),
        (APPLICATION, found) if found > VERSION => Err(IndexError::Newer { path, found }),
        (APPLICATION, _) => Ok(false),
        (0, 0) if tables == 0 => Ok(false),
        _ => Err(IndexError::Foreign { path }),
    }
}
