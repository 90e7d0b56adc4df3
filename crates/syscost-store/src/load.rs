//! Reads one run document from a file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use syscost_results::Run;
use syscost_results::document::{self, Digest, DocumentError};

/// Maximum size of a run document, in bytes. No real one comes close: a full run with all samples
/// takes some MB.
pub const MAX_SIZE: u64 = 256 << 20;

/// Maximum size of a document of which only figures are read, in bytes: of machines that others
/// send, thousands are read, several at a time, and parsed they take several times as much.
pub const MAX_DIGEST_SIZE: u64 = 64 << 20;

/// How many times its packed size a large document may have. Real ones have 6 to 10 times theirs, with all
/// numbers equal 25, and nothing but one byte has 1000.
const MAX_RATIO: u64 = 100;

/// The size below which a document may be packed in any way, in bytes: it takes no memory to speak of.
const SMALL: u64 = 4 << 20;

/// How a file begins that is packed with gzip (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Why a run document could not be read from a file.
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
    /// It is a directory.
    #[error("{path} is a folder; name the run documents in it, e.g. {path}/*.json")]
    Folder {
        /// The directory.
        path: PathBuf,
    },
    /// The file is larger than any such document.
    #[error(
        "{path} is too large: more than {} MiB; give a file that syscost wrote",
        limit >> 20
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it may be, in bytes.
        limit: u64,
    },
    /// The file is packed as tightly as no run document.
    #[error(
        "{path} is no run document: its {packed} bytes unpack to more than {MAX_RATIO} times as many; give a file that `syscost run -o` wrote"
    )]
    TooTight {
        /// The file.
        path: PathBuf,
        /// How long it is as it is packed, in bytes.
        packed: u64,
    },
    /// The file is in the directory of runs, but not called as its run.
    #[error(
        "{path}: its run is called {id}; rename the file to that and .json, or keep it elsewhere"
    )]
    Misnamed {
        /// The file.
        path: PathBuf,
        /// The run's id, cut to a printable length.
        id: String,
    },
    /// The file contains no run that this version can read.
    #[error("{path}{cause}")]
    Document {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and what to do; begins with the place.
        cause: DocumentError,
    },
}

impl LoadError {
    /// The error for a file that is not called as its run.
    pub(crate) fn misnamed(path: &Path, id: &str) -> Self {
        LoadError::Misnamed {
            path: path.to_owned(),
            id: id.escape_default().take(100).collect(),
        }
    }
}

/// Reads the run document in a file.
///
/// # Errors
/// If the file cannot be read, is too large, or contains no run: one line that names the file, the
/// place and what to do.
pub fn load(path: &Path) -> Result<Run, LoadError> {
    read_within(path, MAX_SIZE, MAX_SIZE)
}

/// As [`load`], of a file of at most `packed` bytes, which unpack to at most `unpacked`.
pub(crate) fn read_within(path: &Path, packed: u64, unpacked: u64) -> Result<Run, LoadError> {
    parsed(path, &plain(path, bytes_in(path, packed)?, unpacked)?)
}

/// As [`load`], of the bytes of a file that has been read.
pub fn read(path: &Path, bytes: Vec<u8>) -> Result<Run, LoadError> {
    parsed(path, &plain(path, bytes, MAX_SIZE)?)
}

fn parsed(path: &Path, document: &[u8]) -> Result<Run, LoadError> {
    document::read(document).map_err(|cause| LoadError::Document {
        path: path.to_owned(),
        cause,
    })
}

/// As [`load`], of the figures alone, and of at most [`MAX_DIGEST_SIZE`] bytes.
pub fn load_digest(path: &Path) -> Result<Digest, LoadError> {
    let bytes = bytes_in(path, MAX_DIGEST_SIZE)?;
    document::read_digest(&plain(path, bytes, MAX_DIGEST_SIZE)?).map_err(|cause| {
        LoadError::Document {
            path: path.to_owned(),
            cause,
        }
    })
}

/// The bytes of a document, which may be packed with gzip.
fn plain(path: &Path, bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>, LoadError> {
    match bytes.starts_with(&GZIP) {
        true => unpacked(path, &bytes, limit),
        false => Ok(bytes),
    }
}

/// The bytes that were packed with gzip.
fn unpacked(path: &Path, packed: &[u8], limit: u64) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    let length = packed.len() as u64;
    // A few bytes may unpack to any number.
    let tightest = SMALL.max(MAX_RATIO * length);
    MultiGzDecoder::new(packed)
        .take(limit.min(tightest) + 1)
        .read_to_end(&mut bytes)
        .map_err(|cause| LoadError::Read {
            path: path.to_owned(),
            cause,
        })?;
    if bytes.len() as u64 > tightest {
        return Err(LoadError::TooTight {
            path: path.to_owned(),
            packed: length,
        });
    }
    within_limit(path, bytes, limit)
}

fn within_limit(path: &Path, bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>, LoadError> {
    match bytes.len() as u64 > limit {
        true => Err(LoadError::TooLarge {
            path: path.to_owned(),
            limit,
        }),
        false => Ok(bytes),
    }
}

/// The bytes in a file.
fn bytes_in(path: &Path, limit: u64) -> Result<Vec<u8>, LoadError> {
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
    if metadata.len() > limit {
        return Err(LoadError::TooLarge {
            path: path.to_owned(),
            limit,
        });
    }
    // The length of a pipe is unknown, so the limit also applies while reading.
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(read)?;
    within_limit(path, bytes, limit)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::packed;

    #[test]
    fn a_packed_document_is_one_and_a_bomb_is_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("run.json.gz");
        let text = serde_json::to_vec(&Run {
            schema_version: 1,
            id: "one".to_owned(),
            started: "2026-11-21T08:00:00Z".to_owned(),
            ..Run::default()
        });
        std::fs::write(&path, packed(&text.expect("JSON"))).expect("written");
        assert_eq!(load(&path).expect("a run").id, "one");
        assert_eq!(load_digest(&path).expect("a digest").id, "one");
        // Far below the largest size, and refused before it is unpacked.
        let bomb = vec![b' '; 16 << 20];
        std::fs::write(&path, packed(&bomb)).expect("written");
        for refused in [load(&path).err(), load_digest(&path).err()] {
            let refused = refused.expect("a bomb");
            assert!(matches!(refused, LoadError::TooTight { .. }), "{refused}");
        }
        // Small ones may be of one byte, and are read as what they are.
        std::fs::write(&path, packed(&bomb[..SMALL as usize])).expect("written");
        assert!(matches!(load(&path), Err(LoadError::Document { .. })));
        // Packed as documents may be, and too large.
        let mut file = GzEncoder::new(Vec::new(), Compression::none());
        file.write_all(&bomb[..1 << 20]).expect("written");
        let mut file = file.finish().expect("packed");
        file.extend(packed(&vec![b' '; MAX_DIGEST_SIZE as usize]));
        std::fs::write(&path, file).expect("written");
        let refused = load_digest(&path).expect_err("too large").to_string();
        assert!(refused.contains("more than 64 MiB"), "{refused}");
        std::fs::write(&path, &packed(b"{}")[..12]).expect("written");
        assert!(matches!(load(&path), Err(LoadError::Read { .. })));
    }
}
