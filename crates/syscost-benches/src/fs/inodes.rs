//! Shared: new inodes, whose cost must not depend on how many were removed recently.
//!
//! ext4 without a journal does not reuse an inode from the next second on for some minutes after it
//! was removed; it looks at each such inode that comes before the new one in its group
//! (`recently_deleted` in its ialloc.c). So nothing is removed while inodes are made, and they are
//! made in a group of their own.

use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::fs;
use std::os::fd::OwnedFd;

use rustix::fs::{
    AtFlags, IFlags, Mode, fstat, fstatvfs, ioctl_getflags, ioctl_setflags, openat, renameat,
    statat,
};
use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Filesystem};

use super::entries;
use super::space::Space;

/// The kernel's information on each mounted ext4.
const EXT4: &str = "/sys/fs/ext4";

/// Inodes that must be free for those of a row to be kept: many times as many as a round makes.
const ROOM: u64 = 1 << 16;

/// Directories that are made at most until one is the first of its group.
const TRIES: usize = 32;

/// A divisor of the usual numbers of inodes in a group.
const PART_OF_GROUP: u64 = 1 << 10;

/// Creates a directory in `parent` that ext4 places away from it, as it does those at its root: in
/// the group with the fewest directories.
pub(super) fn make_apart(parent: &OwnedFd, name: &str) -> Result<OwnedFd, Failure> {
    // Only ext4 knows this flag; elsewhere inodes are not searched for.
    let _ = ioctl_getflags(parent).and_then(|now| ioctl_setflags(parent, now | IFlags::TOPDIR));
    // The group also depends on the name.
    entries::make_directory(parent, &own_name(name))
}

/// As [`make_apart`], for a directory whose inodes are measured: where removed ones are passed
/// over, several directories are made until one is the first of its group, before which there is
/// nothing to be passed over.
pub(crate) fn make_first(space: &Space, parent: &OwnedFd) -> Result<OwnedFd, Failure> {
    let mut made = make_apart(parent, "pool-0")?;
    if doubt(space.filesystem()).is_some() {
        for number in 1..TRIES {
            if before_in_group(&made).is_ok_and(|before| before == 0) {
                break;
            }
            made = make_apart(parent, &format!("pool-{number}"))?;
        }
    }
    Ok(made)
}

/// How many inodes of its group, as far as it is known, come before that of a directory.
fn before_in_group(directory: &OwnedFd) -> Result<u64, Errno> {
    Ok(fstat(directory)?.st_ino.saturating_sub(1) % PART_OF_GROUP)
}

/// A name that no other process gives.
fn own_name(name: &str) -> CString {
    CString::new(format!("{name}-{}", std::process::id())).expect("there is no NUL in it")
}

/// A directory to which entries are moved, so that they need not be removed.
pub(crate) struct Aside {
    directory: OwnedFd,
    taken: Cell<u64>,
}

impl Aside {
    /// A new directory beside others in `parent`; `None` where few inodes are free.
    pub(super) fn within(parent: &OwnedFd) -> Result<Option<Self>, Failure> {
        let free = fstatvfs(parent).tried("fstatvfs")?;
        // Some file systems make inodes as they are needed, and say that there are none.
        if free.f_files > 0 && free.f_favail < ROOM {
            return Ok(None);
        }
        Ok(Some(Self {
            directory: make_apart(parent, "aside")?,
            taken: Cell::new(0),
        }))
    }

    pub(super) fn take(&self, from: &OwnedFd, name: &CStr) -> Result<(), Errno> {
        self.taken.set(self.taken.get() + 1);
        let new = own_name(&self.taken.get().to_string());
        renameat(from, name, &self.directory, &*new)
    }
}

/// Claims that ext4 passed over no removed inode when it made those of the `newest` entries of a
/// directory: all numbers from the beginning of its group on belong to the directory and to the
/// entries in it and aside.
pub(crate) fn claim_no_search(
    b: &mut Bencher,
    space: &Space,
    directory: &OwnedFd,
    newest: &[CString],
    aside: Option<&Aside>,
) {
    const WHAT: &str = "inodes passed over for each new one, at most";
    const SOURCE: &str = "inode numbers";
    let Some(reason) = doubt(space.filesystem()) else {
        return;
    };
    match passed_over(directory, newest, aside) {
        Ok(0) => b.claim_equal(WHAT, 0_u64, 0, SOURCE),
        Ok(count) => b.claim_unverified(WHAT, 0_u64, count, SOURCE, reason),
        Err(cause) => b.claim_unobserved(WHAT, 0_u64, SOURCE, cause),
    }
}

/// How many inodes between the beginning of the directory's group and the last of its `newest`
/// entries belong to none of those made there.
fn passed_over(
    directory: &OwnedFd,
    newest: &[CString],
    aside: Option<&Aside>,
) -> Result<u64, Errno> {
    let first = fstat(directory)?.st_ino;
    let mut last = first;
    for name in newest {
        last = last.max(statat(directory, &**name, AtFlags::SYMLINK_NOFOLLOW)?.st_ino);
    }
    let mut made = 0;
    for directory in [Some(directory), aside.map(|aside| &aside.directory)]
        .into_iter()
        .flatten()
    {
        let again = openat(directory, c".", entries::DIRECTORY, Mode::empty())?;
        entries::visit(&again, &mut entries::buffer(), |_, _| {
            made += 1;
            Ok::<(), Errno>(())
        })?;
    }
    Ok(before_in_group(directory)? + (last - first).saturating_sub(made))
}

/// Why new inodes may be searched for there. The files of an overlay are on the file system of another
/// folder; if that was mounted outside this container, it cannot be looked up.
fn doubt(filesystem: &Filesystem) -> Option<&'static str> {
    let is_without_journal = |filesystem: &Filesystem| {
        let device = filesystem.device.as_deref().unwrap_or_default();
        filesystem.kind == "ext4" && has_no_journal(device)
    };
    let keeps_no_journal = match filesystem.upper().map(files::filesystem) {
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

fn any_without_journal() -> bool {
    let mounted = fs::read_dir(EXT4).into_iter().flatten();
    let mut names = mounted.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.any(|device| has_no_journal(&device))
}

/// Whether the kernel names no task that writes the journal of the ext4 on this device.
fn has_no_journal(device: &str) -> bool {
    let task = fs::read_to_string(format!("{EXT4}/{device}/journal_task"));
    task.is_ok_and(|task| task.trim() == "<none>")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::fs::unlinkat;

    use super::*;
    use crate::fs::space::tests::on_disk;

    /// How many inodes are passed over for a new one after 32 files were removed or set aside by
    /// `take_back`.
    fn passed_over_when(
        take_back: impl Fn(&Aside, &OwnedFd, &CStr) -> Result<(), Errno>,
    ) -> Option<u64> {
        let space = on_disk()?;
        doubt(space.filesystem())?;
        let parent = entries::open_directory(space.folder()).unwrap();
        let aside = Aside::within(&parent).unwrap()?;
        let directory = make_apart(&parent, "pool").unwrap();
        let names: Vec<CString> = (0..32).map(entries::name).collect();
        for name in &names {
            entries::create(&directory, name).unwrap();
        }
        // Those that others removed there in the last minutes.
        let before = passed_over(&directory, &names, None).unwrap();
        for name in &names {
            take_back(&aside, &directory, name).unwrap();
        }
        // In the second in which it was removed an inode is still used again.
        std::thread::sleep(Duration::from_millis(1100));
        entries::create(&directory, &names[0]).unwrap();
        let after = passed_over(&directory, &names[..1], Some(&aside)).unwrap();
        Some(after.saturating_sub(before))
    }

    #[test]
    fn inodes_that_were_removed_are_passed_over_and_those_set_aside_are_not() {
        let removed = passed_over_when(|_, from, name| unlinkat(from, name, AtFlags::empty()));
        let set_aside = passed_over_when(|aside, from, name| aside.take(from, name));
        let (Some(removed), Some(set_aside)) = (removed, set_aside) else {
            return println!("skipped: not on ext4 without a journal");
        };
        assert!(removed >= 32 && set_aside < 32, "{removed} and {set_aside}");
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
