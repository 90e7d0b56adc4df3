//! What is known of something that may not be there.

use serde::{Deserialize, Serialize};

/// What is known of something: that it is there and what it is, that it is not, or nothing. Documents
/// have what it is, `none` and null.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Option<T>", into = "Option<T>")]
#[serde(bound(
    serialize = "T: Serialize + Clone + From<&'static str>",
    deserialize = "T: Deserialize<'de> + AsRef<str>"
))]
pub enum Known<T> {
    /// It is there, and is this.
    Yes(T),
    /// It is not there.
    No,
    /// Nothing tells.
    #[default]
    Unknown,
}

/// How documents say that it is not there.
const NONE: &str = "none";

impl<T> Known<T> {
    /// Nothing tells, or what was told.
    pub fn told(told: Option<Option<T>>) -> Self {
        match told {
            Some(Some(what)) => Self::Yes(what),
            Some(None) => Self::No,
            None => Self::Unknown,
        }
    }

    /// This, unless nothing tells: then the other.
    pub fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Unknown => other(),
            known => known,
        }
    }

    /// What it is, if it is there.
    pub fn what(&self) -> Option<&T> {
        match self {
            Self::Yes(what) => Some(what),
            Self::No | Self::Unknown => None,
        }
    }
}

impl Known<String> {
    /// Its name, if it is there.
    pub fn name(&self) -> Option<&str> {
        self.what().map(String::as_str)
    }

    /// Its name, `none`, or that it is not known: for people.
    pub fn words(&self) -> &str {
        match self {
            Self::Yes(name) => name,
            Self::No => NONE,
            Self::Unknown => "not known",
        }
    }
}

impl<T: AsRef<str>> From<Option<T>> for Known<T> {
    fn from(written: Option<T>) -> Self {
        match written {
            Some(none) if none.as_ref() == NONE => Self::No,
            Some(what) => Self::Yes(what),
            None => Self::Unknown,
        }
    }
}

impl<T: From<&'static str>> From<Known<T>> for Option<T> {
    fn from(known: Known<T>) -> Self {
        match known {
            Known::Yes(what) => Some(what),
            Known::No => Some(NONE.into()),
            Known::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_tell_what_is_not_there_from_what_nothing_tells() {
        for (known, written) in [
            (Known::Yes("KVM".to_owned()), r#""KVM""#),
            (Known::No, r#""none""#),
            (Known::Unknown, "null"),
        ] {
            assert_eq!(serde_json::to_string(&known).expect("written"), written);
            let read: Known<String> = serde_json::from_str(written).expect("read");
            assert_eq!(read, known);
        }
    }
}
