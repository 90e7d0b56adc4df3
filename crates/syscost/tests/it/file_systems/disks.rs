//! File systems of every kind, in the test's own mount namespace: whatever is mounted there
//! vanishes with the test, however it ends, and no other process sees it.
//!
//! Creating one requires root (CAP_SYS_ADMIN), and loop devices for those that need a disk. If this
//! machine does not allow it, tests print `skipped: why`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;

use rustix::thread::{UnshareFlags, unshare_unsafe};
use tempfile::TempDir;

use syscost_params::Value;

use crate::common::or_skip;
use crate::tool::{Failure, require, run, turn, unless_required};

/// The variable that says that this machine can mount file systems on loop devices.
const GRANTED: &str = "SYSCOST_REQUIRE_MOUNTS";

/// A kind of file system, by its name in mountinfo, which is also its label in these tests.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ext4,
    Xfs,
    Btrfs,
    Tmpfs,
    /// Its upper layer is on the file system of the temporary directory.
    Overlay,
}

/// A mounted file system, unmounted on drop.
#[derive(Debug)]
pub(crate) struct Disk {
    /// Contains the mount point, and what is mounted.
    folder: TempDir,
}

impl Disk {
    /// Mounts an empty file system of this kind and size. Its disk is a sparse file, which is
    /// unlinked once mounted; the loop device vanishes with the mount.
    fn new(kind: Kind, bytes: u64, options: &str) -> Result<Disk, Failure> {
        let folder = tempfile::tempdir().map_err(|cause| Failure::of_call("mkdir", cause))?;
        let disk = Disk { folder };
        fs::create_dir(disk.path()).map_err(|cause| Failure::of_call("mkdir", cause))?;
        match kind {
            Kind::Ext4 => disk.on_loop(&["mkfs.ext4", "-q", "-F"], bytes, options)?,
            Kind::Xfs => disk.on_loop(&["mkfs.xfs", "-q", "-f"], bytes, options)?,
            Kind::Btrfs => disk.on_loop(&["mkfs.btrfs", "-q", "-f"], bytes, options)?,
            Kind::Tmpfs => {
                let options = join(&format!("size={bytes}"), options);
                disk.mount(&["-t", "tmpfs", "-o", &options, "tmpfs"])?;
            }
            Kind::Overlay => disk.overlay(options)?,
        }
        Ok(disk)
    }

    fn on_loop(&self, make: &[&str], bytes: u64, options: &str) -> Result<(), Failure> {
        require(make[0])?;
        let image = self.folder.path().join("image");
        let failed = |cause| Failure::of_call("making an image", cause);
        let file = File::create(&image).map_err(failed)?;
        file.set_len(bytes).map_err(failed)?;
        let path = text(&image);
        run(&[make, &[&path]].concat())?;
        self.mount(&["-o", &join("loop", options), &path])?;
        fs::remove_file(&image).map_err(failed)
    }

    fn overlay(&self, options: &str) -> Result<(), Failure> {
        let layer = |name: &str| {
            let path = self.folder.path().join(name);
            fs::create_dir(&path).map_err(|cause| Failure::of_call("mkdir", cause))?;
            Ok::<String, Failure>(text(&path))
        };
        let (lower, upper, work) = (layer("lower")?, layer("upper")?, layer("work")?);
        let layers = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        self.mount(&["-t", "overlay", "-o", &join(&layers, options), "overlay"])
    }

    fn mount(&self, words: &[&str]) -> Result<(), Failure> {
        run(&[&["mount"], words, &[&text(&self.path())]].concat()).map(drop)
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// Remounts it, e.g. with `ro`.
    pub(crate) fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        run(&["mount", "-o", &options, &text(&self.path())]).expect("it can be mounted anew");
    }

    /// The contents of its root, except what mkfs put there.
    pub(crate) fn content(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path()).expect("it can be read").flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| !path.ends_with("lost+found")).collect()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Nothing is mounted if mounting failed; a mount in use vanishes with its last user.
        let _ = run(&["umount", "--lazy", &text(&self.path())]);
    }
}

/// Runs `work` on a new file system of this kind and size, in a thread with its own mount
/// namespace, whose child processes see the file system; an error if it cannot be made.
pub(crate) fn on<T: Send>(
    kind: Kind,
    bytes: u64,
    options: &str,
    work: impl FnOnce(&Disk) -> T + Send,
) -> Result<T, Failure> {
    apart(move || Ok(work(&Disk::new(kind, bytes, options)?)))
}

/// Runs `work` with one file system of each kind that this machine can make.
pub(crate) fn on_all<T: Send>(
    bytes: u64,
    work: impl FnOnce(&[(Kind, Disk)]) -> T + Send,
) -> Result<Option<T>, Failure> {
    apart(move || {
        let made = |kind: Kind| {
            let disk = unless_required(Disk::new(kind, bytes, ""), GRANTED);
            let disk = disk.inspect_err(|why| println!("skipped: {why}"));
            Some((kind, disk.ok()?))
        };
        let disks: Vec<(Kind, Disk)> = Kind::ALL.into_iter().filter_map(made).collect();
        Ok((!disks.is_empty()).then(|| work(&disks)))
    })
}

/// Runs `work` in a thread with its own mount namespace, when no other test measures.
fn apart<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    let _turn = turn();
    thread::scope(|scope| {
        let work = || enter_own_namespace().and_then(|()| work());
        let thread = scope.spawn(|| unless_required(work(), GRANTED));
        match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Gives the calling thread its own mount namespace, from which no mounts propagate.
#[allow(unsafe_code)]
fn enter_own_namespace() -> Result<(), Failure> {
    // SAFETY: only mounts and the working directory are separated from other threads', no
    // descriptors.
    let parted = unsafe { unshare_unsafe(UnshareFlags::NEWNS) };
    parted.map_err(|cause| Failure::of_call("a mount namespace", cause.into()))?;
    run(&["mount", "--make-rprivate", "/"]).map(drop)
}

/// Both options, joined; either may be empty.
fn join(one: &str, other: &str) -> String {
    [one, other]
        .into_iter()
        .filter(|options| !options.is_empty())
        .collect::<Vec<_>>()
        .join(",")
}

fn text(path: &Path) -> String {
    path.to_str()
        .expect("temporary folders are in UTF-8")
        .to_owned()
}

#[test]
#[ignore = "machine suite"]
fn a_mounted_file_system_is_seen_here_alone_and_leaves_nothing() {
    let mounts = || fs::read_to_string("/proc/thread-self/mountinfo").expect("it can be read");
    let path = or_skip!(on(Kind::Ext4, 64 << 20, "", |disk| {
        let path = disk.path();
        assert!(mounts().contains(&text(&path)), "it is mounted");
        assert!(disk.content().is_empty());
        File::create(path.join("file")).expect("it can be written");
        disk.remount("ro");
        File::create(path.join("other")).expect_err("it is read-only");
        path
    }));
    assert!(!mounts().contains(&text(&path)), "no other process sees it");
    assert!(!path.parent().expect("a folder").exists());
}
