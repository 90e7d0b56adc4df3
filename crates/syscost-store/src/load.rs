//! Reads one run document from a file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use syscost_results::Run;
use syscost_results::document::{self, DocumentError, Summary};

/// No run document comes near this size, in bytes: a full run with all samples takes some MB.
pub const LARGEST: u64 = 256 << 20;

/// Why a run document could not be had from a file.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {path}: {cause}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// It is a folder.
    #[error("{path} is a folder; name the run documents in it, e.g. {path}/*.json")]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The file is larger than any run document.
    #[error(
        "{path} is too large to be a run document: more than {} MiB; give a file that `syscost run -o` wrote",
        LARGEST >> 20
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file holds no run that this version can read.
    #[error("{path}{cause}")]
    Document {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and what to do; begins with the place.
        cause: DocumentError,
    },
}

/// Reads the run document in a file.
///
/// # Errors
/// When the file cannot be read, is too large, or holds no run: one line that names the file, the place and what to do.
pub fn load(path: &Path) -> Result<Run, LoadError> {
    parse(path, document::read)
}

/// Reads what an index keeps of the run document in a file; several times as fast.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_summary(path: &Path) -> Result<Summary, LoadError> {
    parse(path, document::read_summary)
}

fn parse<T>(
    path: &Path,
    read: impl FnOnce(&[u8]) -> Result<T, DocumentError>,
) -> Result<T, LoadError> {
    read(&bytes_of(path)?).map_err(|cause| LoadError::Document {
        path: path.to_owned(),
        cause,
    })
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, LoadError> {
    let read = |cause| LoadError::Read {
        path: path.to_owned(),
        cause,
    };
    let file = File::open(path).map_err(read)?;
    let metadata = file.metadata().map_err(read)?;
    if metadata.is_dir() {
        return Err(LoadError::Folder {
            path: path.to_owned(),
        });
    }
    let too_large = || LoadError::TooLarge {
        path: path.to_owned(),
    };
    if metadata.len() > LARGEST {
        return Err(too_large());
    }
    // A pipe tells no length, so the limit holds for what is read as well.
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(read)?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large());
    }
    Ok(bytes)
}
