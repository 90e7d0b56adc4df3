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

    /// The tags of each run that has some, by the run's id.
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
    /// If it is not a valid tag, or names a run otherwise.
    pub fn check_tag(&self, tag: &str) -> Result<(), StoreError> {
        check(tag)?;
        // Where a run is named, the beginning of its id is enough.
        let mut kept = self.kept()?.into_iter();
        if kept.any(|(id, _)| id.starts_with(tag)) {
            return Err(StoreError::NoTag {
                tag: tag.to_owned(),
                problem: "is the beginning of a run's id",
            });
        }
        Ok(())
    }

    /// Gives a tag to the stored run with this id. Several runs may have the same.
    ///
    /// # Errors
    /// As [`Store::check_tag`], or if its file cannot be created.
    pub fn tag(&self, run: &str, tag: &str) -> Result<(), StoreError> {
        self.check_tag(tag)?;
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

    /// Removes a tag from a stored run; returns whether the run had it.
    ///
    /// # Errors
    /// If it is not a valid tag, or its file cannot be removed.
    pub fn untag(&self, run: &str, tag: &str) -> Result<bool, StoreError> {
        check(tag)?;
        let folder = self.tags_folder().join(run);
        let path = folder.join(tag);
        let had = match fs::remove_file(&path) {
            Ok(()) => true,
            Err(cause) if cause.kind() == ErrorKind::NotFound => false,
            Err(cause) => {
                return Err(StoreError::Io {
                    action: "remove",
                    path,
                    cause,
                    advice: "",
                });
            }
        };
        // The directory remains while it contains another tag.
        let _ = fs::remove_dir(folder);
        Ok(had)
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
