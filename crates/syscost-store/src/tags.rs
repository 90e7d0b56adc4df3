//! Tags: names a person gives to runs.
//!
//! A tag is an empty file, `tags/<run>/<tag>`. Making and removing a file is one step for any number of processes, on a
//! network folder too, so there is no lock and nothing to lose; and the index, which is derived, holds none of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use crate::store::{LATEST, Store, StoreError};

/// Longest tag, in characters.
const LONGEST: usize = 64;

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

    /// Gives a kept run, told by its id, a tag. A tag names one run.
    ///
    /// # Errors
    /// When that is no tag, another run has it, or its file cannot be made.
    pub fn tag(&self, run: &str, tag: &str) -> Result<(), StoreError> {
        check(tag)?;
        // A run removed by hand leaves its tags behind; they bind nobody.
        let is_kept = |run: &str| self.runs().join(format!("{run}.json")).is_file();
        let has = |tags: &Vec<String>| tags.iter().any(|known| known == tag);
        let mut tagged = self.tags().into_iter();
        if let Some((holder, _)) =
            tagged.find(|(holder, tags)| holder != run && has(tags) && is_kept(holder))
        {
            return Err(StoreError::TagTaken {
                tag: tag.to_owned(),
                holder,
            });
        }
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

    /// Takes a tag from a kept run; tells whether it had it.
    ///
    /// # Errors
    /// When that is no tag, or its file cannot be removed.
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
        // It stays as long as another tag is in it.
        let _ = fs::remove_dir(folder);
        Ok(had)
    }
}

/// A tag is a file's name and is typed where ids and files are, so it must not be taken for one.
fn check(tag: &str) -> Result<(), StoreError> {
    let problem = if tag.is_empty() {
        "is empty"
    } else if tag.chars().count() > LONGEST {
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
        tag: tag.chars().take(LONGEST).collect(),
        problem,
    })
}
