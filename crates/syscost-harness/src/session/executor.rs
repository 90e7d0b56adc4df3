//! The executor makes records of what is due. It alone starts processes, chooses the CPU that
//! measures and listens to cores.

mod cpus;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use syscost_results::run::{Noise, Warning};
use syscost_results::{Machine, RoundSamples};
use syscost_sys::counters::cpu_times;

pub(super) use self::cpus::{Cpus, alike, probed_cpus};
use super::journal::Record;
use super::request::{Event, Observer, Options};
use crate::benchmark::Entry;
use crate::clock::RunClock;
use crate::cores::known::Known;
use crate::cores::{Cores, Heard};
use crate::failure::Failure;
use crate::noise;
use crate::pass::Pass;
use crate::profile::Effort;
use crate::testbed::Testbed;
use crate::worker::{ClockSettings, Interrupted, Job, JobCase, Launcher};

/// How long to listen to all CPUs between rounds.
const LISTEN: Duration = Duration::from_millis(20);

/// Minimum time to listen at the beginning of a run where no earlier one has seen what undisturbed
/// cores of this model show.
const UNKNOWN_LISTEN: Duration = Duration::from_secs(1);

/// Minimum time for which a choice of the CPU holds.
const HOLDS: Duration = Duration::from_secs(1);

/// Another CPU is taken if its core is ours for at least this much more of the time, in percentage
/// points: a change costs the caches nothing, but gives the reader more to think about.
const BETTER: f64 = 10.0;

/// Share of the time in which the core of the best of these CPUs was ours.
fn best_share(noise: &[Noise]) -> Option<f64> {
    let shares = noise.iter().filter_map(Noise::ours_percent);
    shares.reduce(f64::max).map(|percent| percent / 100.0)
}

/// Minimum share of the time in which a core must be ours for its moments to be met by waiting.
const MIN_OWN: f64 = 0.05;

/// What a worker is to measure, before it is known where.
pub(super) struct Due {
    pub(super) round: u32,
    pub(super) pass: Pass,
    pub(super) benchmark: &'static Entry,
    /// See [`Job`], as for all that follows.
    pub(super) cases: Vec<JobCase>,
    pub(super) keeps_order: bool,
    pub(super) effort: Effort,
    pub(super) seed: u64,
    pub(super) stack_offset: usize,
    /// Size of the environment's padding, in bytes.
    pub(super) padding: usize,
}

/// What was found out about clock and cores: before the first round, and since.
pub(super) struct Found {
    pub(super) clock: RunClock,
    /// What looks at the cores show while these are ours, and where that is stored.
    pub(super) cores: Cores,
    known: Option<Known>,
    /// What was heard before the first round.
    pub(super) noise: Vec<Noise>,
}

impl Found {
    /// Checks the clock on these CPUs, and listens to them: finds what looks at their cores show
    /// while they are ours.
    pub(super) fn on(
        cpus: &[u32],
        options: &Options,
        machine: &Machine,
        observer: &mut dyn Observer,
    ) -> Self {
        observer.event(Event::Preparing("checking the clock"));
        let mut clock = RunClock::choose(cpus);
        let rough = clock.calibrate();
        observer.event(Event::Preparing("listening for noise"));
        let file = options.known_cores.as_deref();
        let known =
            file.map(|file| Known::new(file, machine, options.version, rough.grain_ticks()));
        let time = match known.as_ref().and_then(Known::recall) {
            Some(_) => options.profile.probe(),
            None => options.profile.probe().max(UNKNOWN_LISTEN),
        };
        let (cores, heard) = Cores::hear(cpus, &rough, time, known.as_ref());
        if let Some(known) = &known {
            known.remember(&heard);
        }
        Self {
            clock,
            cores,
            known,
            noise: heard.into_iter().map(|one| one.noise).collect(),
        }
    }
}

/// How long a CPU was listened to, in seconds, and for how much of it its core was ours.
#[derive(Debug, Clone, Copy, Default)]
struct Listened {
    all_s: f64,
    own_s: f64,
}

impl Listened {
    fn add(&mut self, seconds: f64, share: f64) {
        self.all_s += seconds;
        self.own_s += seconds * share;
    }

    /// The share of all of it: the quotient first, so that a whole is never rounded to more.
    fn share(&self) -> f64 {
        self.own_s / self.all_s
    }
}

/// What measures: one run, or several in turn.
pub(super) struct Executor<'a> {
    /// Those of each run's program.
    launchers: Vec<Launcher<'a>>,
    interrupted: &'a AtomicBool,
    /// What decided which rows there are; every job carries it.
    pub(super) here: Testbed,
    settings: ClockSettings,
    pub(super) found: Found,
    pub(super) cpus: Cpus,
    pub(super) warnings: Vec<Warning>,
    /// Share of the time in which the best CPU's core was ours when it listened last; `None` where it is not known.
    best_share: Option<f64>,
    /// How long each CPU was listened to, from the beginning on.
    listened: BTreeMap<u32, Listened>,
}

impl<'a> Executor<'a> {
    pub(super) fn new(
        launchers: Vec<Launcher<'a>>,
        interrupted: &'a AtomicBool,
        mut found: Found,
        cpus: Cpus,
        here: Testbed,
    ) -> Self {
        let clock = found.clock.calibrate();
        let mut executor = Self {
            launchers,
            interrupted,
            here,
            settings: ClockSettings {
                source: clock.source().name().to_owned(),
                ticks_per_ns: clock.ticks_per_ns(),
                cost: found.clock.cost(),
            },
            found,
            cpus,
            warnings: Vec::new(),
            best_share: None,
            listened: BTreeMap::new(),
        };
        let before = executor.found.noise.clone();
        executor.add_listened(&before);
        executor
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Measures what is due of the run with this index, until the deadline at most: again from the
    /// next case on if one of the cases ended the worker.
    pub(super) fn run(
        &self,
        run: usize,
        due: Due,
        deadline: Instant,
    ) -> Result<Record, Interrupted> {
        let begun = Instant::now();
        let cpu = self.cpus.current;
        let before = cpu_times(cpu).ok();
        let mut record = Record::new(due.round, due.pass, due.benchmark.id, cpu);
        let padding = due.padding;
        let mut job = self.job(run, due);
        while !job.cases.is_empty() {
            let outcome = self.launchers[run].run(&job, padding, Some(deadline))?;
            record.started_in_ms = outcome.started_in.as_secs_f64() * 1e3;
            let mut left = Vec::new();
            let mut came_to_any = false;
            for (case, result) in job.cases.into_iter().zip(outcome.results) {
                match result {
                    Some(result) => {
                        came_to_any = true;
                        record.cases.push((case.suffix, result));
                    }
                    None => left.push(case),
                }
            }
            if outcome.is_late {
                record.is_whole = false;
                break;
            }
            if !came_to_any {
                // One worker after another dies between its cases: these rows cannot be measured.
                let ending = &outcome.ending;
                let why = format!("the worker ended before it came to this row: {ending}");
                let failure = || Failure::Failed(why.clone());
                record
                    .cases
                    .extend(left.drain(..).map(|case| (case.suffix, Err(failure()))));
            }
            job.cases = left;
        }
        record.steal_percent = before
            .zip(cpu_times(cpu).ok())
            .map(|(before, after)| after - before)
            // The kernel counts in ticks of some ms: a short worker often sees none.
            .filter(|times| times.total() > 0)
            .map(|times| 100.0 * times.steal_share());
        if record.pass == Pass::Timed {
            let took_s = record.found().map(|findings| findings.took_ns).sum::<f64>() / 1e9;
            record.beside_s = Some((begun.elapsed().as_secs_f64() - took_s).max(0.0));
        }
        Ok(record)
    }

    fn job(&self, run: usize, due: Due) -> Job {
        Job {
            benchmark: due.benchmark.id.to_owned(),
            cases: due.cases,
            keeps_order: due.keeps_order,
            pass: due.pass,
            time_limit_s: self.launchers[run].time_limit().as_secs_f64(),
            effort: due.effort,
            clock: self.settings.clone(),
            cpu: self.cpus.current,
            candidates: self.cpus.measurable(),
            allowed: self.cpus.usable.clone(),
            cores: self.found.cores.clone(),
            targets: self.here.targets.clone(),
            programs: self.here.programs.clone(),
            commands: self.here.commands.clone(),
            seed: due.seed,
            stack_offset: due.stack_offset,
            parent: std::process::id(),
        }
    }

    /// Notes where a worker measured: a run that is resumed knows it from its journal.
    pub(super) fn note(&mut self, record: &Record) {
        if record.pass == Pass::Timed {
            let found = record.found();
            found.for_each(|findings| self.cpus.note_used(findings.samples.cpu));
        }
    }

    /// Goes on with the CPUs that may be used now, and chooses the one that measures next if the
    /// last choice is old and it `may_listen`. Returns whether what was known of cores turned out
    /// to be that of shared ones: what was measured so far counts as taken on such.
    pub(super) fn choose_cpu(&mut self, may_listen: bool) -> bool {
        self.warnings.extend(self.cpus.follow());
        may_listen && self.cpus.chosen.elapsed() >= HOLDS && self.listen()
    }

    /// Listens to the CPUs that may measure; otherwise as [`Executor::choose_cpu`].
    pub(super) fn listen(&mut self) -> bool {
        let Some(clock) = self.found.clock.calibrated() else {
            return false;
        };
        let mut heard = noise::probe(
            &self.cpus.measurable(),
            &clock,
            self.found.cores.shape(),
            LISTEN,
        );
        let has_learnt = self.learn(&mut heard);
        let heard: Vec<Noise> = heard.into_iter().map(|one| one.noise).collect();
        self.add_listened(&heard);
        self.best_share = best_share(&heard);
        let own = |cpu: u32| {
            let noise = heard.iter().find(|noise| noise.cpu == cpu);
            noise.and_then(Noise::ours_percent)
        };
        let current = self.cpus.current;
        let best = noise::quietest(&heard)
            .filter(|best| own(*best).unwrap_or(0.0) > own(current).unwrap_or(100.0) + BETTER);
        // The probes moved this process to the CPUs that they listened to.
        self.cpus.choose(best.unwrap_or(current));
        has_learnt
    }

    /// Adds what listening showed, of which the times are far apart: the share of all of it is that of the run.
    fn add_listened(&mut self, heard: &[Noise]) {
        for noise in heard {
            if let Some(percent) = noise.alone_percent {
                let known = self.listened.entry(noise.cpu).or_default();
                known.add(noise.probe_s, percent / 100.0);
            }
        }
    }

    /// Whether the last listening found no core that is ours often enough to be met by waiting.
    pub(super) fn no_core_is_exclusive(&self) -> bool {
        let last = self.best_share.or_else(|| best_share(&self.found.noise));
        last.is_some_and(|share| share < MIN_OWN)
    }

    /// Learns from the samples where these contradict the listening: cores were ours often while it listened, but hardly
    /// ever around samples, since what runs before a probe changes what it shows. Returns whether it did.
    pub(super) fn learn_from_samples<'r>(
        &mut self,
        rounds: impl Iterator<Item = &'r RoundSamples> + Clone,
    ) -> bool {
        let listened = |cpu: u32| self.listened.get(&cpu).map(Listened::share);
        let Some(shifted) = self.found.cores.learn_from_samples(rounds, listened) else {
            return false;
        };
        self.warnings.push(Warning {
            code: "probes_shifted".to_owned(),
            message: format!(
                "{:.0} % of the probes showed the core ours between rounds, but {:.0} % around samples: there a core of our own \
                 shows {:.0} % more, by which samples were judged",
                100.0 * shifted.listened,
                100.0 * shifted.believed,
                100.0 * (shifted.by - 1.0),
            ),
            advice: "the numbers are of samples that agree in it; please report this processor, with the document".to_owned(),
        });
        true
    }

    /// Learns from looks what cores show while they are ours.
    fn learn(&mut self, heard: &mut [Heard]) -> bool {
        let has_learnt = self.found.cores.learn(heard);
        if has_learnt {
            if let Some(known) = &self.found.known {
                known.lower(&self.found.cores);
            }
            // The result of earlier listening has the same flaw as what was measured.
            self.listened.clear();
            for noise in &mut self.found.noise {
                noise.alone_percent = None;
                noise.shared_slowdown_percent = None;
            }
        }
        for one in heard {
            self.found.cores.annotate(one);
        }
        has_learnt
    }

    /// What it heard before the first round, and which of the CPUs measured.
    pub(super) fn noise(&self) -> Vec<Noise> {
        let mut noise = self.found.noise.clone();
        for cpu in &self.cpus.used {
            // One that came later was not listened to, and is judged as another of its kind.
            if !noise.iter().any(|one| one.cpu == *cpu) {
                noise.push(Noise {
                    cpu: *cpu,
                    ..Noise::default()
                });
            }
        }
        for noise in &mut noise {
            noise.used = self.cpus.used.contains(&noise.cpu);
            // More may be known by now.
            self.found.cores.describe(noise);
            if let Some(listened) = self.listened.get(&noise.cpu) {
                noise.alone_percent = Some(100.0 * listened.share());
            }
        }
        noise
    }
}

#[cfg(test)]
mod tests {
    use super::Listened;

    #[test]
    fn a_core_that_is_ours_always_is_so_for_a_hundred_percent_and_no_more() {
        let mut listened = Listened::default();
        for count in 1..1000 {
            listened.add(0.1 / f64::from(count), 1.0);
            assert_eq!(100.0 * listened.share(), 100.0, "{listened:?}");
        }
    }
}
