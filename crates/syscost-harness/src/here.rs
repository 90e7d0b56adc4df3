//! What decides which rows there are: this machine.

use syscost_sys::cpu;

/// The machine that lists its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Here {
    /// The CPUs that may be used.
    pub allowed: Vec<u32>,
}

impl Here {
    /// This machine, as this process sees it.
    pub fn now() -> Self {
        Self {
            allowed: cpu::allowed().unwrap_or_default(),
        }
    }
}
