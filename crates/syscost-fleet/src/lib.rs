//! Many machines: collecting their documents, tables of them, and which are not like the others.
//!
//! - [`mod@collection`]: finds and reads documents. [`fleet`]: their figures and facts, small.
//! - [`deviation`]: how far a machine's figure is from those of machines like it.
//! - [`mod@judge`]: which machines are not like the others of their [`mod@cohort`]; [`reasons`]: what is different about them;
//!   [`mod@drift`]: what changed, and since when. [`report`]: all of it in words.
//! - [`facts`]: what is recorded of a machine. [`baseline`]: what machines of each kind cost, in a file.
//! - [`tables`]: their runs in Parquet, and back.

pub mod baseline;
pub mod cohort;
pub mod collection;
pub mod deviation;
pub mod drift;
pub mod facts;
pub mod fleet;
pub mod judge;
pub mod reasons;
pub mod report;
pub mod tables;

#[cfg(test)]
mod fixture;
