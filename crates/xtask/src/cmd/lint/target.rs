//! Only syscost-sys may depend on processors and operating systems.

use std::path::Path;

use super::Finding;
use xtask::workspace::SourceFile;

/// The crate that may.
const FREE_CRATE: &str = "crates/syscost-sys";

/// Common prefix of the predicates that this rule is about.
const PREDICATE: &str = "target_";

/// Every conditional compilation by target in a file that must not have one.
pub(super) fn findings(file: &SourceFile) -> Vec<Finding> {
    if file.path.starts_with(FREE_CRATE) || file.path.ends_with(Path::new("build.rs")) {
        return Vec::new();
    }
    let code = without_comments(&file.text);
    conditions(&code)
        .into_iter()
        .filter(|(_, condition)| condition.contains(PREDICATE))
        .map(|(offset, condition)| {
            let line = 1 + code[..offset].matches('\n').count();
            let message = format!(
                "`{}` outside {FREE_CRATE}: give that crate a function that exists on both architectures",
                condition.split_whitespace().collect::<Vec<_>>().join(" ")
            );
            Finding::new(&file.path, line, message)
        })
        .collect()
}

/// The text with line comments blanked and all line ends kept.
pub(super) fn without_comments(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.find("//") {
            Some(start) => format!("{}\n", &line[..start]),
            None => line.to_owned(),
        })
        .collect()
}

/// Each `cfg(…)`, `cfg!(…)` and `cfg_attr(…)` with its offset.
fn conditions(code: &str) -> Vec<(usize, &str)> {
    code.match_indices("cfg")
        .filter_map(|(offset, _)| {
            let rest = &code[offset..];
            let open = ["cfg(", "cfg!(", "cfg_attr("]
                .iter()
                .find(|word| rest.starts_with(**word))?
                .len();
            let before = code[..offset].chars().next_back();
            let within_a_name =
                before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
            (!within_a_name).then(|| (offset, balanced(rest, open)))
        })
        .collect()
}

/// The text up to the bracket that closes the one ending at `open`.
fn balanced(text: &str, open: usize) -> &str {
    let mut depth = 1;
    for (offset, letter) in text[open..].char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..=open + offset];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // In two parts, or this file itself would be reported.
    fn source(path: &str, condition: &str) -> SourceFile {
        let text = format!(
            "//! cfg({PREDICATE}os)\n\n{}",
            condition.replace('@', PREDICATE)
        );
        SourceFile {
            path: path.into(),
            text,
        }
    }

    fn found(path: &str, condition: &str) -> Vec<usize> {
        findings(&source(path, condition))
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn every_form_of_the_condition_is_found_at_its_line() {
        let path = "crates/syscost-harness/src/a.rs";
        for (condition, lines) in [
            ("#[cfg(@os = \"linux\")]\nfn a() {}", vec![3]),
            ("fn a() {\n    if cfg!(@arch = \"x86_64\") {}\n}", vec![4]),
            (
                "#[cfg(all(\n    unix,\n    not(@env = \"musl\")\n))]\nfn a() {}",
                vec![3],
            ),
            (
                "#[cfg_attr(@os = \"macos\", ignore)]\n\n#[cfg(@os = \"x\")]",
                vec![3, 5],
            ),
        ] {
            assert_eq!(found(path, condition), lines, "{condition}");
        }
    }

    #[test]
    fn other_conditions_comments_and_names_are_not() {
        let path = "crates/syscost-harness/src/a.rs";
        assert_eq!(found(path, "#[cfg(test)]\nlet @ghz = my_cfg(@x);"), [0; 0]);
        assert_eq!(found(path, "fn a() {} // cfg(@os)"), [0; 0]);
        assert_eq!(found(path, "#[cfg(unix)]\nfn @a(cfg: u8) {}"), [0; 0]);
    }

    #[test]
    fn the_system_crate_and_build_scripts_are_free() {
        let condition = "#[cfg(@os = \"linux\")]";
        assert_eq!(found("crates/syscost-sys/src/os/mod.rs", condition), [0; 0]);
        assert_eq!(found("crates/syscost-harness/build.rs", condition), [0; 0]);
        assert_eq!(found("crates/syscost-system/src/lib.rs", condition), [3]);
    }

    #[test]
    fn the_message_says_what_and_what_to_do() {
        let found = findings(&source(
            "crates/a/src/b.rs",
            "#[cfg(any(@os = \"a\",\n  test))]",
        ));
        assert_eq!(
            found[0].to_string(),
            format!(
                "crates/a/src/b.rs:3: `cfg(any({PREDICATE}os = \"a\", test))` outside crates/syscost-sys: give that \
                 crate a function that exists on both architectures"
            )
        );
    }
}
