//! Two tasks, and values on separate cache lines.

/// One of two tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The measuring task.
    Own,
    /// The other task.
    Partner,
}

impl Side {
    pub(crate) const BOTH: [Side; 2] = [Side::Own, Side::Partner];
}

/// A value on separate cache lines: as far from others as any processor fetches lines together.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);
