//! The user's runs on disk.
//!
//! - [`mod@load`]: reads one run document, with a limit on its size and one clear line on what is wrong with it.
//! - [`Store`]: the data folder, and how a run is named on the command line.
//! - [`write_atomically`]: a file is written whole or not at all.

pub mod load;
mod store;
mod write;

pub use load::{LoadError, load};
pub use store::{Loaded, Store, StoreError};
pub use write::{folder_of, write_atomically};
