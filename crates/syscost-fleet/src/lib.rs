//! Many machines: collecting their documents, tables of them, and which are not like the others.
//!
//! - [`tables`]: their runs in Parquet, and back.

pub mod tables;

#[cfg(test)]
mod fixture;
