//! The clock-read-switch experiment: readings of gettimeofday, reads of no bytes, two processes that pass a
//! byte back and forth.

mod children;
pub(super) mod clock_read;
pub(super) mod largest_step;
pub(super) mod long_steps;
pub(super) mod process_switch;
pub(super) mod read_zero_bytes;
mod readings;

use syscost_harness::Failure;

use crate::timing::clock_read::time_of_day;

/// One step of gettimeofday, in ns.
const STEP_NS: f64 = 1_000.0;

/// A reading of gettimeofday, which counts whole microseconds, in ns.
fn now_ns() -> Result<u64, Failure> {
    time_of_day().map_err(|cause| Failure::of("read gettimeofday", cause))
}

/// From one reading to a later one, in ns: negative where the clock was set back between them.
fn passed_ns(begun: u64, now: u64) -> f64 {
    now.wrapping_sub(begun).cast_signed() as f64
}

/// The minimum of these results, as published; infinite if there are none.
fn minimum(results: impl IntoIterator<Item = f64>) -> f64 {
    results.into_iter().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use syscost_results::study::Study;

    use super::*;

    #[test]
    fn a_clock_that_is_set_back_is_seen() {
        assert_eq!([passed_ns(5, 7), passed_ns(7, 5)], [2.0, -2.0]);
        assert_eq!(minimum([3.0, 1.0, 2.0]), 1.0);
    }

    #[test]
    fn every_published_figure_is_carried() {
        let study = Study::parse(include_str!("study.toml")).expect("a study");
        let figures = |table: &str| -> Vec<f64> {
            let quantities = study.quantities.iter().filter(|one| one.table == table);
            let figures = quantities.flat_map(|one| &one.published);
            figures.filter_map(|figure| figure.value).collect()
        };
        // 215 of 100 000 calls, which the text calls about 0.2 %.
        assert_eq!(
            figures("gettimeofday"),
            [40.0, 0.215, 50_000.0, 2_000_000.0]
        );
        assert_eq!(figures("Read of 0 bytes"), [330.0, 302.0, 302.0]);
        let switches = figures("Two processes and two pipes");
        assert_eq!(switches, [2500.0, 2300.0, 2000.0, 2500.0, 2500.0, 2400.0]);
    }
}
