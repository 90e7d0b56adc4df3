//! What a run warns of directories.

use syscost_results::Directory;
use syscost_results::run::Warning;

use super::warning;
use crate::directory::default;

/// The warning that the default directory is in memory, where people expect a disk, or
/// that a directory's device is a file of another file system.
pub(crate) fn directory_warning(directory: &Directory) -> Option<Warning> {
    let looped = directory
        .layers
        .iter()
        .find(|layer| layer.starts_with("loop"));
    if let Some(layer) = looped {
        return Some(warning(
            "directory_on_loop",
            format!(
                "dir={} is on a {layer}: its cold reads may come from the page cache of the file system below",
                directory.label
            ),
            "compare it with other loop devices only, or measure on a device",
        ));
    }
    let is_unnamed = default().path.to_str() == Some(directory.path.as_str());
    (is_unnamed && directory.in_memory).then(|| {
        warning(
            "directory_in_memory",
            format!(
                "the user's cache folder, {}, is on {}, in memory: no row of fs reaches a disk",
                directory.path, directory.filesystem
            ),
            "name a directory on a disk: --dir PATH",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(in_memory: bool) -> Directory {
        Directory {
            path: default().path.display().to_string(),
            in_memory,
            ..Directory::default()
        }
    }

    #[test]
    fn only_an_unnamed_directory_in_memory_is_warned_of() {
        let found = directory_warning(&directory(true)).expect("it is in memory");
        assert_eq!(found.code, "directory_in_memory");
        assert!(directory_warning(&directory(false)).is_none());
        let named = Directory {
            path: "/dev/shm".to_owned(),
            ..directory(true)
        };
        assert!(directory_warning(&named).is_none());
        let looped = Directory {
            layers: vec!["loop over /srv/image".to_owned()],
            ..directory(false)
        };
        let found = directory_warning(&looped).expect("it is on a loop device");
        assert_eq!(found.code, "directory_on_loop");
    }
}
