//! In the place of [`study`](super::study) in a build without that part: what documents hold of studies is left unsaid.

use syscost_report::study::Repeated;
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
pub(super) fn repeated_in(_: &[&Run]) -> Vec<Repeated> {
    Vec::new()
}
