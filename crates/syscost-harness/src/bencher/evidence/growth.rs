//! How much memory operations add to this process, or give back, according to the kernel's page
//! tables before and after.

use syscost_results::Evidence;
use syscost_sys::Unsupported;
use syscost_sys::counters::resident_anonymous_bytes;

use crate::expect::Expect;

/// Growth of resident memory. Read only where an expectation needs it: the kernel walks all pages.
pub(super) struct Growth {
    expect: Option<Expect>,
    begun: Result<u64, Unsupported>,
    gained: Result<f64, Unsupported>,
}

impl Growth {
    pub(super) fn new(expect: Option<Expect>) -> Self {
        Self {
            expect,
            begun: Ok(0),
            gained: Ok(0.0),
        }
    }

    /// Reads the memory right before operations, after their preparation.
    pub(super) fn begin(&mut self) {
        if self.expect.is_some() {
            self.begun = resident_anonymous_bytes();
        }
    }

    /// Reads the memory right after the operations.
    pub(super) fn end(&mut self) {
        if self.expect.is_some() {
            let (sum, begun) = (self.gained.clone(), self.begun.clone());
            self.gained =
                resident_anonymous_bytes().and_then(|now| Ok(sum? + (now as f64 - begun? as f64)));
        }
    }

    pub(super) fn judge(self, operations: u64) -> Option<Evidence> {
        const SOURCE: &str = "smaps_rollup";
        let expect = self.expect?;
        Some(match self.gained {
            Ok(bytes) => expect.judge(bytes / operations as f64, SOURCE),
            Err(reason) => expect.unverified(SOURCE, reason.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use syscost_results::Verdict;
    use syscost_sys::cpu;
    use syscost_sys::partner::{Between, Partner};

    use super::*;
    use crate::expect::{Counter, within};
    use syscost_sys::or_skip;

    /// Above malloc's maximum threshold: mapped anew each time, and given back.
    const BYTES: usize = 40 << 20;

    /// The verdict where `BYTES` are expected and this many are written.
    fn verdict(written: usize) -> Verdict {
        let bytes = BYTES as f64;
        let expect = within(Counter::ResidentBytes, 0.9 * bytes, 1.1 * bytes);
        let mut growth = Growth::new(Some(expect));
        growth.begin();
        let written = black_box(vec![1_u8; written]);
        growth.end();
        drop(written);
        let evidence = growth.judge(1).expect("expected");
        evidence.verdict
    }

    #[test]
    fn what_is_written_between_begin_and_end_is_gained() {
        assert_eq!(Growth::new(None).judge(1), None);
        let cpus = or_skip!(cpu::allowed(), "no affinity here");
        // In a separate process, since other tests of this one allocate memory meanwhile.
        let alone = Partner::start(Between::Processes, &cpus, || {
            let seen = [BYTES, 0, 2 * BYTES].map(verdict);
            let expected = [Verdict::Confirmed, Verdict::Refuted, Verdict::Refuted];
            match seen == expected || seen == [Verdict::Unverified; 3] {
                true => Ok(()),
                false => Err(format!("{seen:?}")),
            }
        });
        alone.expect("started").join().expect("judged rightly");
    }
}
