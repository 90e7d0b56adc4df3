//! What came of one check of the self-test.

use anstyle::Style;
use serde::Serialize;
use syscost_report::wrap::beside;

use crate::terminal::{DIM, GREEN, RED, RESET};

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

    /// The check as the report shows it, ending in a newline: what came of it, what it is, and `seen` behind that or beneath.
    pub(super) fn entry(self, what: &str, seen: &str, width: usize) -> String {
        let (style, word) = self.mark();
        let head = format!("{style}{word}{RESET}  {what} ");
        let lines = beside(&head, seen, width, "      ");
        lines.join("\n") + "\n"
    }

    /// Its style and its word.
    fn mark(self) -> (Style, &'static str) {
        match self {
            Self::Pass => (GREEN, "pass"),
            Self::Fail => (RED, "FAIL"),
            Self::Skip => (DIM, "skip"),
        }
    }
}
