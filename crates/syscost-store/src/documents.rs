//! The run documents in a folder.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a collection says of itself, beside the documents.
const OF_COLLECTION: &str = "fleet.json";

/// The folder of a collection that holds its documents.
const NODES: &str = "nodes";

/// The files in a folder that end in `.json` or `.json.gz`, and in its folder `nodes`, as `syscost
/// fleet run` makes one; by name.
///
/// # Errors
/// If the folder cannot be read.
pub fn documents_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = of_folder(folder)?;
    let nodes = folder.join(NODES);
    if nodes.is_dir() {
        found.extend(of_folder(&nodes)?);
    }
    found.sort();
    Ok(found)
}

fn of_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(OsStr::to_str);
        let is_document = |name: &str| {
            let is_ours = name.ends_with(".json") || name.ends_with(".json.gz");
            // Others are being written.
            is_ours && name != OF_COLLECTION && !name.starts_with('.')
        };
        if name.is_some_and(is_document) {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_has_documents_of_nodes_and_one_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let nodes = folder.path().join(NODES);
        fs::create_dir(&nodes).expect("made");
        let put = |folder: &Path, name: &str| fs::write(folder.join(name), "").expect("written");
        for name in [OF_COLLECTION, "b.json", "notes.txt", ".syscost-1.json"] {
            put(folder.path(), name);
        }
        put(&nodes, "a.json.gz");
        put(&nodes, "a.log");
        let found = documents_in(folder.path()).expect("read");
        assert_eq!(
            found,
            [folder.path().join("b.json"), nodes.join("a.json.gz")]
        );
        assert!(documents_in(&folder.path().join("none")).is_err());
    }
}
