//! Shared: whether what a new file costs depends on how many were removed lately.

use syscost_harness::prelude::*;

use super::space::Space;

/// Claims that a new inode is not searched for among those removed lately; unverified on ext4
/// without a journal, which does not use these again for some minutes, and looks at each of them.
pub(super) fn claim_no_search(b: &mut Bencher, space: &Space) {
    let filesystem = space.filesystem();
    let device = filesystem.device.as_deref().unwrap_or_default();
    let task = std::fs::read_to_string(format!("/sys/fs/ext4/{device}/journal_task"));
    let is_without_journal = filesystem.kind == "ext4" && task.is_ok_and(|task| is_none(&task));
    if is_without_journal {
        b.claim_unverified(
            "inodes removed lately that are looked at for each new one",
            0_usize,
            "",
            "/sys/fs/ext4",
            "ext4 without a journal looks at all that were removed in the last minutes, those of \
             this run, too",
        );
    }
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
}
