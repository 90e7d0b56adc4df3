//! The user's runs on disk.
//!
//! - [`mod@load`]: reads one run document, with a limit on its size and one clear line on what is wrong with it.
//! - [`Store`]: the data folder, and how a run is named on the command line.
//! - [`Index`]: the kept runs in an SQLite file, for lists and for metrics over time. Derived: it can be removed at any time.
//! - Tags ([`Store::tag`]): names a person gives to runs.
//! - [`write_atomically`]: a file is written whole or not at all.

mod follow;
mod index;
pub mod load;
mod store;
mod sync;
mod tags;
mod write;

pub use follow::{Followed, Scope, Tracked};
pub use index::{Index, IndexError, KeptRun};
pub use load::{LoadError, load};
pub use store::{LATEST, Loaded, Store, StoreError};
pub use sync::Problem;
pub use sync::fingerprint;
pub use write::{folder_of, write_atomically};
