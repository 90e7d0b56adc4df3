//! Two tasks, and values out of each other's way.

/// One of two tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The measuring one.
    Own,
    /// The other one.
    Partner,
}

impl Side {
    /// Both.
    pub(crate) const BOTH: [Side; 2] = [Side::Own, Side::Partner];
}

/// A value on cache lines of its own: as far from others as any processor fetches lines together.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);
