//! Shared: gettimeofday 100 000 times in a row, and what differs from reading to reading.

use std::collections::BTreeMap;

use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::{STEP_NS, now_ns, passed_ns};

/// Readings in a row, as published.
pub(super) const READINGS: usize = 100_000;

/// The properties of one series of readings.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// How often each number of equal readings in a row was seen.
    lengths: BTreeMap<u32, u32>,
    /// The steps by which the clock advanced, in ns.
    pub(super) steps_ns: Vec<f64>,
}

impl Series {
    /// Compares each reading with the one before.
    fn of(readings: &[u64]) -> Self {
        let mut series = Self::default();
        let mut equal = 1;
        // Before the first step it is unknown how many equal readings were missed.
        let mut is_whole = false;
        for pair in readings.windows(2) {
            let step_ns = passed_ns(pair[0], pair[1]);
            if step_ns == 0.0 {
                equal += 1;
                continue;
            }
            if is_whole {
                *series.lengths.entry(equal).or_default() += 1;
            }
            series.steps_ns.push(step_ns);
            (equal, is_whole) = (1, true);
        }
        series
    }

    /// The most frequent number of equal readings in a row, the smallest of several; `None` where the clock
    /// did not advance twice.
    pub(super) fn usual_length(&self) -> Option<u32> {
        let most = self.lengths.values().copied().max()?;
        let mut usual = self.lengths.iter().filter(|(_, times)| **times == most);
        usual.next().map(|(length, _)| *length)
    }

    /// How many steps were of more than one microsecond, in percent of the readings.
    pub(super) fn long_percent(&self) -> f64 {
        let long = self.steps_ns.iter().filter(|ns| **ns > STEP_NS).count();
        100.0 * long as f64 / READINGS as f64
    }

    /// The largest step, in ns.
    pub(super) fn largest_ns(&self) -> f64 {
        self.steps_ns.iter().copied().fold(0.0, f64::max)
    }
}

/// What the kernel counted while the clock was read.
#[derive(Debug, Default)]
struct Counted {
    series: u32,
    faults: u64,
    switches: u64,
}

/// Repeats the readings, each time with the result that `of` takes from them, and details what was counted
/// meanwhile.
pub(super) fn measure(
    b: &mut Bencher,
    mut of: impl FnMut(&Series) -> Option<f64>,
) -> Result<(), Failure> {
    // Touched beforehand: a page fault would be seen as a step.
    let mut readings = vec![1; READINGS];
    let mut counted = Counted::default();
    b.as_published(READINGS as u64, || {
        let before = Usage::thread()?;
        for reading in &mut readings {
            *reading = now_ns()?;
        }
        let used = Usage::thread()? - before;
        counted.series += 1;
        counted.faults += used.minor_faults + used.major_faults;
        counted.switches += used.voluntary_switches + used.involuntary_switches;
        of(&Series::of(&readings)).ok_or_else(|| {
            Failure::Failed(format!("gettimeofday stood still in {READINGS} readings"))
        })
    })?;
    let per_series = |total: u64| total as f64 / f64::from(counted.series);
    b.detail("page_faults_count", per_series(counted.faults));
    b.detail("switches_count", per_series(counted.switches));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_readings_and_steps_are_counted_as_published() {
        let us = [5, 5, 6, 6, 6, 7, 7, 9, 9, 9, 10, 60, 60].map(|us: u64| us * 1000);
        let series = Series::of(&us);
        assert_eq!(
            series.steps_ns,
            [1000.0, 1000.0, 2000.0, 1000.0, 50_000.0],
            "two are of more than a microsecond"
        );
        assert_eq!(series.usual_length(), Some(3), "the first is cut off");
        assert_eq!(series.long_percent(), 0.002);
        assert_eq!(series.largest_ns(), 50_000.0);
    }

    #[test]
    fn a_clock_that_stands_still_has_no_length() {
        assert_eq!(Series::of(&[7, 7, 7]).usual_length(), None);
        assert_eq!(Series::of(&[7, 7, 8]).usual_length(), None);
    }
}
