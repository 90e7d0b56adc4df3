//! One file or folder per chore.

pub(crate) mod aa;
pub(crate) mod coverage;
pub(crate) mod dist;
pub(crate) mod fleet;
pub(crate) mod frozen;
pub(crate) mod generate;
pub(crate) mod lint;
pub(crate) mod new_bench;
pub(crate) mod pictures;
pub(crate) mod reference;
pub(crate) mod steady;
pub(crate) mod stream;
pub(crate) mod swap;
pub(crate) mod torture;
pub(crate) mod validate;
pub(crate) mod versus;
