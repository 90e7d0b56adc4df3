//! What is known of something that may not be there.

use serde::{Deserialize, Serialize};

/// What is known of something: that it is there and what it is, that it is not, or nothing. Documents
/// have what it is, `none` and null.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Option<Written<T>>", into = "Option<Written<T>>")]
#[serde(bound(
    serialize = "T: Serialize + Clone",
    deserialize = "T: Deserialize<'de>"
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

/// As documents have it where anything tells.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Written<T> {
    NotThere(NotThere),
    What(T),
}

/// That it is not there.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum NotThere {
    None,
}

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

    /// As documents have it: its name or `none`, if anything tells.
    pub fn written(&self) -> Option<&str> {
        match self {
            Self::Yes(name) => Some(name),
            Self::No => Some("none"),
            Self::Unknown => None,
        }
    }

    /// Its name, `none`, or that it is not known: for people.
    pub fn words(&self) -> &str {
        self.written().unwrap_or("not known")
    }
}

impl<T> From<Option<Written<T>>> for Known<T> {
    fn from(written: Option<Written<T>>) -> Self {
        match written {
            Some(Written::What(what)) => Self::Yes(what),
            Some(Written::NotThere(NotThere::None)) => Self::No,
            None => Self::Unknown,
        }
    }
}

impl<T> From<Known<T>> for Option<Written<T>> {
    fn from(known: Known<T>) -> Self {
        match known {
            Known::Yes(what) => Some(Written::What(what)),
            Known::No => Some(Written::NotThere(NotThere::None)),
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
        for (known, written) in [
            (Known::Yes(0.5), "0.5"),
            (Known::No, r#""none""#),
            (Known::Unknown, "null"),
        ] {
            assert_eq!(serde_json::to_string(&known).expect("written"), written);
            let read: Known<f64> = serde_json::from_str(written).expect("read");
            assert_eq!(read, known);
        }
        let whole: Known<f64> = serde_json::from_str("2").expect("read");
        assert_eq!(whole, Known::Yes(2.0));
    }
}
