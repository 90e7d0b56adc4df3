//! Paths in this workspace.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The directory of the benchmarks' groups, relative to the root.
pub const BENCHES: &str = "crates/syscost-benches/src";

/// The workspace this program was built from.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A source file of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path relative to the root.
    pub path: PathBuf,
    /// Its contents.
    pub text: String,
}

/// Every Rust file below `root/crates` and `root/lab`, by path.
pub fn rust_files(root: &Path) -> Result<Vec<SourceFile>> {
    files(root, &["crates", "lab"], "rs")
}

/// Every document: Markdown in the root and below the folders of the project, by path. Below `src` are
/// texts of which documents are made.
pub fn documents(root: &Path) -> Result<Vec<SourceFile>> {
    let folders = ["", ".github", "crates", "docs", "fixtures", "lab"];
    let mut files = files(root, &folders, "md")?;
    files.retain(|file| !file.path.iter().any(|part| part == "src"));
    Ok(files)
}

/// The files with this extension below these folders, as far as there are such; of "", the root, those in it.
fn files(root: &Path, folders: &[&str], extension: &str) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    folders.retain(|folder| folder.is_dir());
    while let Some(folder) = folders.pop() {
        let reading = || format!("reading {}", folder.display());
        for entry in fs::read_dir(&folder).with_context(reading)? {
            let path = entry.with_context(reading)?.path();
            if path.is_dir() && folder != root {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(SourceFile {
                    text: read(&path)?,
                    path: path.strip_prefix(root).unwrap_or(&path).to_owned(),
                });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Reads a text file.
///
/// # Errors
/// If it cannot be read, or is no UTF-8.
pub fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

/// Writes a text file, creating its directories.
pub fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}
