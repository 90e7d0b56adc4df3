//! The timed pass: takes samples, counts nothing but disturbances.

mod sleeping;
mod tail;
pub(super) mod warm_up;

use syscost_stats::order::median;

use super::body::{Body, MAX_ITERATIONS};
use super::clocked::clocked;
use super::plan::Plan;
use super::watch::MAX_WAITED;
use crate::failure::Failure;

/// An operation at least this many timer pairs long is also timed individually, for its distribution's tail.
const SINGLES_FROM_PAIRS: f64 = 20.0;

/// How often a trial of a batch's length is repeated in which its tasks waited for a CPU: as often
/// as a batch of a few time slices is hit though others have most of the CPU.
const TRIALS: usize = 3;

/// An earlier process's number of iterations holds unless it fills less than this share of the
/// batch: a neighbour on the core at most doubles a time, and so may a slower state of the memory.
const MIN_FILLED: f64 = 0.25;

/// Maximum number of batches in a row with an operation that does not count.
const MAX_VOID: u32 = 16;

/// This fraction of a batch precedes it as an untimed warm-up, which refills the caches after
/// probes of the core and readings of the kernel's counters. Without it, a batch costs 0.4 to 4 us
/// more, however long it is.
pub(super) const WARM_UP_PART: u64 = 4;

/// Minimum number of iterations in a warm-up, as long as they take no longer than `WARM_UP_NS`:
/// round trips by a socket get cheaper over the first eight (13.2, 11.7, then 11.1 us).
const WARM_UP_ITERATIONS: f64 = 8.0;
const WARM_UP_NS: f64 = 200_000.0;

/// Maximum number of iterations that warm up for an individually timed operation, of which there
/// are many.
const SINGLE_WARM_UP: u64 = 2;

/// Preparing a batch cools the caches for its first operations, despite any warm-up. Such batches
/// are longer by this factor. Sixteen page faults cost 16 % more each than 128, thirty-two 2 %.
const PREPARED_FACTOR: f64 = 4.0;

/// Batches of what sleeps are longer by this factor: the mean of a single round trip would show one
/// state of the sleeping CPUs, not the usual mixture.
const SLEEPING_FACTOR: f64 = 4.0;

/// Maximum share by which sums of times differ that are equal but for their rounding.
const MAX_ROUNDING: f64 = 1e-6;

/// Minimum number of undisturbed pairs of the timer alone that determine its cost.
const MIN_PAIRS: usize = 3;

/// The batches of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Batch {
    /// How many iterations are timed together.
    pub(super) iterations: u64,
    /// Approximate time of one iteration, in ns.
    pub(super) iteration_ns: f64,
}

impl Batch {
    /// How many untimed iterations warm up for it: none if each batch is prepared, since that comes
    /// in between anyway.
    pub(super) fn warm_up(self, body: &(impl Body + ?Sized)) -> u64 {
        let part = self.iterations / WARM_UP_PART;
        if body.is_prepared() {
            return part;
        }
        let least = (WARM_UP_NS / self.iteration_ns).min(WARM_UP_ITERATIONS) as u64;
        part.max(least).min(body.max_iterations())
    }

    /// A batch of the same length with another number of iterations.
    pub(super) fn split(self, iterations: u64) -> Self {
        Self {
            iterations,
            iteration_ns: self.iteration_ns * self.iterations as f64 / iterations as f64,
        }
    }

    /// A batch of one of its iterations.
    fn single(self) -> Self {
        Self {
            iterations: 1,
            ..self
        }
    }
}

/// Fails if the samples together stand for another time than was timed, in ns, of all that was.
fn check_sum(implied_ns: f64, timed_ns: f64, all_ns: f64) -> Result<(), Failure> {
    if (implied_ns - timed_ns).abs() <= MAX_ROUNDING * all_ns {
        return Ok(());
    }
    let what = format!("has values that stand for {implied_ns} ns where {timed_ns} were timed");
    Err(Failure::Broken(what))
}

impl Plan<'_> {
    pub(super) fn time_batches(
        &mut self,
        per_iteration: u64,
        body: &mut impl Body,
    ) -> Result<(), Failure> {
        let batch = self.prepare_batches(per_iteration, body)?;
        let (iterations, warm_up) = (batch.iterations, batch.warm_up(body));
        let operations = iterations * per_iteration;
        self.warm_up_team(batch, per_iteration, body)?;
        self.begin_timed();
        let (mut shortest, mut laps) = (f64::INFINITY, Vec::new());
        let mut timed_ns = 0.0;
        self.sample(operations, |plan| {
            let ns = plan.time_counting(per_iteration, body, iterations, warm_up)?;
            if body.was_disturbed() {
                plan.tag_preempted();
            }
            laps.extend(
                body.laps()
                    .map(|laps| laps.of_batch(iterations))
                    .transpose()?,
            );
            shortest = shortest.min(ns);
            timed_ns += ns;
            let ns = ns / operations as f64;
            Ok((
                plan.findings.bytes.map_or(ns, |bytes| bytes * 1e9 / ns),
                None,
            ))
        })?;
        self.judge_timed(per_iteration, body.usage().is_some());
        let readings = 1 + laps.first().map_or(0, Vec::len);
        let typical = self.check_values(operations, timed_ns, shortest / readings as f64)?;
        if body.laps().is_some() {
            self.record_laps(laps);
            return self.time_further_laps(batch, body);
        }
        // A histogram holds times, and a rate has none.
        if self.findings.bytes.is_none()
            && per_iteration == 1
            && !body.is_prepared()
            && typical >= SINGLES_FROM_PAIRS * self.given.clock_cost.read_ns
        {
            let warm_up = batch.single().warm_up(body).min(SINGLE_WARM_UP);
            self.time_tail(typical, warm_up, body)?;
        }
        Ok(())
    }

    /// The typical sample. Fails if the samples, each the cost of one of these operations, are together another
    /// time than was timed. Between two readings of the clock so long passed at least.
    fn check_values(
        &mut self,
        operations: u64,
        timed_ns: f64,
        shortest_ns: f64,
    ) -> Result<f64, Failure> {
        let bytes = self.findings.bytes;
        let each_ns = |value: &f64| bytes.map_or(*value, |bytes| bytes * 1e9 / value);
        let each = self.findings.samples.values.iter().map(each_ns);
        check_sum(each.sum::<f64>() * operations as f64, timed_ns, timed_ns)?;
        self.note_overhead(shortest_ns);
        Ok(median(&self.findings.samples.values).unwrap_or(0.0))
    }

    /// Times a batch, in ns, and repeats it while it has an operation that does not count.
    fn time_counting(
        &mut self,
        per_iteration: u64,
        body: &mut impl Body,
        iterations: u64,
        warm_up: u64,
    ) -> Result<f64, Failure> {
        for _ in 0..MAX_VOID {
            let ns = self.time_watched(body, iterations, warm_up)?;
            self.done.operations += (warm_up + iterations) * per_iteration;
            if !body.laps().is_some_and(|laps| laps.is_void()) {
                return Ok(ns);
            }
        }
        Err(Failure::Failed(format!(
            "in each of {MAX_VOID} batches of {iterations} an operation was lost"
        )))
    }

    /// Waits for the core to be ours, and times iterations between probes of the core of the task
    /// that works with this one on another machine.
    fn time_watched(
        &mut self,
        body: &mut (impl Body + ?Sized),
        iterations: u64,
        warm_up: u64,
    ) -> Result<f64, Failure> {
        self.take_seen();
        // Before that wait: an answer takes time, in which our own core may become shared again.
        let patience_ns = self.given.effort.patience_ns;
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.wait_far(patience_ns, || body.far_core_is_exclusive())?;
        }
        self.wait_before_sample();
        let ns = self.time_warm(body, iterations, warm_up)?;
        if let Some(core_probes) = &mut self.core_probes
            && let Some(is_exclusive) = body.far_core_is_exclusive()?
        {
            core_probes.note_far_after(is_exclusive);
        }
        Ok(ns)
    }

    pub(super) fn time_difference(
        &mut self,
        per_iteration: u64,
        mut baseline: impl Body,
        mut body: impl Body,
        share: f64,
    ) -> Result<(), Failure> {
        let batch = self.prepare_batches(per_iteration, &mut body)?;
        let (iterations, warm_up) = (batch.iterations, batch.warm_up(&body));
        let operations = iterations * per_iteration;
        let events = operations as f64 * share;
        let (mut more_ns, mut all_ns) = (0.0, 0.0);
        self.sample(operations, |plan| {
            plan.wait_before_sample();
            plan.probe_before();
            body.warm_up(warm_up)?;
            baseline.warm_up(warm_up)?;
            // A B B A: an even drift during a sample cancels.
            let first = plan.time_bare(&mut baseline, iterations)?;
            let with =
                plan.time_bare(&mut body, iterations)? + plan.time_bare(&mut body, iterations)?;
            let without = first + plan.time_bare(&mut baseline, iterations)?;
            plan.probe_after();
            plan.done.operations += warm_up * per_iteration + 2 * operations;
            more_ns += with - without;
            all_ns += with + without;
            Ok((
                (with - without) / (2.0 * events),
                Some(with / (2.0 * events)),
            ))
        })?;
        let each: f64 = self.findings.samples.values.iter().sum();
        check_sum(each * 2.0 * events, more_ns, all_ns)?;
        // A sample consists of four batches with twice the events.
        self.findings.grain *= 2.0 / share;
        Ok(())
    }

    pub(super) fn time_singles<S>(
        &mut self,
        state: &mut S,
        mut prepare: impl FnMut(&mut S) -> Result<(), Failure>,
        mut op: impl FnMut(&mut S) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // Each sample is a pair: the timer around nothing, then around the operation, after the
        // same preparation.
        for _ in 0..3 {
            prepare(state)?;
            op(state)?;
            self.done.operations += 1;
        }
        let mut empty = Vec::with_capacity(self.given.effort.samples as usize);
        let mut timed_ns = 0.0;
        self.sample(1, |plan| {
            plan.wait_before_sample();
            // The probes precede and follow both preparations, not each operation: during a probe
            // the core fetches ahead, and would warm what must be cold.
            plan.probe_before();
            prepare(state)?;
            empty.push(plan.clocked(|| Ok(()))?);
            prepare(state)?;
            // What waits in its preparation is none of its own.
            plan.begin_stretch();
            let ns = plan.clocked(|| op(state))?;
            plan.probe_after();
            plan.done.operations += 1;
            timed_ns += ns;
            Ok((ns, None))
        })?;
        let timer_ns = self.subtract_timer(empty);
        let each = self.findings.samples.values.iter().map(|ns| ns + timer_ns);
        check_sum(each.sum(), timed_ns, timed_ns)
    }

    /// Subtracts the timer's own cost, `empty` of each pair, from the individually timed operations, and
    /// returns it, in ns.
    fn subtract_timer(&mut self, empty: Vec<f64>) -> f64 {
        // Uses pairs from an undisturbed core, if there are enough: on a shared one timer and
        // operation are slower.
        let own: Vec<usize> = (0..empty.len())
            .filter(|index| !self.is_disturbed(*index as u32))
            .collect();
        let pairs: Vec<f64> = match own.len() >= MIN_PAIRS {
            true => own.iter().map(|index| empty[*index]).collect(),
            false => empty,
        };
        let overhead = median(&pairs).unwrap_or(0.0);
        self.findings.samples.raw = self.findings.samples.values.clone();
        self.findings
            .samples
            .values
            .iter_mut()
            .for_each(|value| *value -= overhead);
        self.findings.grain *= 2.0;
        for index in own {
            let ns = self.findings.samples.values[index];
            self.record_single(ns);
        }
        self.detail("timer_overhead_ns", overhead);
        overhead
    }

    pub(super) fn time_observations(
        &mut self,
        mut prepare: impl FnMut() -> Result<(), Failure>,
        mut observation: impl FnMut() -> Result<f64, Failure>,
        times: Option<f64>,
    ) -> Result<(), Failure> {
        self.sample(1, |plan| {
            prepare()?;
            plan.done.operations += 1;
            plan.wait_before_sample();
            plan.probe_before();
            let mut value = f64::NAN;
            let took_ns = plan.clocked(|| {
                value = observation()?;
                Ok(())
            })?;
            plan.probe_after();
            if let Some(times) = times {
                plan.waited.of_ns = times * value;
            }
            plan.done.observed.push((value, took_ns));
            Ok((value, None))
        })
    }

    /// Warms up and determines the batch. Compiled once for all loops: none of these batches is a sample.
    pub(super) fn prepare_batches(
        &mut self,
        per_iteration: u64,
        body: &mut dyn Body,
    ) -> Result<Batch, Failure> {
        let factor = match (body.is_prepared(), self.is_uninterrupted) {
            (true, _) => PREPARED_FACTOR,
            (false, true) => SLEEPING_FACTOR,
            (false, false) => 1.0,
        };
        let target =
            (factor * self.given.effort.batch_ns).max(self.given.clock_cost.shortest_batch_ns());
        let mut iterations = match self.given.iterations {
            Some(iterations) => (iterations / per_iteration).max(1),
            None => self.iterations_lasting(target, per_iteration, body)?,
        };
        let shortest = self
            .warm_up_case(iterations, per_iteration, body)?
            .unwrap_or(target);
        let iteration_ns = shortest / iterations as f64;
        // The first batches ran cold; now that the cost is known, fill the target. All processes take
        // the same number, unless it was planned by what others held up.
        let least = self.given.iterations.map_or(0.7, |_| MIN_FILLED);
        if shortest < least * target {
            iterations =
                ((iterations as f64 * target / shortest) as u64).min(body.max_iterations());
        }
        Ok(Batch {
            iterations,
            iteration_ns,
        })
    }

    /// Doubles the iterations until one batch lasts `target` ns, or the maximum number of
    /// iterations is reached.
    pub(super) fn iterations_lasting(
        &mut self,
        target: f64,
        per_iteration: u64,
        body: &mut dyn Body,
    ) -> Result<u64, Failure> {
        let most = body.max_iterations();
        let mut iterations: u64 = 1;
        loop {
            let ns = self.time_trial(body, iterations, per_iteration)?;
            // An interruption lengthens one batch, hardly two in a row.
            if ns >= target && self.time_trial(body, iterations, per_iteration)? >= target {
                return Ok(iterations);
            }
            if iterations >= most && most < MAX_ITERATIONS {
                let shortest = self.given.clock_cost.shortest_batch_ns();
                if ns >= shortest {
                    return Ok(iterations);
                }
                let at_once = iterations * per_iteration;
                return Err(Failure::Unsupported(format!(
                    "at most {at_once} at once, which take {ns:.0} ns: too short for this clock, which needs {shortest:.0} ns"
                )));
            }
            if iterations >= most {
                return Err(Failure::Refuted(format!(
                    "{iterations} iterations took only {ns:.0} ns: the work was folded away"
                )));
            }
            iterations = (2 * iterations).min(most);
        }
    }

    /// Times a batch, in ns, without the time in which its tasks waited for a CPU: a stall of
    /// milliseconds would make a batch of one operation seem long enough. A wait may also lie
    /// before or after what is timed, so it is repeated where there was one.
    fn time_trial(
        &mut self,
        body: &mut dyn Body,
        iterations: u64,
        per_iteration: u64,
    ) -> Result<f64, Failure> {
        let mut longest_ns = 0.0_f64;
        for _ in 0..TRIALS {
            let before = self.waits.now();
            let ns = self.time_warm(body, iterations, 0)?;
            self.done.operations += iterations * per_iteration;
            let waited_ns = self.waits.since(before).ns;
            if waited_ns <= MAX_WAITED * ns {
                return Ok(ns);
            }
            longest_ns = longest_ns.max(ns - waited_ns);
        }
        Ok(longest_ns)
    }

    /// Times a batch, in ns, right after `warm_up` untimed iterations; the checks around it are not timed.
    /// The probe of the core comes before these iterations: after them it would displace their data from the
    /// caches, as a preparation does.
    #[inline(always)]
    pub(super) fn time_warm(
        &mut self,
        body: &mut (impl Body + ?Sized),
        iterations: u64,
        warm_up: u64,
    ) -> Result<f64, Failure> {
        let before;
        if body.is_prepared() {
            body.warm_up(warm_up)?;
            body.before(iterations);
            before = self.timed_usage(body);
            self.probe_before();
        } else {
            before = self.timed_usage(body);
            self.probe_before();
            body.warm_up(warm_up)?;
            body.before(iterations);
        }
        let ns = self.clocked(|| body.run(iterations));
        self.probe_after();
        let ns = ns?;
        if let Some(before) = before {
            let warm_up = if body.is_prepared() { 0 } else { warm_up };
            self.count_timed(body, before, warm_up + iterations, ns);
        }
        body.after(iterations)?;
        Ok(body.took_ns().unwrap_or(ns))
    }

    /// As [`Plan::time_warm`] without probes of the core, which enclose several such legs.
    #[inline(always)]
    fn time_bare(&self, body: &mut impl Body, iterations: u64) -> Result<f64, Failure> {
        body.before(iterations);
        let ns = self.clocked(|| body.run(iterations))?;
        body.after(iterations)?;
        Ok(ns)
    }

    /// Times one call of `body`, in ns. A clock that runs backwards fails the measurement.
    #[inline(always)]
    fn clocked(&self, body: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
        clocked(self.given.clock, body)
    }

    pub(super) fn note_overhead(&mut self, batch_ns: f64) {
        let percent = 100.0 * self.given.clock_cost.read_ns / batch_ns;
        self.detail("overhead_bound_percent", percent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_stand_for_another_time_than_was_timed_are_a_defect() {
        assert_eq!(check_sum(300.0, 300.0 + 1e-5, 900.0), Ok(()));
        for implied_ns in [150.0, 300.1, f64::NAN] {
            let checked = check_sum(implied_ns, 300.0, 900.0);
            assert!(matches!(checked, Err(Failure::Broken(_))), "{implied_ns}");
        }
    }
}
