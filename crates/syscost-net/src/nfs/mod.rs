//! A client of NFS version 3 (RFC 1813) in user space: it needs no mount and no privilege.
//!
//! - [`Export`]: what to measure against, as users write it: `nfs://HOST[:PORT[:MOUNTPORT]]/PATH`.
//! - [`Client`]: calls to a server, one at a time. The nfs3_client crate encodes and decodes them;
//!   they are sent and received by blocking calls, without an async runtime.
//! - [`Traffic`]: what passed over its connection, read from the bytes themselves and not from what
//!   the client meant to send.
//! - [`Folder`]: what is written on the server, and how it is removed, even after kill -9.

mod client;
mod error;
mod export;
mod folder;
mod mount;
mod owner;
mod wire;

pub use client::{Attributes, Client, Handle, Slice, TransferLimits};
pub use error::NfsError;
pub use export::{Export, NFS_PORT};
pub use folder::{FILE, Folder, sweep};
pub use wire::{Procedure, Traffic};
