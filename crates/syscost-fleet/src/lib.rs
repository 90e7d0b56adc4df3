//! Many machines: collecting their documents, tables of them, and which are not like the others.
//!
//! - [`deviation`]: how far a machine's figure is from those of machines like it.
//! - [`facts`]: what is recorded of a machine. [`baseline`]: what machines of each kind cost, in a file.
//! - [`check`]: whether one machine is as it should be.
//! - [`template`]: the files that other programs need to measure or check machines.

pub mod baseline;
pub mod check;
pub mod deviation;
pub mod facts;
pub mod template;
