//! Typed parameters of rows. A row's name, `id{via=pipe,size=64K}`, is text on the command line, in jobs,
//! journals and documents only; everything between works with a struct of values.
//!
//! ```
//! use syscost_params::{Bytes, Params, Value};
//!
//! /// What carries the bytes.
//! #[derive(Value, Clone, Copy, Debug, PartialEq)]
//! enum Via {
//!     Pipe,
//!     UnixStream,
//! }
//!
//! #[derive(Params)]
//! struct Row {
//!     via: Via,
//!     /// Bytes of a message.
//!     size: Bytes,
//! }
//!
//! let row = Row::read(&|key| Some(if key == "via" { "unix_stream" } else { "64K" }.to_owned())).unwrap();
//! assert_eq!((row.via, row.size), (Via::UnixStream, Bytes(65536)));
//! assert_eq!(Row::MEANINGS, [("via", "What carries the bytes."), ("size", "Bytes of a message.")]);
//! ```

// What the derives write names this crate.
#[cfg(test)]
extern crate self as syscost_params;

mod amount;

use std::borrow::Cow;

pub use amount::{Bytes, Copies, Cpu, Nanoseconds, nanoseconds, size, size_name};
pub use syscost_params_derive::{Params, Value};

/// A value of a parameter.
pub trait Value: Sized {
    /// What a parameter of this type means, as a phrase or sentence; nothing if that depends on the row.
    const MEANING: &'static str = "";

    /// As it is written in the names of rows; nothing where the row has no such parameter.
    fn text(&self) -> Cow<'static, str>;

    /// The value that is written so; `None` if there is none. Nothing is written where a row has no such
    /// parameter.
    fn parse(text: &str) -> Option<Self>;

    /// Whether a row with it belongs on the CPU that measures the others: it names CPUs by what they are to
    /// that one, or takes one after another from there.
    fn binds_cpus(&self) -> bool {
        false
    }
}

/// The parameters of a row: a struct with a field for each. A field's doc comment says what the parameter means;
/// without one its type must:
///
/// ```compile_fail
/// #[derive(syscost_params::Params)]
/// struct Row {
///     size: syscost_params::Bytes,
/// }
/// ```
pub trait Params: Sized {
    /// Their names, in the order in which a row's name has them.
    const KEYS: &'static [&'static str];

    /// Each of them with its meaning.
    const MEANINGS: &'static [(&'static str, &'static str)];

    /// The row whose parameters are written as `of` says, by their names.
    ///
    /// # Errors
    /// Names the first that has no such value.
    fn read(of: &dyn Fn(&str) -> Option<String>) -> Result<Self, WrongValue>;
}

/// A parameter has a value that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("knows no {key}={value}")]
pub struct WrongValue {
    /// The parameter's name.
    pub key: &'static str,
    /// What is written there; nothing where the row has no such parameter.
    pub value: String,
}

/// The value of the parameter of this name.
///
/// # Errors
/// When it has no such value.
pub fn value<V: Value>(
    of: &dyn Fn(&str) -> Option<String>,
    key: &'static str,
) -> Result<V, WrongValue> {
    let value = of(key).unwrap_or_default();
    V::parse(&value).ok_or(WrongValue { key, value })
}

/// A parameter that only some rows have.
impl<V: Value> Value for Option<V> {
    const MEANING: &'static str = V::MEANING;

    fn text(&self) -> Cow<'static, str> {
        self.as_ref().map_or(Cow::Borrowed(""), V::text)
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "" => Some(None),
            text => V::parse(text).map(Some),
        }
    }

    fn binds_cpus(&self) -> bool {
        self.as_ref().is_some_and(V::binds_cpus)
    }
}

/// What only the machine or the user decides: a directory's label, an algorithm's name.
impl Value for String {
    fn text(&self) -> Cow<'static, str> {
        Cow::Owned(self.clone())
    }

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind
    /// of page.
    ///
    /// Others are refused.
    #[derive(Value, Clone, Copy, Debug, PartialEq)]
    enum Kind {
        Plain,
        CopyOnWrite,
        #[value("O_DIRECT")]
        Direct,
    }

    #[derive(Params, Debug, PartialEq)]
    struct Row {
        kind: Kind,
        /// Bytes of a page.
        size: Bytes,
        /// What the copies are.
        r#as: Option<String>,
        again: Option<Kind>,
    }

    fn row(pairs: &[(&str, &str)]) -> Result<Row, WrongValue> {
        Row::read(&|key| {
            let (_, value) = pairs.iter().find(|(known, _)| *known == key)?;
            Some((*value).to_owned())
        })
    }

    #[test]
    fn a_row_is_read_as_it_is_written() {
        assert_eq!(Row::KEYS, ["kind", "size", "as", "again"]);
        assert_eq!(
            Kind::ALL.map(Kind::name),
            ["plain", "copy_on_write", "O_DIRECT"]
        );
        for kind in Kind::ALL {
            let read = row(&[("kind", &kind.text()), ("size", "4K")]);
            assert_eq!(
                read,
                Ok(Row {
                    kind,
                    size: Bytes(4096),
                    r#as: None,
                    again: None,
                })
            );
        }
        let named = row(&[("as", "thread"), ("size", "7"), ("kind", "plain")]).unwrap();
        assert_eq!(named.r#as.as_deref(), Some("thread"));
    }

    #[test]
    fn a_parameter_means_what_its_field_says_or_else_its_type() {
        let meanings = [
            ("kind", "The kind of page."),
            ("size", "Bytes of a page."),
            ("as", "What the copies are."),
            ("again", "The kind of page."),
        ];
        assert_eq!(Row::MEANINGS, meanings);
    }

    #[test]
    fn a_value_that_does_not_exist_is_named() {
        let wrong = row(&[("kind", "direct"), ("size", "4K")]).unwrap_err();
        assert_eq!(wrong.to_string(), "knows no kind=direct");
        let missing = row(&[("kind", "plain")]).unwrap_err();
        assert_eq!((missing.key, &*missing.value), ("size", ""));
    }
}
