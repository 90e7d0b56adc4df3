//! Every file of a benchmark group is listed, named as its benchmark, and explains it.

use std::path::Path;

use syscost_harness::doc::{HEADINGS, explanation};

use super::Finding;
use crate::workspace::{BENCHES, SourceFile};

/// Stands in a new benchmark's explanation until somebody writes it.
const UNWRITTEN: &str = "TODO";

/// What is wrong in the groups' folders.
pub(super) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for list in files {
        let Some(group) = group_of(&list.path) else {
            continue;
        };
        let folder = Path::new(BENCHES).join(group);
        let members = files
            .iter()
            .filter(|file| file.path.parent() == Some(&folder) && file.path != list.path);
        for file in members {
            findings.extend(unlisted(group, file, list));
            if is_benchmark(file) {
                findings.extend(unexplained(file));
            }
        }
    }
    findings
}

/// The group whose list this file is.
fn group_of(path: &Path) -> Option<&str> {
    let group = path
        .strip_prefix(BENCHES)
        .ok()?
        .to_str()?
        .strip_suffix("/mod.rs")?;
    (!group.contains('/')).then_some(group)
}

fn is_benchmark(file: &SourceFile) -> bool {
    file.text.contains("const BENCHMARK: Benchmark")
}

/// What keeps a file from being the benchmark its name says.
fn unlisted(group: &str, file: &SourceFile, list: &SourceFile) -> Vec<Finding> {
    let stem = file
        .path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    // A name that is a keyword of the language is written raw.
    let listed = |line: &str| {
        list.text.lines().any(|l| {
            l.split_whitespace()
                .any(|word| word.replace("r#", "") == line)
        })
    };
    let mentioned = list
        .text
        .replace("r#", "")
        .contains(&format!("{stem}::BENCHMARK"));
    let mut findings = Vec::new();
    if !listed(&format!("{stem};")) {
        let message = format!(
            "not compiled: {} needs the line `mod {stem};`",
            list.path.display()
        );
        findings.push(Finding::new(&file.path, 1, message));
    }
    if !is_benchmark(file) {
        return findings;
    }
    if !mentioned {
        let message = format!(
            "not listed: {} needs `{stem}::BENCHMARK`",
            list.path.display()
        );
        findings.push(Finding::new(&file.path, 1, message));
    }
    let id = format!("{group}.{stem}");
    if !file.text.contains(&format!("id: \"{id}\"")) {
        let line = line_of(file, |line| line.trim_start().starts_with("id: "));
        findings.push(Finding::new(
            &file.path,
            line,
            format!("its id must be `{id}`, as its file is called"),
        ));
    }
    findings
}

/// What is missing in a benchmark's doc comment.
fn unexplained(file: &SourceFile) -> Vec<Finding> {
    let explained = explanation(&file.text);
    let mut findings = Vec::new();
    if explained.summary.is_empty() {
        findings.push(Finding::new(
            &file.path,
            1,
            "its doc comment must begin with one sentence",
        ));
    }
    let headings: Vec<&str> = explained
        .sections
        .iter()
        .map(|(heading, _)| heading.as_str())
        .collect();
    if headings != HEADINGS {
        let message = format!(
            "its doc comment must have the headings {}; it has {}",
            in_words(&HEADINGS),
            in_words(&headings)
        );
        findings.push(Finding::new(&file.path, 1, message));
    }
    for (heading, _) in explained
        .sections
        .iter()
        .filter(|(_, text)| text.is_empty())
    {
        let line = line_of(file, |line| line == format!("//! ## {heading}"));
        findings.push(Finding::new(
            &file.path,
            line,
            format!("nothing stands under `## {heading}`"),
        ));
    }
    for (index, line) in file.text.lines().enumerate() {
        if line.starts_with("//!") && line.contains(UNWRITTEN) {
            findings.push(Finding::new(
                &file.path,
                index + 1,
                "its explanation is not written yet",
            ));
        }
    }
    findings
}

/// The first line that satisfies the condition, from 1; 1 if none does.
fn line_of(file: &SourceFile, condition: impl Fn(&str) -> bool) -> usize {
    file.text
        .lines()
        .position(condition)
        .map_or(1, |index| index + 1)
}

fn in_words(headings: &[&str]) -> String {
    match headings {
        [] => "none".to_owned(),
        _ => headings
            .iter()
            .map(|heading| format!("`## {heading}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "\
//! One sentence.
//!
//! ## Measures
//! A.
//! ## Does not measure
//! B.
//! ## Reading it
//! C.
//! ## Source
//! D.

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: \"some.one\",
";
    const LIST: &str = "//! Some.\n\nmod one;\nmod r#loop;\n\n    benchmarks: &[one::BENCHMARK, r#loop::BENCHMARK],\n";

    fn check(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(name, text)| SourceFile {
                path: Path::new(BENCHES).join(name),
                text: (*text).to_owned(),
            })
            .collect();
        let name = |finding: Finding| finding.to_string().replace(&format!("{BENCHES}/"), "");
        findings(&files).into_iter().map(name).collect()
    }

    #[test]
    fn a_whole_group_has_no_findings() {
        let keyword = WHOLE.replace("some.one", "some.loop");
        let helper = ("some/one/helper.rs", "fn help() {}");
        let files = [
            ("some/mod.rs", LIST),
            ("some/one.rs", WHOLE),
            ("some/loop.rs", &keyword),
            helper,
        ];
        assert_eq!(check(&files), [""; 0]);
    }

    #[test]
    fn a_file_that_nobody_lists_is_found() {
        let other = WHOLE.replace("some.one", "some.other");
        assert_eq!(
            check(&[
                ("some/mod.rs", LIST),
                ("some/other.rs", &other),
                ("some/fixture.rs", "fn x() {}")
            ]),
            [
                "some/other.rs:1: not compiled: some/mod.rs needs the line `mod other;`",
                "some/other.rs:1: not listed: some/mod.rs needs `other::BENCHMARK`",
                "some/fixture.rs:1: not compiled: some/mod.rs needs the line `mod fixture;`",
            ]
        );
    }

    #[test]
    fn an_id_that_is_not_the_files_is_found_at_its_line() {
        let text = WHOLE.replace("some.one", "some.two");
        assert_eq!(
            check(&[("some/mod.rs", LIST), ("some/one.rs", &text)]),
            ["some/one.rs:13: its id must be `some.one`, as its file is called"]
        );
    }

    #[test]
    fn a_missing_an_empty_and_an_unwritten_section_are_found() {
        let text = WHOLE
            .replace("//! ## Source\n", "")
            .replace("//! B.\n", "")
            .replace("C.", "TODO");
        assert_eq!(
            check(&[("some/mod.rs", LIST), ("some/one.rs", &text)]),
            [
                "some/one.rs:1: its doc comment must have the headings `## Measures`, `## Does not measure`, \
                 `## Reading it`, `## Source`; it has `## Measures`, `## Does not measure`, `## Reading it`",
                "some/one.rs:5: nothing stands under `## Does not measure`",
                "some/one.rs:7: its explanation is not written yet",
            ]
        );
        let bare = WHOLE.split_once("\n\n").map_or("", |(_, code)| code);
        let found = check(&[("some/mod.rs", LIST), ("some/one.rs", bare)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("one sentence") && found[1].ends_with("it has none"),
            "{found:?}"
        );
    }
}
