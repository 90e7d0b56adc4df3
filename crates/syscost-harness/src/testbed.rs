//! What decides which rows there are: this machine, and what the run measures against.

use syscost_sys::cpu;

use crate::commands::Command;
use crate::programs::OwnProgram;
use crate::targets::Targets;

/// The machine that lists its rows, and what the command line says of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Testbed {
    /// The CPUs that may be used.
    pub allowed: Vec<u32>,
    /// What is measured against and in, and what may be done.
    pub targets: Targets,
    /// The programs of the user's own studies.
    pub programs: Vec<OwnProgram>,
    /// The commands that `syscost time` measures.
    pub commands: Vec<Command>,
}

impl Testbed {
    /// This machine as this process sees it, with these targets.
    pub fn with(targets: Targets) -> Self {
        Self {
            allowed: cpu::allowed().unwrap_or_else(|_| vec![0]),
            targets,
            programs: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// This machine as this process sees it, with nothing named on the command line.
    pub fn plain() -> Self {
        Self::with(Targets::default())
    }
}
