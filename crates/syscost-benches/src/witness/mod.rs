//! Witnesses that several benchmarks call: what they see, and what proves a parameter by it.

pub(crate) mod code;
