//! What every number rests on, whatever was measured: the C library's own functions, and the rate of the counter. A claim of either is
//! added only where it does not hold.

use std::sync::LazyLock;

use syscost_results::{Bound, Evidence, Verdict};
use syscost_sys::clock::{Bracket, Clock, ticks_per_ns};
use syscost_sys::platform::{Replaced, replaced_functions};

/// What was replaced when this process began: it loads nothing later.
static REPLACED: LazyLock<Vec<Replaced>> = LazyLock::new(replaced_functions);

/// What functions of the C library that another file replaces say about a number: it may be that file's. `None` where there are none.
pub(super) fn of_libraries() -> Option<Evidence> {
    let first = REPLACED.first()?;
    let names: Vec<&str> = REPLACED.iter().map(|one| &*one.function).collect();
    let reason = format!("{} replaces {}", first.file, names.join(", "));
    let claim = "functions of the C library that another file replaces";
    let found = REPLACED.len() as f64;
    Some(Evidence::new(claim, 0.0, found, "dynamic linker", Verdict::Unverified).because(reason))
}

/// The rate of the counter while a case is measured, by the system's clock; this process was given that of the run.
pub(super) struct Rate<'a> {
    clock: &'a Clock,
    first: Bracket,
}

/// How far the rate may be from the run's, beyond what both readings may be wrong by.
const RATE_WITHIN: f64 = 0.01;

impl<'a> Rate<'a> {
    pub(super) fn of(clock: &'a Clock) -> Self {
        let first = Bracket::take(clock.source());
        Self { clock, first }
    }

    /// The claim that it is the run's, where it is not.
    pub(super) fn refuted(&self) -> Option<Evidence> {
        let last = Bracket::take(self.clock.source());
        let seen = ticks_per_ns(&self.first, &last) / self.clock.ticks_per_ns();
        let wrong_ns = self.first.width_ns + last.width_ns;
        let within = RATE_WITHIN + wrong_ns as f64 / last.ns.saturating_sub(self.first.ns) as f64;
        let bound = Bound::Within(1.0 - within, 1.0 + within);
        let claim = "rate of the counter while it measured, by the run's";
        let evidence = Evidence::judged(claim, bound, seen, "CLOCK_MONOTONIC_RAW");
        (evidence.verdict == Verdict::Refuted).then_some(evidence)
    }
}

#[cfg(test)]
mod tests {
    use syscost_sys::clock::Source;

    use super::*;

    #[test]
    fn a_rate_that_is_not_the_runs_is_refuted() {
        let refuted = |rate: f64| {
            let clock = Clock::new(Source::ClockGettime, rate).expect("a rate");
            let rate = Rate::of(&clock);
            std::thread::sleep(std::time::Duration::from_millis(1));
            rate.refuted().is_some()
        };
        assert!(!refuted(1.0) && !refuted(1.005));
        assert!(refuted(1.04) && refuted(0.96));
    }
}
