//! Shared: the programs of the studies as text, to read and to compile by hand.

use super::PROCEDURES;

/// Headers by the folder of their study, which is none for those that several studies include.
const HEADERS: [(&str, &str, &str); 8] = [
    ("", "../result.h", include_str!("result.h")),
    ("", "../bytes.h", include_str!("bytes.h")),
    (
        "call_and_switch",
        "runs.h",
        include_str!("call_and_switch/runs.h"),
    ),
    (
        "three_costs",
        "pairs.h",
        include_str!("three_costs/pairs.h"),
    ),
    (
        "three_costs",
        "tasks.h",
        include_str!("three_costs/tasks.h"),
    ),
    (
        "switch_costs",
        "loops.h",
        include_str!("switch_costs/loops.h"),
    ),
    (
        "clock_read_switch",
        "readings.h",
        include_str!("clock_read_switch/readings.h"),
    ),
    (
        "whole_system",
        "trials.h",
        include_str!("whole_system/trials.h"),
    ),
];

/// A file of a study's programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name, as others include it: `switch.c`, `tasks.h`, `../result.h`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The programs of the study with this id, by the names of its procedures: `clock_read`.
pub fn programs(study: &str) -> Vec<SourceFile> {
    let begin = format!("study.{}.", study.replace('-', "_"));
    let of_it = PROCEDURES.iter().filter_map(|benchmark| {
        let name = benchmark.id.strip_prefix(&begin)?;
        let text = benchmark.source;
        Some(SourceFile { name, text })
    });
    of_it.collect()
}

/// The headers that a program of the study with this id may include.
pub fn headers(study: &str) -> Vec<SourceFile> {
    let folder = study.replace('-', "_");
    let headers = HEADERS.into_iter();
    headers
        .filter(|(of, ..)| of.is_empty() || *of == folder)
        .map(|(_, name, text)| SourceFile { name, text })
        .collect()
}

/// The headers among these that a text includes, and those that these include in turn.
pub fn included(text: &str, headers: &[SourceFile]) -> Vec<SourceFile> {
    let mut found = Vec::new();
    for header in headers {
        let line = format!("#include \"{}\"", header.name);
        if text.contains(&line) {
            let inner = included(header.text, headers);
            found.extend([*header].into_iter().chain(inner));
        }
    }
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_a_program_are_there() {
        let mut tried = 0;
        for study in [
            "call-and-switch",
            "three-costs",
            "switch-costs",
            "clock-read-switch",
            "whole-system",
        ] {
            let headers = headers(study);
            for program in programs(study) {
                let included = included(program.text, &headers);
                let all = || included.iter().chain([&program]).map(|file| file.text);
                let lines = all().flat_map(str::lines);
                for line in lines.filter(|line| line.starts_with("#include \"")) {
                    let name = line.split('"').nth(1).expect("a name");
                    let is_there = included.iter().any(|file| file.name == name);
                    assert!(is_there, "{study}, {}: {name}", program.name);
                }
                assert!(program.text.contains("int main("), "{}", program.name);
                tried += 1;
            }
        }
        assert!(tried > 20, "{tried}");
    }
}
