//! Brings the index up to date with the directory of runs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use jiff::Timestamp;
use rusqlite::{Transaction, TransactionBehavior, params};
use serde::Serialize;
use syscost_results::directory::label_of;
use syscost_results::run::{NfsServer, Peer};
use syscost_results::{Better, Machine, Measurement, Run, Status};

use crate::index::{Index, IndexError};
use crate::load::{LoadError, load};
use crate::store::list;

/// Prefix of the ids of network measurements.
const NETWORK: &str = "net.";

/// Separates a row's name from what else distinguishes its series; no name contains it.
pub(crate) const BEYOND_NAME: char = '\n';

/// Documents written in one transaction: few enough that others only wait for a moment.
const BATCH: usize = 32;

/// A file in the directory of runs that contains no readable run. It is left alone, and not read
/// again until it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its name in the directory.
    pub file: String,
    /// What is wrong with it, in one line that begins with its path.
    pub problem: String,
}

/// Identifies a version of a file: its size in bytes, and its modification time in ns since 1970.
type State = (i64, i64);

/// A file to be indexed.
struct Indexed {
    file: String,
    state: State,
    content: Result<Run, String>,
}

impl Index {
    /// Indexes new and changed files and forgets vanished ones.
    pub(crate) fn sync(
        &mut self,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(), IndexError> {
        // Before the directory is listed, so that what another process adds in the meantime is not
        // taken for vanished.
        let known = self
            .known()
            .map_err(|cause| IndexError::of(&self.path, cause))?;
        let folder = self.store.runs();
        let present = present(&folder).map_err(|cause| IndexError::Folder {
            path: folder,
            cause,
        })?;
        let gone: Vec<&String> = known
            .keys()
            .filter(|file| !present.contains_key(*file))
            .collect();
        let changed: Vec<(&String, &State)> = present
            .iter()
            .filter(|(file, state)| known.get(*file) != Some(state))
            .collect();
        for (number, batch) in changed.chunks(BATCH).enumerate() {
            let mut read = Vec::with_capacity(batch.len());
            for (place, (file, state)) in batch.iter().enumerate() {
                progress(number * BATCH + place, changed.len());
                read.push(self.read(file, **state));
            }
            self.write(&[], read)?;
        }
        if !gone.is_empty() {
            self.write(&gone, Vec::new())?;
        }
        if !changed.is_empty() {
            progress(changed.len(), changed.len());
        }
        Ok(())
    }

    fn known(&self) -> rusqlite::Result<BTreeMap<String, State>> {
        let mut statement = self
            .connection
            .prepare("SELECT file, size, modified FROM files")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        rows.collect()
    }

    fn read(&self, file: &str, state: State) -> Indexed {
        let path = self.store.runs().join(file);
        Indexed {
            file: file.to_owned(),
            state,
            content: read(&path, file),
        }
    }

    /// Replaces or removes what is indexed of some files, atomically.
    fn write(&mut self, gone: &[&String], files: Vec<Indexed>) -> Result<(), IndexError> {
        let path = self.path.clone();
        let mut problems = Vec::new();
        let mut write = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            for file in gone
                .iter()
                .copied()
                .chain(files.iter().map(|indexed| &indexed.file))
            {
                transaction.execute("DELETE FROM files WHERE file = ?", [file])?;
                transaction.execute("DELETE FROM runs WHERE file = ?", [file])?;
            }
            // Once for all, since rows are stored by metric. Before new runs reuse the numbers of
            // old ones.
            transaction.execute(
                "DELETE FROM measurements WHERE run NOT IN (SELECT number FROM runs)",
                [],
            )?;
            for indexed in &files {
                let (size, modified) = indexed.state;
                let problem = indexed.content.as_ref().err();
                transaction.execute(
                    "INSERT INTO files (file, size, modified, problem) VALUES (?, ?, ?, ?)",
                    params![indexed.file, size, modified, problem],
                )?;
                match &indexed.content {
                    Ok(run) => insert(&transaction, &indexed.file, run)?,
                    Err(problem) => problems.push(Problem {
                        file: indexed.file.clone(),
                        problem: problem.clone(),
                    }),
                }
            }
            transaction.commit()
        };
        write().map_err(|cause| IndexError::of(&path, cause))?;
        self.fresh_problems.extend(problems);
        Ok(())
    }
}

/// The files of the directory and their states. Hidden ones are ours, being written.
///
/// # Errors
/// If the directory exists but cannot be read: its runs have not vanished.
fn present(folder: &Path) -> io::Result<BTreeMap<String, State>> {
    let states = list(folder)?
        .into_iter()
        .filter_map(|entry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            let metadata = fs::metadata(entry.path()).ok()?;
            if file.starts_with('.') || metadata.is_dir() {
                return None;
            }
            let modified = metadata.modified().ok()?;
            let modified = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
            // From 2262 on the time no longer fits; only changes matter.
            Some((file, (metadata.len() as i64, modified.as_nanos() as i64)))
        })
        .collect();
    Ok(states)
}

/// The run in a file, without its samples, or one line on why it contains no stored run.
fn read(path: &Path, file: &str) -> Result<Run, String> {
    let foreign = |problem: &str| Err(format!("{}: {problem}", path.display()));
    let Some(stem) = file.strip_suffix(".json") else {
        return foreign("this is no run document; keep it elsewhere");
    };
    // Reading a pipe would block forever.
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return foreign("this is no regular file; keep it elsewhere");
    }
    let mut run = load(path).map_err(|error: LoadError| error.to_string())?;
    // Otherwise a copy would count twice, and the id in a list would not be found.
    if run.id != stem {
        return Err(LoadError::misnamed(path, &run.id).to_string());
    }
    if run.started.parse::<Timestamp>().is_err() {
        return foreign("field started: this is no time; take another copy of the file");
    }
    // Many are held at a time, and samples are most of a run.
    run.measurements
        .iter_mut()
        .for_each(|row| row.samples = None);
    Ok(run)
}

fn insert(transaction: &Transaction<'_>, file: &str, run: &Run) -> rusqlite::Result<()> {
    let machine = fingerprint(&run.machine);
    transaction.execute(
        "INSERT OR IGNORE INTO machines (fingerprint, hostname, cpu) VALUES (?, ?, ?)",
        params![machine, run.machine.hostname, run.machine.cpu_model],
    )?;
    let measured = run
        .measurements
        .iter()
        .filter(|row| row.status == Status::Ok)
        .count();
    let started = run
        .started
        .parse::<Timestamp>()
        .map_or(0, Timestamp::as_microsecond);
    transaction.execute(
        "INSERT INTO runs (id, file, machine, started, started_us, duration_s, complete, kernel, version, build, profile, \
            asked, rows, measured) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            run.id, file, machine, run.started, started, run.duration_s, run.complete, run.machine.kernel,
            run.tool.version, run.machine.build.profile, run.config.profile, run.asked(), run.measurements.len() as i64,
            measured as i64
        ],
    )?;
    let number = transaction.last_insert_rowid();
    for row in &run.measurements {
        insert_row(transaction, number, row, &series(row, run))?;
    }
    Ok(())
}

/// The series that a row belongs to: its name, followed, each on its own line, by what else
/// determines its meaning in this run.
fn series(row: &Measurement, run: &Run) -> String {
    let is_network = row.id.starts_with(NETWORK);
    let peer = run.peer.as_ref().map(|peer| Peer::host_of(&peer.address));
    let peer = peer.filter(|_| is_network && row.name.contains("path=remote"));
    let congestion = run.config.chosen_congestion().filter(|_| is_network);
    // The variables that once said so: kept indexes call them by these names.
    let meant = [("SYSCOST_PEER", peer), ("SYSCOST_CONGESTION", congestion)];
    let meant = meant
        .into_iter()
        .filter_map(|(what, value)| Some(format!("{BEYOND_NAME}{what}={}", value?)));
    let server = server(row, run).map(|place| format!("{BEYOND_NAME}nfs={place}"));
    let storage = storage(row, run).map(|storage| format!("{BEYOND_NAME}storage={storage}"));
    std::iter::once(row.name.clone())
        .chain(meant)
        .chain(server)
        .chain(storage)
        .collect()
}

/// The NFS server of a row that is measured without a mount.
fn server(row: &Measurement, run: &Run) -> Option<String> {
    let is_concerned = row.id == "fs.nfs" || row.name.starts_with("fs.remote{dir=nfs,");
    let server = run.nfs.as_ref().filter(|_| is_concerned)?;
    Some(NfsServer::place_of(&server.export))
}

/// The storage of a row's directory: another run may have different storage under the same label.
fn storage(row: &Measurement, run: &Run) -> Option<String> {
    let label = label_of(&row.name)?;
    let mut directories = run.directories.iter();
    let directory = directories.find(|directory| directory.label == label)?;
    Some(directory.storage())
}

fn insert_row(
    transaction: &Transaction<'_>,
    run: i64,
    row: &Measurement,
    series: &str,
) -> rusqlite::Result<()> {
    let better = match row.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    };
    let metric = params![series, row.revision, row.unit.symbol(), better];
    let find =
        "SELECT number FROM metrics WHERE name = ? AND revision = ? AND unit = ? AND better = ?";
    let mut find = transaction.prepare_cached(find)?;
    let number: i64 = match find.query_row(metric, |row| row.get(0)) {
        Err(rusqlite::Error::QueryReturnedNoRows) => {
            transaction.execute(
                "INSERT INTO metrics (name, revision, unit, better) VALUES (?, ?, ?, ?)",
                metric,
            )?;
            transaction.last_insert_rowid()
        }
        found => found?,
    };
    // A withheld row has no number, whatever a document says, and a history is one of own prices: one
    // in company would look like a change.
    let is_own = row.status == Status::Ok && !row.is_in_company();
    let estimate = is_own.then_some(&row.estimate);
    transaction
        .prepare_cached(
            "INSERT INTO measurements (metric, run, status, median, ci95_low, ci95_high) VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            number,
            run,
            status(row.status),
            estimate.and_then(|estimate| estimate.median),
            estimate.and_then(|estimate| estimate.ci95_low),
            estimate.and_then(|estimate| estimate.ci95_high),
        ])?;
    Ok(())
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Withheld => "withheld",
        Status::BelowResolution => "below_resolution",
        Status::AboveRange => "above_range",
        Status::Unsupported => "unsupported",
        Status::Failed => "failed",
        Status::Skipped => "skipped",
    }
}

/// A fingerprint of the machine's identity, in eight hexadecimal digits. The kernel and settings
/// are not part of it: a history is there to follow the effects of their changes.
pub fn fingerprint(machine: &Machine) -> String {
    // FNV-1a: machines need to be distinguished, not protected, and the standard library's hash may
    // change between versions.
    let hash = machine
        .identity()
        .into_iter()
        .flat_map(|fact| fact.bytes().chain([0]))
        .fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use syscost_results::{Directory, fixture};

    use super::*;

    /// A run with this row, whose directory `ssd` has a file system of this kind.
    fn run(name: &str, filesystem: &str) -> Run {
        Run {
            directories: vec![Directory {
                label: "ssd".to_owned(),
                filesystem: filesystem.to_owned(),
                source: "/dev/vda".to_owned(),
                ..Directory::default()
            }],
            ..fixture::run("1", vec![fixture::valued(name, 1.0)])
        }
    }

    #[test]
    fn a_row_of_another_file_system_is_no_part_of_a_series() {
        let series = |name, filesystem| {
            let run = run(name, filesystem);
            super::series(&run.measurements[0], &run)
        };
        let name = "fs.read{dir=ssd,size=4K}";
        assert_eq!(
            series(name, "ext4"),
            format!("{name}\nstorage=ext4 on /dev/vda")
        );
        assert_ne!(series(name, "ext4"), series(name, "xfs"));
        for unconcerned in ["fs.read{dir=other,size=4K}", "syscall.null{call=getppid}"] {
            assert_eq!(series(unconcerned, "ext4"), unconcerned);
        }
    }
}
