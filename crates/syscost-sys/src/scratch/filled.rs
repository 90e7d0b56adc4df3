//! Files with content.

use std::fs;
use std::io::{self, BufWriter, Write};

use super::{File, file, folder_path};
use crate::{SystemError, memory, os, random};

/// How many times the size of the file must be free.
const SPARE: u64 = 4;

/// Bytes per write: the page cache of some kernels uses larger pages for what is written in larger pieces.
const PAGE: usize = 4 << 10;

/// A file of this many bytes in this user's folder, already written to its device. Its content is random,
/// so that no file system can store it in less space.
///
/// # Errors
/// When it cannot be written, or when the file system, or the memory for its pages in the cache,
/// has too little room.
pub fn filled(extension: &str, bytes: u64) -> Result<File, SystemError> {
    // Its record keeps the folder from being swept by another run while we look at it.
    let file = file(extension)?;
    let folder = folder_path();
    let failed = |cause| SystemError::new("write", folder.display().to_string(), cause);
    let (_, free) = os::room(&folder).map_err(failed)?;
    if free / SPARE < bytes {
        let (free, wanted) = (free >> 20, bytes >> 20);
        let reason = format!("{free} MiB are free there; {SPARE} times {wanted} MiB are wanted");
        return Err(failed(io::Error::other(reason)));
    }
    memory::enough_for(bytes as usize).map_err(|reason| failed(reason.into()))?;
    write(&file, bytes).map_err(failed)?;
    Ok(file)
}

fn write(file: &File, bytes: u64) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(PAGE, fs::File::create(file.path())?);
    // Random, to defeat compression.
    for number in 0..bytes.div_ceil(8) {
        let part = (bytes - 8 * number).min(8) as usize;
        writer.write_all(&random::nth(0, number).to_le_bytes()[..part])?;
    }
    writer.into_inner()?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_has_its_size_and_is_gone_when_dropped() {
        let bytes = 100_003;
        let file = or_skip!(filled("test", bytes));
        let content = fs::read(file.path()).expect("it is there");
        assert_eq!(content.len() as u64, bytes);
        assert!(
            content
                .chunks(4096)
                .all(|page| page.iter().any(|byte| *byte != page[0]))
        );
        let path = file.path().to_owned();
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn sweeps_of_other_runs_do_no_harm() {
        or_skip!(filled("test", 1));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // What a sweep does at its end.
                    let _ = fs::remove_dir(folder_path());
                    // As often as hundreds of runs that end at once: oftener, and on a busy machine it comes between all steps.
                    std::thread::sleep(Duration::from_micros(500));
                }
            });
            let tries: Vec<_> = (0..1_000).map(|_| filled("test", 1).map(drop)).collect();
            done.store(true, Ordering::Relaxed);
            for made in tries {
                made.expect("there was room a moment ago");
            }
        });
    }

    #[test]
    fn more_than_there_is_room_for_is_refused() {
        let reason = filled("test", u64::MAX / 8).unwrap_err().to_string();
        println!("{reason}");
        assert!(
            reason.contains("MiB") || reason.contains("Linux"),
            "{reason}"
        );
    }
}
