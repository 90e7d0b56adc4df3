//! Turning what was measured into the run document.

use std::sync::atomic::Ordering;

use syscost_results::estimate::frequency;
use syscost_results::run::{Frequency, Run, SCHEMA_VERSION, Tool};
use syscost_results::stats::order::{median, quantile};
use syscost_results::stats::student;

use syscost_sys::counters::cpu_times;

use super::{Finished, INTERRUPTED, Session, computed};
use crate::doctor;
use crate::worker::is_of_tracer;

impl Session<'_> {
    /// Returns the document of what was measured. The journal of an interrupted run is kept, so
    /// that it can be resumed.
    pub fn finish(mut self, keep_samples: bool) -> Finished {
        let interrupted = self.interrupted.load(Ordering::Relaxed);
        // Listen once more to confirm what undisturbed cores show.
        if !interrupted && self.states.iter().any(|state| !state.rounds.is_empty()) {
            self.listen_again();
        }
        let fewest = self.header.config.min_rounds as usize;
        let complete = !interrupted
            && self
                .states
                .iter()
                .all(|state| !state.cut && (!state.is_active() || state.counting().1 >= fewest));
        let missing = if interrupted {
            INTERRUPTED
        } else {
            "the time budget was spent"
        };
        let frequencies = self.frequencies();
        let usual = frequencies.usual();
        let mut measurements: Vec<_> = self
            .states
            .iter()
            .map(|state| state.measurement(true, missing, &frequencies, self.kept.of(state)))
            .collect();
        for (index, state) in self.states.iter().enumerate() {
            if state.row.benchmark.computation.is_some() {
                let measured = self
                    .states
                    .iter()
                    .map(|state| &state.row)
                    .zip(&measurements);
                let kept = self.kept.of(state);
                measurements[index] = computed(
                    &state.row,
                    measured,
                    state.target_half_width,
                    kept,
                    &self.here,
                );
            }
        }
        let known = frequency::known(self.states.iter().flat_map(|state| &state.rounds));
        if self.is_ordinary() {
            // A run that was cut short knows the frequency, but no row well enough.
            let states = self
                .states
                .iter()
                .take(if complete { usize::MAX } else { 0 });
            let own = frequency::usual(known.clone());
            let rows = states.zip(&measurements);
            self.kept.add(&self.header.machine, own, rows);
        }
        if !keep_samples {
            for row in &mut measurements {
                row.samples = None;
            }
        }
        let mut config = self.header.config.clone();
        config.worker_start_ms = median(&self.started_in_ms);
        let duration_s = self.elapsed().as_secs_f64();
        let clock = self.clock.report();
        // The maximum over the CPUs that measured.
        let stolen = |cpu: &u32| {
            let passed = cpu_times(*cpu).ok()? - *self.times.get(cpu)?;
            Some(100.0 * passed.steal_share())
        };
        let steal = config.cpus.iter().filter_map(stolen).reduce(f64::max);
        for noise in &mut self.header.noise {
            let rounds = self.states.iter().flat_map(|state| &state.rounds);
            let here = rounds.filter(|round| round.cpu == noise.cpu);
            let shares: Vec<f64> = here.filter_map(|round| round.alone_percent).collect();
            noise.measured_alone_percent = (!shares.is_empty()).then(|| student::mean(&shares));
        }
        let mut warnings = std::mem::take(&mut self.header.warnings);
        doctor::add_noise(&mut warnings, &self.header.noise);
        let mut evidence = measurements.iter().flat_map(|row| &row.evidence);
        let traced = evidence.any(is_of_tracer);
        warnings.extend(doctor::warnings_after(&clock, steal));
        warnings.extend(doctor::late_tracer(traced, &warnings));
        warnings.extend(doctor::converted(&measurements));
        doctor::worst_first(&mut warnings);
        let mut run = Run {
            schema_version: SCHEMA_VERSION,
            tool: Tool {
                name: "syscost".to_owned(),
                version: self.header.tool_version,
            },
            id: self.header.id,
            started: self.header.started,
            duration_s,
            complete,
            machine: self.header.machine,
            peer: self.header.peer,
            nfs: self.header.nfs,
            directories: self.header.directories,
            // Known to the command that repeats them.
            studies: Vec::new(),
            clock,
            core_ghz: usual,
            frequency: usual.map(|usual_ghz| Frequency {
                usual_ghz,
                low_ghz: quantile(&known, 0.05).unwrap_or(usual_ghz),
                high_ghz: quantile(&known, 0.95).unwrap_or(usual_ghz),
                is_of_machine: frequencies.is_of_machine(),
            }),
            noise: self.header.noise,
            config,
            warnings,
            measurements,
        };
        run.withhold_contradictions();
        Finished {
            run,
            journal: self.journal,
        }
    }

    /// Whether this program measured: others, and halves of a pair, say nothing about the next run.
    fn is_ordinary(&self) -> bool {
        !self.is_of_pair && self.header.config.program.is_none()
    }
}
