//! The report as a page.

use super::Report;

/// The page: one file that loads nothing.
pub fn page(report: &Report) -> String {
    super::text(report, 120, true)
}
