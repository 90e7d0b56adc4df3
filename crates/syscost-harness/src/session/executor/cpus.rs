//! Which CPUs may measure, and which one does.

use std::collections::BTreeMap;
use std::time::Instant;

use syscost_results::run::Warning;
use syscost_sys::counters::{CpuTimes, cpu_times};
use syscost_sys::cpu;
use syscost_sys::topology::{Cache, Topology};

use crate::session::request::SessionError;

/// Maximum number of CPUs probed for noise, when none are named.
const MAX_PROBED: usize = 8;

pub(in crate::session) struct Cpus {
    /// The one that measures next, and since when.
    pub(super) current: u32,
    pub(super) chosen: Instant,
    /// Those that may measure, and whether the user named them.
    candidates: Vec<u32>,
    are_named: bool,
    /// Those that could be used at the beginning, and those of them that still can.
    allowed: Vec<u32>,
    pub(super) usable: Vec<u32>,
    /// Those that measured, or were to, the first one first.
    pub(in crate::session) used: Vec<u32>,
    /// How they had spent their time before the run.
    times: BTreeMap<u32, CpuTimes>,
}

impl Cpus {
    /// Those that may be used now. Of the candidates this one measures first; where the user named
    /// them, no other ever does.
    pub(in crate::session) fn new(
        first: u32,
        candidates: &[u32],
        are_named: bool,
        now: Instant,
    ) -> Self {
        let allowed = cpu::allowed().unwrap_or_else(|_| vec![first]);
        keep_off(first, &allowed);
        let times = |cpu: &u32| Some((*cpu, cpu_times(*cpu).ok()?));
        Self {
            current: first,
            chosen: now,
            candidates: candidates.to_vec(),
            are_named,
            times: allowed.iter().filter_map(times).collect(),
            usable: allowed.clone(),
            allowed,
            used: vec![first],
        }
    }

    pub(super) fn measurable(&self) -> Vec<u32> {
        self.left_of(&self.usable)
    }

    /// The candidates among these; another CPU where none is left and none was named.
    fn left_of(&self, usable: &[u32]) -> Vec<u32> {
        let is_left = |cpu: &&u32| usable.contains(cpu);
        let left: Vec<u32> = self.candidates.iter().filter(is_left).copied().collect();
        match usable.first() {
            Some(other) if left.is_empty() && !self.are_named => vec![*other],
            _ => left,
        }
    }

    pub(super) fn note_used(&mut self, cpu: u32) {
        if !self.used.contains(&cpu) {
            self.used.push(cpu);
        }
    }

    pub(super) fn choose(&mut self, cpu: u32) {
        self.current = cpu;
        self.chosen = Instant::now();
        self.note_used(cpu);
        keep_off(cpu, &self.usable);
    }

    /// Goes on with the CPUs that are left when the control group's set has changed: a container
    /// may be given others at any time. Returns what to say of that.
    pub(super) fn follow(&mut self) -> Option<Warning> {
        // The system drops those of them that may not be used.
        let _ = cpu::pin_to(&self.allowed);
        let usable = cpu::allowed().unwrap_or_else(|_| self.usable.clone());
        let warning = (usable != self.usable).then(|| Warning {
            code: "cpus".to_owned(),
            message: format!(
                "the CPUs that may be used became {} during the run, instead of {}",
                cpu::format_list(&usable),
                cpu::format_list(&self.usable)
            ),
            advice: match self.left_of(&usable).is_empty() {
                true => "none of those that --cpus names is left: rows have fewer rounds or none",
                false => {
                    "rows are measured on those that are left; those that need others have \
                     fewer rounds or none"
                }
            }
            .to_owned(),
        });
        if warning.is_some() && !usable.contains(&self.current) {
            let other = self.left_of(&usable).first().copied();
            self.current = other.unwrap_or(self.current);
            self.note_used(self.current);
        }
        self.usable = usable;
        keep_off(self.current, &self.usable);
        warning
    }

    /// The largest share of time that the hypervisor took from one that measured, in percent.
    pub(in crate::session) fn steal_percent(&self) -> Option<f64> {
        let stolen = |cpu: &u32| {
            let passed = cpu_times(*cpu).ok()? - *self.times.get(cpu)?;
            Some(100.0 * passed.steal_share())
        };
        self.used.iter().filter_map(stolen).reduce(f64::max)
    }
}

/// Those of these CPUs that can replace this one: with the same kind of core and as large caches,
/// at the same memory node.
pub(in crate::session) fn alike(cpus: &[u32], cpu: u32) -> Vec<u32> {
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
fn keep_off(cpu: u32, allowed: &[u32]) {
    let others: Vec<u32> = allowed
        .iter()
        .copied()
        .filter(|other| *other != cpu)
        .collect();
    if !others.is_empty() {
        let _ = cpu::pin_to(&others);
    }
}

/// The CPUs to probe: those requested, or the allowed ones up to [`MAX_PROBED`].
pub(in crate::session) fn probed_cpus(asked: Option<&[u32]>) -> Result<Vec<u32>, SessionError> {
    // Isolated CPUs are not among those that a process begins with.
    let admitted = cpu::admit(asked.unwrap_or_default());
    let allowed = admitted
        .or_else(|_| cpu::allowed())
        .unwrap_or_else(|_| vec![0]);
    match asked {
        Some(asked) => match asked.iter().find(|cpu| !allowed.contains(cpu)) {
            Some(&cpu) => {
                let reason = format!("this process may use {}", cpu::format_list(&allowed));
                Err(SessionError::Cpu(cpu, reason))
            }
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
        let left = |candidates: &[u32], are_named, usable: &[u32]| {
            let cpus = Cpus::new(candidates[0], candidates, are_named, Instant::now());
            cpus.left_of(usable)
        };
        for are_named in [false, true] {
            assert_eq!(left(&[0, 1], are_named, &[0, 1]), [0, 1]);
            assert_eq!(left(&[0, 1], are_named, &[0]), [0]);
            assert_eq!(left(&[0, 1, 2], are_named, &[1, 2, 3]), [1, 2]);
            assert_eq!(left(&[1], are_named, &[]), [0; 0]);
        }
        assert_eq!(left(&[0, 1], false, &[4, 5]), [4]);
        assert_eq!(left(&[0], true, &[4, 5]), [0; 0]);
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused() {
        let refused = probed_cpus(Some(&[4095])).unwrap_err().to_string();
        assert!(refused.contains("CPU 4095 cannot be used"), "{refused}");
    }
}
