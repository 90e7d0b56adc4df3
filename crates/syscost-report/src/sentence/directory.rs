//! A measured directory in words.

use syscost_results::Unit;
use syscost_results::directory::{DirectIo, Directory};

use crate::units::quantity;

/// A directory in one line: its label, path, file system, storage, device, and free space.
pub fn directory(directory: &Directory) -> String {
    let mut parts = vec![directory.storage()];
    if directory.in_memory {
        parts.push("in memory".to_owned());
    }
    parts.extend(nfs(directory));
    parts.extend(device(directory));
    parts.push(directory.options.clone());
    // A file system has a name: without, the directory could not be used.
    match directory.filesystem.is_empty() {
        true => parts.push("it could not be used, so nothing is known of it".to_owned()),
        false if directory.in_memory => {}
        false => parts.push(direct(directory.direct)),
    }
    parts.extend(free(directory));
    parts.retain(|part| !part.is_empty());
    // An anonymized document has no path.
    let blank = if directory.path.is_empty() { "" } else { " " };
    format!(
        "dir={}{blank}{}: {}",
        directory.label,
        directory.path,
        parts.join(", ")
    )
}

fn nfs(directory: &Directory) -> Option<String> {
    let nfs = directory.nfs.as_ref()?;
    Some(format!("NFS {} from {}", nfs.version, nfs.server))
}

/// The device, if its name says more than the source, and its scheduler.
fn device(directory: &Directory) -> Option<String> {
    let name = directory.device.as_deref()?;
    let is_named = directory.source.strip_prefix("/dev/") == Some(name);
    let mut parts = Vec::new();
    if !is_named {
        parts.push(format!("device {name}"));
    }
    // For a virtual device the scheduler is the kernel's default and says nothing.
    let is_virtual = |layer: &String| layer == "virtio" || layer.starts_with("loop");
    if directory.rotational == Some(true) && !directory.layers.iter().any(is_virtual) {
        parts.push("rotating disk".to_owned());
    }
    let scheduler = directory.scheduler.as_deref();
    parts.extend(scheduler.map(|scheduler| format!("scheduler {scheduler}")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn direct(direct: Option<DirectIo>) -> String {
    match direct {
        Some(direct) => format!("direct I/O alignment {} B", direct.offset_bytes),
        None => "alignment of direct I/O not reported".to_owned(),
    }
}

fn free(directory: &Directory) -> Option<String> {
    let (free, total) = (directory.free_bytes?, directory.total_bytes?);
    let bytes = |bytes: u64| quantity(Unit::Bytes, bytes as f64);
    Some(format!("{} of {} free", bytes(free), bytes(total)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_results::directory::NfsMount;

    #[test]
    fn a_device_is_named_where_the_source_does_not() {
        let mut one = Directory {
            label: "a".to_owned(),
            path: "/a".to_owned(),
            filesystem: "xfs".to_owned(),
            source: "/dev/mapper/root".to_owned(),
            device: Some("dm-0".to_owned()),
            rotational: Some(true),
            layers: vec!["device mapper root".to_owned()],
            ..Directory::default()
        };
        assert_eq!(
            directory(&one),
            "dir=a /a: xfs on /dev/mapper/root (device mapper root), device dm-0, rotating disk, alignment of direct I/O not reported"
        );
        one.path = String::new();
        assert!(directory(&one).starts_with("dir=a: xfs on"));
        one.nfs = Some(NfsMount::default());
        assert!(directory(&one).contains("NFS"));
        let unusable = Directory {
            label: "default".to_owned(),
            path: "/a".to_owned(),
            ..Directory::default()
        };
        assert_eq!(
            directory(&unusable),
            "dir=default /a: it could not be used, so nothing is known of it"
        );
    }
}
