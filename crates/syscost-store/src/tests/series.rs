//! Which runs of a store belong to one series of a row.

use std::collections::BTreeMap;

use super::{date, document, open, put, store};
use crate::Scope;
use serde_json::{Value, json};
use syscost_results::row_name;

#[test]
fn a_step_is_found_in_the_runs_of_the_newest_machine_only() {
    let (_folder, store) = store();
    for day in 0..40 {
        put(
            &store,
            &document(
                day,
                "here",
                if day < 20 { 100.0 } else { 120.0 } + f64::from(day % 3),
            ),
        );
    }
    put(&store, &document(10 + 40, "there", 500.0));
    let index = open(&store);
    let here = Scope {
        machine: Some("here".to_owned()),
        ..Scope::default()
    };
    let followed = index
        .follow(&here, &|name| name.starts_with("a."))
        .expect("followed");
    assert_eq!((followed.runs, followed.other_machines), (40, 1));
    let [tracked] = &followed.series[..] else {
        panic!("one row")
    };
    assert_eq!(tracked.series.points.len(), 40);
    assert_eq!(
        tracked
            .series
            .changes
            .iter()
            .map(|change| change.index)
            .collect::<Vec<_>>(),
        [20]
    );
    assert!(tracked.series.changes[0].started.starts_with(&date(20)));
    assert_eq!(
        index
            .follow(&Scope::default(), &|_| true)
            .expect("followed")
            .hostname,
        "there"
    );
    let nowhere = Scope {
        machine: Some("nowhere".to_owned()),
        ..Scope::default()
    };
    let text = index
        .follow(&nowhere, &|_| true)
        .expect_err("unknown")
        .to_string();
    assert!(
        text.starts_with("`nowhere` is no machine of the kept runs; kept are runs of: "),
        "{text}"
    );
}

#[test]
fn another_revision_or_build_what_was_withheld_and_prices_in_company_are_left_out() {
    let (_folder, store) = store();
    for day in 0..9 {
        let mut document = document(day, "here", 100.0);
        match day {
            8 => document["measurements"][0]["flags"] = json!(["disturbed"]),
            0 | 1 => document["measurements"][0]["revision"] = json!(1),
            2 => document["measurements"][0]["status"] = json!("withheld"),
            3 => document["machine"]["build"]["profile"] = json!("debug"),
            _ => {}
        }
        if day >= 2 {
            document["measurements"][0]["revision"] = json!(2);
        }
        put(&store, &document);
    }
    let followed = open(&store)
        .follow(&Scope::default(), &|_| true)
        .expect("followed");
    let tracked = &followed.series[0];
    assert_eq!(tracked.series.points.len(), 4);
    assert_eq!(
        (
            tracked.without_number,
            tracked.other_revisions,
            followed.other_builds
        ),
        (2, 2, 1)
    );
}

#[test]
fn rows_of_another_far_end_or_congestion_control_are_no_part_of_a_series() {
    let followed = |name: &str, set: &dyn Fn(u32, &mut Value)| {
        let (_folder, store) = store();
        for day in 0..6 {
            let mut document = document(day, "here", 100.0);
            document["measurements"][0]["name"] = json!(name);
            document["measurements"][0]["id"] = json!(row_name::id(name));
            let case: BTreeMap<&str, &str> = row_name::parameters(name).collect();
            document["measurements"][0]["case"] = json!(case);
            set(day, &mut document);
            put(&store, &document);
        }
        let is_it = |found: &str| found == name;
        let followed = open(&store).follow(&Scope::default(), &is_it);
        let tracked = followed.expect("followed").series.remove(0);
        (tracked.series.points.len(), tracked.other_revisions)
    };
    // Two days with one far end, then four with another; its services have a different port each day.
    let host = |day| if day < 2 { 1 } else { 2 };
    let peer = |day, document: &mut Value| {
        let address = format!("10.0.0.{}:{}", host(day), 7000 + day);
        let machine = document["machine"].clone();
        document["peer"] =
            json!({"name": "db", "address": address, "version": "0.1.0", "machine": machine});
    };
    let congestion = |day, document: &mut Value| {
        if day < 4 {
            document["config"]["congestion"] = json!("cubic");
        }
    };
    let (near, far) = ("net.x{path=loopback}", "net.x{path=remote}");
    assert_eq!(followed(far, &peer), (4, 2));
    assert_eq!(followed(near, &peer), (6, 0), "it is the same way");
    assert_eq!(followed(near, &congestion), (2, 4));
    assert_eq!(followed("a.b{c=d}", &congestion), (6, 0));
    let export = |day, document: &mut Value| {
        let export = format!("nfs://10.0.0.{}:2049:{}/e", host(day), 4000 + day);
        document["nfs"] =
            json!({"name": "db", "export": export, "read_bytes": 1, "write_bytes": 1});
    };
    assert_eq!(followed("fs.nfs{op=null}", &export), (4, 2));
    assert_eq!(followed("fs.read{dir=ssd}", &export), (6, 0));
}
