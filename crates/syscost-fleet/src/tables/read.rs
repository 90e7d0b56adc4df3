//! Tables to digests.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use syscost_results::document::Digest;

use super::column::TableReader;
use super::{Key, TablesError, entries, files_of, measurements, runs};

/// Digests that are read before they are asked for.
const AHEAD: usize = 32;

/// Whether a directory has tables, and not documents.
pub fn are_tables(directory: &Path) -> bool {
    directory.join("measurements").is_dir() && directory.join("runs").is_dir()
}

/// The digests of the runs in the tables of a directory, one after the other: day after day, in each
/// file of a day by host name. Of the rows there are the numbers that a judgement needs; a start is
/// exact to the microsecond.
///
/// What another engine wrote anew is read as well, as long as the rows of a run follow each other. A
/// run without rows is left out.
///
/// # Errors
/// [`TablesError::NoTables`] if there are none there. A day that cannot be read to its end is an
/// error among the digests.
pub fn read(
    tables: &Path,
) -> Result<impl Iterator<Item = Result<Digest, TablesError>> + use<>, TablesError> {
    let mut days = Vec::new();
    for day in entries(&tables.join("measurements"))? {
        let name = day.file_name().unwrap_or_default().to_string_lossy();
        days.extend(name.strip_prefix("date=").map(str::to_owned));
    }
    if days.is_empty() {
        return Err(TablesError::NoTables(tables.to_owned()));
    }
    let tables = tables.to_owned();
    let (sender, digests) = sync_channel(AHEAD);
    // Decoding takes about as long as judging, so it has a thread of its own.
    let reader = thread::spawn(move || {
        for day in days {
            match send_day(&tables, &day, &sender) {
                Ok(()) => {}
                Err(Ended::Unread(error)) => drop(sender.send(Err(error))),
                Err(Ended::Unwanted) => return,
            }
        }
    });
    Ok(Digests {
        digests,
        reader: Some(reader),
    })
}

/// What the thread that reads has sent.
struct Digests {
    digests: Receiver<Result<Digest, TablesError>>,
    reader: Option<JoinHandle<()>>,
}

impl Iterator for Digests {
    type Item = Result<Digest, TablesError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Ok(digest) = self.digests.recv() {
            return Some(digest);
        }
        // A thread that panicked has not read everything.
        if let Some(Err(panic)) = self.reader.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
        None
    }
}

/// Why a day is not read on.
enum Ended {
    /// It cannot be.
    Unread(TablesError),
    /// Nobody wants more.
    Unwanted,
}

impl From<TablesError> for Ended {
    fn from(error: TablesError) -> Self {
        Ended::Unread(error)
    }
}

type Sender = SyncSender<Result<Digest, TablesError>>;

fn send_day(tables: &Path, day: &str, sender: &Sender) -> Result<(), Ended> {
    let mut runs = runs_of(tables, day)?;
    for path in files_of(tables, "measurements", Some(day))? {
        send_file(&path, &mut runs, sender)?;
    }
    Ok(())
}

/// The runs of a day, without rows; each until its rows are found.
type Runs = HashMap<Key, Option<Digest>>;

fn runs_of(tables: &Path, day: &str) -> Result<Runs, TablesError> {
    let mut all = Runs::new();
    for path in files_of(tables, "runs", Some(day))? {
        let mut read = || {
            let file = TableReader::open(&path)?;
            for group in file.groups() {
                let found = runs::digests(&group?)?.into_iter();
                all.extend(found.map(|digest| {
                    let key = (digest.id.clone(), digest.machine.hostname.clone());
                    (key, Some(digest))
                }));
            }
            Ok(())
        };
        read().map_err(TablesError::table(&path))?;
    }
    Ok(all)
}

/// Sends the digests whose rows are in a file.
fn send_file(path: &Path, runs: &mut Runs, sender: &Sender) -> Result<(), Ended> {
    let unreadable = TablesError::table(path);
    let send = |digest: Option<Digest>| match digest {
        Some(digest) => sender.send(Ok(digest)).map_err(|_| Ended::Unwanted),
        None => Ok(()),
    };
    let file = TableReader::open(path).map_err(&unreadable)?;
    let mut id = None;
    let mut run: Option<Digest> = None;
    for group in file.groups() {
        let group = group.map_err(&unreadable)?;
        for (of, row) in measurements::rows(&group).map_err(&unreadable)? {
            if id.as_ref() != Some(&of) {
                send(run.take())?;
                let [name, host] = &of;
                let name = name.as_utf8().map_err(&unreadable)?;
                let host = host.as_utf8().map_err(&unreadable)?;
                // Without a line in `runs`, an import was killed that the next one completes.
                run = match runs.get_mut(&(name.to_owned(), host.to_owned())) {
                    Some(found) => {
                        let (path, run) = (path.to_owned(), name.to_owned());
                        let gone = || TablesError::Scattered(path, run);
                        Some(found.take().ok_or_else(gone)?)
                    }
                    None => None,
                };
                id = Some(of);
            }
            if let Some(run) = &mut run {
                run.rows.push(row);
            }
        }
    }
    send(run)
}
