//! The far end of network measurements.
//!
//! A round trip, a transfer or a connection needs another end. This crate is that end and the way
//! to it:
//!
//! - [`service`]: what the far end does on connected sockets: echo, sink, source, accept, HTTP. The
//!   server runs them for a remote client; a benchmark on loopback runs the same code in a partner.
//! - [`content`]: bytes that encode their position in a stream, so that lost or swapped ones are
//!   noticed.
//! - [`server`]: `syscost serve`: authenticates clients, opens services for their sessions, and
//!   enforces its [limits](server::Limits).
//! - [`client`]: the measuring end: a [`Session`] with a server, and sockets to its services.
//! - [`token`]: the secret that both ends know, and how each proves it without sending it.
//! - [`nfs`]: what an NFS server exports, and where; its client is syscost-nfs.
//! - [`wire`]: the messages of the protocol, one bounded line of JSON each.
//! - [`socket`]: sockets with their options set and read back. [`address`]: names, looked up once,
//!   before anything is measured.

pub mod address;
pub mod client;
pub mod content;
pub mod nfs;
pub mod server;
pub mod service;
pub mod socket;
#[cfg(test)]
mod tests;
pub mod token;
pub mod wire;

pub use client::{ClientError, Opened, Session};
pub use content::Content;
pub use server::{Judge, Limits, Server};
pub use service::{Account, ServiceError, Wait};
pub use token::Token;
pub use wire::Service;
