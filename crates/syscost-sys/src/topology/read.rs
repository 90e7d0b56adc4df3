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
                .filter(|size| *size > 0),
            line_bytes: number(&folder.join("coherency_line_size")).filter(|line| *line > 0),
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
mod tests {
    use std::path::PathBuf;

    use super::super::Relation;
    use super::*;

    fn root(machine: &str) -> PathBuf {
        let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/machines");
        machines.join(machine).join("sys")
    }

    fn recorded(machine: &str) -> Topology {
        Topology::read(&root(machine), &[])
    }

    #[test]
    fn a_guest_without_smt() {
        let guest = recorded("guest-1x2");
        assert_eq!(
            (
                guest.cpus.len(),
                guest.cores(),
                guest.packages(),
                guest.nodes.len()
            ),
            (2, Some(2), Some(1), 1)
        );
        let first = guest.cpu(0).unwrap();
        assert_eq!(first.smt_siblings, Some(vec![]));
        assert_eq!(first.caches.len(), 4);
        let nearest = first.data_cache(1).unwrap();
        assert_eq!(
            (nearest.size_bytes, nearest.line_bytes, nearest.kind),
            (Some(48 << 10), Some(64), CacheKind::Data)
        );
        let last = first.last_level_cache().unwrap();
        assert_eq!(
            (last.level, last.size_bytes, last.shared_cpus.as_slice()),
            (3, Some(260 << 20), &[0, 1][..])
        );
    }

    #[test]
    fn two_sockets_with_smt_and_a_processor_offline() {
        let server = recorded("server-two-sockets");
        let numbers: Vec<u32> = server.cpus.iter().map(|cpu| cpu.cpu).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(
            (server.cores(), server.packages(), server.nodes.len()),
            (Some(4), Some(2), 2)
        );
        let last = server.cpu(3).unwrap();
        assert_eq!((last.package, last.node), (Some(1), Some(1)));
        assert_eq!(last.smt_siblings, Some(vec![]), "its sibling is offline");
        assert_eq!(server.cpu(5).unwrap().smt_siblings, Some(vec![1]));
        assert_eq!(server.cpu(7), None);
    }

    #[test]
    fn without_any_tree_the_processors_that_may_be_used_are_there() {
        let none = Topology::read(Path::new("/nowhere"), &[2, 5]);
        let numbers: Vec<u32> = none.cpus.iter().map(|cpu| cpu.cpu).collect();
        assert_eq!(numbers, [2, 5]);
        assert_eq!(
            (none.cores(), none.packages(), none.nodes.len()),
            (None, None, 0)
        );
        assert_eq!(Topology::default().cores(), None);
    }

    /// A copy of a machine's tree, in which these files are replaced; `None` removes one.
    fn damaged(machine: &str, files: &[(&str, Option<&str>)]) -> Topology {
        let copy = tempfile::tempdir().unwrap();
        copy_tree(&root(machine), copy.path());
        for (path, text) in files {
            let path = copy.path().join("devices/system").join(path);
            match text {
                Some(text) => fs::write(path, text).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
        }
        Topology::read(copy.path(), &[])
    }

    fn copy_tree(from: &Path, to: &Path) {
        for entry in fs::read_dir(from).unwrap().flatten() {
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                fs::create_dir(&target).unwrap();
                copy_tree(&entry.path(), &target);
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }

    #[test]
    fn one_odd_file_costs_no_more_than_what_it_says() {
        let whole = recorded("guest-1x2");
        let same = [
            ("node/node0/cpulist", Some("0-1\n\0")),
            ("cpu/online", None),
            ("cpu/online", Some("none of these")),
        ];
        for change in same {
            assert_eq!(damaged("guest-1x2", &[change]), whole, "{change:?}");
        }
        let odd = damaged("guest-1x2", &[("node/node0/cpulist", Some("?"))]);
        assert_eq!((odd.nodes.as_slice(), odd.cpus[0].node), (&[0][..], None));
        let odd = damaged("guest-1x2", &[("cpu/cpu0/cache/index0/level", Some("x"))]);
        assert_eq!((odd.cpus[0].caches.len(), odd.cpus[1].caches.len()), (3, 4));
        let siblings = "cpu/cpu1/topology/thread_siblings_list";
        let odd = damaged("guest-1x2", &[(siblings, None)]);
        assert_eq!((odd.cores(), odd.packages()), (None, Some(1)));
        assert_eq!(odd.relation(1, 0), None, "its sibling, or another core");
        assert_eq!(odd.relation(1, 1), Some(Relation::SameCpu));
    }

    #[test]
    fn an_online_list_with_numbers_of_its_own_is_not_believed() {
        let copy = tempfile::tempdir().unwrap();
        let cpu = copy.path().join("devices/system/cpu");
        fs::create_dir_all(&cpu).unwrap();
        fs::write(cpu.join("online"), "0\n").unwrap();
        let container = Topology::read(copy.path(), &[5]);
        assert_eq!(container.cpus.len(), 1);
        assert_eq!(container.relation(5, 5), Some(Relation::SameCpu));
        assert_eq!(
            container.pair(Relation::SameCpu, &[5]),
            Some((5, 5)),
            "whatever is known of it"
        );
    }

    #[test]
    fn this_machine_has_the_processors_it_may_use() {
        for cpu in crate::cpu::allowed().unwrap() {
            assert!(Topology::here().cpu(cpu).is_some());
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
