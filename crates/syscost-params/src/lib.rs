//! Typed parameters of rows. A row is a struct of values; its name, `id{via=pipe,size=64K}`, is
//! written from them when rows are listed. Rows to measure are found by their names in the list; the
//! names in a document, which may be of another machine, are read.
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
//! #[derive(Params, Clone)]
//! struct Row {
//!     via: Via,
//!     /// Bytes of a message.
//!     size: Bytes,
//! }
//!
//! let row = Row { via: Via::UnixStream, size: Bytes::kib(64) };
//! assert_eq!((&*row.via.text(), &*row.size.text()), ("unix_stream", "64K"));
//! assert_eq!(Row::read(|key| if key == "via" { "pipe" } else { "4K" }).map(|row| row.size), Some(Bytes::kib(4)));
//! assert_eq!(Row::MEANINGS, [("via", "What carries the bytes."), ("size", "Bytes of a message.")]);
//! ```

// What the derives write names this crate.
#[cfg(test)]
extern crate self as syscost_params;

mod amount;

use std::borrow::Cow;

pub use amount::{Bytes, Copies, Cpu, Nanoseconds, TaskCount, nanoseconds, size, size_name};
pub use syscost_params_derive::{Params, Value};

/// A value of a parameter.
pub trait Value: Sized {
    /// What a parameter of this type means, as a phrase or sentence; nothing if that depends on the row.
    const MEANING: &'static str = "";

    /// As it is written in the names of rows; nothing where the row has no such parameter.
    fn text(&self) -> Cow<'static, str>;

    /// The value that is written like this, on whichever machine; `None` if there is none.
    fn read(text: &str) -> Option<Self>;

    /// What it says of a row's tasks and CPUs, whichever parameter has it.
    fn task_role(&self) -> TaskRole {
        TaskRole::Plain
    }
}

/// What a value says of a row's tasks and CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskRole {
    /// Nothing.
    Plain,
    /// The row belongs on the CPU that measures the others: it names CPUs by what they are to that
    /// one, or takes one after another from there.
    BindsCpus,
    /// How many tasks it has.
    TaskCount(u64),
    /// How many tasks it has, each on a separate CPU, from that one on. Binds CPUs as well.
    Copies(u32),
    /// What its tasks are to each other.
    TaskKind(&'static str),
}

/// The parameters of a row: a struct with a field for each. A field's doc comment says what the parameter means;
/// without one its type must:
///
/// ```compile_fail
/// #[derive(syscost_params::Params, Clone)]
/// struct Row {
///     size: syscost_params::Bytes,
/// }
/// ```
pub trait Params: Clone + Send + Sync + 'static {
    /// Each of them with its meaning, in the order in which a row's name has them.
    const MEANINGS: &'static [(&'static str, &'static str)];

    /// A struct with the same fields, each of which is what proves the parameter. The derive makes
    /// it: that of a struct `Row` is `RowProofs`.
    type Proofs<P>;

    /// The row with these values, given by the names of the parameters: nothing for one that the row
    /// does not have. `None` if it is no such row.
    fn read<'t>(text_of: impl Fn(&str) -> &'t str) -> Option<Self>;

    /// They, in the order of the fields.
    fn in_order<P>(proofs: Self::Proofs<P>) -> Vec<P>;
}

/// A parameter that only some rows have.
impl<V: Value> Value for Option<V> {
    const MEANING: &'static str = V::MEANING;

    fn text(&self) -> Cow<'static, str> {
        self.as_ref().map_or(Cow::Borrowed(""), V::text)
    }

    fn read(text: &str) -> Option<Self> {
        match text {
            "" => Some(None),
            text => V::read(text).map(Some),
        }
    }

    fn task_role(&self) -> TaskRole {
        self.as_ref().map_or(TaskRole::Plain, V::task_role)
    }
}

/// What only the machine or the user decides: a directory's label, an algorithm's name.
impl Value for String {
    fn text(&self) -> Cow<'static, str> {
        Cow::Owned(self.clone())
    }

    fn read(text: &str) -> Option<Self> {
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind
    /// of page.
    ///
    /// Others are refused.
    #[derive(Value, Clone, Copy)]
    enum Kind {
        Plain,
        CopyOnWrite,
        #[value("O_DIRECT")]
        Direct,
    }

    /// What the copies are.
    #[derive(Value, Clone, Copy)]
    #[value(role = TaskKind)]
    enum Copied {
        Threads,
    }

    #[derive(Params, Clone)]
    struct Row {
        kind: Kind,
        /// Bytes of a page.
        size: Bytes,
        r#as: Option<Copied>,
        again: Option<Kind>,
    }

    #[test]
    fn values_are_written_as_declared() {
        let names = ["plain", "copy_on_write", "O_DIRECT"];
        assert_eq!(Kind::ALL.map(Kind::name), names);
        assert_eq!(Some(Kind::Direct).text(), "O_DIRECT");
        assert_eq!(None::<Kind>.text(), "");
    }

    #[test]
    fn a_row_is_read_as_it_is_written() {
        let read = |texts: [&'static str; 4]| {
            let row = Row::read(|key| {
                let keys = Row::MEANINGS.iter().map(|(known, _)| *known);
                let mut pairs = keys.zip(texts);
                pairs
                    .find(|(known, _)| *known == key)
                    .map_or("", |pair| pair.1)
            })?;
            let texts = [
                row.kind.text(),
                row.size.text(),
                row.r#as.text(),
                row.again.text(),
            ];
            Some(texts.map(Cow::into_owned))
        };
        for texts in [
            ["plain", "64", "threads", "O_DIRECT"],
            ["copy_on_write", "4K", "", ""],
        ] {
            assert_eq!(read(texts), Some(texts.map(str::to_owned)));
        }
        for wrong in [
            ["", "64", "", ""],
            ["Plain", "64", "", ""],
            ["plain", "", "", ""],
            ["plain", "*", "", ""],
            ["plain", "64", "processes", ""],
        ] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
        assert_eq!((bool::read("no"), bool::read("")), (Some(false), None));
        assert_eq!((Cpu::read("8"), Cpu::read("all")), (Some(Cpu(8)), None));
        assert_eq!(String::read(""), None, "a label has letters");
        for time in [0, 7, 50_000, 3_000_000_000].map(Nanoseconds) {
            assert_eq!(Nanoseconds::read(&time.text()), Some(time));
        }
    }

    #[test]
    fn a_role_is_the_type_s() {
        assert_eq!(Kind::Plain.task_role(), TaskRole::Plain);
        let threads = Copied::ALL.map(|one| Some(one).task_role());
        assert_eq!(threads, [TaskRole::TaskKind("threads")]);
        assert_eq!(None::<Cpu>.task_role(), TaskRole::Plain);
        assert_eq!(TaskCount(8).task_role(), TaskRole::TaskCount(8));
        assert_eq!(Copies(2).task_role(), TaskRole::Copies(2));
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
}
