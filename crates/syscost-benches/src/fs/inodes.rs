//! Shared: whether the cost of a new file depends on how many were removed recently.

use std::fs;

use syscost_harness::prelude::*;
use syscost_sys::files::{self, Filesystem};

use super::space::Space;

/// The kernel's information on each mounted ext4.
const EXT4: &str = "/sys/fs/ext4";

/// Claims that a new inode is not searched for among those removed recently; unverified on ext4
/// without a journal, which does not reuse these for some minutes, and checks each of them.
pub(super) fn claim_no_search(b: &mut Bencher, space: &Space) {
    if let Some(reason) = doubt(space.filesystem()) {
        b.claim_unverified(
            "inodes removed lately that are looked at for each new one",
            0_usize,
            "",
            EXT4,
            reason,
        );
    }
}

/// Why new inodes may be searched for there. The files of an overlay are on the file system of another
/// folder; if that was mounted outside this container, it cannot be looked up.
fn doubt(filesystem: &Filesystem) -> Option<&'static str> {
    let below = filesystem.upper().map(files::filesystem);
    let keeps_no_journal = match below {
        None => is_without_journal(filesystem),
        Some(Ok(below)) => is_without_journal(&below),
        Some(Err(_)) => {
            return any_without_journal().then_some(
                "the files of this overlay may be on the mounted ext4 without a journal, which \
                 looks at all that were removed in the last minutes, those of this run, too",
            );
        }
    };
    keeps_no_journal.then_some(
        "ext4 without a journal looks at all that were removed in the last minutes, those of this \
         run, too",
    )
}

fn is_without_journal(filesystem: &Filesystem) -> bool {
    let device = filesystem.device.as_deref().unwrap_or_default();
    filesystem.kind == "ext4" && has_no_journal_task(device)
}

/// Whether any ext4 that is mounted on this machine has no journal.
fn any_without_journal() -> bool {
    let Ok(mounted) = fs::read_dir(EXT4) else {
        return false;
    };
    let mut names = mounted.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.any(|device| has_no_journal_task(&device))
}

fn has_no_journal_task(device: &str) -> bool {
    fs::read_to_string(format!("{EXT4}/{device}/journal_task")).is_ok_and(|task| is_none(&task))
}

/// Whether the kernel names no task that writes a journal.
fn is_none(task: &str) -> bool {
    task.trim() == "<none>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_has_a_task() {
        assert!(is_none("<none>\n"));
        assert!(!is_none("142\n"));
    }

    #[test]
    fn an_overlay_is_doubted_as_what_is_below_it() {
        let over = |upper: &str| Filesystem {
            kind: "overlay".to_owned(),
            options: format!("rw,lowerdir=/a,upperdir={upper},workdir=/b"),
            ..Filesystem::default()
        };
        let here = env!("CARGO_MANIFEST_DIR");
        match files::filesystem(here.as_ref()) {
            Ok(found) => assert_eq!(doubt(&over(here)), doubt(&found), "{found:?}"),
            Err(reason) => println!("skipped: {reason}"),
        }
        // If it cannot be looked up, it is doubted as soon as any ext4 could be meant.
        let unseen = doubt(&over("/nothing/is/here"));
        assert_eq!(unseen.is_some(), any_without_journal(), "{unseen:?}");
    }
}
