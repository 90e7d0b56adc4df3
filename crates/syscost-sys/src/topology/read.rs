//! Reading the topology from sysfs.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use super::{Cache, CacheKind, Cpu, Topology};
use crate::cpu::parse_list;
use crate::{SystemError, Unsupported};

impl Topology {
    /// The topology of this machine, read once: on a large one it is hundreds of files.
    ///
    /// # Errors
    /// As [`Topology::read`].
    pub fn here() -> Result<&'static Topology, Unsupported> {
        static HERE: OnceLock<Result<Topology, Unsupported>> = OnceLock::new();
        HERE.get_or_init(|| Topology::read(Path::new("/sys")))
            .as_ref()
            .map_err(Unsupported::clone)
    }

    /// The topology of this machine, without CPUs where the system does not report it.
    pub fn known() -> &'static Topology {
        static NONE: Topology = Topology { cpus: Vec::new() };
        Self::here().unwrap_or(&NONE)
    }

    /// Reads the processors that are online from a sysfs tree: `/sys`, or a recorded one.
    ///
    /// # Errors
    /// `Unsupported` when there is no such tree, or a file in it does not hold what the kernel
    /// documents; it names the file.
    pub fn read(sysfs_root: &Path) -> Result<Topology, Unsupported> {
        let system = sysfs_root.join("devices/system");
        let nodes = nodes(&system.join("node"))?;
        let cpus = list(&system.join("cpu/online"))?;
        let cpus: Result<Vec<Cpu>, Unsupported> = cpus
            .into_iter()
            .map(|cpu| one(&system.join(format!("cpu/cpu{cpu}")), cpu, &nodes))
            .collect();
        Ok(Topology { cpus: cpus? })
    }
}

fn one(folder: &Path, cpu: u32, nodes: &[(u32, Vec<u32>)]) -> Result<Cpu, Unsupported> {
    let topology = folder.join("topology");
    let mut siblings = list(&topology.join("thread_siblings_list"))?;
    siblings.retain(|&sibling| sibling != cpu);
    Ok(Cpu {
        cpu,
        core: id(&topology.join("core_id"))?,
        package: id(&topology.join("physical_package_id"))?,
        node: nodes
            .iter()
            .find(|(_, cpus)| cpus.contains(&cpu))
            .map_or(0, |(node, _)| *node),
        smt_siblings: siblings,
        caches: caches(&folder.join("cache"))?,
    })
}

/// Each memory node with its processors; empty on a kernel without NUMA.
fn nodes(folder: &Path) -> Result<Vec<(u32, Vec<u32>)>, Unsupported> {
    numbered(folder, "node")
        .into_iter()
        .map(|node| Ok((node, list(&folder.join(format!("node{node}/cpulist")))?)))
        .collect()
}

fn caches(folder: &Path) -> Result<Vec<Cache>, Unsupported> {
    let mut caches = Vec::new();
    for index in numbered(folder, "index") {
        let folder = folder.join(format!("index{index}"));
        let kind = match text(&folder.join("type"))?.as_str() {
            "Data" => CacheKind::Data,
            "Instruction" => CacheKind::Instruction,
            _ => CacheKind::Unified,
        };
        caches.push(Cache {
            level: id(&folder.join("level"))?,
            kind,
            // Some firmware omits these two, and the kernel then has no file.
            size_bytes: text(&folder.join("size"))
                .ok()
                .and_then(|size| bytes(&size))
                .unwrap_or(0),
            line_bytes: id(&folder.join("coherency_line_size")).unwrap_or(0),
            shared_cpus: list(&folder.join("shared_cpu_list"))?,
        });
    }
    caches.sort_by_key(|cache| cache.level);
    Ok(caches)
}

/// The numbers N of the entries `<prefix>N` of a folder, ascending; none when there is no folder.
fn numbered(folder: &Path, prefix: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |name: &str| name.strip_prefix(prefix)?.parse().ok();
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| number(entry.file_name().to_str()?))
        .collect();
    numbers.sort_unstable();
    numbers
}

fn text(path: &Path) -> Result<String, Unsupported> {
    let text = fs::read_to_string(path);
    let text = text.map_err(|cause| SystemError::new("read", path.display().to_string(), cause))?;
    Ok(text.trim().to_owned())
}

fn list(path: &Path) -> Result<Vec<u32>, Unsupported> {
    parse_list(&text(path)?)
        .map_err(|error| Unsupported::new(format!("{}: {error}", path.display())))
}

/// Reads a number; -1, which some firmware gives for "there is only one", counts as 0.
fn id(path: &Path) -> Result<u32, Unsupported> {
    let text = text(path)?;
    let number: Result<i64, _> = text.parse();
    let number = number
        .ok()
        .and_then(|number| u32::try_from(number.max(0)).ok());
    number.ok_or_else(|| Unsupported::new(format!("{}: {text:?} is no number", path.display())))
}

/// Parses `48K`, `2048K`, `32M`.
fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => text
            .strip_suffix('M')
            .map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn recorded(machine: &str) -> Topology {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/machines")
            .join(machine)
            .join("sys");
        Topology::read(&root).unwrap()
    }

    #[test]
    fn a_guest_without_smt() {
        let guest = recorded("guest-1x2");
        assert_eq!(
            (
                guest.cpus.len(),
                guest.cores(),
                guest.packages(),
                guest.nodes()
            ),
            (2, 2, 1, 1)
        );
        let first = guest.cpu(0).unwrap();
        assert!(first.smt_siblings.is_empty());
        assert_eq!(first.caches.len(), 4);
        let nearest = first.data_cache(1).unwrap();
        assert_eq!(
            (nearest.size_bytes, nearest.line_bytes, nearest.kind),
            (48 << 10, 64, CacheKind::Data)
        );
        let last = first.last_level_cache().unwrap();
        assert_eq!(
            (last.level, last.size_bytes, last.shared_cpus.as_slice()),
            (3, 260 << 20, &[0, 1][..])
        );
    }

    #[test]
    fn two_sockets_with_smt_and_a_processor_offline() {
        let server = recorded("server-two-sockets");
        let numbers: Vec<u32> = server.cpus.iter().map(|cpu| cpu.cpu).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(
            (server.cores(), server.packages(), server.nodes()),
            (4, 2, 2)
        );
        let last = server.cpu(3).unwrap();
        assert_eq!((last.package, last.core, last.node), (1, 0, 1));
        assert!(last.smt_siblings.is_empty(), "its sibling is offline");
        assert_eq!(server.cpu(5).unwrap().smt_siblings, [1]);
        assert_eq!(server.cpu(7), None);
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Topology::read(Path::new("/nowhere"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/nowhere/devices/system/cpu/online"),
            "{error}"
        );
    }

    #[test]
    fn this_machine_has_the_processors_it_may_use() {
        let Ok(here) = Topology::read(Path::new("/sys")) else {
            println!("skipped: no /sys here");
            return;
        };
        for cpu in crate::cpu::allowed().unwrap() {
            assert!(here.cpu(cpu).is_some());
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            (bytes("48K"), bytes("32M"), bytes("512"), bytes("x")),
            (Some(48 << 10), Some(32 << 20), Some(512), None)
        );
    }
}
