//! The latest of the stored runs.

use std::path::{Path, PathBuf};

use syscost_results::Run;

use crate::load::{LoadError, load};
use crate::store::{LATEST, Loaded, Store, StoreError};

/// Maximum number of runs searched for one that has what is wanted.
const LOOKED_THROUGH: usize = 30;

/// How many runs before the latest one this name means; `None` if it is no such name.
pub(crate) fn steps_back(name: &str) -> Option<usize> {
    match name.strip_prefix(LATEST)?.strip_prefix('~') {
        Some(number) => number.parse().ok(),
        None => (name == LATEST).then_some(0),
    }
}

/// Reads a file of the directory of runs. One that has another name than its run is a copy, and its
/// name does not say when the run was.
fn stored(id: &str, path: &Path) -> Result<Run, LoadError> {
    let run = load(path)?;
    match run.id == id {
        true => Ok(run),
        false => Err(LoadError::misnamed(path, &run.id)),
    }
}

impl Store {
    /// The stored run this many before the latest. Files that contain none are passed over: others'
    /// files, copies, damaged documents.
    pub(crate) fn latest(&self, back: usize) -> Result<Loaded, StoreError> {
        let (mut skipped, mut left) = (Vec::new(), back);
        for (id, path) in self.kept()?.into_iter().rev() {
            match stored(&id, &path) {
                Ok(run) if left == 0 => {
                    return Ok(Loaded {
                        run,
                        path,
                        older: 0,
                        skipped,
                    });
                }
                Ok(_) => left -= 1,
                Err(problem) => skipped.push(problem),
            }
        }
        Err(match (back > left, skipped.into_iter().next()) {
            (false, Some(problem)) => problem.into(),
            (false, None) => StoreError::Empty {
                folder: self.runs(),
            },
            (true, _) => StoreError::Unknown {
                name: format!("{LATEST}~{back}"),
            },
        })
    }

    /// The stored runs before the one in this file, latest first, as far back as runs are searched. Files that
    /// contain none are passed over: an unreadable one must not hide others.
    pub fn earlier(
        &self,
        newest: &Path,
    ) -> Result<impl Iterator<Item = (Run, PathBuf)> + use<>, StoreError> {
        let newest = newest.to_owned();
        let kept = self.kept()?.into_iter().rev();
        let earlier = kept.skip_while(move |(_, path)| *path != newest).skip(1);
        let earlier = earlier.take(LOOKED_THROUGH);
        Ok(earlier.filter_map(|(id, path)| Some((stored(&id, &path).ok()?, path))))
    }

    /// Like [`Store::find`], but `latest` is the latest run of the same machine that `has` what is
    /// wanted, so that a run of three rows, or an interrupted one, does not hide others. It is the
    /// very latest if none of the last thirty has it. The number counts the later runs of this
    /// machine that lack it. `has` is called for the latest run first, then for earlier ones; it
    /// may add what only the caller knows.
    pub fn find_having(
        &self,
        name: &str,
        mut has: impl FnMut(&mut Run) -> bool,
    ) -> Result<(Loaded, usize), StoreError> {
        let mut newest = self.find(name)?;
        if name != LATEST || self.is_file(name) || has(&mut newest.run) {
            return Ok((newest, 0));
        }
        let machine = &newest.run.machine;
        let mut passed = 1;
        for (mut run, path) in self.earlier(&newest.path)? {
            // A run of another machine does not answer the question.
            let is_same = (&run.machine.hostname, &run.machine.cpu_model)
                == (&machine.hostname, &machine.cpu_model);
            match is_same {
                true if has(&mut run) => {
                    return Ok((
                        Loaded {
                            run,
                            path,
                            ..newest
                        },
                        passed,
                    ));
                }
                true => passed += 1,
                false => {}
            }
        }
        Ok((newest, 0))
    }
}
