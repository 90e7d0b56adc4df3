//! Whether file systems can be measured where they would be.

use std::fs;
use std::io::Write;

use syscost_harness::Failure;
use syscost_harness::directory::{self, default, facts_of};
use syscost_harness::doctor::{Finding, Level};
use syscost_results::Directory;
use syscost_sys::{files, scratch};

/// Bytes of the file that is used for the check.
const BYTES: usize = 64 << 10;

/// The doctor's finding on the default directory.
pub(super) fn of_default() -> Finding {
    let default = default();
    let was_there = default.path.exists();
    let facts = facts_of(&default);
    let finding = match &facts {
        Ok(facts) => finding(facts, try_cold(&default)),
        Err(reason) => unusable(&default.path.display().to_string(), reason),
    };
    if !was_there {
        // The doctor leaves nothing behind; what another program has put there meanwhile stays.
        let _ = fs::remove_dir(&default.path);
    }
    finding
}

fn unusable(path: &str, reason: &Failure) -> Finding {
    Finding {
        code: "directory",
        level: Level::Warning,
        seen: format!("{path} cannot be used: {reason}"),
        advice: "rows of fs need a directory to write in: syscost run --dir PATH",
    }
}

fn finding(facts: &Directory, cold: Result<(), Failure>) -> Finding {
    let gib = |bytes: Option<u64>| bytes.unwrap_or(0) as f64 / f64::from(1 << 30);
    let place = format!(
        "{} on {}, {:.1} of {:.1} GiB free",
        facts.path,
        facts.storage(),
        gib(facts.free_bytes),
        gib(facts.total_bytes)
    );
    let (level, reads, advice) = match (facts.in_memory, cold, facts.direct) {
        (true, _, _) => (
            Level::Warning,
            "in memory, so neither cold nor direct reads are possible there".to_owned(),
            "no row of fs reaches a disk; name a directory on one: syscost run --dir PATH",
        ),
        (false, Ok(()), Some(_)) => (
            Level::Good,
            "cold and direct reads are possible there".to_owned(),
            "",
        ),
        (false, Ok(()), None) => (
            Level::Note,
            "cold reads are possible there, direct ones are not".to_owned(),
            "this file system, or this kernel, offers no direct I/O: its rows are unsupported",
        ),
        (false, Err(reason), direct) => (
            Level::Note,
            match direct {
                Some(_) => format!("direct reads are possible there, cold ones are not: {reason}"),
                None => format!("neither cold nor direct reads are possible there: {reason}"),
            },
            "rows whose file cannot be taken out of the page cache are unsupported; as root, \
             syscost run --allow-drop-caches empties everybody's",
        ),
    };
    Finding {
        code: "directory",
        level,
        seen: format!("{place}; {reads}"),
        advice,
    }
}

/// Evicts a new file in a directory from the page cache.
fn try_cold(directory: &directory::Directory) -> Result<(), Failure> {
    let tree = scratch::tree_in(&directory.made()?)?;
    let mut file = tree.folder().create("file")?;
    let written = file.write_all(&[7; BYTES]);
    written.map_err(|cause| Failure::of("write a file", cause))?;
    Ok(files::drop_cache(&file)?)
}

#[cfg(test)]
mod tests {
    use syscost_results::directory::DirectIo;

    use super::*;

    fn directory(in_memory: bool) -> Directory {
        Directory {
            path: default().path.display().to_string(),
            filesystem: if in_memory { "tmpfs" } else { "ext4" }.to_owned(),
            in_memory,
            direct: (!in_memory).then_some(DirectIo {
                memory_bytes: 4,
                offset_bytes: 512,
            }),
            free_bytes: Some(1 << 30),
            total_bytes: Some(2 << 30),
            ..Directory::default()
        }
    }

    #[test]
    fn what_can_be_had_decides_the_level() {
        let stays = || Err(Failure::Failed("its pages stayed".to_owned()));
        let good = finding(&directory(false), Ok(()));
        assert_eq!((good.level, good.advice), (Level::Good, ""));
        assert!(
            good.seen
                .ends_with("1.0 of 2.0 GiB free; cold and direct reads are possible there"),
            "{}",
            good.seen
        );
        assert_eq!(finding(&directory(true), stays()).level, Level::Warning);
        let warm = finding(&directory(false), stays());
        assert_eq!(warm.level, Level::Note);
        assert!(
            warm.seen
                .contains("direct reads are possible there, cold ones are not"),
            "{}",
            warm.seen
        );
        let mut buffered = directory(false);
        buffered.direct = None;
        assert!(
            finding(&buffered, Ok(()))
                .seen
                .contains("direct ones are not")
        );
    }

    #[test]
    fn the_doctor_leaves_nothing() {
        let was_there = default().path.exists();
        assert!(!of_default().seen.is_empty());
        assert_eq!(default().path.exists(), was_there);
    }
}
