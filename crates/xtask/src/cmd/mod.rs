//! One file or folder per chore.

pub(crate) mod dist;
pub(crate) mod generate;
pub(crate) mod lint;
pub(crate) mod machine;
pub(crate) mod new_bench;
pub(crate) mod reference;
