//! Tags: names that users give to runs.
//!
//! A tag is an empty file, `tags/<run>/<tag>`. Creating and removing a file is atomic between
//! processes, even on a network file system, so there is no lock and nothing to lose; and the
//! index, which is derived, contains no tags.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use crate::store::{LATEST, Store, StoreError};

/// Maximum length of a tag, in characters.
const MAX_LENGTH: usize = 64;

impl Store {
    fn tags_folder(&self) -> PathBuf {
        self.folder().join("tags")
    }

    /// Whether the run with this id has this tag.
    pub(crate) fn has_tag(&self, run: &str, tag: &str) -> bool {
        check(tag).is_ok() && self.tags_folder().join(run).join(tag).exists()
    }

    /// The tags of each run that has some, by the run's id. Those of a run whose document was removed by hand
    /// remain, but reserve nothing.
    pub fn tags(&self) -> BTreeMap<String, Vec<String>> {
        let names = |folder: PathBuf| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let mut names: Vec<String> = entries
                .filter_map(|entry| entry.file_name().into_string().ok())
                .filter(|name| !name.starts_with('.'))
                .collect();
            names.sort();
            names
        };
        names(self.tags_folder())
            .into_iter()
            .map(|run| {
                let tags = names(self.tags_folder().join(&run));
                (run, tags)
            })
            .filter(|(_, tags)| !tags.is_empty())
            .collect()
    }

    /// Checks that this may be a tag.
    ///
    /// # Errors
    /// If it is not a valid tag, or may name a run otherwise, now or later.
    pub fn check_tag(tag: &str) -> Result<(), StoreError> {
        check(tag)?;
        // Where a run is named, the beginning of its id is enough: `20260131T0800`.
        let mut letters = tag.chars();
        if letters.by_ref().take(8).all(|c| c.is_ascii_digit())
            && letters.next().is_none_or(|c| c == 'T')
        {
            return Err(StoreError::NoTag {
                tag: tag.to_owned(),
                problem: "could be the beginning of a run's id",
            });
        }
        Ok(())
    }

    /// Gives a tag to the stored run with this id. Several runs may have the same.
    ///
    /// # Errors
    /// As [`Store::check_tag`], or if its file cannot be created.
    pub fn tag(&self, run: &str, tag: &str) -> Result<(), StoreError> {
        Self::check_tag(tag)?;
        let folder = self.tags_folder().join(run);
        let path = folder.join(tag);
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, ""))
            .map_err(|cause| StoreError::Io {
                action: "write",
                path,
                cause,
                advice: "",
            })
    }

    /// Removes the tags of a run that is no longer stored.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub(crate) fn untag_all(&self, run: &str) -> Result<(), StoreError> {
        for tag in self.tags().remove(run).unwrap_or_default() {
            self.untag(run, &tag)?;
        }
        let _ = fs::remove_dir(self.tags_folder().join(run));
        Ok(())
    }

    /// Removes a tag from a stored run; returns whether the run had it.
    ///
    /// # Errors
    /// If it is not a valid tag, or its file cannot be removed.
    pub fn untag(&self, run: &str, tag: &str) -> Result<bool, StoreError> {
        check(tag)?;
        // Its folder remains: another process may be about to write a tag there.
        let path = self.tags_folder().join(run).join(tag);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(StoreError::Io {
                action: "remove",
                path,
                cause,
                advice: "",
            }),
        }
    }
}

/// A tag is a file's name and is typed in place of ids and files, so it must not look like one.
fn check(tag: &str) -> Result<(), StoreError> {
    let problem = if tag.is_empty() {
        "is empty"
    } else if tag.chars().count() > MAX_LENGTH {
        "is longer than 64 letters"
    } else if !tag
        .chars()
        .all(|c| c.is_alphanumeric() || "._+-".contains(c))
    {
        "may hold only letters, digits and . _ + -"
    } else if tag.starts_with(['.', '-']) {
        "may not begin with . or -"
    } else if tag == LATEST || tag.ends_with(".json") {
        "would be taken for another run"
    } else {
        return Ok(());
    };
    Err(StoreError::NoTag {
        tag: tag.chars().take(MAX_LENGTH).collect(),
        problem,
    })
}
