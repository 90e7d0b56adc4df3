//! Many machines: collecting their documents, tables of them, and which are not like the others.

pub mod check;
pub mod template;
