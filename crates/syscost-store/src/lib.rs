//! The user's runs on disk.
//!
//! - [`mod@load`]: reads one run document, with a size limit and a one-line error message.
//! - [`Store`]: the data directory, and how runs are named on the command line.
//! - [`Index`]: the stored runs in an SQLite file, for lists and metrics over time. It may be removed.
//! - Tags ([`Store::tag`]): names that users give to runs.
//! - [`share`], [`load_shared`]: runs that users send as references.
//! - [`trusted`]: whether nobody else decides what lies at a path.
//! - [`CurrentFile`]: a file that is kept current in a directory of others.
//! - [`write_atomically`]: writes a file completely or not at all.

mod current;
mod follow;
mod index;
mod latest;
pub mod load;
mod shared;
mod store;
mod sync;
mod tags;
#[cfg(test)]
mod tests;
mod trust;
mod write;

pub use current::CurrentFile;
pub use follow::{Followed, Scope, Tracked};
pub use index::{Index, IndexError, KeptRun};
pub use load::{LoadError, load, load_digest};
pub use shared::{SharedError, Unfit, load_shared, share, wrong_numbers};
pub use store::{LATEST, Loaded, Store, StoreError};
pub use sync::Problem;
pub use sync::fingerprint;
pub use trust::{Untrusted, trusted};
pub use write::{folder_of, fresh, packed, write_atomically};
