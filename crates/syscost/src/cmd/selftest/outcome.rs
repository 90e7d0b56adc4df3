//! The outcome of one check of the self-test.

use anstyle::Style;
use serde::Serialize;
use syscost_report::wrap::beside;

use crate::terminal::{DIM, GREEN, RED, RESET};

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Pass,
    Fail,
    /// The check cannot be judged here.
    Skip,
}

impl Outcome {
    pub(super) fn of(has_passed: bool) -> Self {
        match has_passed {
            true => Self::Pass,
            false => Self::Fail,
        }
    }

    /// Renders the check for the report, with a newline at the end: its outcome, its name, and `seen`
    /// after that or below.
    pub(super) fn entry(self, what: &str, seen: &str, width: usize) -> String {
        let (style, word) = self.mark();
        let head = format!("{style}{word}{RESET}  {what} ");
        let lines = beside(&head, seen, width, "      ");
        lines.join("\n") + "\n"
    }

    /// The style and word that mark the outcome.
    fn mark(self) -> (Style, &'static str) {
        match self {
            Self::Pass => (GREEN, "pass"),
            Self::Fail => (RED, "FAIL"),
            Self::Skip => (DIM, "skip"),
        }
    }
}
