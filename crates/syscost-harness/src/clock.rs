//! Choosing and calibrating the clock of a run.

use std::path::Path;

use serde::{Deserialize, Serialize};
use syscost_results::run::{Clock as ClockReport, Health};
use syscost_sys::clock::health::{self, Check};
use syscost_sys::clock::{Bracket, Clock, Source, ticks_per_ns};

/// What the clock costs, so that a worker need not measure it again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockCost {
    /// Smallest step between two different readings, in ns.
    pub step_ns: f64,
    /// One start-stop pair, in ns.
    pub read_ns: f64,
}

impl ClockCost {
    /// Shortest batch whose time is accurate to a hundredth, in ns: 1000 steps and 100 pairs.
    pub(crate) fn shortest_batch_ns(&self) -> f64 {
        (1000.0 * self.step_ns).max(100.0 * self.read_ns)
    }
}

/// The run's clock: chosen once, calibrated between two brackets, checked again at the end.
#[derive(Clone)]
pub struct RunClock {
    source: Source,
    first: Bracket,
    checks: Vec<Check>,
    /// Why the native counter was not used, if it was not.
    pub fallback: Option<String>,
    calibrated: Option<Clock>,
    cost: ClockCost,
}

impl RunClock {
    /// Checks the native counter on these CPUs, chooses the clock and takes the first bracket.
    pub fn choose(cpus: &[u32]) -> Self {
        let mut checks = vec![
            health::invariant(),
            health::kernel_clocksource(Path::new("/sys")),
        ];
        // Each used CPU against the first: a chain of pairs would hide a slow walk, all pairs would
        // take too long.
        if let Some((first, others)) = cpus.split_first() {
            checks.extend(others.iter().map(|other| health::warp(*first, *other)));
        }
        let (source, fallback) = health::choose_source(&checks);
        Self {
            source,
            first: Bracket::take(source),
            checks,
            fallback,
            calibrated: None,
            cost: ClockCost {
                step_ns: 0.0,
                read_ns: 0.0,
            },
        }
    }

    /// The clock calibrated over the time since [`RunClock::choose`], which should be 200 ms or more.
    pub fn calibrate(&mut self) -> Clock {
        let rate = ticks_per_ns(&self.first, &Bracket::take(self.source));
        // A native counter without a rate cannot be used; the system's own clock needs no calibration.
        let clock = Clock::new(self.source, rate).unwrap_or_else(|reason| {
            self.fallback = Some(reason.to_string());
            self.source = Source::ClockGettime;
            Clock::system()
        });
        self.cost = ClockCost {
            step_ns: clock.measure_step_ns(),
            read_ns: clock.measure_read_ns(),
        };
        self.calibrated = Some(clock);
        clock
    }

    /// The clock, known after [`RunClock::calibrate`].
    pub fn calibrated(&self) -> Option<Clock> {
        self.calibrated
    }

    /// What readings cost, known after [`RunClock::calibrate`].
    pub fn cost(&self) -> ClockCost {
        self.cost
    }

    /// Calibrates again over the whole run and reports.
    pub fn report(mut self) -> ClockReport {
        let rate = self.calibrated.as_ref().map_or(1.0, Clock::ticks_per_ns);
        let again = ticks_per_ns(&self.first, &Bracket::take(self.source));
        let drift = health::drift(rate, again);
        let drift_ppm = (again / rate - 1.0) * 1e6;
        self.checks.push(drift);
        ClockReport {
            source: self.source.name().to_owned(),
            ghz: rate,
            step_ns: self.cost.step_ns,
            read_ns: self.cost.read_ns,
            drift_ppm: Some(drift_ppm),
            health: self
                .checks
                .into_iter()
                .map(|check| Health {
                    check: check.name.to_owned(),
                    ok: check.ok,
                    detail: check.detail,
                })
                .collect(),
        }
    }
}
