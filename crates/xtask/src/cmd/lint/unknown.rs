//! A benchmark reports an unknown parameter value through `Case::unknown`, which names both.

use super::Finding;
use crate::workspace::{BENCHES, SourceFile};

/// The beginnings of hand-written messages about unknown values.
const WORDS: [&str; 3] = ["knows no ", "has an unknown ", "does not say "];

/// Every failure with such a message that is constructed by hand.
pub(super) fn findings(file: &SourceFile) -> Vec<Finding> {
    if !file.path.starts_with(BENCHES) {
        return Vec::new();
    }
    let by_hand = file
        .text
        .match_indices("Failure::Broken(")
        .filter(|(at, made)| {
            let rest = file.text[at + made.len()..].trim_start();
            let rest = rest.strip_prefix("format!(").unwrap_or(rest).trim_start();
            let said = rest.strip_prefix('"');
            said.is_some_and(|said| WORDS.iter().any(|word| said.starts_with(word)))
        });
    by_hand
        .map(|(at, _)| {
            let line = 1 + file.text[..at].matches('\n').count();
            let message = "a value that is not known: `Case::unknown` says so for all";
            Finding::new(&file.path, line, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile {
            path: path.into(),
            text: text.to_owned(),
        };
        findings(&file).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn an_unknown_value_that_is_made_by_hand_is_found() {
        let path = format!("{BENCHES}/some/one.rs");
        let one = "fn run() {\n    Err(Failure::Broken(format!(\"knows no op {name:?}\")))\n}";
        let message = "a value that is not known: `Case::unknown` says so for all";
        assert_eq!(found(&path, one), [format!("{path}:2: {message}")]);
        let other = "Failure::Broken(format!(\n    \"has an unknown step: {name:?}\"\n))";
        assert_eq!(found(&path, other).len(), 1);
        let plain = "Failure::Broken(\"does not say which lock\".into())";
        assert_eq!(found(&path, plain).len(), 1);
    }

    #[test]
    fn other_failures_and_other_crates_are_not() {
        let path = format!("{BENCHES}/some/one.rs");
        let other = "Failure::Broken(\"measured nothing\".into())";
        assert_eq!(found(&path, other), [""; 0]);
        let one = "Failure::Broken(format!(\"knows no {key}={value}\"))";
        assert_eq!(found("crates/syscost-harness/src/case.rs", one), [""; 0]);
    }
}
