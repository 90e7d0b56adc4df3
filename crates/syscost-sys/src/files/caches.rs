//! The page cache of the whole system: emptied only where the user allowed it, since it slows all
//! other programs down.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::SystemError;

/// The file by which root empties the page cache: proc_sys_vm(5).
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Whether this process may empty it.
static PERMITTED: AtomicBool = AtomicBool::new(false);

/// Lets this process empty the whole page cache where giving up the pages of a file does not suffice.
pub fn permit_dropping() {
    PERMITTED.store(true, Ordering::Relaxed);
}

pub(super) fn is_dropping_permitted() -> bool {
    PERMITTED.load(Ordering::Relaxed)
}

/// Empties the page cache of clean pages. Dirty ones stay, so write the file in question back first.
pub(super) fn drop_all() -> Result<(), SystemError> {
    let dropped = File::options().write(true).open(DROP_CACHES);
    let dropped = dropped.and_then(|mut file| file.write_all(b"1\n"));
    dropped.map_err(|cause| SystemError::new("write", DROP_CACHES, cause))
}

/// Checks whether this user could empty the page cache. Nothing is emptied.
///
/// # Errors
/// When the system does not permit it.
pub fn try_dropping() -> Result<(), SystemError> {
    let failed = |cause| SystemError::new("write", DROP_CACHES, cause);
    if !Path::new(DROP_CACHES).exists() {
        return Err(failed(io::ErrorKind::NotFound.into()));
    }
    let opened = File::options().write(true).open(DROP_CACHES);
    opened.map(drop).map_err(failed)
}
