//! The file system that a folder is on, and what lies below it.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::device::name_of;
use crate::{SystemError, os};

/// The file system that a folder is on. A fact that the system does not give is absent, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filesystem {
    /// Its kind, e.g. `ext4` or `nfs4`.
    pub kind: String,
    /// What is mounted, e.g. `/dev/vda1` or `server:/export`.
    pub source: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Whether it is an overlay whose upper folder is in memory.
    pub is_upper_in_memory: bool,
    /// The options of the mount and of the file system, separated by commas.
    pub options: String,
    /// The block device below, e.g. `vda`.
    pub device: Option<String>,
    /// The device's I/O scheduler, e.g. `none`.
    pub scheduler: Option<String>,
    /// Whether the device says that it has a rotating disk.
    pub rotational: Option<bool>,
    /// Virtual layers between the file system and hardware, the uppermost first, e.g. `loop over /srv/image`.
    pub layers: Vec<String>,
    /// Size, in bytes.
    pub total_bytes: u64,
    /// Bytes that this user may still write.
    pub free_bytes: u64,
}

/// File systems whose files exist only in memory: their cache cannot be emptied.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

/// File systems other than NFS whose files are on another machine.
const REMOTE: [&str; 4] = ["cifs", "smb3", "ceph", "9p"];

/// Names of the kernel's NFS file systems.
const NFS: [&str; 2] = ["nfs", "nfs4"];

/// Whether this is what the kernel calls a mount over NFS.
pub(super) fn is_nfs_kind(kind: &str) -> bool {
    NFS.contains(&kind)
}

impl Filesystem {
    /// Whether its files exist only in memory; those of an overlay are where its upper folder is.
    pub fn is_in_memory(&self) -> bool {
        IN_MEMORY.contains(&self.kind.as_str()) || self.is_upper_in_memory
    }

    /// Whether the kernel's NFS client serves it.
    pub fn is_nfs(&self) -> bool {
        is_nfs_kind(&self.kind)
    }

    /// Whether its files are on another machine.
    pub fn is_remote(&self) -> bool {
        self.is_nfs() || REMOTE.contains(&self.kind.as_str()) || self.kind.starts_with("fuse.ssh")
    }

    /// The folder that receives writes, where this is an overlay.
    pub fn upper(&self) -> Option<&Path> {
        let is_overlay = self.kind == "overlay";
        let upper = is_overlay.then(|| mount_option(&self.options, "upperdir"));
        upper.flatten().map(Path::new)
    }
}

/// The list of this process's mounts.
const MOUNTS: &str = "/proc/self/mountinfo";

/// The file system that a folder or file is on.
///
/// # Errors
/// When there is no such folder, or the system does not list its mounts.
pub fn filesystem(path: &Path) -> Result<Filesystem, SystemError> {
    let failed = |call, on: &Path| {
        let on = on.display().to_string();
        move |cause| SystemError::new(call, on, cause)
    };
    let path = fs::canonicalize(path).map_err(failed("open", path))?;
    let mounts = fs::read(MOUNTS).map_err(failed("read", Path::new(MOUNTS)))?;
    let found = of_mounts(&mounts, &path)
        .ok_or_else(on_no_mount)
        .map_err(failed("look up", &path))?;
    let room = os::room(&path).map_err(failed("statvfs", &path))?;
    let own = fs::metadata(&path).ok().map(|facts| facts.dev());
    Ok(described(found, room, own))
}

/// The file system that an open file or folder is on, whatever its name leads to by now.
///
/// # Errors
/// When the system does not list its mounts.
pub fn filesystem_of(file: &File) -> Result<Filesystem, SystemError> {
    let failed = |call| move |cause| SystemError::new(call, "an open file", cause);
    let found = mount_of(file)
        .ok_or_else(on_no_mount)
        .map_err(failed("look up"))?;
    let room = os::room_at(file).map_err(failed("fstatvfs"))?;
    let own = file.metadata().ok().map(|facts| facts.dev());
    Ok(described(found, room, own))
}

fn on_no_mount() -> std::io::Error {
    std::io::Error::other("it is on none of the mounts listed there")
}

/// Adds to what is known of a mount how much room it has, in bytes (all, free), and what is below it.
fn described(mut found: Filesystem, room: (u64, u64), own: Option<u64>) -> Filesystem {
    (found.total_bytes, found.free_bytes) = room;
    let number = own.and_then(|own| device_number(own, || Some(found.clone())));
    if let Some(name) = number.and_then(name_of) {
        describe(&mut found, &name);
    }
    if found.kind == "overlay" {
        let upper = found.upper().and_then(|upper| filesystem(upper).ok());
        found.is_upper_in_memory = upper.is_some_and(|upper| upper.is_in_memory());
        let layer = match found.upper() {
            Some(upper) => format!("overlay over {}", upper.display()),
            None => "overlay, not writable".to_owned(),
        };
        found.layers.insert(0, layer);
    }
    found
}

/// The number of the one block device below files that have this device number. btrfs gives each
/// subvolume a number of its own, which belongs to no device: there it is the device that is mounted,
/// unless that is one of several.
pub(super) fn device_number(own: u64, mount: impl FnOnce() -> Option<Filesystem>) -> Option<u64> {
    if name_of(own).is_some() {
        return Some(own);
    }
    let mount = mount().filter(|mount| mount.kind == "btrfs")?;
    let number = fs::metadata(&mount.source).ok()?.rdev();
    is_only_device(Path::new("/sys/fs/btrfs"), &name_of(number)?).then_some(number)
}

/// Whether a file system listed in this folder of /sys is on this device and no other.
fn is_only_device(folder: &Path, name: &str) -> bool {
    let devices_of = |entry: fs::DirEntry| -> Option<Vec<std::ffi::OsString>> {
        let devices = fs::read_dir(entry.path().join("devices")).ok()?;
        Some(devices.flatten().map(|device| device.file_name()).collect())
    };
    fs::read_dir(folder).is_ok_and(|entries| {
        let mut all = entries.flatten().filter_map(devices_of);
        all.any(|devices| devices == [name])
    })
}

/// The mount that an open file is on; `None` where the system does not say.
pub(super) fn mount_of(file: &File) -> Option<Filesystem> {
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    of_mounts(&fs::read(MOUNTS).ok()?, &path)
}

/// Adds what /sys says of a device.
fn describe(found: &mut Filesystem, name: &str) {
    let read = |path: String| {
        let text = fs::read_to_string(path).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let class = format!("/sys/class/block/{name}");
    // A partition has no queue; its disk has.
    let folder = fs::canonicalize(&class).unwrap_or_else(|_| class.clone().into());
    let queue = [folder.join("queue"), folder.join("../queue")]
        .into_iter()
        .find(|queue| queue.is_dir());
    if let Some(queue) = queue {
        let of = |file: &str| read(queue.join(file).display().to_string());
        found.scheduler = of("scheduler").map(|text| chosen(&text));
        found.rotational = of("rotational").map(|text| text == "1");
    }
    if let Some(backing) = read(format!("{class}/loop/backing_file")) {
        found.layers.push(format!("loop over {backing}"));
    }
    if let Some(mapped) = read(format!("{class}/dm/name")) {
        found.layers.push(format!("device mapper {mapped}"));
    }
    if name.starts_with("md") {
        found.layers.push("software RAID".to_owned());
    }
    let is_virtio = fs::canonicalize(&class).is_ok_and(|path| {
        path.components()
            .any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"virtio"))
    });
    if is_virtio {
        found.layers.push("virtio".to_owned());
    }
    found.device = Some(name.to_owned());
}

/// The word in brackets, as in `[none] mq-deadline`, or all of it.
fn chosen(text: &str) -> String {
    let inner = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(word, _)| word).to_owned()
}

/// The value of `key=value` among a mount's options, with commas between.
pub fn mount_option<'o>(options: &'o str, key: &str) -> Option<&'o str> {
    options
        .split(',')
        .find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
}

/// Finds a path's mount in the text of mountinfo (proc_pid_mountinfo(5)): the one with the longest
/// mount point that the path begins with, the last of those that were mounted there.
fn of_mounts(mounts: &[u8], path: &Path) -> Option<Filesystem> {
    mounts
        .split(|byte| *byte == b'\n')
        .filter_map(parse)
        .filter(|mount| path.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.as_os_str().len())
}

fn parse(line: &[u8]) -> Option<Filesystem> {
    let mut fields = line.split(|byte| *byte == b' ');
    let mount_point = unescaped(fields.nth(4)?);
    let own_options = text(fields.next()?);
    let mut fields = fields.skip_while(|field| *field != b"-").skip(1);
    let (kind, source) = (text(fields.next()?), text(&unescaped(fields.next()?)));
    let further = fields.next().map(text).unwrap_or_default();
    let mut options: Vec<&str> = Vec::new();
    for option in own_options.split(',').chain(further.split(',')) {
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    let options = options.join(",");
    Some(Filesystem {
        kind,
        source,
        mount_point: PathBuf::from(std::ffi::OsString::from_vec(mount_point)),
        options,
        ..Filesystem::default()
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Decodes a path in which spaces and other special characters are written as `\040`.
pub(super) fn unescaped_path(text: &str) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(unescaped(text.as_bytes())))
}

/// Decodes octal escapes such as `\040` for a space.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| first == b'\\');
        let value = octal
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(value.unwrap_or(first));
        rest = if value.is_some() { &after[3..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &[u8] = b"22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,errors=remount-ro\n\
        30 22 0:25 / /tmp rw,nosuid shared:5 - tmpfs tmpfs rw,size=1024k\n\
        31 22 0:26 / /mnt/a\\040b rw - nfs4 server:/export\\040one rw,vers=4.2,addr=10.0.0.1\n\
        32 22 0:27 / /tmp rw - xfs /dev/vdb rw\n";

    fn found(path: &str) -> Filesystem {
        of_mounts(MOUNTS, Path::new(path)).expect("the root has everything")
    }

    #[test]
    fn a_path_is_on_the_last_mount_of_the_longest_point() {
        assert_eq!(found("/home/me").kind, "ext4");
        assert_eq!(found("/tmpfoo").kind, "ext4");
        assert_eq!(found("/tmp/x").kind, "xfs", "it was mounted over the other");
        let remote = found("/mnt/a b/c");
        assert_eq!(remote.source, "server:/export one");
        assert!(remote.is_remote() && !remote.is_in_memory());
        assert_eq!(mount_option(&remote.options, "vers"), Some("4.2"));
    }

    #[test]
    fn what_is_on_another_machine_need_not_be_nfs() {
        let of = |kind: &str| Filesystem {
            kind: kind.to_owned(),
            options: "rw,upperdir=/srv/upper,workdir=/srv/work".to_owned(),
            ..Filesystem::default()
        };
        for kind in ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "fuse.sshfs"] {
            assert!(of(kind).is_remote(), "{kind}");
            assert_eq!(of(kind).is_nfs(), kind.starts_with("nfs"), "{kind}");
        }
        for kind in ["ext4", "tmpfs", "nfsd", "fuse.ntfs"] {
            assert!(!of(kind).is_remote() && !of(kind).is_nfs(), "{kind}");
        }
        assert_eq!(of("overlay").upper(), Some(Path::new("/srv/upper")));
        assert_eq!(of("ext4").upper(), None);
    }

    #[test]
    fn the_schedulers_choice_is_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }

    #[test]
    fn only_a_file_system_of_one_device_lies_on_it() {
        let folder = tempfile::tempdir().expect("a folder");
        for device in ["one/devices/vda", "two/devices/vdb", "two/devices/vdc"] {
            fs::create_dir_all(folder.path().join(device)).expect("a folder");
        }
        fs::create_dir(folder.path().join("features")).expect("a folder");
        assert!(is_only_device(folder.path(), "vda"));
        for other in ["vdb", "vdd"] {
            assert!(!is_only_device(folder.path(), other), "{other}");
        }
        assert!(!is_only_device(&folder.path().join("nothing"), "vda"));
    }

    #[test]
    fn both_ways_find_the_same_device() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = File::open(folder).expect("it is there");
        let found = or_skip!(filesystem(folder), "no mounts are listed");
        let device = super::super::Device::of(&file).ok();
        assert_eq!(device.map(|device| device.name().to_owned()), found.device);
        assert_eq!(
            mount_of(&file).map(|mount| mount.source),
            Some(found.source)
        );
    }

    #[test]
    fn this_folder_is_on_some_file_system() {
        let found = or_skip!(filesystem(Path::new(env!("CARGO_MANIFEST_DIR"))));
        assert!(!found.kind.is_empty() && found.total_bytes > 0, "{found:?}");
    }
}
