//! Witnesses that several benchmarks call: what they see, and what proves a parameter by it.

pub(crate) mod code;
pub(crate) mod descriptors;
pub(crate) mod files;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod sockets;
pub(crate) mod tasks;
