//! Anonymizes what a directory is on.

use crate::Directory;

use super::names::UNNAMED;

/// Mount options without a value, which only describe how a file system works.
const FLAGS: &str = "acl async autodefrag barrier cto dataflush datacow datasum dax delalloc dev dirsync \
     discard exec extent_cache flush_merge fsc grpquota hard inline_data inline_dentry \
     inline_xattr inode32 inode64 intr journal_checksum largeio lazytime lock mand noac noacl \
     noalign noatime nobarrier nocto nodatacow nodatasum nodelalloc nodev nodiratime \
     nodiscard noexec nointr nolock norelatime nosharecache nossd nosuid nouser_xattr noquota \
     prjquota quota relatime ro rw soft ssd strictatime suid swalloc sync user_xattr usrquota \
     volatile wsync";

/// Mount options whose value is a number or a keyword of the file system.
const SETTINGS: &str = "acdirmax acdirmin acregmax acregmin actimeo active_logs allocsize alloc_mode barrier \
     blksize blocksize bsize cache commit compress compress-force compress_algorithm data dax \
     discard errors fsync_mode huge index local_lock logbsize logbufs lookupcache \
     max_batch_time max_read metacopy min_batch_time mpol nconnect nfs_export nr_inodes proto \
     redirect_dir retrans rsize sec size space_cache timeo vers wsize";

/// Maximum length in bytes of a value that is taken for a setting rather than a name.
const MAX_VALUE: usize = 16;

/// Prefixes of layers that end in a name, and what replaces them.
const NAMED_LAYERS: [(&str, &str); 3] = [
    ("loop over ", "loop"),
    ("overlay over ", "overlay"),
    ("device mapper ", "device mapper"),
];

/// Whether this is a device by its kernel name, such as `/dev/nvme0n1p2`, rather than by a name
/// that a user chose.
pub(super) fn is_device(path: &str) -> bool {
    let name = path.strip_prefix("/dev/").unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !name.is_empty() && name.bytes().all(is_plain)
}

/// Whether the mounted source identifies nobody.
fn is_plain_source(directory: &Directory) -> bool {
    is_device(&directory.source) || directory.source == directory.filesystem
}

/// Whether the device's kernel name was not chosen by a user, as that of a software RAID may be.
fn is_plain_device(name: &str) -> bool {
    let number = name.strip_prefix("dm-").unwrap_or(name);
    is_device(&format!("/dev/{number}"))
}

/// The names that [`anonymize`] removes from a directory.
pub(super) fn names(directory: &Directory) -> impl Iterator<Item = &str> {
    let source = Some(directory.source.as_str()).filter(|_| !is_plain_source(directory));
    let device = directory.device.as_deref();
    let device = device.filter(|name| !is_plain_device(name));
    let server = directory.nfs.as_ref().map(|nfs| nfs.server.as_str());
    let places = [directory.path.as_str(), &directory.mount_point];
    let layers = directory.layers.iter().filter_map(|layer| {
        let mut kinds = NAMED_LAYERS.iter();
        kinds.find_map(|(start, _)| layer.strip_prefix(*start))
    });
    let others = [source, device, server].into_iter().flatten();
    places.into_iter().chain(others).chain(layers)
}

/// Removes paths, names, servers and users. What explains numbers stays: file system, kind of
/// device, settings.
pub(super) fn anonymize(directory: &mut Directory) {
    if !is_plain_source(directory) {
        directory.source.clear();
    }
    directory.path.clear();
    directory.mount_point.clear();
    let kept = directory.options.split(',').filter(|one| is_setting(one));
    directory.options = kept.collect::<Vec<_>>().join(",");
    directory.device = directory.device.take().filter(|name| is_plain_device(name));
    if let Some(nfs) = &mut directory.nfs {
        nfs.server = UNNAMED.to_owned();
    }
    for layer in &mut directory.layers {
        let mut kinds = NAMED_LAYERS.iter();
        if let Some((_, kind)) = kinds.find(|(start, _)| layer.starts_with(*start)) {
            *layer = (*kind).to_owned();
        }
    }
}

/// Whether a mount option is known to identify nobody.
fn is_setting(option: &str) -> bool {
    let is_harmless = |letter: char| letter.is_ascii_alphanumeric() || "._+-%:".contains(letter);
    match option.split_once('=') {
        None => FLAGS.split(' ').any(|flag| flag == option),
        Some((key, value)) => {
            SETTINGS.split(' ').any(|setting| setting == key)
                && value.len() <= MAX_VALUE
                && value.chars().all(is_harmless)
                && value.parse::<std::net::IpAddr>().is_err()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::NfsMount;

    /// What remains of kind, source, options and layers.
    fn left(kind: &str, source: &str, options: &str, layers: &[&str]) -> String {
        let mut directory = Directory {
            path: "/home/alice/data".to_owned(),
            mount_point: "/home".to_owned(),
            filesystem: kind.to_owned(),
            source: source.to_owned(),
            options: options.to_owned(),
            layers: layers.iter().map(|layer| (*layer).to_owned()).collect(),
            ..Directory::default()
        };
        anonymize(&mut directory);
        assert_eq!((&*directory.path, &*directory.mount_point), ("", ""));
        format!("{}; {}", directory.storage(), directory.options)
    }

    #[test]
    fn of_every_kind_of_mount_only_what_names_nobody_is_left() {
        let cases: [(&str, &str, &str, &[&str], &str); 10] = [
            (
                "ext4",
                "/dev/nvme0n1p2",
                "rw,relatime,errors=remount-ro,data=ordered,resuid=1000",
                &["virtio"],
                "ext4 on /dev/nvme0n1p2 (virtio); rw,relatime,errors=remount-ro,data=ordered",
            ),
            (
                "cifs",
                "//fileserver.acme.example/alice",
                "rw,relatime,vers=3.1.1,cache=strict,username=alice,domain=ACME,uid=1000,addr=10.1.2.3,rsize=4194304",
                &[],
                "cifs; rw,relatime,vers=3.1.1,cache=strict,rsize=4194304",
            ),
            (
                "overlay",
                "overlay",
                "rw,lowerdir=/home/alice/lower,upperdir=/home/alice/upper,workdir=/home/alice/work,index=off",
                &["overlay over /home/alice/upper", "virtio"],
                "overlay (overlay, virtio); rw,index=off",
            ),
            (
                "fuse.sshfs",
                "alice@bastion.acme.example:/srv",
                "rw,nosuid,nodev,user_id=1000,group_id=1000,max_read=131072",
                &[],
                "fuse.sshfs; rw,nosuid,nodev,max_read=131072",
            ),
            (
                "xfs",
                "/dev/mapper/alicebox--vg-root",
                "rw,attr2,inode64,logbufs=8",
                &["device mapper alicebox--vg-root", "software RAID"],
                "xfs (device mapper, software RAID); rw,inode64,logbufs=8",
            ),
            (
                "ext4",
                "/dev/loop3",
                "ro",
                &["loop over /srv/alice.img"],
                "ext4 (loop); ro",
            ),
            (
                "nfs4",
                "secret-server:/export",
                "rw,vers=4.2,proto=tcp,clientaddr=10.0.0.5,addr=10.7.8.9,wsize=10.7.8.9",
                &[],
                "nfs4; rw,vers=4.2,proto=tcp",
            ),
            (
                "9p",
                "share-of-alice",
                "rw,trans=virtio,aname=/alice",
                &[],
                "9p; rw",
            ),
            (
                "tmpfs",
                "tmpfs",
                "rw,size=64k,mode=700",
                &[],
                "tmpfs; rw,size=64k",
            ),
            (
                "tmpfs",
                "alice",
                "commit=/x/y",
                &["overlay, not writable"],
                "tmpfs (overlay, not writable); ",
            ),
        ];
        for (kind, source, options, layers, kept) in cases {
            assert_eq!(left(kind, source, options, layers), kept);
        }
    }

    #[test]
    fn the_removed_names_are_listed() {
        let mut directory = Directory {
            path: "/data".to_owned(),
            mount_point: "/".to_owned(),
            source: "db1:/e".to_owned(),
            device: Some("md_alice".to_owned()),
            layers: vec!["loop over /i".to_owned(), "virtio".to_owned()],
            nfs: Some(NfsMount {
                version: "4.2".to_owned(),
                server: "10.7.8.9".to_owned(),
            }),
            ..Directory::default()
        };
        let removed: Vec<&str> = names(&directory).collect();
        assert_eq!(
            removed,
            ["/data", "/", "db1:/e", "md_alice", "10.7.8.9", "/i"]
        );
        anonymize(&mut directory);
        assert_eq!(directory.device, None);
        directory.device = Some("dm-0".to_owned());
        anonymize(&mut directory);
        assert_eq!(directory.device.as_deref(), Some("dm-0"));
        assert_eq!(directory.nfs.map(|nfs| nfs.version).as_deref(), Some("4.2"));
    }
}
