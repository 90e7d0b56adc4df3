//! Loads of what was stored just before.

use super::{Checksum, Kernel, machine};
use crate::Unsupported;

/// How a load stands to the store before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forward {
    /// The same eight bytes, within a cache line.
    Same,
    /// The lower four of the eight bytes stored.
    Narrower,
    /// Eight bytes, of which the store wrote the lower four.
    Wider,
    /// Eight bytes, written by two stores of four.
    Halves,
    /// The same eight bytes, four on one cache line and four on the next.
    AcrossLines,
}

impl Forward {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Same,
        Self::Narrower,
        Self::Wider,
        Self::Halves,
        Self::AcrossLines,
    ];

    /// A word for ids and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Narrower => "narrower",
            Self::Wider => "wider",
            Self::Halves => "halves",
            Self::AcrossLines => "across_lines",
        }
    }
}

/// The kernel of a chain through memory: store a number, load it, add one. One operation is all three.
///
/// # Errors
/// No kernel has been written for this processor.
pub fn forward(forward: Forward) -> Result<Kernel, Unsupported> {
    let code = machine::forward(forward)?;
    // The addition alone takes a cycle; a core that renames memory adds nothing to it.
    let floor_cycles = 0.8;
    // What arrives at the end is one more for each operation.
    Ok(Kernel::new(
        code,
        &[],
        Checksum::PerTurn(code.operations),
        floor_cycles,
    ))
}
