//! Every file of a benchmark group is listed, named as its benchmark, and explains it.

use std::path::Path;

use syscost_harness::doc::{HEADINGS, explanation};

use super::Finding;
use crate::workspace::{BENCHES, SourceFile};

/// Marks an explanation that has not been written yet.
const UNWRITTEN: &str = "TODO";

/// The errors in the groups' directories.
pub(super) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let folders: Vec<Folder<'_>> = files
        .iter()
        .filter_map(|list| Folder::of(list, files))
        .collect();
    let members = folders.iter().flat_map(|folder| {
        files
            .iter()
            .filter(|file| folder.holds(file))
            .flat_map(|file| {
                let mut findings = folder.unlisted(file);
                if is_benchmark(file) {
                    findings.extend(unexplained(file));
                }
                findings
            })
    });
    members.collect()
}

/// A directory of benchmarks: a group's, or one within it for a protocol.
struct Folder<'f> {
    /// Its path below [`BENCHES`].
    path: &'f str,
    /// Its `mod.rs`.
    modules: &'f SourceFile,
    /// The group's `mod.rs`, which lists the benchmarks.
    list: &'f SourceFile,
}

impl<'f> Folder<'f> {
    /// The directory of this `mod.rs`, if it contains benchmarks. Other directories contain parts
    /// of benchmarks.
    fn of(modules: &'f SourceFile, files: &'f [SourceFile]) -> Option<Self> {
        let below = modules.path.strip_prefix(BENCHES).ok()?;
        let path = below.to_str()?.strip_suffix("/mod.rs")?;
        let (group, within) = path.split_once('/').unwrap_or((path, ""));
        let list = Path::new(BENCHES).join(group).join("mod.rs");
        let folder = Self {
            path,
            modules,
            list: files.iter().find(|file| file.path == list)?,
        };
        let has_benchmarks = || {
            files
                .iter()
                .any(|file| folder.holds(file) && is_benchmark(file))
        };
        let is_one = within.is_empty() || (!within.contains('/') && has_benchmarks());
        is_one.then_some(folder)
    }

    /// Whether the file is in this directory.
    fn holds(&self, file: &SourceFile) -> bool {
        file.path.parent() == self.modules.path.parent() && file.path != self.modules.path
    }

    /// The reasons why a file is not the benchmark that its name says.
    fn unlisted(&self, file: &SourceFile) -> Vec<Finding> {
        let stem = file
            .path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        // A name that is a keyword is written as a raw identifier.
        let words = |file: &SourceFile| file.text.replace("r#", "");
        let mut findings = Vec::new();
        let module = format!("{stem};");
        if !words(self.modules)
            .split_whitespace()
            .any(|word| word == module)
        {
            let message = format!(
                "not compiled: {} needs the line `mod {stem};`",
                self.modules.path.display()
            );
            findings.push(Finding::new(&file.path, 1, message));
        }
        if !is_benchmark(file) {
            return findings;
        }
        let entry = match self.path.split_once('/') {
            Some((_, within)) => format!("{within}::{stem}::BENCHMARK"),
            None => format!("{stem}::BENCHMARK"),
        };
        if !words(self.list).contains(&entry) {
            let message = format!("not listed: {} needs `{entry}`", self.list.path.display());
            findings.push(Finding::new(&file.path, 1, message));
        }
        let id = format!("{}.{stem}", self.path.replace('/', "."));
        if !file.text.contains(&format!("id: \"{id}\"")) {
            let line = line_of(file, |line| line.trim_start().starts_with("id: "));
            let message = format!("its id must be `{id}`, as its file is called");
            findings.push(Finding::new(&file.path, line, message));
        }
        findings
    }
}

fn is_benchmark(file: &SourceFile) -> bool {
    file.text.contains("const BENCHMARK: Benchmark")
}

/// What a benchmark's doc comment lacks.
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
//! ## Interpretation
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
    fn an_unlisted_file_is_found() {
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
    fn a_folder_within_a_group_is_listed_in_both_files() {
        let list =
            "mod one;\nmod wire;\n\n    benchmarks: &[one::BENCHMARK, wire::two::BENCHMARK],\n";
        let two = WHOLE.replace("some.one", "some.wire.two");
        let three = WHOLE.replace("some.one", "some.three");
        let files = [
            ("some/mod.rs", list),
            ("some/one.rs", WHOLE),
            ("some/wire/mod.rs", "pub(super) mod two;\n"),
            ("some/wire/two.rs", &two),
            ("some/one/mod.rs", "fn help() {}"),
            ("some/one/helper.rs", "fn help() {}"),
        ];
        assert_eq!(check(&files), [""; 0]);
        let more = [files.as_slice(), &[("some/wire/three.rs", &three)]].concat();
        assert_eq!(
            check(&more),
            [
                "some/wire/three.rs:1: not compiled: some/wire/mod.rs needs the line `mod three;`",
                "some/wire/three.rs:1: not listed: some/mod.rs needs `wire::three::BENCHMARK`",
                "some/wire/three.rs:13: its id must be `some.wire.three`, as its file is called",
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
                 `## Interpretation`, `## Source`; it has `## Measures`, `## Does not measure`, `## Interpretation`",
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
