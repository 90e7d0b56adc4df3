//! Discarding samples that were judged by what a shared core shows, because nothing else had been seen yet.

use syscost_results::RoundSamples;
use syscost_results::measurement::{Cause, Disturbance};

use super::Session;
use crate::cores::{Heard, known};

impl Session<'_> {
    /// Learns from looks what cores show while they are ours. If that is less than was believed,
    /// what was measured so far counts as taken on shared cores, and its rows are measured again.
    /// Returns whether that is so.
    pub(super) fn learn(&mut self, heard: &mut [Heard]) -> bool {
        let has_learnt = self.cores.learn(heard);
        if has_learnt {
            let header = &self.header;
            if let (Some(file), Some(lowest)) = (&self.known_cores, self.cores.lowest()) {
                known::remember(
                    file,
                    &header.machine,
                    &header.tool_version,
                    self.cores.grain,
                    lowest,
                );
            }
            self.invalidate();
        }
        for one in heard {
            self.cores.annotate(one);
        }
        has_learnt
    }

    /// Treats all rounds so far as taken on shared cores.
    pub(super) fn invalidate(&mut self) {
        for state in &mut self.states {
            state.rounds.iter_mut().for_each(invalidate);
            state.settled &= state.cut;
        }
        // The result of the first listening has the same flaw.
        for noise in &mut self.header.noise {
            let alone = self.cores.alone(noise.cpu);
            noise.alone_ratio = alone.map(|alone| alone.ratio);
            noise.alone_percent = None;
            noise.shared_slowdown_percent = None;
        }
    }
}

/// Treats all samples of a round as taken on a shared core, if they were judged at all.
pub(super) fn invalidate(round: &mut RoundSamples) {
    if round.alone_percent.is_none() {
        return;
    }
    round.alone_percent = Some(0.0);
    for sample in 0..round.values.len() as u32 {
        let cause = Cause::SharedCore;
        let is_tagged = |one: &Disturbance| (one.sample, one.cause) == (sample, cause);
        if !round.disturbed.iter().any(is_tagged) {
            round.disturbed.push(Disturbance { sample, cause });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubted_round_does_not_count() {
        let mut round = RoundSamples {
            values: vec![1.0; 4],
            alone_percent: Some(90.0),
            disturbed: vec![Disturbance {
                sample: 2,
                cause: Cause::SharedCore,
            }],
            ..RoundSamples::default()
        };
        assert!(round.is_undisturbed());
        invalidate(&mut round);
        assert!(!round.is_undisturbed());
        assert_eq!((round.disturbed.len(), round.alone_percent), (4, Some(0.0)));
        let mut unseen = RoundSamples {
            values: vec![1.0; 4],
            ..RoundSamples::default()
        };
        invalidate(&mut unseen);
        assert!(unseen.disturbed.is_empty());
    }
}
