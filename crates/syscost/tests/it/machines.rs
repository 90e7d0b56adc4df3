//! Recorded machines of many kinds: what is read of them is what the field's own tools say, and
//! whatever lists CPUs works on each, whichever of them may be used.

mod recorded;

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, thread};

use recorded::{Form, Recorded, all};
use syscost_benches::CATALOGUE;
use syscost_harness::placement::{Placement, spread_from};
use syscost_harness::{Catalogue, machine};
use syscost_sys::topology::{CacheKind, Relation, Topology, pretending};

/// A number, or `none`.
fn shown(number: Option<usize>) -> String {
    number.map_or("none".to_owned(), |number| number.to_string())
}

/// Level, kind, size and number of all caches, as in `L1d 32K x8, L2 512K x4`.
fn caches(topology: &Topology) -> String {
    let mut found: BTreeMap<(u32, &str, u64), BTreeSet<&[u32]>> = BTreeMap::new();
    for cache in topology.cpus.iter().flat_map(|cpu| &cpu.caches) {
        let kind = match cache.kind {
            CacheKind::Data => "d",
            CacheKind::Instruction => "i",
            CacheKind::Unified => "",
        };
        let key = (cache.level, kind, cache.size_bytes.unwrap_or(0) >> 10);
        found.entry(key).or_default().insert(&cache.shared_cpus);
    }
    let shown = found.iter().map(|((level, kind, size), sets)| {
        let size = match size {
            0 => "-".to_owned(),
            size => format!("{size}K"),
        };
        format!("L{level}{kind} {size} x{}", sets.len())
    });
    let shown: BTreeSet<String> = shown.collect();
    match shown.is_empty() {
        true => "none".to_owned(),
        false => shown.into_iter().collect::<Vec<_>>().join(", "),
    }
}

/// All that is read of a machine, by the names of its file's answers.
fn read(recorded: &Recorded, form: Form) -> (Topology, BTreeMap<&'static str, String>) {
    let root = tempfile::tempdir().expect("a temporary folder");
    recorded.write(root.path(), form);
    let topology = Topology::read(&root.path().join("sys"), &[]);
    let cpus: Vec<u32> = topology.cpus.iter().map(|cpu| cpu.cpu).collect();
    let machine = machine::capture_tree(root.path(), &topology, &cpus);
    let cpuinfo = fs::read_to_string(root.path().join("proc/cpuinfo")).unwrap_or_default();
    let hypervisor = match machine.hypervisor.words() {
        // Only x86 has a flag for it: elsewhere the tools take what they do not see for none.
        "not known" if !cpuinfo.contains("\nflags") => "none",
        words => words,
    };
    let answers = BTreeMap::from([
        ("cpus", machine.cpus_online.to_string()),
        ("cores", shown(machine.cores.map(|count| count as usize))),
        (
            "sockets",
            shown(machine.sockets.map(|count| count as usize)),
        ),
        (
            "nodes",
            shown(machine.numa_nodes.map(|count| count as usize)),
        ),
        ("model", machine.cpu_model.clone()),
        ("hypervisor", hypervisor.to_owned()),
        ("caches", caches(&topology)),
    ]);
    (topology, answers)
}

#[test]
fn what_is_read_is_what_the_tools_of_the_field_say() {
    let machines = all();
    assert!(machines.len() >= 20, "{}", machines.len());
    for recorded in &machines {
        for form in [Form::Lists, Form::Masks] {
            let (_, answers) = read(recorded, form);
            for (what, right) in &recorded.answers {
                let right = match what.as_str() {
                    "caches" => {
                        let mut sorted: Vec<&str> = right.split(", ").collect();
                        sorted.sort_unstable();
                        sorted.join(", ")
                    }
                    _ => right.clone(),
                };
                let name = &recorded.name;
                assert_eq!(answers[what.as_str()], right, "{name}: {what} ({form:?})");
            }
            assert_eq!(answers.len(), recorded.answers.len(), "{}", recorded.name);
        }
    }
}

/// The sets of CPUs by which code could be misled, and the machine of each: all of them; some; and
/// CPUs that may be used, but that the machine does not show.
fn situations(topology: &Topology) -> Vec<(Topology, Vec<u32>)> {
    let all: Vec<u32> = topology.cpus.iter().map(|cpu| cpu.cpu).collect();
    let (first, last) = (all[0], all[all.len() - 1]);
    let mut sets = vec![all.clone(), vec![first], vec![last], vec![first, last]];
    sets.extend([all[1..].to_vec(), all[..all.len() - 1].to_vec()]);
    sets.retain(|set| !set.is_empty());
    let mut situations: Vec<(Topology, Vec<u32>)> = sets
        .into_iter()
        .map(|set| (topology.clone(), set))
        .collect();
    for missing in BTreeSet::from([first, all[all.len() / 2], last]) {
        let mut shown = topology.clone();
        shown.cpus.retain(|cpu| cpu.cpu != missing);
        situations.push((shown.clone(), vec![missing]));
        situations.push((shown, all.clone()));
    }
    situations.push((Topology::default(), all));
    situations
}

/// Lists everything that depends on CPUs, as all commands do.
fn list_everything(allowed: &[u32]) {
    let placements = Placement::among(allowed);
    assert_eq!(placements[0], Placement::SAME);
    for own in allowed.iter().copied().take(3) {
        let mut spread = spread_from(own, allowed);
        assert_eq!(spread[0], own);
        spread.sort_unstable();
        assert_eq!(spread, allowed);
        for placement in &placements {
            let Ok(cpus) = placement.cpus(own, allowed) else {
                continue;
            };
            assert!(
                cpus.iter().all(|cpu| allowed.contains(cpu)),
                "{placement:?}"
            );
            if let Placement::At(relation) = placement {
                assert_eq!(Topology::here().relation(own, cpus[0]), Some(*relation));
            }
        }
    }
    let mut names = BTreeSet::new();
    for row in Catalogue::rows(CATALOGUE.benchmarks(), &syscost_harness::Testbed::plain()) {
        // The reason does not matter here, only that there is an answer.
        let _ = (row.benchmark.support)(&row.case, &syscost_harness::Testbed::plain());
        assert!(names.insert(row.name()), "{} is there twice", row.name());
    }
    assert!(names.len() > 500, "{}", names.len());
}

#[test]
fn whatever_lists_cpus_works_on_every_machine_whichever_may_be_used() {
    for recorded in all() {
        let (topology, _) = read(&recorded, Form::Lists);
        for (shown, allowed) in situations(&topology) {
            let what = format!("{}: {} shown, {allowed:?}", recorded.name, shown.cpus.len());
            // A new thread, for what is found out only once in each.
            let listed = thread::spawn(move || {
                pretending(shown, &allowed, || list_everything(&allowed));
            });
            assert!(listed.join().is_ok(), "{what}");
        }
    }
}

#[test]
fn relations_are_mutual_and_each_cpu_is_the_same_as_itself() {
    for recorded in all() {
        let (topology, _) = read(&recorded, Form::Lists);
        let all: Vec<u32> = topology.cpus.iter().map(|cpu| cpu.cpu).collect();
        for (index, a) in all.iter().enumerate().step_by(all.len().div_ceil(16)) {
            assert_eq!(topology.relation(*a, *a), Some(Relation::SameCpu));
            for b in &all[index..] {
                let there = topology.relation(*a, *b);
                let name = &recorded.name;
                assert_eq!(there, topology.relation(*b, *a), "{name}: {a} and {b}");
                assert!(there.is_some(), "{name}: {a} and {b}");
            }
        }
    }
}
