//! The data folder, and how a run is named on the command line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};
use syscost_results::Run;

use crate::load::{LoadError, load};
use crate::write::write_atomically;

/// The folder where runs are kept: `$XDG_DATA_HOME/syscost`, by default `~/.local/share/syscost`.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

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
        "there is no file and no kept run called `{name}`; give a file, `latest`, `latest~1`, or an id from `syscost history`"
    )]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// More than one run begins so.
    #[error("`{name}` could be {count} runs, e.g. {first} and {second}; give more of the id")]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// How many runs begin so.
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

    /// The run that a person means by `name`: a file; `latest`, or `latest~1` for the one before; or the beginning of a kept
    /// run's id.
    ///
    /// # Errors
    /// When there is no such run, more than one, or its document cannot be read.
    pub fn find(&self, name: &str) -> Result<Loaded, StoreError> {
        let path = self.path_of(name)?;
        let run = load(&path)?;
        Ok(Loaded { run, path })
    }

    fn path_of(&self, name: &str) -> Result<PathBuf, StoreError> {
        let file = Path::new(name);
        // What looks like a path is one, so that the error speaks of the file.
        if file.exists() || name.contains('/') || name.ends_with(".json") {
            return Ok(file.to_owned());
        }
        let kept = self.kept();
        if let Some(back) = name.strip_prefix("latest") {
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
        let mut found = kept
            .into_iter()
            .filter(|(id, _)| !name.is_empty() && id.starts_with(name));
        match (found.next(), found.next()) {
            (Some((_, path)), None) => Ok(path),
            (Some((first, _)), Some((second, _))) => Err(StoreError::Ambiguous {
                name: name.to_owned(),
                count: 2 + found.count(),
                first,
                second,
            }),
            _ => Err(StoreError::Unknown {
                name: name.to_owned(),
            }),
        }
    }

    /// Ids and documents of the kept runs, oldest first: ids begin with the time.
    fn kept(&self) -> Vec<(String, PathBuf)> {
        let Ok(entries) = fs::read_dir(self.runs()) else {
            return Vec::new();
        };
        let mut kept: Vec<(String, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let path = entry.path();
                let id = path
                    .file_name()?
                    .to_str()?
                    .strip_suffix(".json")?
                    .to_owned();
                Some((id, path))
            })
            .collect();
        kept.sort();
        kept
    }
}
