//! Command lines and their output.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{Ending, Json, Program};

#[test]
fn bad_usage_says_what_there_is_instead() {
    let program = Program::new();
    let no_journal = program.put("no.journal", "{\"half\":");
    let resume = format!("run --resume {no_journal}");
    let delays = "timing.sleep has no delay=60us; there are delay=50us, 1ms";
    for (arguments, code, words) in [
        (
            "run syscall.nul",
            2,
            "nothing is called `syscall.nul`; did you mean `syscall.null`",
        ),
        ("explain syscal.null", 2, "`syscall.null`"),
        ("run timing.sleep{delay=60us}", 2, delays),
        ("list timing.sleep{delay=60us}", 2, delays),
        ("ab timing.sleep{delay=60us}", 2, delays),
        ("explain timing.sleep{delay=60us}", 2, delays),
        ("run syscall.null --cpus 4095", 2, "CPU 4095 cannot be used"),
        (&resume, 1, "is not a journal this version can resume"),
    ] {
        program.run(arguments).says(code, words);
    }
}

#[test]
fn what_is_near_nothing_is_said_to_match_nothing() {
    let program = Program::new();
    let output = program.run("list zebra");
    assert_eq!(output.code, Some(2));
    assert_eq!(
        output.err,
        "error: nothing matches `zebra`; to list everything: syscost list\n"
    );
    let size = program.run("run memory{size=63K}");
    assert_eq!(size.code, Some(2));
    let said = size.err;
    assert!(
        said.contains("memory has no size=63K; nearest: ") && !said.contains("more"),
        "{said}"
    );
    // The example in the README.
    program.run("list memory{size=64K}").succeeded();
}

/// What follows `syscost run` and `syscost list` in commands of documents and of `--help`: the words before
/// any option.
fn selected_by_documents() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/man"] {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    let texts = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    let lines: Vec<String> = texts
        .flat_map(|text| {
            text.replace("\\-", "-")
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    // Commands are lines of their own, or stand between backticks.
    let commands = lines.iter().flat_map(|line| {
        line.split('`').map(str::trim).filter_map(|part| {
            let rest = part.strip_prefix("syscost ")?;
            rest.strip_prefix("run ")
                .or_else(|| rest.strip_prefix("list "))
        })
    });
    let words = commands.map(|command| {
        let command = command.split("  ").next().unwrap_or_default();
        let words = command
            .split(' ')
            .take_while(|word| word.starts_with(|first: char| first.is_ascii_lowercase()));
        words.collect::<Vec<_>>().join(" ")
    });
    words.filter(|words| !words.is_empty()).collect()
}

#[test]
fn what_documents_measure_and_list_is_there() {
    let program = Program::new();
    let all = selected_by_documents();
    assert!(all.len() > 10, "{all:?}");
    for words in all {
        program.run(&format!("list {words}")).succeeded();
    }
}

#[test]
fn procedures_of_studies_are_listed_behind_what_else_words_find() {
    let program = Program::new();
    let list = program.json("list context switch --format json");
    let entries = list.list().iter();
    let ids: Vec<&str> = entries.map(|entry| entry["id"].text()).collect();
    let own = ids
        .iter()
        .take_while(|id| !id.starts_with("study."))
        .count();
    assert!(own > 0 && own < ids.len(), "{ids:?}");
    assert!(
        ids[own..].iter().all(|id| id.starts_with("study.")),
        "{ids:?}"
    );
}

#[test]
fn the_list_tells_what_is_supported() {
    let list = Program::new().json("list --format json");
    assert!(list.list().len() >= 50, "{} benchmarks", list.list().len());
    for entry in list.list() {
        assert!(!entry["cases"].list().is_empty(), "{entry}");
        assert!(!entry["title"].text().is_empty(), "{entry}");
        let support = entry["support"].text();
        assert!(["yes", "partly", "no"].contains(&support), "{entry}");
        assert_eq!(support == "yes", entry["reason"].is_null(), "{entry}");
    }
}

/// Two hundred processes, each of which reads the reference.
#[test]
#[ignore = "machine suite"]
fn every_listed_benchmark_is_explained() {
    let program = Program::new();
    for entry in program.json("list --format json").list() {
        let id = entry["id"].text();
        let mut command = program.command(&format!("explain {id}"));
        let text = command.env("COLUMNS", "80").ended().succeeded().out;
        let too_long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(too_long, None, "{id}");
        for heading in ["Measures", "Interpretation", "Source", "Evidence", "Rows"] {
            assert!(text.contains(heading), "{id} lacks {heading}");
        }
    }
}

#[test]
fn words_find_benchmarks_by_titles_and_tags() {
    let program = Program::new();
    let ids = |words: &str| -> Vec<String> {
        let list = program.json(&format!("list --format json {words}"));
        let entries = list.list().iter();
        entries
            .map(|entry| {
                assert!(
                    entry["tags"]
                        .as_array()
                        .is_some_and(|tags| !tags.is_empty())
                );
                entry["id"].text().to_owned()
            })
            .collect()
    };
    assert_eq!(ids("lat_ctx"), ["switch.pipe", "switch.ring"]);
    let note = program.run("list lat_ctx").err;
    assert!(note.contains("the same ring") && note.lines().count() > 1);
    assert!(
        note.lines().all(|line| line.chars().count() <= 120),
        "{note}"
    );
    let faults = ids("page fault");
    assert!(
        faults.contains(&"memory.page_fault".to_owned()),
        "{faults:?}"
    );
    assert_eq!(ids("page-fault"), faults);

    let one = program.run("explain false sharing");
    let text = one.out;
    assert!(
        text.starts_with("memory.false_sharing ") && text.contains("Search terms"),
        "{text}"
    );
    let several = program.run("explain lat_ctx");
    assert_eq!(several.code, Some(0));
    let text = several.out;
    assert!(
        text.starts_with("switch.pipe ") && text.contains("Compared with lmbench"),
        "{text}"
    );
    assert!(
        several.err.contains("`lat_ctx` also finds switch.ring"),
        "{}",
        several.err
    );
    program.run("list lat_rand").says(2, "Not covered: ");
    program
        .run("run sharing hackbench")
        .says(2, "nothing has all of these words");

    program
        .run("list lat_ctxx")
        .says(2, "did you mean `lat_ctx`");
}

#[test]
fn the_plain_list_has_an_entry_per_benchmark_and_fits_the_terminal() {
    let program = Program::new();
    let mut command = program.command("list");
    let output = command.env("COLUMNS", "80").ended();
    let text = output.out;
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // Continuation lines are indented.
    let lines = text.lines().filter(|line| !line.starts_with(' ')).count();
    let entries = program
        .json("list --format json")
        .as_array()
        .map_or(0, Vec::len);
    assert_eq!(lines, entries);
}

#[cfg(feature = "doctor")]
#[test]
fn the_interference_meter_writes_plain_lines_for_scripts() {
    let output = Program::new().run("doctor --watch 0.5").succeeded();
    let text = output.out;
    assert!(!text.contains('\x1b'), "{text}");
    let cpus = text
        .lines()
        .filter(|line| line.contains(" s  CPU "))
        .count();
    assert!(cpus > 0, "{text}");
}

#[cfg(feature = "doctor")]
#[test]
fn the_doctor_describes_the_machine_and_says_what_to_do() {
    let examination = Program::new().json("doctor --format json");
    assert!(
        examination["machine"]["cpus_online"]
            .as_u64()
            .is_some_and(|cpus| cpus > 0)
    );
    let findings = examination["findings"].list();
    for finding in findings {
        let good = finding["level"] == "good";
        assert_eq!(finding["advice"] == "", good, "{finding}");
    }
    // The basis of the verdict is there.
    let verdict = &examination["verdict"];
    for (level, number) in [("bad", "bad"), ("warning", "warnings")] {
        let all = findings.iter().filter(|one| one["level"] == level);
        assert_eq!(verdict[number], all.count(), "{verdict}");
    }
    let probes = examination["noise"].as_array().map_or(0, Vec::len);
    for code in ["noise", "shared_core"] {
        let of_cpus = findings.iter().filter(|one| one["code"] == code);
        let of_cpus = of_cpus.filter(|one| one["cpu"].is_u64());
        assert_eq!(of_cpus.count(), probes, "{findings:?}");
    }
}

#[cfg(feature = "doctor")]
#[test]
fn the_output_of_the_doctor_fits_the_terminal() {
    let program = Program::new();
    let mut command = program.command("doctor -v");
    let output = command.env("COLUMNS", "80").ended();
    let text = output.out;
    assert!(text.contains("Shared cores"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn help_teaches_the_first_steps() {
    let output = Program::new().run("--help");
    let text = output.out;
    assert!(text.contains("syscost run --profile quick"));
    assert!(text.contains("Exit codes"));
}
