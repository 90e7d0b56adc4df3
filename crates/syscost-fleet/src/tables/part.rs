//! A part of the tables: the runs of one day that one thread of an import read.
//!
//! Its three files are written in a directory of their own, which gets another name when they are
//! whole; only then do they go to their tables, one after the other. An import that was killed leaves
//! either what the next one removes, or a whole part that the next one puts where it belongs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use parquet::data_type::ByteArray;
use syscost_report::export::started_us;
use syscost_results::document::Digest;
use tempfile::TempDir;

use super::column::{Table, TableWriter, Values};
use super::{TABLES, TablesError, entries, measurements, runs};

/// Runs in a row group. With one, tables are a fifth larger, as each group repeats the names of all
/// rows; with all of a part, whoever reads them holds four times as much in memory.
const RUNS_PER_GROUP: usize = 64;

/// Where parts are written; both engines skip names that begin with a dot.
const STAGE: &str = ".import";

/// How the name of a directory ends whose files are not whole.
const UNFINISHED: &str = ".part";

/// The right to add parts to tables, of one process at a time.
pub(super) struct Stage {
    tables: PathBuf,
    stage: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl Stage {
    /// Makes the directory of the tables if there is none, and ends what a killed import began.
    pub(super) fn open(tables: &Path) -> Result<Self, TablesError> {
        fs::create_dir_all(tables).map_err(TablesError::file(tables))?;
        let lock = File::open(tables).map_err(TablesError::file(tables))?;
        if let Err(fs::TryLockError::WouldBlock) = lock.try_lock() {
            return Err(TablesError::Busy(tables.to_owned()));
        }
        let stage = Self {
            tables: tables.to_owned(),
            stage: tables.join(STAGE),
            _lock: lock,
        };
        for left in entries(&stage.stage)? {
            match left.to_string_lossy().ends_with(UNFINISHED) {
                true => fs::remove_dir_all(&left).map_err(TablesError::file(&left))?,
                false => stage.publish(&left)?,
            }
        }
        fs::create_dir_all(&stage.stage).map_err(TablesError::file(&stage.stage))?;
        Ok(stage)
    }

    /// Begins a part.
    pub(super) fn begin(&self) -> Result<Part, TablesError> {
        let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ-").to_string();
        let folder = tempfile::Builder::new()
            .prefix(&now)
            .suffix(UNFINISHED)
            .tempdir_in(&self.stage)
            .map_err(TablesError::file(&self.stage))?;
        let path = folder.path().join(TABLES[0]);
        let file = File::create(&path).map_err(TablesError::file(&path))?;
        Ok(Part {
            documents: TableWriter::new(file, &document(0, "", "", Vec::new()))?,
            folder,
            runs: Vec::new(),
        })
    }

    /// Ends a part of this day, `YYYY-MM-DD`.
    pub(super) fn end(&self, part: Part, day: &str) -> Result<(), TablesError> {
        let folder = part.write()?.keep();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(UNFINISHED).unwrap_or(&name);
        let whole = self.stage.join(format!("{day}.{name}"));
        fs::rename(&folder, &whole).map_err(TablesError::file(&whole))?;
        self.publish(&whole)
    }

    /// Puts the files of a whole part to their tables.
    fn publish(&self, part: &Path) -> Result<(), TablesError> {
        let name = part.file_name().unwrap_or_default().to_string_lossy();
        let (day, name) = name.split_once('.').unwrap_or((&name, "part"));
        for table in TABLES {
            let from = part.join(table);
            let folder = self.tables.join(table).join(format!("date={day}"));
            fs::create_dir_all(&folder).map_err(TablesError::file(&folder))?;
            // A killed import may have put it there already.
            if from.exists() {
                let to = folder.join(format!("{name}.parquet"));
                fs::rename(&from, &to).map_err(TablesError::file(&to))?;
            }
        }
        fs::remove_dir(part).map_err(TablesError::file(part))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What is still in it stays for the next import.
        let _ = fs::remove_dir(&self.stage);
    }
}

/// The runs of one day, those of a machine beside each other.
pub(super) struct Part {
    folder: TempDir,
    documents: TableWriter<File>,
    runs: Vec<Lines>,
}

/// A run's lines in both tables, and what they are sorted by.
struct Lines {
    hostname: String,
    started: String,
    run: Table,
    measurements: Table,
}

impl Part {
    /// Adds a run and the bytes of its document, packed with gzip.
    pub(super) fn add(&mut self, digest: &Digest, packed: Vec<u8>) -> Result<(), TablesError> {
        let lines = Lines {
            hostname: digest.machine.hostname.clone(),
            started: digest.started.clone(),
            run: runs::table(digest)?,
            measurements: measurements::table(digest)?,
        };
        let started = started_us(&digest.id, &digest.started)?;
        self.documents
            .add(&document(started, &digest.id, &lines.hostname, packed))?;
        self.runs.push(lines);
        Ok(())
    }

    /// Writes its files, to their last byte.
    fn write(mut self) -> Result<TempDir, TablesError> {
        let key = |lines: &Lines| (lines.hostname.clone(), lines.started.clone());
        self.runs.sort_by_cached_key(key);
        let (runs, measurements) = self
            .runs
            .into_iter()
            .map(|one| (one.run, one.measurements))
            .unzip();
        let [_, of_rows, of_runs] = TABLES;
        write(&self.folder.path().join(of_rows), measurements)?;
        write(&self.folder.path().join(of_runs), runs)?;
        sync(&self.documents.finish()?, self.folder.path())?;
        Ok(self.folder)
    }
}

/// Writes tables of equal columns into a file, several to a row group.
fn write(path: &Path, tables: Vec<Table>) -> Result<(), TablesError> {
    let file = File::create(path).map_err(TablesError::file(path))?;
    let mut tables = tables.into_iter().peekable();
    let Some(first) = tables.peek() else {
        return Ok(());
    };
    let mut writer = TableWriter::new(file, first)?;
    while let Some(mut group) = tables.next() {
        for _ in 1..RUNS_PER_GROUP {
            let Some(more) = tables.next() else { break };
            for ((_, all), (_, more)) in group.iter_mut().zip(more) {
                all.append(more);
            }
        }
        writer.add(&group)?;
    }
    sync(&writer.finish()?, path)
}

fn sync(file: &File, path: &Path) -> Result<(), TablesError> {
    file.sync_all().map_err(TablesError::file(path))
}

/// The line of a document.
fn document(started_us: i64, run: &str, hostname: &str, packed: Vec<u8>) -> Table {
    let text = |text: &str| Values::text(std::iter::once(Some(text.to_owned())));
    vec![
        ("run", text(run)),
        ("started", Values::Time(vec![Some(started_us)])),
        ("hostname", text(hostname)),
        (
            "document",
            Values::Packed(vec![Some(ByteArray::from(packed))]),
        ),
    ]
}
