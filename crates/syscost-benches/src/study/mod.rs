//! Published experiments, repeated: each folder is one of them, with its figures in `study.toml` and its
//! procedures in the other files.
//!
//! A procedure is written as its authors describe it: the same loops, counts, clocks, statistics and
//! rounding, including its flaws. Its row claims only what the procedure does; what the published
//! name claims is in `study.toml`, and is compared with what was counted.

mod call_and_switch;
mod clock_read_switch;
#[cfg(test)]
mod machine_code;
mod own;
mod printed;
mod program;
pub mod sources;
mod started;
mod switch_costs;
mod three_costs;
mod whole_system;

use syscost_harness::prelude::*;

/// A study's descriptor of a procedure: `procedure!(three_costs::SWITCH, "switch")` is the C
/// program `three_costs/switch.c`, and has the id `study.three_costs.switch`.
macro_rules! procedure {
    ($study:ident :: $descriptor:ident, $name:literal) => {
        $study::$descriptor.named(
            concat!("study.", stringify!($study), ".", $name),
            include_str!(concat!(stringify!($study), "/", $name, ".c")),
        )
    };
}

pub(crate) const GROUP: Group = Group {
    name: "study",
    title: "published experiments, as published",
    source: doc!("mod.rs"),
    benchmarks: &[
        procedure!(call_and_switch::FUNCTION_CALL, "function_call"),
        procedure!(call_and_switch::SYSTEM_CALL, "system_call"),
        procedure!(call_and_switch::THREAD_SWITCH, "thread_switch"),
        procedure!(three_costs::CLOCK_READ, "clock_read"),
        procedure!(three_costs::SYSTEM_CALL, "system_call"),
        procedure!(three_costs::PROCEDURE_CALL, "procedure_call"),
        procedure!(three_costs::TASK_CREATE, "task_create"),
        procedure!(three_costs::SWITCH, "switch"),
        procedure!(switch_costs::LOOP, "loop"),
        procedure!(switch_costs::CLOCK_INSIDE, "clock_inside"),
        procedure!(switch_costs::FUNCTION_CALL, "function_call"),
        procedure!(switch_costs::SYSTEM_CALL, "system_call"),
        procedure!(switch_costs::PIPE_WRITE_READ, "pipe_write_read"),
        procedure!(switch_costs::PROCESS_SWITCH, "process_switch"),
        procedure!(switch_costs::THREAD_SWITCH, "thread_switch"),
        procedure!(switch_costs::YIELD_ALONE, "yield_alone"),
        procedure!(clock_read_switch::CLOCK_READ, "clock_read"),
        procedure!(clock_read_switch::LONG_STEPS, "long_steps"),
        procedure!(clock_read_switch::LARGEST_STEP, "largest_step"),
        procedure!(clock_read_switch::READ_ZERO_BYTES, "read_zero_bytes"),
        procedure!(clock_read_switch::PROCESS_SWITCH, "process_switch"),
        procedure!(whole_system::TIMING_OVERHEAD, "timing_overhead"),
        procedure!(whole_system::PROCEDURE_CALL, "procedure_call"),
        procedure!(whole_system::SYSTEM_CALL, "system_call"),
        procedure!(whole_system::TASK_CREATION, "task_creation"),
        procedure!(whole_system::SWITCH, "switch"),
        procedure!(whole_system::MEMORY_ACCESS, "memory_access"),
        procedure!(whole_system::MEMORY_BANDWIDTH, "memory_bandwidth"),
        procedure!(whole_system::PAGE_FAULT, "page_fault"),
        benchmark!(study::own),
    ],
    hidden: true,
};

/// The procedures of all studies. They are hidden where all benchmarks are selected, and searches
/// list them after syscost's own.
pub const PROCEDURES: &[syscost_harness::Entry] = GROUP.benchmarks;

pub use own::HEADER;

/// The studies, as TOML, in the order in which they are listed.
pub const STUDIES: &[&str] = &[
    include_str!("call_and_switch/study.toml"),
    include_str!("three_costs/study.toml"),
    include_str!("switch_costs/study.toml"),
    include_str!("clock_read_switch/study.toml"),
    include_str!("whole_system/study.toml"),
];

#[cfg(test)]
mod tests {
    use syscost_harness::{Catalogue, Row};
    use syscost_results::row_name;
    use syscost_results::study::{Quantity, Study, means};

    use super::*;
    use crate::CATALOGUE;

    fn studies() -> Vec<Study> {
        let parsed = STUDIES.iter().map(|text| syscost_studies::parse(text));
        parsed.map(|study| study.expect("a study")).collect()
    }

    #[test]
    fn every_row_of_a_study_is_one_of_the_catalogue_in_its_unit() {
        let everything = CATALOGUE.all();
        let rows = Catalogue::rows(everything, &syscost_harness::Testbed::plain());
        for study in studies() {
            for quantity in &study.quantities {
                for name in [&quantity.as_published, &quantity.ours]
                    .into_iter()
                    .flatten()
                {
                    // There are no rows of a far end where none is given, nor of free placement on one
                    // CPU: then only the benchmark must exist.
                    let id = row_name::id(name);
                    let needs_more = ["path=remote", "cpus=free"];
                    let is_meant =
                        |row: &&Row| match needs_more.iter().any(|one| name.contains(one)) {
                            true => row.benchmark.id == id,
                            false => means(name, &row.name()),
                        };
                    let row = rows.iter().find(is_meant);
                    let row = row.unwrap_or_else(|| panic!("{}: no row {name}", quantity.id));
                    assert_eq!(row.benchmark.unit, quantity.unit, "{name}");
                }
            }
        }
    }

    #[test]
    fn every_size_is_compared_with_the_nearest_that_there_is() {
        let everything = CATALOGUE.all();
        let names: Vec<String> = Catalogue::rows(everything, &syscost_harness::Testbed::plain())
            .iter()
            .map(Row::name)
            .collect();
        let size_of = |name: &str| {
            let (_, size) = row_name::parameters(name).find(|(key, _)| *key == "size")?;
            row_name::size(size)
        };
        let without_size = |name: &str| {
            let others = row_name::parameters(name).filter(|(key, _)| *key != "size");
            let others: Vec<String> = others
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            (row_name::id(name).to_owned(), others)
        };
        let mut compared = 0;
        for quantity in studies().iter().flat_map(|study| &study.quantities) {
            let Some((published, ours)) =
                quantity.as_published.as_ref().zip(quantity.ours.as_ref())
            else {
                continue;
            };
            let Some((size, near)) = size_of(published).zip(size_of(ours)) else {
                continue;
            };
            let like = names
                .iter()
                .filter(|name| without_size(name) == without_size(ours));
            let distances = like.filter_map(|name| Some(size_of(name)?.abs_diff(size)));
            assert_eq!(
                distances.min(),
                Some(near.abs_diff(size)),
                "{}",
                quantity.id
            );
            compared += 1;
        }
        assert_eq!(compared, 11, "the sizes of memory access");
    }

    #[test]
    fn a_procedures_bound_is_one_that_a_count_can_break() {
        // A limit above what the program can do at all says nothing: its calls are made each time, or never, or
        // once in a while.
        for row in Catalogue::rows(GROUP.benchmarks.iter(), &syscost_harness::Testbed::plain()) {
            for expect in row.benchmark.expect.iter().chain(&row.case.expect()) {
                let is_of_library = expect.counter == Counter::OtherSyscalls;
                let is_loose = matches!(expect.bound, Bound::AtMost(most) if most >= 1.0);
                assert!(is_of_library || !is_loose, "{}: {expect:?}", row.name());
            }
        }
    }

    #[test]
    fn every_procedure_belongs_to_a_study() {
        let studies = studies();
        for row in Catalogue::rows(GROUP.benchmarks.iter(), &syscost_harness::Testbed::plain()) {
            let name = row.name();
            let is_used = studies.iter().any(|study| study.is_judged_by(&name));
            assert!(is_used, "{name} is of no study");
        }
    }

    #[test]
    fn every_claim_is_of_a_row() {
        for study in studies() {
            for quantity in study.quantities.iter().filter(|one| !one.claims.is_empty()) {
                // Of the published procedure, or of syscost's row where it is not repeated.
                assert!(
                    quantity.as_published.is_some() || quantity.ours.is_some(),
                    "{}: {}",
                    study.id,
                    quantity.id
                );
            }
        }
    }

    /// What a quantity's claims and reasons count, and what their texts name.
    fn counted_by(quantity: &Quantity) -> Vec<&str> {
        let named = |text| {
            let behind = str::split(text, '{').skip(1);
            behind.filter_map(|rest| Some(rest.split_once('}')?.0))
        };
        let claims = quantity.claims.iter().flat_map(move |claim| {
            let texts = claim.holds.iter().chain([&claim.broken]);
            [claim.counted.as_str()]
                .into_iter()
                .chain(texts.flat_map(move |text| named(text)))
        });
        let reasons = quantity.reasons.iter().flat_map(move |reason| {
            let counted = [reason.counted.as_str()];
            counted.into_iter().chain(named(&reason.text))
        });
        claims
            .chain(reasons)
            .filter(|name| !name.is_empty())
            .collect()
    }

    #[test]
    fn what_a_verdict_names_is_printed_by_its_program() {
        let mut checked = 0;
        for study in studies() {
            let headers = sources::headers(&study.id);
            for quantity in &study.quantities {
                let Some(row) = &quantity.as_published else {
                    continue;
                };
                let id = row_name::id(row);
                let program = PROCEDURES.iter().find(|one| one.id == id);
                let program = program.expect("a procedure").source;
                let mut files: Vec<&str> = vec![program];
                let included = sources::included(program, &headers);
                files.extend(included.iter().map(|file| file.text));
                // Other names are those of system calls, which the audit counts.
                let facts = counted_by(quantity).into_iter().filter_map(|name| {
                    let ends = ["_ns", "_percent", "_count"];
                    ends.iter().find_map(|end| name.strip_suffix(end))
                });
                for fact in facts {
                    let says = format!("fact(\"{fact}\",");
                    let is_said = files.iter().any(|text| text.contains(&says));
                    assert!(is_said, "{}: {fact}", quantity.id);
                    checked += 1;
                }
            }
        }
        assert!(checked > 100, "{checked}");
    }

    #[test]
    fn what_a_verdict_says_is_short_and_one_sentence() {
        for study in studies() {
            for quantity in &study.quantities {
                let claims = quantity.claims.iter();
                let claims = claims.flat_map(|one| one.holds.iter().chain([&one.broken]));
                for text in claims {
                    let is_sentence = text.ends_with('.') && !text.contains(". ");
                    assert!(is_sentence && text.len() < 200, "{}: {text}", quantity.id);
                }
                for reason in &quantity.reasons {
                    let text = &reason.text;
                    assert!(
                        !text.ends_with('.') && text.len() < 150,
                        "{}: {text}",
                        quantity.id
                    );
                }
            }
        }
    }

    #[test]
    fn every_study_has_a_chart_and_a_ratio() {
        for study in studies() {
            assert!(
                !study.charts.is_empty() && !study.ratios.is_empty(),
                "{}",
                study.id
            );
        }
    }

    #[test]
    fn every_claim_can_be_refuted() {
        // No count is less than 0, and no share is more than all of it.
        for study in studies() {
            let quantities = study.quantities.iter();
            for (id, claim) in quantities.flat_map(|one| one.claims.iter().map(|c| (&one.id, c))) {
                assert!(claim.at_least.is_none_or(|least| least > 0.0), "{id}");
                let is_share = claim.counted.ends_with("_percent");
                assert!(
                    !is_share || claim.at_most.is_none_or(|most| most < 100.0),
                    "{id}"
                );
            }
        }
    }
}
