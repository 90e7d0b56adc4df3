//! What came of one check of the self-test.

use anstyle::Style;
use serde::Serialize;

use crate::terminal::{DIM, GREEN, RED};

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Pass,
    Fail,
    /// It cannot be judged here.
    Skip,
}

impl Outcome {
    pub(super) fn of(has_passed: bool) -> Self {
        match has_passed {
            true => Self::Pass,
            false => Self::Fail,
        }
    }

    /// Its style and its word at the beginning of a line.
    pub(super) fn mark(self) -> (Style, &'static str) {
        match self {
            Self::Pass => (GREEN, "pass"),
            Self::Fail => (RED, "FAIL"),
            Self::Skip => (DIM, "skip"),
        }
    }
}
