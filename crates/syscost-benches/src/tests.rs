//! Invariants of the whole catalogue.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syscost_harness::doc::{HEADINGS, explanation};
use syscost_harness::session::Profile;
use syscost_harness::{Case, Catalogue, Entry, Row, Testbed};
use syscost_results::{Role, numbers, summary};

use super::{CATALOGUE, GROUPS, NEGATIVE_CONTROLS, POSITIVE_CONTROLS};

fn all() -> impl Iterator<Item = &'static Entry> {
    CATALOGUE.all()
}

#[test]
fn names_are_unique() {
    let rows = Catalogue::rows(all(), &Testbed::plain());
    let names: BTreeSet<String> = rows.iter().map(Row::name).collect();
    assert_eq!(names.len(), rows.len());
}

#[test]
fn every_file_of_a_group_is_in_its_list() {
    // But for the negative controls, which stand by family in a few files.
    let by_file = CATALOGUE.groups().filter(|one| one.name != "liar");
    for group in by_file {
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
    let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    let path = sources.join(folder.replace('.', "/"));
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
            !(benchmark.cases)(&Testbed::plain()).is_empty()
                || ["timing.tsc_skew", "study.own"].contains(&benchmark.id)
                || benchmark.group() == "command",
            "{}",
            benchmark.id
        );
    }
}

#[test]
fn only_computed_rows_have_sources() {
    let rows = Catalogue::rows(all(), &Testbed::plain());
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
        // Procedures of studies are judged by their studies, and prices are rows like those that are shown.
        .filter(|g| g.hidden && !["study", "bill"].contains(&g.name))
        .flat_map(|g| Catalogue::rows(g.benchmarks.iter(), &Testbed::plain()))
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
    for row in Catalogue::rows(all(), &Testbed::plain()) {
        let mut own = row.case.expect();
        own.extend(row.benchmark.expect);
        for one in row.case.expect() {
            let mut same = own.iter().filter(|other| other.counter == one.counter);
            let is_narrower = same.all(|other| one.bound.is_within(other.bound));
            assert!(is_narrower, "{}: {}", row.name(), one.counter.claim());
        }
    }
}

/// A quick run gives each of its rows many processes within seconds, which is possible for some eighty
/// rows, half of which exist on every machine.
#[test]
fn a_quick_run_has_some_rows_of_every_group_and_not_many() {
    let mut on_every_machine = 0;
    for group in GROUPS.iter().filter(|group| !group.hidden) {
        let mut of_group = 0;
        for benchmark in group.benchmarks {
            let cases = (benchmark.cases)(&Testbed::plain());
            let is_quick = |case: &&Case| Profile::first_with(benchmark, case) == Profile::Quick;
            let quick = cases.iter().filter(is_quick).count();
            of_group += quick;
            if !benchmark.depends_on_machine {
                on_every_machine += quick;
            }
        }
        assert!(of_group > 0, "{}", group.name);
    }
    assert!((35..=80).contains(&on_every_machine), "{on_every_machine}");
}

/// A default run measures what people read, with several processes a row within its budget; every
/// benchmark has some row in it, besides those that only compute what a full run measures, and one
/// that takes long.
#[test]
fn a_default_run_has_a_part_of_every_benchmark() {
    let rows = Catalogue::rows(CATALOGUE.benchmarks(), &Testbed::plain());
    let usual: Vec<&Row> = rows
        .iter()
        .filter(|row| Profile::Standard.measures(row))
        .collect();
    for benchmark in CATALOGUE.benchmarks() {
        let left_out = ["net.model", "fs.contention_law", "fs.cache_size"];
        let is_left_out = left_out.contains(&benchmark.id);
        let is_there = usual.iter().any(|row| row.benchmark.id == benchmark.id);
        assert_eq!(is_there, !is_left_out, "{}", benchmark.id);
    }
    let of_every_machine = usual
        .iter()
        .filter(|row| !row.benchmark.depends_on_machine)
        .count();
    assert!(
        (180..=260).contains(&of_every_machine),
        "{of_every_machine}"
    );
}

#[test]
fn a_computed_row_has_sources_in_each_profile_that_measures_it() {
    let rows = Catalogue::rows(CATALOGUE.benchmarks(), &Testbed::plain());
    for row in rows
        .iter()
        .filter(|row| row.benchmark.computation.is_some())
    {
        let sources = || rows.iter().filter(|other| row.is_computed_from(other));
        // Those of a far end or of several CPUs are only where these are.
        if sources().next().is_none() {
            continue;
        }
        for profile in Profile::ALL.into_iter().filter(|one| one.measures(row)) {
            let is_measured = sources().any(|source| profile.measures(source));
            assert!(is_measured, "{} {}", profile.name(), row.name());
        }
    }
}

/// What reports ask for is some row's. Without a second CPU or a far end some rows are not there.
#[test]
fn every_role_is_declared_by_one_benchmark_and_is_one_row_s() {
    // Points of curves, CPUs and pairs of them, sets of vector instructions.
    let repeated = [
        Role::Load,
        Role::RandomLoad,
        Role::Readers,
        Role::ReadersLaw,
        Role::CoreToCore,
        Role::ReadBandwidth,
        Role::NfsServer,
        Role::Noise,
        Role::SharedCore,
        Role::CoreFrequency,
    ];
    let rows = Catalogue::rows(CATALOGUE.benchmarks(), &Testbed::plain());
    for role in Role::ALL {
        let declaring = CATALOGUE.benchmarks().filter(|one| one.stands_for(role));
        let declaring: Vec<&Entry> = declaring.collect();
        let [benchmark] = *declaring else {
            panic!("{role:?} is declared {} times", declaring.len());
        };
        let count = rows.iter().filter(|row| row.stands_for(role)).count();
        let may_lack_it = benchmark.depends_on_machine;
        assert!(count > 0 || may_lack_it, "no row stands for {role:?}");
        assert!(count <= 1 || repeated.contains(&role), "{role:?}: {count}");
    }
}

#[test]
fn lists_of_numbers_have_rows_in_the_runs_that_show_them() {
    let rows = Catalogue::rows(CATALOGUE.benchmarks(), &Testbed::plain());
    let measured_in = |role: Role| {
        let of_role = rows.iter().filter(|row| row.stands_for(role));
        of_role.map(Row::profile).min()
    };
    for (role, title) in numbers::titles() {
        let is_of_far_end = [Role::FarEndRoundTrip, Role::FarEndStream].contains(&role);
        let first = measured_in(role);
        let is_there = first.is_some_and(|profile| profile <= Profile::Standard);
        assert!(is_there || is_of_far_end, "{title}: {first:?}");
    }
    // What no machine without a second CPU has, can only be known on one that has.
    for (role, title) in summary::titles() {
        let instead = role.stand_in().and_then(measured_in);
        let first = measured_in(role).into_iter().chain(instead).min();
        assert!(
            first.is_none_or(|first| first == Profile::Quick),
            "{title}: {first:?}"
        );
    }
}
