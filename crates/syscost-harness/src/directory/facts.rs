//! The storage under a directory, for the document.

use std::path::Path;

use syscost_results::directory::{self, DirectIo, NfsMount};
use syscost_sys::files::{self, Filesystem};
use syscost_sys::{SystemError, scratch};

use super::Directory;
use crate::catalogue::Row;
use crate::failure::Failure;

/// The directories that these rows are measured in, in the order given. One that cannot be used has only
/// its label and its path; its rows say why.
pub(crate) fn of_rows(rows: &[Row], given: &[Directory]) -> Vec<directory::Directory> {
    let is_used = |directory: &Directory| {
        let mut rows = rows.iter();
        rows.any(|row| row.case.find(super::KEY) == Some(&directory.label))
    };
    let used = given.iter().filter(|directory| is_used(directory));
    used.map(|directory| facts_of(directory).unwrap_or_else(|_| nameplate(directory)))
        .collect()
}

/// The facts of a directory's storage. Creates a folder in it, which is removed again, after
/// removing those of runs that were killed.
///
/// # Errors
/// When nothing can be written there.
pub fn facts_of(directory: &Directory) -> Result<directory::Directory, Failure> {
    let path = directory.made()?;
    scratch::sweep_in(&path);
    let direct = try_file(&path)?;
    let found = files::filesystem(&path)?;
    Ok(directory::Directory {
        filesystem: found.kind.clone(),
        source: found.source.clone(),
        mount_point: found.mount_point.display().to_string(),
        in_memory: found.is_in_memory(),
        nfs: nfs(&found),
        options: found.options,
        device: found.device,
        scheduler: found.scheduler,
        rotational: found.rotational,
        layers: found.layers,
        direct,
        total_bytes: Some(found.total_bytes),
        free_bytes: Some(found.free_bytes),
        ..nameplate(directory)
    })
}

fn nameplate(directory: &Directory) -> directory::Directory {
    directory::Directory {
        label: directory.label.clone(),
        path: directory.path.display().to_string(),
        ..directory::Directory::default()
    }
}

/// Creates a file, and returns what direct I/O requires for it; `None` where it is not supported or
/// the kernel does not say.
fn try_file(folder: &Path) -> Result<Option<DirectIo>, SystemError> {
    let tree = scratch::tree_in(folder)?;
    let file = tree.folder().create("file")?;
    let alignment = files::direct_alignment(&file).unwrap_or_default();
    Ok(alignment.map(|alignment| DirectIo {
        memory_bytes: alignment.memory as u32,
        offset_bytes: alignment.offset as u32,
    }))
}

/// The server and the version of a mount over NFS, according to its options.
fn nfs(found: &Filesystem) -> Option<NfsMount> {
    if !found.is_nfs() {
        return None;
    }
    let option = |key: &str| {
        let mut options = found
            .options
            .split(',')
            .filter_map(|one| one.split_once('='));
        let value = options.find(|(known, _)| *known == key);
        value.map_or_else(String::new, |(_, value)| value.to_owned())
    };
    Some(NfsMount {
        version: option("vers"),
        server: option("addr"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_described_and_left_as_it_was() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let directory = Directory {
            label: "here".to_owned(),
            path: folder.path().to_owned(),
        };
        match facts_of(&directory) {
            Ok(facts) => {
                assert_eq!(facts.label, "here");
                assert!(!facts.filesystem.is_empty() && facts.total_bytes > Some(0));
            }
            Err(reason) => println!("skipped: {reason}"),
        }
        let left = std::fs::read_dir(folder.path()).expect("it can be read");
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn a_mount_over_nfs_names_its_server_and_version() {
        let mount = |kind: &str| Filesystem {
            kind: kind.to_owned(),
            options: "rw,vers=4.2,rsize=1048576,addr=10.0.0.7".to_owned(),
            ..Filesystem::default()
        };
        let nfs = nfs(&mount("nfs4")).expect("it is one");
        assert_eq!((&*nfs.version, &*nfs.server), ("4.2", "10.0.0.7"));
        assert_eq!(super::nfs(&mount("ext4")), None);
    }
}
