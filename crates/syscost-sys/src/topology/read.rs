//! Reading the topology from sysfs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::sync::OnceLock;

use super::{Cache, CacheKind, Cpu, Topology, pretended};
use crate::cpu::{THREADS, allowed, file_text, listed, parse_list};

impl Topology {
    /// The topology of this machine, read once: on a large one it is hundreds of files.
    pub fn here() -> &'static Topology {
        static HERE: OnceLock<Topology> = OnceLock::new();
        pretended::topology().unwrap_or_else(|| {
            let allowed = || allowed().unwrap_or_default();
            HERE.get_or_init(|| Topology::read(Path::new("/sys"), &allowed()))
        })
    }

    /// Reads the processors that are online from a sysfs tree: `/sys`, or a recorded one. Those
    /// that may be used are among them whatever the tree shows; of what is not there or cannot be
    /// understood the rest is kept.
    pub fn read(sysfs_root: &Path, allowed: &[u32]) -> Topology {
        let system = sysfs_root.join("devices/system");
        let nodes = nodes(&system.join("node"));
        let online = online(&system.join("cpu"), allowed);
        let mut cpus: Vec<Cpu> = online
            .iter()
            .map(|cpu| one(&system.join(format!("cpu/cpu{cpu}")), *cpu, &nodes))
            .collect();
        for cpu in &mut cpus {
            let caches = cpu.caches.iter_mut().map(|cache| &mut cache.shared_cpus);
            caches
                .chain(&mut cpu.smt_siblings)
                .for_each(|others| others.retain(|other| online.contains(other)));
        }
        join_packages(&mut cpus);
        Topology {
            cpus,
            nodes: nodes.into_iter().map(|(node, _)| node).collect(),
        }
    }
}

/// The processors that are online: the kernel keeps the folder `topology` for these only.
fn online(folder: &Path, allowed: &[u32]) -> BTreeSet<u32> {
    let has_topology = |cpu: &u32| folder.join(format!("cpu{cpu}/topology")).is_dir();
    let mut online: BTreeSet<u32> = numbered(folder, "cpu").into_iter().collect();
    online.retain(has_topology);
    let list = file_text(&folder.join("online")).and_then(|list| parse_list(&list).ok());
    // lxcfs numbers the processors of a container from 0, whichever they are.
    let list = list.filter(|list| allowed.iter().all(|cpu| list.contains(cpu)));
    online.extend(list.unwrap_or_default());
    online.extend(allowed);
    online
}

fn one(folder: &Path, cpu: u32, nodes: &[(u32, Vec<u32>)]) -> Cpu {
    let topology = folder.join("topology");
    let siblings = listed(&topology, THREADS);
    let package = listed(&topology, ["core_siblings_list", "core_siblings"]);
    let node = nodes.iter().find(|(_, cpus)| cpus.contains(&cpu));
    Cpu {
        cpu,
        // Its number need not be unique (but within a book, s390), or there at all (-1).
        package: match package.and_then(|cpus| cpus.into_iter().min()) {
            None => number(&topology.join("physical_package_id")),
            first => first,
        },
        node: node.map(|(node, _)| *node),
        smt_siblings: siblings.map(|mut siblings| {
            siblings.retain(|&sibling| sibling != cpu);
            siblings
        }),
        caches: caches(&folder.join("cache")),
    }
}

/// Makes those packages one that share a cache: for older kernels a package of a phone's processor
/// is a cluster of it, and for some hypervisors each processor.
fn join_packages(cpus: &mut [Cpu]) {
    for index in 0..cpus.len() {
        let Some(cache) = cpus[index].last_level_cache() else {
            continue;
        };
        let shared = cache.shared_cpus.clone();
        let is_among = |cpu: &&mut Cpu| shared.contains(&cpu.cpu);
        let packages = cpus.iter_mut().filter(is_among).map(|cpu| cpu.package);
        let joined: BTreeSet<u32> = packages.flatten().collect();
        if joined.len() > 1 {
            let of_joined = |cpu: &&mut Cpu| cpu.package.is_some_and(|one| joined.contains(&one));
            let first = joined.first().copied();
            cpus.iter_mut()
                .filter(of_joined)
                .for_each(|cpu| cpu.package = first);
        }
    }
}

/// Each memory node with its processors; empty on a kernel without NUMA.
fn nodes(folder: &Path) -> Vec<(u32, Vec<u32>)> {
    let cpus = |node: u32| listed(&folder.join(format!("node{node}")), ["cpulist", "cpumap"]);
    let nodes = numbered(folder, "node").into_iter();
    nodes
        .map(|node| (node, cpus(node).unwrap_or_default()))
        .collect()
}

fn caches(folder: &Path) -> Vec<Cache> {
    let read = |index: u32| {
        let folder = folder.join(format!("index{index}"));
        Some(Cache {
            level: number(&folder.join("level"))?,
            kind: match file_text(&folder.join("type"))?.as_str() {
                "Data" => CacheKind::Data,
                "Instruction" => CacheKind::Instruction,
                _ => CacheKind::Unified,
            },
            // Some firmware omits these two, and the kernel then has no file.
            size_bytes: file_text(&folder.join("size"))
                .and_then(|size| bytes(&size))
                .unwrap_or(0),
            line_bytes: number(&folder.join("coherency_line_size")).unwrap_or(0),
            shared_cpus: listed(&folder, ["shared_cpu_list", "shared_cpu_map"]).unwrap_or_default(),
        })
    };
    let mut caches: Vec<Cache> = numbered(folder, "index")
        .into_iter()
        .filter_map(read)
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
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

fn number<T: FromStr>(path: &Path) -> Option<T> {
    file_text(path)?.parse().ok()
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
mod tests;
