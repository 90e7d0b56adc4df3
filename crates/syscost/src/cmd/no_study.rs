//! In the place of [`study`](super::study) in a build without that part: what documents hold of studies is left unsaid.

use syscost_report::document::Block;
use syscost_results::Run;
use syscost_results::study::Study;

/// None.
pub(crate) fn published() -> Vec<Study> {
    Vec::new()
}

/// None.
pub(super) fn own_of(_: &[Study]) -> impl Iterator<Item = &Study> {
    [].iter()
}

/// None.
pub(super) fn section(_: &[&Run]) -> Vec<Block> {
    Vec::new()
}

/// None.
pub(super) fn published_of(_: &[Study], _: &str) -> Vec<String> {
    Vec::new()
}
