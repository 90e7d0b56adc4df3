//! The data directory, and how runs are named on the command line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};
use syscost_results::Run;

use crate::index::IndexError;
use crate::latest::steps_back;
use crate::load::{LoadError, load};
use crate::write::{abandoned, write_atomically};

/// The directory in which runs are stored: `$XDG_DATA_HOME/syscost`, by default `~/.local/share/syscost`.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// The name of the run that was stored last.
pub const LATEST: &str = "latest";

/// A run and the file it came from.
#[derive(Debug)]
pub struct Loaded {
    /// The run.
    pub run: Run,
    /// Its file.
    pub path: PathBuf,
    /// Number of older runs with the same tag, if it was found by one.
    pub older: usize,
    /// Why later files in the directory of runs were passed over: they contain no stored run.
    pub skipped: Vec<LoadError>,
}

/// Why a run could not be found or stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The document could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// No run has this name.
    #[error(
        "there is no file and no kept run called `{name}`; give a file, `latest`, `latest~1`, or an id or tag from `syscost history`"
    )]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// More than one run's id begins like this.
    #[error("`{name}` could be {count} runs, e.g. {first} and {second}; give one's id")]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Number of runs with this prefix.
        count: usize,
        /// The first of them.
        first: String,
        /// Another.
        second: String,
    },
    /// No run has been stored yet.
    #[error("no run is kept in {folder} yet; measure first: syscost run")]
    Empty {
        /// The directory of runs.
        folder: PathBuf,
    },
    /// This cannot be a tag.
    #[error("`{tag}` cannot be a tag: it {problem}; take another, e.g. before-upgrade")]
    NoTag {
        /// What was asked for.
        tag: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The run must be a stored one.
    #[error(
        "{path} is not kept in the data folder, so it has no place in the history; give an id from `syscost history`"
    )]
    NotKept {
        /// The file that was named.
        path: PathBuf,
    },
    /// A machine's name matches no stored run, or those of several machines.
    #[error("`{name}` is {problem}; kept are runs of: {known}")]
    Machine {
        /// What was asked for.
        name: String,
        /// None, or more than one.
        problem: &'static str,
        /// The machines, by name, processor and fingerprint.
        known: String,
    },
    /// The index cannot be used.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A file or directory of the store cannot be used.
    #[error("cannot {action} {path}: {cause}{advice}")]
    Io {
        /// The attempted action, e.g. `write`.
        action: &'static str,
        /// Its object.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
        /// What to do, beginning with `; `; may be empty.
        advice: &'static str,
    },
}

impl StoreError {
    /// Whether a name that was given is wrong: it refers to no run, the file does not exist, or it
    /// cannot be a tag.
    pub fn is_wrong_name(&self) -> bool {
        match self {
            Self::Load(LoadError::Read { cause, .. }) => cause.kind() == io::ErrorKind::NotFound,
            Self::Load(LoadError::Folder { .. })
            | Self::Unknown { .. }
            | Self::Ambiguous { .. }
            | Self::Empty { .. }
            | Self::NoTag { .. }
            | Self::NotKept { .. } => true,
            Self::Load(
                LoadError::TooLarge { .. }
                | LoadError::TooTight { .. }
                | LoadError::Misnamed { .. }
                | LoadError::Document { .. },
            )
            | Self::Machine { .. }
            | Self::Index(_)
            | Self::Io { .. } => false,
        }
    }
}

/// The entries of a directory. A missing directory is empty; an unreadable one is an error.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().collect()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(cause),
    }
}

impl Store {
    /// The user's own data directory. It need not exist.
    pub fn of_user() -> Self {
        // Without a home directory there is still a temporary one.
        let base = choose_base_strategy()
            .map_or_else(|_| std::env::temp_dir(), |strategy| strategy.data_dir());
        Self::at(base.join("syscost"))
    }

    /// A store in the given directory.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The directory of everything stored.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The directory of run documents.
    pub fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// The directory of journals of unfinished runs.
    pub fn journals(&self) -> PathBuf {
        self.folder.join("journals")
    }

    /// The file with what cores showed in earlier runs while they were not shared.
    pub fn known_cores(&self) -> PathBuf {
        self.folder.join("cores.json")
    }

    /// The file with what the runs of each machine showed: usual frequencies, and of each row how it
    /// depends on the frequency and how far runs differ.
    pub fn kept_runs(&self) -> PathBuf {
        self.folder.join("kept.json")
    }

    /// Stores a run's document and returns its path.
    pub fn keep(&self, run: &Run, document: &[u8]) -> Result<PathBuf, StoreError> {
        let folder = self.runs();
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |cause| StoreError::Io {
                action,
                path,
                cause,
                advice: "; set XDG_DATA_HOME to choose another place, or run with --no-save",
            }
        };
        fs::create_dir_all(&folder).map_err(failed("make", &folder))?;
        for left in self.abandoned() {
            // Where it cannot be removed, `syscost clean` says why.
            let _ = fs::remove_file(left);
        }
        let path = folder.join(format!("{}.json", run.id));
        write_atomically(&path, document).map_err(failed("write", &path))?;
        Ok(path)
    }

    /// The files that killed runs left half written here: documents, and what is known of cores.
    pub fn abandoned(&self) -> Vec<PathBuf> {
        let of_cores = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("cores.") && name.ends_with(".tmp")
        };
        let beside = list(&self.folder).unwrap_or_default().into_iter();
        let beside = beside.map(|entry| entry.path()).filter(of_cores);
        beside.chain(abandoned(&self.runs())).collect()
    }

    /// The run that `name` refers to: a file; `latest`, or `latest~1` for the one before; a stored
    /// run's id, a prefix of its id, or its tag. Of several with this tag it is the newest. A file goes first,
    /// unless it is passed over ([`Store::passed_file`]).
    pub fn find(&self, name: &str) -> Result<Loaded, StoreError> {
        if let Some(back) = steps_back(name).filter(|_| !self.is_file(name)) {
            return self.latest(back);
        }
        let (path, older) = self.newest_of(name)?;
        let run = load(&path)?;
        Ok(Loaded {
            run,
            path,
            older,
            skipped: Vec::new(),
        })
    }

    /// Whether a run has this name, even if its document cannot be read.
    pub fn has(&self, name: &str) -> bool {
        !matches!(self.paths_of(name), Err(StoreError::Unknown { .. }))
    }

    /// The runs that `name` refers to where several are taken, each by a name of its own: the ids of
    /// all with this tag, oldest first; of what is no tag, `name` itself.
    pub fn each(&self, name: &str) -> Vec<String> {
        let mut ids = Vec::new();
        if !self.is_file(name) {
            let kept = self.kept().unwrap_or_default().into_iter();
            ids.extend(kept.map(|(id, _)| id).filter(|id| self.has_tag(id, name)));
        }
        match ids.len() {
            0 | 1 => vec![name.to_owned()],
            _ => ids,
        }
    }

    /// The file of the newest run that `name` refers to, and the number of older ones.
    fn newest_of(&self, name: &str) -> Result<(PathBuf, usize), StoreError> {
        let mut paths = self.paths_of(name)?;
        let newest = paths.pop().ok_or_else(|| StoreError::Unknown {
            name: name.to_owned(),
        })?;
        Ok((newest, paths.len()))
    }

    /// Why the file of this name is not what the name means: it holds no run, and a stored run has this name,
    /// too. What looks like a path always means the file.
    pub fn passed_file(&self, name: &str) -> Option<LoadError> {
        let problem = stray(name)?;
        self.kept_paths(name).is_ok().then_some(problem)
    }

    /// Whether nothing but a file that holds no run has this name.
    pub fn is_stray(&self, name: &str) -> bool {
        stray(name).is_some() && self.kept_paths(name).is_err()
    }

    /// Whether this name means a file.
    pub(crate) fn is_file(&self, name: &str) -> bool {
        is_path(name) || Path::new(name).exists() && self.passed_file(name).is_none()
    }

    /// The files of the runs that `name` refers to, oldest first; several have the same tag.
    fn paths_of(&self, name: &str) -> Result<Vec<PathBuf>, StoreError> {
        match self.is_file(name) {
            true => Ok(vec![PathBuf::from(name)]),
            false => self.kept_paths(name),
        }
    }

    /// The files of the stored runs that have this name, oldest first.
    fn kept_paths(&self, name: &str) -> Result<Vec<PathBuf>, StoreError> {
        if let Some(back) = steps_back(name) {
            return Ok(vec![self.latest(back)?.path]);
        }
        let kept = self.kept()?;
        let paths = |is_meant: &dyn Fn(&String) -> bool| -> Vec<PathBuf> {
            let meant = kept.iter().filter(|(id, _)| is_meant(id));
            meant.map(|(_, path)| path.clone()).collect()
        };
        for exact in [paths(&|id| id == name), paths(&|id| self.has_tag(id, name))] {
            if !exact.is_empty() {
                return Ok(exact);
            }
        }
        let is_begun = |(id, _): &&(String, PathBuf)| !name.is_empty() && id.starts_with(name);
        match kept.iter().filter(is_begun).collect::<Vec<_>>()[..] {
            [(_, path)] => Ok(vec![path.clone()]),
            [(first, _), (second, _), ref more @ ..] => Err(StoreError::Ambiguous {
                name: name.to_owned(),
                count: 2 + more.len(),
                first: first.clone(),
                second: second.clone(),
            }),
            [] => Err(StoreError::Unknown {
                name: name.to_owned(),
            }),
        }
    }

    /// The ids of the stored runs that `name` refers to, oldest first; several have the same tag.
    ///
    /// # Errors
    /// If there is no such run, more than one whose id begins like this, or it is a file elsewhere.
    pub fn kept_ids(&self, name: &str) -> Result<Vec<String>, StoreError> {
        let kept = self.kept()?;
        let id = |path: PathBuf| {
            let found = kept.iter().find(|(_, kept)| same_file(kept, &path));
            found
                .map(|(id, _)| id.clone())
                .ok_or(StoreError::NotKept { path })
        };
        self.paths_of(name)?.into_iter().map(id).collect()
    }

    /// The names of the stored runs, newest first: the tags that no newer one has, and the id of each.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        let (mut tags, mut names) = (self.tags(), Vec::new());
        for (id, _) in self.kept()?.into_iter().rev() {
            let of_run = tags.remove(&id).unwrap_or_default();
            let fresh = of_run.into_iter().filter(|tag| !names.contains(tag));
            let fresh: Vec<String> = fresh.collect();
            names.extend(fresh);
            names.push(id);
        }
        Ok(names)
    }

    /// Removes the stored run with this id, and its tags.
    ///
    /// # Errors
    /// If its file cannot be removed.
    pub fn remove(&self, id: &str) -> Result<(), StoreError> {
        let path = self.runs().join(format!("{id}.json"));
        match fs::remove_file(&path) {
            // Another process may have removed it first.
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(StoreError::Io {
                action: "remove",
                path,
                cause,
                advice: "",
            }),
            _ => self.untag_all(id),
        }
    }

    /// Ids and documents of the stored runs, oldest first: ids begin with the time.
    pub(crate) fn kept(&self) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let folder = self.runs();
        let entries = list(&folder).map_err(|cause| StoreError::Io {
            action: "read",
            path: folder,
            cause,
            advice: "",
        })?;
        let mut kept: Vec<(String, PathBuf)> = entries
            .into_iter()
            .filter_map(|entry| {
                let path = entry.path();
                // Pipes, on which reading would block, and files with other names are not stored runs;
                // hidden ones are being written.
                let id = path.file_name()?.to_str()?.strip_suffix(".json")?;
                let is_one = path.is_file() && !id.starts_with('.');
                is_one.then(|| (id.to_owned(), path.clone()))
            })
            .collect();
        kept.sort();
        Ok(kept)
    }
}

/// Whether this looks like a path, so that an error is about the file.
fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".json")
}

/// Why the file of this name, which does not look like a path, holds no run.
fn stray(name: &str) -> Option<LoadError> {
    let file = Path::new(name);
    let kind = fs::metadata(file).ok().filter(|_| !is_path(name))?;
    // What is read from a pipe is gone.
    (kind.is_file() || kind.is_dir())
        .then(|| load(file).err())
        .flatten()
}

/// Whether two paths lead to the same file. They are first compared as they are, so that most need
/// no disk access.
fn same_file(kept: &Path, other: &Path) -> bool {
    kept == other
        || (kept.file_name() == other.file_name()
            && fs::canonicalize(kept)
                .ok()
                .is_some_and(|kept| fs::canonicalize(other).is_ok_and(|other| kept == other)))
}
