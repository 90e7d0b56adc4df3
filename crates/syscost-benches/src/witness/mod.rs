//! Witnesses that several benchmarks call: what they see, and what proves a parameter by it.

pub(crate) mod descriptors;
pub(crate) mod messages;
pub(crate) mod sockets;
pub(crate) mod tasks;
