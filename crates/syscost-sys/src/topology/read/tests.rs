//! What is read of whole trees, and of damaged ones.

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
