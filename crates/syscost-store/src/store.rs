//! The data folder, and how a run is named on the command line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};
use syscost_results::Run;

use crate::index::IndexError;
use crate::load::{LoadError, load};
use crate::write::write_atomically;

/// The folder where runs are kept: `$XDG_DATA_HOME/syscost`, by default `~/.local/share/syscost`.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// The name of the run kept last.
pub const LATEST: &str = "latest";

/// How many runs are looked through for one that has what is asked for.
const LOOKED_THROUGH: usize = 30;

/// A run and the file it came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The run.
    pub run: Run,
    /// Its file.
    pub path: PathBuf,
}

/// Why a run could not be found or kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The document.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// No run is called that.
    #[error(
        "there is no file and no kept run called `{name}`; give a file, `latest`, `latest~1`, or an id or tag from `syscost history`"
    )]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// More than one run begins so or has that tag.
    #[error("`{name}` could be {count} runs, e.g. {first} and {second}; give one's id")]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// How many runs begin so or have that tag.
        count: usize,
        /// The first of them.
        first: String,
        /// Another.
        second: String,
    },
    /// No run was kept yet.
    #[error("no run is kept in {folder} yet; measure first: syscost run")]
    Empty {
        /// The folder of runs.
        folder: PathBuf,
    },
    /// Another run has the tag.
    #[error(
        "{holder} is tagged {tag}; take another tag, or first: syscost history untag {holder} {tag}"
    )]
    TagTaken {
        /// What it was to be.
        tag: String,
        /// The run that has it.
        holder: String,
    },
    /// That cannot be a tag.
    #[error("`{tag}` cannot be a tag: it {problem}; take another, e.g. before-upgrade")]
    NoTag {
        /// What was asked for.
        tag: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A run is asked for that must be a kept one.
    #[error(
        "{path} is not kept in the data folder, so it has no place in the history; give an id from `syscost history`"
    )]
    NotKept {
        /// The file that was named.
        path: PathBuf,
    },
    /// No kept run, or more than one machine's, is meant by a machine's name.
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
    /// A file or folder of the store cannot be used.
    #[error("cannot {action} {path}: {cause}{advice}")]
    Io {
        /// What was tried, e.g. `write`.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
        /// What to do, beginning with `; `, or nothing.
        advice: &'static str,
    },
}

impl StoreError {
    /// Whether what was given means no run: the name is wrong, or the file is not there.
    pub fn is_no_run(&self) -> bool {
        match self {
            Self::Load(LoadError::Read { cause, .. }) => cause.kind() == io::ErrorKind::NotFound,
            Self::Load(LoadError::Folder { .. })
            | Self::Unknown { .. }
            | Self::Ambiguous { .. }
            | Self::Empty { .. }
            | Self::NotKept { .. } => true,
            Self::Load(LoadError::TooLarge { .. } | LoadError::Document { .. })
            | Self::TagTaken { .. }
            | Self::NoTag { .. }
            | Self::Machine { .. }
            | Self::Index(_)
            | Self::Io { .. } => false,
        }
    }
}

/// What is in a folder. One that is not there is empty; one that cannot be read is not.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().collect()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(cause),
    }
}

impl Store {
    /// The user's own data folder. It need not exist.
    pub fn of_user() -> Self {
        // Without a home there is still a temporary folder.
        let base = choose_base_strategy()
            .map_or_else(|_| std::env::temp_dir(), |strategy| strategy.data_dir());
        Self::at(base.join("syscost"))
    }

    /// A store in a folder of one's own.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder of everything kept.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of run documents.
    pub fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// The folder of journals of unfinished runs.
    pub fn journals(&self) -> PathBuf {
        self.folder.join("journals")
    }

    /// The file of what cores showed in earlier runs while they worked for nobody else.
    pub fn known_cores(&self) -> PathBuf {
        self.folder.join("cores.json")
    }

    /// Keeps a run's document; tells where.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub fn keep(&self, run: &Run, document: &[u8]) -> Result<PathBuf, StoreError> {
        let folder = self.runs();
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |cause| StoreError::Io {
                action,
                path,
                cause,
                advice: "; or run with --no-save",
            }
        };
        fs::create_dir_all(&folder).map_err(failed("make", &folder))?;
        let path = folder.join(format!("{}.json", run.id));
        write_atomically(&path, document).map_err(failed("write", &path))?;
        Ok(path)
    }

    /// The run that a person means by `name`: a file; `latest`, or `latest~1` for the one before; a kept run's id, its tag,
    /// or the beginning of its id.
    ///
    /// # Errors
    /// When there is no such run, more than one, or its document cannot be read.
    pub fn find(&self, name: &str) -> Result<Loaded, StoreError> {
        let path = self.path_of(name)?;
        let run = load(&path)?;
        Ok(Loaded { run, path })
    }

    /// Like [`Store::find`], but `latest` is the latest run of the same machine that `has` what is
    /// wanted of it, so that a run of three rows, or one that was broken off, hides no other. The
    /// very latest if none of the last thirty has it. The number is that of later runs of this
    /// machine that lack it. `has` is asked of the latest run first, then of earlier ones.
    ///
    /// # Errors
    /// As [`Store::find`].
    pub fn find_having(
        &self,
        name: &str,
        mut has: impl FnMut(&Run) -> bool,
    ) -> Result<(Loaded, usize), StoreError> {
        let newest = self.find(name)?;
        if name != LATEST || Path::new(name).exists() || has(&newest.run) {
            return Ok((newest, 0));
        }
        let machine = &newest.run.machine;
        let earlier = self.kept()?.into_iter().rev();
        let earlier = earlier.filter(|(_, path)| *path != newest.path);
        let mut passed = 1;
        for (_, path) in earlier.take(LOOKED_THROUGH) {
            // One that cannot be read is no reason not to show another; one of another machine is no answer.
            let Ok(run) = load(&path) else { continue };
            let is_same = (&run.machine.hostname, &run.machine.cpu_model)
                == (&machine.hostname, &machine.cpu_model);
            match is_same {
                true if has(&run) => return Ok((Loaded { run, path }, passed)),
                true => passed += 1,
                false => {}
            }
        }
        Ok((newest, 0))
    }

    /// Whether a run may be called so: not whether its document can be read.
    pub fn has(&self, name: &str) -> bool {
        !matches!(self.path_of(name), Err(StoreError::Unknown { .. }))
    }

    fn path_of(&self, name: &str) -> Result<PathBuf, StoreError> {
        let file = Path::new(name);
        // What looks like a path is one, so that the error speaks of the file.
        if file.exists() || name.contains('/') || name.ends_with(".json") {
            return Ok(file.to_owned());
        }
        let kept = self.kept()?;
        if let Some(back) = name.strip_prefix(LATEST) {
            let back = match back.strip_prefix('~') {
                Some(number) => number.parse::<usize>().ok(),
                None if back.is_empty() => Some(0),
                None => None,
            };
            if let Some(back) = back {
                if kept.is_empty() {
                    return Err(StoreError::Empty {
                        folder: self.runs(),
                    });
                }
                return kept
                    .into_iter()
                    .rev()
                    .nth(back)
                    .map(|(_, path)| path)
                    .ok_or_else(|| StoreError::Unknown {
                        name: name.to_owned(),
                    });
            }
        }
        let mut candidates: Vec<&(String, PathBuf)> =
            kept.iter().filter(|(id, _)| id == name).collect();
        if candidates.is_empty() {
            let tags = self.tags();
            let has = |id: &String| {
                tags.get(id)
                    .is_some_and(|tags| tags.iter().any(|t| t == name))
            };
            candidates = kept.iter().filter(|(id, _)| has(id)).collect();
        }
        if candidates.is_empty() && !name.is_empty() {
            candidates = kept.iter().filter(|(id, _)| id.starts_with(name)).collect();
        }
        match candidates[..] {
            [(_, path)] => Ok(path.clone()),
            [(first, _), (second, _), ..] => Err(StoreError::Ambiguous {
                name: name.to_owned(),
                count: candidates.len(),
                first: first.clone(),
                second: second.clone(),
            }),
            [] => Err(StoreError::Unknown {
                name: name.to_owned(),
            }),
        }
    }

    /// The id of the kept run that a person means by `name`, as [`Store::find`] has it.
    ///
    /// # Errors
    /// When there is no such run, more than one, or it is a file elsewhere.
    pub fn kept_id(&self, name: &str) -> Result<String, StoreError> {
        let path = self.path_of(name)?;
        let mut kept = self.kept()?.into_iter();
        kept.find(|(_, kept)| same_file(kept, &path))
            .map(|(id, _)| id)
            .ok_or(StoreError::NotKept { path })
    }

    /// What kept runs may be called, newest first: the tags and the id of each.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut tags = self.tags();
        let kept = self.kept()?.into_iter().rev();
        let names = kept.flat_map(|(id, _)| {
            let mut names = tags.remove(&id).unwrap_or_default();
            names.push(id);
            names
        });
        Ok(names.collect())
    }

    /// Removes a kept run, told by its id, and its tags.
    ///
    /// # Errors
    /// When its file cannot be removed.
    pub fn remove(&self, id: &str) -> Result<(), StoreError> {
        let path = self.runs().join(format!("{id}.json"));
        match fs::remove_file(&path) {
            // Another process was faster.
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(StoreError::Io {
                action: "remove",
                path,
                cause,
                advice: "",
            }),
            _ => {
                for tag in self.tags().remove(id).unwrap_or_default() {
                    self.untag(id, &tag)?;
                }
                Ok(())
            }
        }
    }

    /// Ids and documents of the kept runs, oldest first: ids begin with the time.
    fn kept(&self) -> Result<Vec<(String, PathBuf)>, StoreError> {
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
                // Neither a pipe, which would block, nor a file of another name is a kept run.
                if !path.is_file() {
                    return None;
                }
                let id = path
                    .file_name()?
                    .to_str()?
                    .strip_suffix(".json")?
                    .to_owned();
                Some((id, path))
            })
            .collect();
        kept.sort();
        Ok(kept)
    }
}

/// Whether two paths lead to one file. A kept path is compared as it is first, so that most need no look at the disk.
fn same_file(kept: &Path, other: &Path) -> bool {
    kept == other
        || (kept.file_name() == other.file_name()
            && fs::canonicalize(kept)
                .ok()
                .is_some_and(|kept| fs::canonicalize(other).is_ok_and(|other| kept == other)))
}
