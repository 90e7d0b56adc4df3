//! Invariants of the whole catalogue.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syscost_benches::{CATALOGUE, NEGATIVE_CONTROLS, POSITIVE_CONTROLS};
use syscost_harness::doc::{HEADINGS, explanation};
use syscost_harness::prelude::Role;
use syscost_harness::{Catalogue, Entry, Row};

fn all() -> impl Iterator<Item = &'static Entry> {
    CATALOGUE.groups().iter().flat_map(|group| group.benchmarks)
}

fn source_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))
}

#[test]
fn names_are_unique() {
    let rows = Catalogue::rows(all(), &syscost_harness::Here::plain());
    let names: BTreeSet<String> = rows.iter().map(Row::name).collect();
    assert_eq!(names.len(), rows.len());
}

#[test]
fn every_file_of_a_group_is_in_its_list() {
    for group in CATALOGUE.groups() {
        let listed: BTreeSet<String> = group
            .benchmarks
            .iter()
            .map(|benchmark| benchmark.id.to_owned())
            .collect();
        // A benchmark is in its group's directory, or in a subdirectory of it for a protocol.
        let mut folders: BTreeSet<&str> = group.benchmarks.iter().map(folder_of).collect();
        folders.insert(group.name);
        let files: BTreeSet<String> = folders.into_iter().flat_map(benchmarks_in).collect();
        assert_eq!(files, listed, "{}", group.name);
    }
}

#[test]
fn what_is_never_compared_is_so_in_documents_of_newer_versions() {
    let unknown = [("parameter", "of a newer version")];
    let unknown = unknown.map(|(key, value)| (key.to_owned(), value.to_owned()));
    for never in Role::OF_THE_HOUR.into_iter().chain([Role::NfsServer]) {
        let declared = all().flat_map(|benchmark| benchmark.roles);
        let of_it: Vec<_> = declared.filter(|(role, _)| *role == never).collect();
        assert!(!of_it.is_empty(), "{never:?}");
        for (_, is_of_role) in of_it {
            assert!(is_of_role(&unknown.clone().into()), "{never:?}");
        }
    }
}

/// The id without its last part; with slashes for dots it is the directory of the benchmark's file.
fn folder_of(benchmark: &'static Entry) -> &'static str {
    let (folder, _) = benchmark.id.rsplit_once('.').expect("group.operation");
    folder
}

/// The ids of the benchmarks whose files are in the directory `folder`.
fn benchmarks_in(folder: &str) -> Vec<String> {
    let path = source_folder().join(folder.replace('.', "/"));
    let entries = fs::read_dir(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".rs") || name.ends_with(".c"));
    names
        .filter(|name| name != "mod.rs" && !is_helper(&path.join(name)))
        .filter_map(|name| Some(format!("{folder}.{}", name.rsplit_once('.')?.0)))
        .collect()
}

/// Whether a file is shared by several benchmarks of its group, as its first line says.
fn is_helper(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.starts_with("//! Shared:"))
}

#[test]
fn every_explanation_has_its_headings() {
    for benchmark in all() {
        let explained = explanation(benchmark.source);
        let headings: Vec<&str> = explained
            .sections
            .iter()
            .map(|(heading, _)| heading.as_str())
            .collect();
        assert_eq!(headings, HEADINGS, "{}", benchmark.id);
        assert!(!explained.summary.is_empty(), "{}", benchmark.id);
        for (heading, text) in &explained.sections {
            assert!(!text.is_empty(), "{}: {heading}", benchmark.id);
        }
        assert!(!benchmark.title.is_empty(), "{}", benchmark.id);
        assert!(
            !(benchmark.cases)(&syscost_harness::Here::plain()).is_empty()
                || ["timing.tsc_skew", "study.own"].contains(&benchmark.id),
            "{}",
            benchmark.id
        );
    }
}

#[test]
fn only_computed_rows_have_sources() {
    let rows = Catalogue::rows(all(), &syscost_harness::Here::plain());
    for row in &rows {
        let has_sources = rows.iter().any(|other| row.is_computed_from(other));
        assert!(
            row.benchmark.computation.is_some() || !has_sources,
            "{}",
            row.name()
        );
    }
}

#[test]
fn every_hidden_row_is_judged_by_the_self_test() {
    let hidden: Vec<Row> = CATALOGUE
        .groups()
        .iter()
        // Procedures of studies are judged by their studies.
        .filter(|g| g.hidden && g.name != "study")
        .flat_map(|g| Catalogue::rows(g.benchmarks.iter(), &syscost_harness::Here::plain()))
        .collect();
    let names: BTreeSet<String> = hidden.iter().map(Row::name).collect();
    for control in NEGATIVE_CONTROLS {
        assert!(names.contains(control.id), "{} has parameters", control.id);
    }
    let positive: BTreeSet<String> = hidden
        .iter()
        // The one is judged by comparisons, the others are negative controls.
        .filter(|row| row.benchmark.id != "selftest.slowdown" && row.benchmark.group() != "liar")
        .map(Row::name)
        .collect();
    let known = POSITIVE_CONTROLS.iter().map(|one| one.row.to_owned());
    assert_eq!(positive, known.collect());
}

#[test]
fn rows_narrow_what_their_benchmark_expects() {
    for row in Catalogue::rows(all(), &syscost_harness::Here::plain()) {
        let mut own = row.case.expect();
        own.extend(row.benchmark.expect);
        for one in row.case.expect() {
            let mut same = own.iter().filter(|other| other.counter == one.counter);
            let is_narrower = same.all(|other| one.bound.is_within(other.bound));
            assert!(is_narrower, "{}: {}", row.name(), one.counter.claim());
        }
    }
}
