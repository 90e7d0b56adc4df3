//! Which CPU measures: reconsidered throughout the run, by how much of the time its core is ours.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use syscost_results::Machine;
use syscost_results::run::{Noise, Warning};
use syscost_sys::clock::Clock;
use syscost_sys::counters::{CpuTimes, cpu_times};
use syscost_sys::cpu;
use syscost_sys::topology::{Cache, Topology};

use super::frequencies::Frequencies;
use super::{Options, Session, SessionError};
use crate::cores::{Cores, Heard, frequency_is_known, known};
use crate::noise;

/// How long to listen to all CPUs between rounds.
const LISTEN: Duration = Duration::from_millis(20);

/// Minimum time to listen at the beginning of a run where no earlier one has seen what undisturbed
/// cores of this model show.
const UNKNOWN_LISTEN: Duration = Duration::from_secs(1);

/// Minimum time for which a choice holds.
const HOLDS: Duration = Duration::from_secs(1);

/// Another CPU is taken if its core is ours for at least this much more of the time, in percentage
/// points: a change costs the caches nothing, but gives the reader more to think about.
const BETTER: f64 = 10.0;

/// Maximum number of CPUs probed for noise, when none are named.
const MAX_PROBED: usize = 8;

impl Session<'_> {
    /// Chooses the CPU that measures next, if the last choice is old, and learns what its core
    /// shows. Returns whether the knowledge about cores was refuted.
    pub(super) fn choose_cpu(&mut self) -> bool {
        self.follow_cpus();
        if !self.replay.is_empty() || self.chosen.elapsed() < HOLDS {
            return false;
        }
        self.listen_again()
    }

    /// Goes on with the CPUs that are left when the control group's set has changed: a container
    /// may be given others at any time.
    fn follow_cpus(&mut self) {
        // The system drops those of them that may not be used.
        let _ = cpu::pin_to(&self.allowed);
        let usable = cpu::allowed().unwrap_or_else(|_| self.usable.clone());
        if usable != self.usable {
            let (measurable, cpu) = left(&self.header.candidates, self.cpu, &usable);
            self.header.warnings.push(Warning {
                code: "cpus".to_owned(),
                message: format!(
                    "the CPUs that may be used became {} during the run, instead of {}",
                    cpu::format_list(&usable),
                    cpu::format_list(&self.usable)
                ),
                advice: "rows are measured on those that are left; those that need others have \
                         fewer rounds or none"
                    .to_owned(),
            });
            if !usable.contains(&self.cpu) {
                self.cpu = cpu;
                self.note_used(cpu);
            }
            (self.measurable, self.usable) = (measurable, usable);
        }
        keep_off(self.cpu, &self.usable);
    }

    /// Listens to the CPUs that may measure; otherwise as [`Session::choose_cpu`].
    pub(super) fn listen_again(&mut self) -> bool {
        let Some(clock) = self.clock.calibrated() else {
            return false;
        };
        let mut heard = noise::probe(&self.measurable, &clock, self.cores.grain, LISTEN);
        let has_learnt = self.learn(&mut heard);
        let own = |cpu: u32| {
            let mut noise = heard.iter().map(|one: &Heard| &one.noise);
            noise
                .find(|noise| noise.cpu == cpu)
                .and_then(|noise| noise.alone_percent)
        };
        let best = noise::quietest(
            &heard
                .iter()
                .map(|one| one.noise.clone())
                .collect::<Vec<_>>(),
        );
        if let Some(best) = best
            && own(best).unwrap_or(0.0) > own(self.cpu).unwrap_or(100.0) + BETTER
        {
            self.cpu = best;
            self.note_used(best);
        }
        // The probes moved this process to the CPUs that they listened to.
        keep_off(self.cpu, &self.usable);
        self.chosen = Instant::now();
        has_learnt
    }

    /// Records in the document that this CPU measured.
    pub(super) fn note_used(&mut self, cpu: u32) {
        if !self.header.config.cpus.contains(&cpu) {
            self.header.config.cpus.push(cpu);
        }
        let noise = self.header.noise.iter_mut();
        noise
            .filter(|noise| noise.cpu == cpu)
            .for_each(|noise| noise.used = true);
    }

    /// The frequencies of the samples so far.
    pub(super) fn frequencies(&self) -> Frequencies {
        let rounds = self.states.iter().flat_map(|state| &state.rounds);
        Frequencies::of(self.kept.before.usual_ghz, self.common_ghz, rounds)
    }
}

/// The candidates that may still be used, and which of them measures if this one may not: another
/// CPU where none is left.
fn left(candidates: &[u32], cpu: u32, usable: &[u32]) -> (Vec<u32>, u32) {
    let still = candidates.iter().filter(|cpu| usable.contains(cpu));
    let mut still: Vec<u32> = still.copied().collect();
    if still.is_empty() {
        still.extend(usable.first());
    }
    let cpu = match still.contains(&cpu) {
        true => cpu,
        false => still.first().copied().unwrap_or(cpu),
    };
    (still, cpu)
}

/// How these CPUs have spent their time so far.
pub(super) fn times_of(cpus: &[u32]) -> BTreeMap<u32, CpuTimes> {
    let times = |cpu: &u32| Some((*cpu, cpu_times(*cpu).ok()?));
    cpus.iter().filter_map(times).collect()
}

/// Those of these CPUs that can replace this one: with the same kind of core and as large caches,
/// at the same memory node.
pub(super) fn alike(cpus: &[u32], cpu: u32) -> Vec<u32> {
    let topology = Topology::here();
    let place = |number: u32| {
        let own = topology.cpu(number)?;
        let cache = |cache: &Cache| (cache.level, cache.size_bytes);
        Some((own.node, own.caches.iter().map(cache).collect::<Vec<_>>()))
    };
    let is_alike = |other: &u32| cpu::kind(*other) == cpu::kind(cpu) && place(*other) == place(cpu);
    cpus.iter().copied().filter(is_alike).collect()
}

/// Keeps the coordinator off the measuring CPU if there is another; otherwise it sleeps meanwhile.
pub(super) fn keep_off(cpu: u32, allowed: &[u32]) {
    let others: Vec<u32> = allowed
        .iter()
        .copied()
        .filter(|other| *other != cpu)
        .collect();
    if !others.is_empty() {
        let _ = cpu::pin_to(&others);
    }
}

/// Listens to these CPUs, and finds what looks at their cores show while they are ours.
pub(super) fn listen(
    cpus: &[u32],
    clock: &Clock,
    options: &Options,
    machine: &Machine,
) -> (Cores, Vec<Noise>) {
    let grain = clock.grain_ticks();
    let file = options.known_cores.as_deref();
    let known = file.and_then(|file| known::recall(file, machine, options.version, grain));
    let time = match known {
        Some(_) => options.profile.probe(),
        None => options.profile.probe().max(UNKNOWN_LISTEN),
    };
    let mut heard = noise::probe(cpus, clock, grain, time);
    let cores = Cores::find(&mut heard, frequency_is_known(clock), known);
    if let (Some(file), Some(alone)) = (file, cores.lowest()) {
        known::remember(file, machine, options.version, grain, alone);
    }
    (cores, heard.into_iter().map(|one| one.noise).collect())
}

/// The CPUs to probe: those requested, or the allowed ones up to [`MAX_PROBED`].
pub(super) fn probed_cpus(asked: Option<&[u32]>) -> Result<Vec<u32>, SessionError> {
    // Isolated CPUs are not among those that a process begins with.
    let admitted = cpu::admit(asked.unwrap_or_default());
    let allowed = admitted
        .or_else(|_| cpu::allowed())
        .unwrap_or_else(|_| vec![0]);
    match asked {
        Some(asked) => match asked.iter().find(|cpu| !allowed.contains(cpu)) {
            Some(&cpu) => Err(SessionError::Cpu {
                cpu,
                reason: format!("this process may use {}", cpu::format_list(&allowed)),
            }),
            None => Ok(asked.to_vec()),
        },
        // The last ones: the first serve most interrupts.
        None => Ok(allowed[allowed.len().saturating_sub(MAX_PROBED)..].to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_the_cpus_measures() {
        assert_eq!(left(&[0, 1], 1, &[0, 1]), (vec![0, 1], 1));
        assert_eq!(left(&[0, 1], 1, &[0]), (vec![0], 0));
        assert_eq!(left(&[0, 1, 2], 1, &[1, 2, 3]), (vec![1, 2], 1));
        assert_eq!(left(&[0, 1], 1, &[4, 5]), (vec![4], 4));
        assert_eq!(left(&[1], 1, &[]), (vec![], 1));
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused() {
        let refused = probed_cpus(Some(&[4095])).unwrap_err().to_string();
        assert!(refused.contains("CPU 4095 cannot be used"), "{refused}");
    }
}
