//! Typed parameters of rows. A row is a struct of values; its name, `id{via=pipe,size=64K}`, is
//! written from them when rows are listed, and never parsed: a row is found by its name in the
//! list.
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
pub trait Value {
    /// What a parameter of this type means, as a phrase or sentence; nothing if that depends on the row.
    const MEANING: &'static str = "";

    /// As it is written in the names of rows; nothing where the row has no such parameter.
    fn text(&self) -> Cow<'static, str>;

    /// What it says of a row's tasks and CPUs, whichever parameter has it.
    fn role(&self) -> Role {
        Role::Plain
    }
}

/// What a value says of a row's tasks and CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
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

    /// They, in the order of the fields.
    fn in_order<P>(proofs: Self::Proofs<P>) -> Vec<P>;
}

/// A parameter that only some rows have.
impl<V: Value> Value for Option<V> {
    const MEANING: &'static str = V::MEANING;

    fn text(&self) -> Cow<'static, str> {
        self.as_ref().map_or(Cow::Borrowed(""), V::text)
    }

    fn role(&self) -> Role {
        self.as_ref().map_or(Role::Plain, V::role)
    }
}

/// What only the machine or the user decides: a directory's label, an algorithm's name.
impl Value for String {
    fn text(&self) -> Cow<'static, str> {
        Cow::Owned(self.clone())
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
    #[expect(dead_code)] // only its declaration is tested
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
    fn a_role_is_the_type_s() {
        assert_eq!(Kind::Plain.role(), Role::Plain);
        let threads = Copied::ALL.map(|one| Some(one).role());
        assert_eq!(threads, [Role::TaskKind("threads")]);
        assert_eq!(None::<Cpu>.role(), Role::Plain);
        assert_eq!(TaskCount(8).role(), Role::TaskCount(8));
        assert_eq!(Copies(2).role(), Role::Copies(2));
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
