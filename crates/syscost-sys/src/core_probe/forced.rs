//! Cores that seem ours, or shared, whatever they are: tests of a development build hold on either.
//!
//! `SYSCOST_FORCE_CORES=own` (or `shared`) makes every probe read so. It reaches workers and
//! partners as any environment does. A clock that a test moves by hand goes on telling what it shows.

use std::sync::OnceLock;

use super::{Alone, ProbeReading};
use crate::clock::{Clock, Source};

/// A release has no such switch: `.ci/run` looks for its name there.
const VARIABLE: &str = "SYSCOST_FORCE_CORES";

/// What such probes show while a core is ours. The limit lies between both.
const ALONE: Alone = Alone {
    ratio: 1.0,
    limit: 1.2,
    is_assumed: false,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forced {
    Own,
    Shared,
}

impl Forced {
    /// What this process was told to see.
    fn given() -> Option<Self> {
        static GIVEN: OnceLock<Option<Forced>> = OnceLock::new();
        if !cfg!(debug_assertions) {
            return None;
        }
        *GIVEN.get_or_init(|| match std::env::var(VARIABLE).as_deref() {
            Ok("own") => Some(Forced::Own),
            Ok("shared") => Some(Forced::Shared),
            Ok(other) => panic!("{VARIABLE} is own or shared, not {other:?}"),
            Err(_) => None,
        })
    }

    /// A reading of exactly 1 or 1.5, times the factor by which the probe is slowed.
    fn shown(self, chain: u32, slowdown: u32) -> ProbeReading {
        let chain = (chain & !1).clamp(2, 1 << 28);
        let own = slowdown * chain;
        let throughput = match self {
            Forced::Own => own,
            Forced::Shared => own + own / 2,
        };
        ProbeReading { throughput, chain }
    }

    /// What these readings were made to show; `None` where a test made them itself.
    fn alone(self, readings: &[ProbeReading]) -> Option<Alone> {
        let is_made = |reading: &ProbeReading| *reading == self.shown(reading.chain, 1);
        (!readings.is_empty() && readings.iter().all(is_made)).then_some(ALONE)
    }
}

/// Whether probes show what they were told to, of which nothing can be learnt.
pub fn is_forced() -> bool {
    Forced::given().is_some()
}

/// What a probe shows that has taken this reading.
#[inline]
pub(super) fn shown(reading: ProbeReading, clock: &Clock, slowdown: u32) -> ProbeReading {
    Forced::given()
        .filter(|_| clock.source() != Source::Mock)
        .map_or(reading, |forced| forced.shown(reading.chain, slowdown))
}

/// What these readings show of a core of our own, if they show what they were told to.
pub(super) fn alone(readings: &[ProbeReading]) -> Option<Alone> {
    Forced::given()?.alone(readings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forced_core_is_ours_or_shared_whatever_its_probes_took() {
        for (forced, is_own) in [(Forced::Own, true), (Forced::Shared, false)] {
            let readings = [0, 801, 1200, 4_000_000].map(|chain| forced.shown(chain, 1));
            let alone = forced.alone(&readings).expect("all of them were made");
            assert_eq!(readings.map(|reading| alone.holds(&reading)), [is_own; 4]);
            assert!(!alone.holds(&forced.shown(801, 2)), "a slowed probe");
            let seen = ProbeReading {
                throughput: 673,
                chain: 800,
            };
            assert_eq!(forced.alone(&[readings[1], seen]), None, "one was seen");
            assert_eq!(forced.alone(&[]), None);
        }
    }
}
