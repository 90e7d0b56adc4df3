//! A real run for tests.

use syscost_results::{Run, document};

/// The recorded quick run, with its samples.
pub(crate) fn run() -> Run {
    let document = include_bytes!("../../../fixtures/runs/quick.json");
    document::read(document).expect("a run document")
}
