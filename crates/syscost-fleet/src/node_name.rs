//! Names of nodes: they come from schedulers, inventories and files, and become names of files and words of scripts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Maximum length of a host's name, in bytes (RFC 1035).
const MAX_LENGTH: usize = 253;

/// The name of a node: letters, digits, `.`, `_` and `-`, beginning with a letter or a digit. So it is harmless as a file's name, as
/// a word of a shell, and in YAML.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NodeName(String);

/// Why a text is no [`NodeName`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot be the name of a node here: give it one of letters, digits, `.`, `_` and `-`, which begins with a letter or a digit"
)]
pub struct NotANodeName(String);

impl FromStr for NodeName {
    type Err = NotANodeName;

    fn from_str(text: &str) -> Result<Self, NotANodeName> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric();
        let is_name = text.bytes().next().is_some_and(is_plain)
            && text.len() <= MAX_LENGTH
            && text
                .bytes()
                .all(|byte| is_plain(byte) || b"._-".contains(&byte));
        match is_name {
            true => Ok(Self(text.to_owned())),
            false => Err(NotANodeName(text.chars().take(60).collect())),
        }
    }
}

impl TryFrom<String> for NodeName {
    type Error = NotANodeName;

    fn try_from(text: String) -> Result<Self, NotANodeName> {
        text.parse()
    }
}

impl From<NodeName> for String {
    fn from(name: NodeName) -> String {
        name.0
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for NodeName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_do_harm_are_none() {
        for fine in ["n1", "node-017.rack_3.example", "10.0.0.7"] {
            assert_eq!(
                fine.parse::<NodeName>().map(String::from),
                Ok(fine.to_owned())
            );
        }
        let long = "a".repeat(254);
        let bad = [
            "", ".", "..", "../n1", "a/b", "-w", ".n1", "a b", "a;b", "a\n", "$(id)", "`id`",
            "a'b", "{{a}}", "a:b", "é", &long,
        ];
        for bad in bad {
            assert!(bad.parse::<NodeName>().is_err(), "{bad:?}");
            let quoted = serde_json::to_string(bad).expect("JSON");
            assert!(
                serde_json::from_str::<NodeName>(&quoted).is_err(),
                "{bad:?}"
            );
        }
    }
}
