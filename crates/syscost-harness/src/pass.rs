//! The two passes over a case.

use serde::{Deserialize, Serialize};

/// Which of the two passes a worker makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// Takes samples.
    Timed,
    /// Counts what the operation does.
    Evidence,
}

/// Whether contents are written and compared as a whole, which takes longer than the operation: in
/// the evidence pass alone. Only a pass says so, so nobody does it where it is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compares(bool);

impl From<Pass> for Compares {
    fn from(pass: Pass) -> Self {
        Self(pass == Pass::Evidence)
    }
}

impl Compares {
    /// Whether all of the contents are.
    pub fn all(self) -> bool {
        self.0
    }
}
