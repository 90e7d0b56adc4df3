//! Every file of a benchmark group is compiled, and explains its benchmark.

use syscost_harness::doc::{HEADINGS, explanation};

use super::Finding;
use xtask::workspace::{BENCHES, SourceFile};

/// Marks an explanation that has not been written yet.
const UNWRITTEN: &str = "TODO";

/// The errors in the groups' directories.
pub(super) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let members = files.iter().filter(|file| file.path.starts_with(BENCHES));
    let of_each = members.flat_map(|file| {
        let explanation = is_benchmark(file).then(|| unexplained(file));
        let findings = undeclared(file, files).into_iter();
        findings.chain(explanation.into_iter().flatten())
    });
    of_each.collect()
}

/// The error of a file beside a `mod.rs` that does not declare it. (Whether a benchmark is listed
/// is known once it is compiled.)
fn undeclared(file: &SourceFile, files: &[SourceFile]) -> Option<Finding> {
    let beside = file.path.with_file_name("mod.rs");
    let modules = files
        .iter()
        .find(|other| other.path == beside && other.path != file.path)?;
    let stem = file.path.file_stem()?.to_str()?;
    let module = format!("{stem};");
    // A name that is a keyword is written as a raw identifier.
    let text = modules.text.replace("r#", "");
    if text.split_whitespace().any(|word| word == module) {
        return None;
    }
    let beside = beside.display();
    let message = format!("not compiled: {beside} needs the line `mod {stem};`");
    Some(Finding::new(&file.path, 1, message))
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
    use std::path::Path;

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
    title: \"One\",
";
    const LIST: &str = "//! Some.\n\nmod one;\nmod r#loop;\npub(crate) mod wire;\n";

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
        let files = [
            ("some/mod.rs", LIST),
            ("some/one.rs", WHOLE),
            ("some/loop.rs", WHOLE),
            ("some/one/helper.rs", "fn help() {}"),
            ("some/wire/mod.rs", "pub(super) mod two;\n"),
            ("some/wire/two.rs", WHOLE),
        ];
        assert_eq!(check(&files), [""; 0]);
    }

    #[test]
    fn a_file_that_is_not_compiled_is_found() {
        assert_eq!(
            check(&[
                ("some/mod.rs", LIST),
                ("some/other.rs", WHOLE),
                ("some/fixture.rs", "fn x() {}"),
                ("some/wire/mod.rs", "mod two;\n"),
                ("some/wire/three.rs", WHOLE),
            ]),
            [
                "some/other.rs:1: not compiled: some/mod.rs needs the line `mod other;`",
                "some/fixture.rs:1: not compiled: some/mod.rs needs the line `mod fixture;`",
                "some/wire/three.rs:1: not compiled: some/wire/mod.rs needs the line `mod three;`",
            ]
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
