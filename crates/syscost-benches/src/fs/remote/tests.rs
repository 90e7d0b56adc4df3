use super::*;

fn of(parameters: &[(&'static str, &'static str)]) -> Case {
    Case::new(parameters.iter().copied())
}

fn local() -> Case {
    of(&[
        ("dir", "ssd"),
        ("access", "random"),
        ("cache", "cold"),
        ("size", "4K"),
    ])
}

fn source<'c>(id: &'static str, case: &'c Case, median: f64) -> Source<'c> {
    Source { id, case, median }
}

#[test]
fn a_mount_is_compared_with_the_same_row_of_the_local_directory() {
    let case = of(&[("dir", "far"), ("local", "ssd"), ("op", "read_cold_4K")]);
    let remote = of(&[
        ("dir", "far"),
        ("access", "random"),
        ("cache", "cold"),
        ("size", "4K"),
    ]);
    let local = local();
    let rows = [
        source("fs.read", &local, 100.0),
        source("fs.read", &remote, 350.0),
    ];
    let derived = compute(&case, &rows).unwrap();
    assert_eq!(derived.value, 250.0);
    assert_eq!(derived.details["ratio"], 3.5);
    assert_eq!(derived.evidence[0].verdict, Verdict::Confirmed);
    let alone = compute(&case, &rows[..1]);
    assert!(matches!(alone, Err(Failure::Unsupported(_))), "{alone:?}");
    // Times in other units, or none.
    let nothing = [source("fs.read", &local, 0.0), rows[1]];
    let refuted = compute(&case, &nothing).unwrap();
    assert_eq!(refuted.evidence[0].verdict, Verdict::Refuted);
    assert!(!refuted.details.contains_key("ratio"), "there is none");
}

#[test]
fn the_server_without_a_mount_is_compared_with_the_page_cache() {
    let case = of(&[("dir", "nfs"), ("local", "ssd"), ("op", "read_4K")]);
    let remote = of(&[("op", "read"), ("size", "4K")]);
    let warm = of(&[
        ("dir", "ssd"),
        ("access", "random"),
        ("cache", "warm"),
        ("size", "4K"),
    ]);
    let rows = [
        source("fs.nfs", &remote, 90e3),
        source("fs.read", &warm, 400.0),
    ];
    assert_eq!(compute(&case, &rows).unwrap().value, 89_600.0);
}

#[test]
fn both_sides_are_where_the_row_says() {
    let of = |kind: &str| {
        Some(Filesystem {
            kind: kind.to_owned(),
            ..Filesystem::default()
        })
    };
    let verdict = |remote, local| are_far_and_near(remote, local).verdict;
    for remote in ["nfs4", "cifs", "ceph", "9p", "fuse.sshfs"] {
        assert_eq!(verdict(of(remote), of("ext4")), Verdict::Confirmed);
        assert_eq!(verdict(of("nfs4"), of(remote)), Verdict::Refuted);
    }
    assert_eq!(verdict(of("ext4"), of("xfs")), Verdict::Refuted);
    let unknown = are_far_and_near(of("nfs4"), None);
    assert_eq!(unknown.verdict, Verdict::Unverified);
    assert_eq!(unknown.observed, Some("nfs4 and unknown".into()));
    assert!(unknown.reason.is_some());
}

#[test]
fn only_rows_of_the_two_directories_take_part() {
    let pair = &MOUNTED[1];
    assert!(pair.local.is("fs.read", &local(), "ssd"));
    assert!(
        !pair.local.is("fs.read", &local(), "hdd"),
        "another directory"
    );
    assert!(
        !pair.local.is("fs.write", &local(), "ssd"),
        "another benchmark"
    );
    let larger = of(&[
        ("dir", "ssd"),
        ("access", "random"),
        ("cache", "cold"),
        ("size", "64K"),
    ]);
    assert!(!pair.local.is("fs.read", &larger, "ssd"), "another size");
    let further = of(&[
        ("dir", "ssd"),
        ("access", "random"),
        ("cache", "cold"),
        ("size", "4K"),
        ("depth", "4"),
    ]);
    assert!(
        !pair.local.is("fs.read", &further, "ssd"),
        "one parameter more"
    );
}

#[test]
fn an_unknown_operation_is_a_defect_and_none_says_what_is_missing() {
    let unknown = of(&[("dir", "far"), ("local", "ssd"), ("op", "mount")]);
    assert!(matches!(compute(&unknown, &[]), Err(Failure::Broken(_))));
    let reason = support(&nothing()).unwrap_err().to_string();
    assert!(
        reason.contains("--nfs") && reason.contains("--dir"),
        "{reason}"
    );
}
