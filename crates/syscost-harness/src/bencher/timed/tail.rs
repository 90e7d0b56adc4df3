//! The tail of a distribution, which batch means hide: operations timed individually.

use super::Batch;
use crate::bencher::body::Body;
use crate::bencher::plan::{MIN_SAMPLES, Plan};
use crate::bencher::sampling::{GATE_ALONE, GIVE_UP};
use crate::failure::Failure;

/// By what factor batches may be longer if all their operations are timed: the probes around them
/// then take little of the time.
const LAPS_BATCH: u64 = 8;

/// How many of their operations are wanted for each that is wanted where operations are timed one
/// at a time: enough for p99.99 of six rounds.
const LAPS_PER_SINGLE: usize = 50;

/// How long they may take, in times of the samples.
const LAPS_TIME: f64 = 3.0;

impl Plan<'_> {
    /// Whether an operation counts that was timed alone, or in a batch, by whether its core was
    /// undisturbed. In an uninterrupted series all of them do: what matters there is how its CPU
    /// slept, and a choice of some could be one of a state.
    fn counts(&self, is_undisturbed: bool) -> bool {
        is_undisturbed || self.is_uninterrupted
    }

    /// Times operations individually, for the tail that batch means hide; usually only those on an
    /// undisturbed core count. Each comes right after `warm_up` untimed ones.
    pub(super) fn time_tail(
        &mut self,
        typical_ns: f64,
        warm_up: u64,
        body: &mut impl Body,
    ) -> Result<(), Failure> {
        let each_ns = (1 + warm_up) as f64 * typical_ns.max(1.0);
        let affordable = (self.given.effort.case_ns / each_ns) as u32;
        let most = self.given.effort.singles;
        let wanted = affordable.clamp(MIN_SAMPLES.min(most), most);
        // Asking about the partners' cores takes longer than most operations.
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.watch_partners(Vec::new());
        }
        // Where the operation slows the core itself, the probe before it decides.
        let by_before = self.findings.details.contains_key(GATE_ALONE);
        let (mut own, mut shared) = (0, 0);
        while own < wanted && own + shared < 2 * wanted && (own > 0 || shared < GIVE_UP) {
            self.wait_before_sample();
            self.take_seen();
            let ns = self.time_warm(body, 1, warm_up)? - self.given.clock_cost.read_ns;
            self.done.operations += warm_up + 1;
            let seen = self.take_seen();
            match self.counts(seen.is_undisturbed() || (by_before && !seen.began_shared())) {
                true => {
                    self.record_single(ns);
                    own += 1;
                }
                false => shared += 1,
            }
        }
        Ok(())
    }

    /// Adds the operations of the samples that count to the histogram.
    pub(super) fn record_laps(&mut self, samples: Vec<Vec<f64>>) {
        for (sample, laps) in samples.into_iter().enumerate() {
            if self.counts(!self.is_disturbed(sample as u32)) {
                laps.into_iter().for_each(|ns| self.record_single(ns));
            }
        }
    }

    /// Makes further batches whose operations are all timed, for the tail alone; usually only
    /// those on undisturbed cores count.
    pub(super) fn time_further_laps(
        &mut self,
        batch: Batch,
        body: &mut impl Body,
    ) -> Result<(), Failure> {
        let iterations = (LAPS_BATCH * batch.iterations).min(body.max_iterations());
        let warm_up = batch.warm_up(body);
        let wanted = LAPS_PER_SINGLE * self.given.effort.singles as usize;
        let limit_ns = LAPS_TIME * self.given.effort.case_ns;
        let begun = self.given.clock.start();
        let (mut own, mut shared) = (0, 0);
        loop {
            let clock = self.given.clock;
            let spent_ns = clock.to_ns(clock.stop().ticks.saturating_sub(begun));
            let is_hopeless = own == 0 && shared >= GIVE_UP;
            if own >= wanted
                || spent_ns + iterations as f64 * batch.iteration_ns > limit_ns
                || is_hopeless
            {
                return Ok(());
            }
            self.time_watched(body, iterations, warm_up)?;
            self.done.operations += warm_up + iterations;
            let seen = self.take_seen();
            let counts = self.counts(seen.is_undisturbed());
            let Some(laps) = body.laps().filter(|laps| !laps.is_void()) else {
                continue;
            };
            match counts {
                true => {
                    let laps = laps.of_batch(iterations)?;
                    own += laps.len();
                    laps.into_iter().for_each(|ns| self.record_single(ns));
                }
                false => shared += 1,
            }
        }
    }
}
