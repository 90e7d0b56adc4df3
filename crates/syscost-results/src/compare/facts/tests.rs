//! Which facts of two runs differ, and what that means.

use super::super::compare;
use super::rounded;
use crate::fixture::run_of;
use crate::{Directory, Known, Run};

fn names(base: &Run, new: &Run) -> Vec<String> {
    let facts = compare(&[base], &[new], &[]).facts;
    facts.into_iter().map(|one| one.fact).collect()
}

#[test]
fn counts_differ_by_one_and_what_wobbles_by_a_percent() {
    let mut base = run_of(&vec![vec![100.0; 10]; 9]);
    base.machine.cpus_online = 256;
    base.machine.memory_bytes = Some(25_276_063_744);
    base.machine.cgroup_cpu_quota = Known::Yes(1.5);
    let mut new = base.clone();
    new.machine.memory_bytes = Some(25_276_000_000);
    new.machine.cgroup_cpu_quota = Known::Yes(1.501);
    let none: [&str; 0] = [];
    assert_eq!(names(&base, &new), none);
    new.machine.cpus_online = 254;
    assert_eq!(names(&base, &new), ["machine.cpus_online"]);
    new.machine.cpus_online = 256;
    new.machine.memory_bytes = Some(12_000_000_000);
    assert_eq!(names(&base, &new), ["machine.memory_bytes"]);
}

#[test]
fn the_order_in_which_cpus_measured_is_no_difference() {
    let mut base = run_of(&vec![vec![100.0; 10]; 9]);
    base.config.cpus = vec![0, 1, 10];
    let mut new = base.clone();
    new.config.cpus = vec![10, 1, 0];
    let none: [&str; 0] = [];
    assert_eq!(names(&base, &new), none);
    new.config.cpus = vec![10, 2];
    let differences = compare(&[&base], &[&new], &[]).facts;
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].base.as_deref(), Some("0 1 10"));
    assert_eq!(differences[0].new.as_deref(), Some("2 10"));
}

#[test]
fn another_far_end_is_a_difference_and_what_workers_find_it_by_is_not() {
    let mut base = run_of(&vec![vec![100.0; 10]; 9]);
    base.machine.hostname = "box".to_owned();
    let with = |address: &str, kernel: &str| {
        let mut run = base.clone();
        let variable = |name: &str| (name.to_owned(), Some(address.to_owned()));
        run.config.environment.extend([
            variable("SYSCOST_PEER"),
            variable("SYSCOST_PEER_TOKEN_FILE"),
        ]);
        let mut machine = run.machine.clone();
        machine.kernel = kernel.to_owned();
        run.peer = Some(Box::new(crate::run::Peer {
            name: "db1:7717".to_owned(),
            address: address.to_owned(),
            version: "0.1.0".to_owned(),
            machine,
        }));
        run
    };
    let one = with("10.0.0.1:7717", "Linux 6.1");
    let none: [&str; 0] = [];
    assert_eq!(names(&one, &with("10.0.0.1:8000", "Linux 6.1")), none);
    assert_eq!(
        names(&one, &with("10.0.0.2:7717", "Linux 6.2")),
        ["peer.address", "peer.machine.kernel"]
    );
    assert!(names(&base, &one).contains(&"peer.address".to_owned()));
}

#[test]
fn what_older_documents_say_by_variables_is_no_difference() {
    let base = run_of(&vec![vec![100.0; 10]; 9]);
    let (mut old, mut new) = (base.clone(), base.clone());
    for (name, value) in [("SYSCOST_CONGESTION", "cubic"), ("SYSCOST_REAL_TIME", "1")] {
        let set = (name.to_owned(), Some(value.to_owned()));
        old.config.environment.extend([set]);
    }
    new.config.congestion = Some("cubic".to_owned());
    new.config.real_time = true;
    assert!(names(&old, &new).is_empty());
    assert_eq!(names(&base, &new), ["config.congestion", "config.options"]);
}

#[test]
fn another_file_system_under_one_label_is_a_difference_and_another_path_is_not() {
    let base = run_of(&vec![vec![100.0; 10]; 9]);
    let with = |label: &str, path: &str, filesystem: &str, options: &str| {
        let mut run = base.clone();
        let set = ("SYSCOST_DIRECTORIES".to_owned(), Some(path.to_owned()));
        run.config.environment.extend([set]);
        run.directories.push(Directory {
            label: label.to_owned(),
            path: path.to_owned(),
            filesystem: filesystem.to_owned(),
            source: "/dev/vda".to_owned(),
            options: options.to_owned(),
            ..Directory::default()
        });
        run
    };
    let differing = |new: &Run| {
        let one = with("ssd", "/a", "ext4", "rw,relatime");
        compare(&[&one], &[new], &[]).facts
    };
    assert!(differing(&with("ssd", "/b", "ext4", "rw,relatime")).is_empty());
    let other = differing(&with("ssd", "/a", "xfs", "rw"));
    let facts: Vec<&str> = other.iter().map(|one| one.fact.as_str()).collect();
    assert_eq!(facts, ["directory.ssd", "directory.ssd options"]);
    assert_eq!(other[0].base.as_deref(), Some("ext4 on /dev/vda"));
    assert_eq!(other[0].new.as_deref(), Some("xfs on /dev/vda"));
    assert_eq!(
        other[0].meaning.as_deref(),
        Some("rows with this label are of another file system or device")
    );
    // A directory that only one side has is a single fact.
    let other = differing(&with("hdd", "/a", "ext4", "rw"));
    let facts: Vec<&str> = other.iter().map(|one| one.fact.as_str()).collect();
    assert_eq!(facts, ["directory.ssd", "directory.hdd"]);
    let meaning = other[1].meaning.as_deref();
    assert!(meaning.is_some_and(|text| text.starts_with("of one side only")));
}

#[test]
fn what_is_not_there_differs_and_what_is_not_known_does_not() {
    let mut base = run_of(&vec![vec![100.0; 10]; 9]);
    base.machine.hostname = "box".to_owned();
    base.machine.container = Known::No;
    base.machine.kernel_cmdline = Some("quiet".to_owned());
    let mut new = base.clone();
    new.machine.container = Known::Yes("podman".to_owned());
    new.machine.kernel_cmdline = Some("quiet isolcpus=1".to_owned());
    new.config.wrapper = Some("setarch -R".to_owned());
    new.config.labels = [("instance".to_owned(), "m5.large".to_owned())].into();
    new.directories.push(Directory {
        label: "ssd".to_owned(),
        filesystem: "ext4".to_owned(),
        ..Directory::default()
    });
    let facts = compare(&[&base], &[&new], &[]).facts;
    let mut none: Vec<&str> = facts.iter().map(|one| one.fact.as_str()).collect();
    none.sort_unstable();
    let expected = [
        "config.labels.instance",
        "config.wrapper",
        "directory.ssd",
        "machine.container",
        "machine.kernel_cmdline.isolcpus",
    ];
    assert_eq!(none, expected);
    for fact in &facts {
        assert_eq!(fact.base.as_deref(), Some("none"), "{}", fact.fact);
    }
    let mut anonymous = base.clone();
    anonymous.anonymize();
    let nothing: [&str; 0] = [];
    assert_eq!(names(&base, &anonymous), nothing);
    anonymous.machine.container = Known::Unknown;
    assert_eq!(
        names(&new, &anonymous),
        ["directory.ssd"],
        "neither what it has lost nor what nothing tells"
    );
}

#[test]
fn measured_numbers_are_shown_in_four_digits() {
    let texts = [2.4454041442403205, 2.3, 0.0, 12.0, 0.000123456, 1234567.8].map(rounded);
    assert_eq!(texts, ["2.445", "2.3", "0", "12", "0.0001235", "1234568"]);
}

#[test]
fn what_can_have_changed_the_rows_that_changed_comes_first() {
    let measured = |id: &str, ns: f64| {
        let mut run = run_of(&vec![vec![ns; 10]; 9]);
        let row = &mut run.measurements[0];
        (row.id, row.name) = (id.to_owned(), id.to_owned());
        run
    };
    let explained = |id: &str, new_ns: f64| {
        let (mut base, mut new) = (measured(id, 100.0), measured(id, new_ns));
        new.machine.kernel = "Linux 7.0".to_owned();
        base.machine.idle_driver = Some("acpi_idle".to_owned());
        new.machine.idle_driver = Some("haltpoll".to_owned());
        base.machine.transparent_hugepages = Some("never".to_owned());
        new.warnings.push(crate::run::Warning {
            code: "seccomp".to_owned(),
            message: "this process runs under a seccomp filter".to_owned(),
            advice: String::new(),
        });
        let comparison = compare(&[&base], &[&new], &[]);
        let causes = comparison.causes.iter().filter(|cause| cause.explains);
        let facts = comparison.facts.iter().filter(|fact| fact.explains);
        let facts: Vec<String> = facts.map(|fact| fact.fact.clone()).collect();
        (causes.count(), facts)
    };
    let facts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(
        explained("syscall.null", 300.0),
        (1, facts(&["machine.kernel"]))
    );
    assert_eq!(
        explained("switch.pipe", 300.0),
        (1, facts(&["machine.kernel", "machine.idle_driver"]))
    );
    // Neither filter nor kernel makes an addition slower.
    assert_eq!(explained("op.integer", 300.0), (0, facts(&[])));
    // Nothing changed.
    assert_eq!(explained("syscall.null", 100.0), (0, facts(&[])));
}
