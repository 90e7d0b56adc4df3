//! Results and reports know no benchmark by its id, but in the table of renamed ones: what rows stand for
//! comes with the rows.

use std::collections::BTreeSet;
use std::path::Path;

use syscost_benches::CATALOGUE;

use super::Finding;
use xtask::workspace::SourceFile;

const CRATES: [&str; 3] = [
    "crates/syscost-report/src",
    "crates/syscost-results/src",
    "crates/syscost-studies/src",
];

/// Where code that is not of tests has a benchmark's id, alone or as the begin of a row's name.
pub(super) fn findings(files: &[SourceFile], tests: &BTreeSet<&str>) -> Vec<Finding> {
    let of_crates = |file: &&SourceFile| CRATES.iter().any(|path| file.path.starts_with(path));
    let ids: BTreeSet<&str> = CATALOGUE.benchmarks().map(|one| one.id).collect();
    let is_table = |path: &Path| path == Path::new(super::released::TABLE);
    let files = files
        .iter()
        .filter(of_crates)
        .filter(|file| !is_of_tests(&file.path, tests) && !is_table(&file.path));
    let found = files.flat_map(|file| {
        let code = file.text.split("#[cfg(test)]\nmod tests {").next();
        let lines = code.unwrap_or_default().lines().enumerate();
        lines.filter_map(|(index, line)| {
            let id = literals(line).find(|id| ids.contains(id))?;
            let message = format!(
                "knows the benchmark `{id}`: let it declare a role (`roles!`), and ask rows for that"
            );
            Some(Finding::new(&file.path, index + 1, message))
        })
    });
    found.collect()
}

/// The modules that this file only has for tests, in files of their own.
pub(super) fn test_modules(file: &SourceFile) -> impl Iterator<Item = &str> {
    let after = file.text.split("#[cfg(test)]").skip(1);
    after.filter_map(|rest| {
        let line = rest.trim_start().lines().next()?;
        let declared = line.strip_suffix(';')?.rsplit_once("mod ")?;
        Some(declared.1)
    })
}

/// Whether a file is of one of these modules, or of tests of the crate as a whole.
pub(super) fn is_of_tests(path: &Path, tests: &BTreeSet<&str>) -> bool {
    let mut parts = path
        .iter()
        .filter_map(|part| Path::new(part).file_stem()?.to_str());
    parts.any(|part| part == "tests" || tests.contains(part))
}

/// What string literals of a line of code begin with, up to the parameters of a row's name.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    let is_comment = line.trim_start().starts_with("//");
    let parts = line.split('"').skip(1).filter(move |_| !is_comment);
    parts.map(|text| text.split('{').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_in_code_and_not_in_tests_or_comments() {
        let file = |name: &str, text: &str| SourceFile {
            path: Path::new(CRATES[0]).join(name),
            text: text.to_owned(),
        };
        let files = [
            file("lib.rs", "mod a;\n#[cfg(test)]\npub(crate) mod made;\n"),
            file(
                "a.rs",
                "/// \"syscall.null\"\nlet a = [\"x\", \"syscall.null{call=getpid}\"];\n",
            ),
            file(
                "b.rs",
                "is(\"task.fork\")\n#[cfg(test)]\nmod tests {\n  \"task.fork\"\n}",
            ),
            file("made.rs", "\"task.fork\""),
            file("made/more.rs", "\"task.fork\""),
            file(
                "c.rs",
                "(\"task.forks\", \"see task.fork\", \"machine.cpu\")",
            ),
        ];
        let tests = files.iter().flat_map(test_modules).collect();
        let found = findings(&files, &tests).into_iter();
        let found: Vec<String> = found.map(|one| one.to_string()).collect();
        let begins: Vec<&str> = found
            .iter()
            .filter_map(|one| one.split(": let").next())
            .collect();
        let [a, b] = ["a.rs:2", "b.rs:1"].map(|place| format!("{}/{place}", CRATES[0]));
        let expected = [
            format!("{a}: knows the benchmark `syscall.null`"),
            format!("{b}: knows the benchmark `task.fork`"),
        ];
        assert_eq!(begins, expected);
    }
}
