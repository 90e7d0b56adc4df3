//! A number in the code says what it is, and one that was tuned in which unit: nobody else can tell
//! whether it still holds.

use std::collections::BTreeSet;

use super::Finding;
use super::ids::is_of_tests;
use xtask::workspace::SourceFile;

/// Words of the names of constants that were tuned; so were all that are not whole.
const TUNED: [&str; 6] = ["MIN", "MAX", "MOST", "LEAST", "FEW", "MANY"];

/// Words that name a unit, or say that a number has none. So does a name in the plural: `MAX_CALLS`.
const UNITS: &str = "bit bits byte bytes kib mib line lines ns us ms s second seconds cycle cycles mhz ghz \
    instruction instructions number many often length times multiple factor relative ratio share shares fraction part \
    percent percentage chance probability p-value quantile deviation deviations error errors degrees logarithms calls \
    character characters column columns pixel pixels";

/// Constants outside tests that say nothing of themselves.
pub(super) fn findings(files: &[SourceFile], tests: &BTreeSet<&str>) -> Vec<Finding> {
    let files = files.iter();
    let code = files.filter(|file| !is_of_tests(&file.path, tests));
    code.flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<Finding> {
    let code = file.text.split("#[cfg(test)]\nmod tests {").next();
    // What is said of the next constant: by the comment before it, or before the run that it is in.
    let (mut said, mut findings) = (String::new(), Vec::new());
    // Whether the last line was of a comment, was of a constant that goes on, and is of a trait's
    // implementation.
    let (mut was_comment, mut goes_on, mut is_trait) = (false, false, false);
    for (index, line) in code.unwrap_or_default().lines().enumerate() {
        let text = line.trim();
        if line.starts_with(|letter: char| letter.is_alphabetic()) {
            is_trait = line.contains("impl") && line.contains(" for ");
        }
        if goes_on {
            goes_on = !text.ends_with(';');
        } else if text.starts_with("//") {
            if !was_comment {
                said.clear();
            }
            said.push_str(text);
            said.push(' ');
        } else if let Some((name, kind)) = constant(text) {
            let (value, beside) = text.split_once("//").unwrap_or((text, ""));
            goes_on = !value.trim_end().ends_with(';');
            let said = format!("{said}{beside}");
            let message = match is_number(kind) && !(is_trait && line.starts_with(' ')) {
                true if said.is_empty() => "says nothing of itself: what is it?",
                true if is_tuned(name, kind) && !has_unit(name, &said) => "does not say its unit",
                _ => "",
            };
            if !message.is_empty() {
                let message = format!("the constant `{name}` {message}");
                findings.push(Finding::new(&file.path, index + 1, message));
            }
        } else if !text.starts_with("#[") {
            said.clear();
        }
        was_comment = text.starts_with("//");
    }
    findings
}

/// The name and the type of a constant that this line declares.
fn constant(line: &str) -> Option<(&str, &str)> {
    let is_public = |before: &str| before.is_empty() || before.starts_with("pub");
    let (before, declared) = line.split_once("const ")?;
    let (name, rest) = declared.split_once(": ")?;
    let is_name = name
        .chars()
        .all(|letter| matches!(letter, 'A'..='Z' | '0'..='9' | '_'));
    let (kind, _) = rest.split_once(" =")?;
    (is_public(before.trim()) && is_name).then_some((name, kind))
}

/// Whether values of this type are numbers, times, or lists of such.
fn is_number(kind: &str) -> bool {
    let mut words = kind.split(|letter: char| !letter.is_alphanumeric());
    let first = words.find(|word| !word.is_empty()).unwrap_or_default();
    let (letter, bits) = first.split_at_checked(1).unwrap_or_default();
    let is_integer = "ui".contains(letter) && (bits == "size" || bits.parse::<u8>().is_ok());
    !kind.starts_with('&') && (is_integer || ["f32", "f64", "Duration"].contains(&first))
}

fn is_tuned(name: &str, kind: &str) -> bool {
    // A duration has its unit.
    let is_named = name.split('_').any(|word| TUNED.contains(&word));
    kind != "Duration" && (is_named || kind.contains("f64"))
}

fn has_unit(name: &str, said: &str) -> bool {
    let text = format!("{name} {said}").to_lowercase();
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
    let is_unit = |word: &str| UNITS.split(' ').any(|unit| unit == word);
    let is_plural = name.ends_with('S') && !name.ends_with("SS");
    is_plural || said.contains('%') || words.any(is_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let file = SourceFile {
            path: "crates/x/src/lib.rs".into(),
            text: text.to_owned(),
        };
        let found = of_file(&file).into_iter();
        found
            .map(|one| format!("{}: {}", one.line, one.message))
            .collect()
    }

    #[test]
    fn a_constant_says_what_it_is_before_beside_or_with_its_neighbours() {
        let said = "/// Offsets.\n#[cfg(x)]\npub(super) const A: usize = 1;\nconst B: u64 =\n    2;\nconst C: [u8; 2] = [1, 2];\n\n\
            const D: u8 = 0x90; // nop\n\n/// A trait's.\nimpl T for X {\n    const E: u64 = 3;\n}\n\n\
            const F: &str = \"text\";\n#[cfg(test)]\nmod tests {\nconst G: u8 = 0;\n}";
        assert_eq!(found(said), [""; 0]);
        let silent = "/// One.\nconst A: u8 = 1;\n\nconst B: Duration = X;\nfn f() {\n    const C: (u8, &str) = (1, \"\");\n}";
        let says = "says nothing of itself: what is it?";
        let expected = [(4, "B"), (6, "C")];
        let expected = expected.map(|(line, name)| format!("{line}: the constant `{name}` {says}"));
        assert_eq!(found(silent), expected);
    }

    #[test]
    fn a_tuned_constant_says_its_unit_in_its_name_or_in_words() {
        let said = "/// Text.\nconst A_NS: f64 = 1.0;\nconst MAX_CALLS: u8 = 1;\nconst MAX_WAIT: Duration = X;\n\n\
            /// The share that must lie there.\nconst B: f64 = 0.5;\n\n/// At most 5 %.\nconst C: f64 =
            /// 0.05;";
        assert_eq!(found(said), [""; 0]);
        let expected = ["2: the constant `MAX_PASS` does not say its unit"];
        assert_eq!(
            found("/// More is too much.\nconst MAX_PASS: u8 = 3;"),
            expected
        );
    }
}
