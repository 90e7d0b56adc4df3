//! Invariants of the whole catalogue.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syscost_benches::{
    CATALOGUE, FILE_NEGATIVE_CONTROLS, NEGATIVE_CONTROLS, POSITIVE_CONTROLS,
    TWO_CPU_NEGATIVE_CONTROLS,
};
use syscost_harness::doc::{HEADINGS, explanation};
use syscost_harness::{Benchmark, Catalogue, Row};

fn all() -> impl Iterator<Item = &'static Benchmark> {
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
fn an_id_is_the_path_of_its_file() {
    for group in CATALOGUE.groups() {
        for benchmark in group.benchmarks {
            assert_eq!(benchmark.group(), group.name, "{}", benchmark.id);
            // The published procedures are C programs.
            let path = source_folder().join(benchmark.id.replace('.', "/"));
            let files = ["rs", "c"].map(|end| path.with_extension(end));
            let path = files.iter().find(|file| file.exists()).unwrap_or(&files[0]);
            let text =
                fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            assert!(
                text == benchmark.source,
                "{} includes another file",
                benchmark.id
            );
        }
    }
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

/// The id without its last part; with slashes for dots it is the directory of the benchmark's file.
fn folder_of(benchmark: &'static Benchmark) -> &'static str {
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
fn truths_and_liars_name_rows_that_exist() {
    let names: BTreeSet<String> = Catalogue::rows(all(), &syscost_harness::Here::plain())
        .iter()
        .map(Row::name)
        .collect();
    for name in POSITIVE_CONTROLS
        .iter()
        .map(|truth| truth.row)
        .chain(NEGATIVE_CONTROLS.iter().map(|(name, _)| *name))
        .chain(
            TWO_CPU_NEGATIVE_CONTROLS
                .iter()
                .chain(FILE_NEGATIVE_CONTROLS)
                .copied(),
        )
    {
        assert!(names.contains(name), "{name}");
    }
    let hidden = CATALOGUE
        .groups()
        .iter()
        // Procedures of studies are judged by their studies.
        .filter(|g| g.hidden && g.name != "study")
        .flat_map(|g| Catalogue::rows(g.benchmarks.iter(), &syscost_harness::Here::plain()))
        // This one is judged by comparisons.
        .filter(|row| row.benchmark.id != "selftest.slowdown")
        .count();
    assert_eq!(
        hidden,
        POSITIVE_CONTROLS.len() + NEGATIVE_CONTROLS.len(),
        "every hidden row is judged by the self-test"
    );
}
