//! Witnesses that several benchmarks have: what they look at, and what they must see.

pub(crate) mod memory;
