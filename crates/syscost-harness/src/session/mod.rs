//! A run: machine, clock and noise first, then shuffled rounds of fresh processes until every row is sure enough.

mod budget;
mod choose;
mod computed;
mod finish;
mod frequencies;
mod invalidate;
pub mod journal;
mod kept;
mod order;
mod pair;
mod plan;
mod profile;
mod request;
mod resume;
mod rows;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use syscost_results::Run;
use syscost_results::run::{Config, NfsServer, Peer, Warning};
use syscost_sys::counters::{CpuTimes, cpu_times};
use syscost_sys::cpu;

use crate::bencher::Pass;
use crate::catalogue::Row;
use crate::clock::RunClock;
use crate::cores::Cores;
use crate::failure::Failure;
use crate::here::Here;
use crate::peer::PeerTarget;
use crate::worker::{ClockSettings, Interrupted, Job, Launcher};
use crate::{doctor, machine, noise};

use choose::{listen, probed_cpus};
pub use computed::computed;
use journal::{Header, Journal, Record};
use kept::KeptFile;
pub use pair::Pair;
pub use profile::Profile;
pub use request::{Event, INTERRUPTED, Observer, Options, SessionError};
use rows::RowState;

/// The result of a run: the document, and the journal that can be removed once that is saved.
pub struct Finished {
    /// The document.
    pub run: Run,
    /// Its journal; kept if the run was interrupted, so that it can be resumed.
    pub journal: Option<Journal>,
}

/// A run in progress.
pub struct Session<'a> {
    header: Header,
    journal: Option<Journal>,
    states: Vec<RowState>,
    /// The records of a resumed run, until their rounds come.
    replay: Vec<Record>,
    /// What decided which rows there are; every job carries it.
    here: Here,
    launcher: Launcher<'a>,
    clock: RunClock,
    settings: ClockSettings,
    cpu: u32,
    /// The CPUs that could be used at the beginning, and those of them that still can.
    allowed: Vec<u32>,
    usable: Vec<u32>,
    /// Those that may measure: the header's candidates, or what is left of them.
    measurable: Vec<u32>,
    /// What looks at the cores show while these are ours, and where that is stored.
    cores: Cores,
    known_cores: Option<PathBuf>,
    /// What earlier runs of this machine showed.
    kept: KeptFile,
    /// The usual frequency of both runs of a pair, in GHz.
    common_ghz: Option<f64>,
    /// Whether it is one of two runs that are measured alternately.
    is_of_pair: bool,
    /// Whether rows may be deferred in this round.
    may_defer: bool,
    /// When the measuring CPU was chosen.
    chosen: Instant,
    started_in_ms: Vec<f64>,
    /// Overhead of the timed jobs besides their cases, in seconds each.
    beside_s: Vec<f64>,
    /// How the CPUs that may measure had spent their time before the run.
    times: BTreeMap<u32, CpuTimes>,
    earlier: Duration,
    begun: Instant,
    interrupted: &'a AtomicBool,
}

impl<'a> Session<'a> {
    /// Prepares a new run of these rows.
    ///
    /// # Errors
    /// When the requested CPUs cannot be used or the journal cannot be written.
    pub fn new(
        rows: Vec<Row>,
        options: &Options,
        observer: &mut dyn Observer,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, SessionError> {
        let begun = Instant::now();
        let now = jiff::Timestamp::now();
        observer.event(Event::Preparing("reading the machine"));
        let mut machine = machine::capture();
        let probed = probed_cpus(options.cpus.as_deref())?;
        observer.event(Event::Preparing("checking the clock"));
        let mut clock = RunClock::choose(&probed);
        let rough = clock.calibrate();
        observer.event(Event::Preparing("listening for noise"));
        let (cores, mut noise) = listen(&probed, &rough, options, &machine);
        let cpu = match &options.cpus {
            Some(cpus) => cpus[0],
            None => noise::quietest(&noise).unwrap_or(probed[0]),
        };
        noise
            .iter_mut()
            .for_each(|probe| probe.used = probe.cpu == cpu);
        let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 53));
        let looks = options.profile.looks();
        let budget = options.budget.unwrap_or(options.profile.budget(rows.len()));
        let far = options.peer.as_ref().map(|peer| &peer.machine);
        let far_end = far.and_then(|far| doctor::far_end_warning(&machine, far));
        // CPUs that are requested by number are taken in that order: the first measures.
        let candidates = match &options.cpus {
            Some(_) => vec![cpu],
            None => choose::alike(&probed, cpu),
        };
        machine::describe(&mut machine, &candidates);
        let mut warnings = doctor::warnings(&machine, &noise, &clock);
        warnings.extend(far_end);
        let directories = crate::directory::of_rows(&rows, &options.here.targets.directories);
        warnings.extend(directories.iter().filter_map(doctor::directory_warning));
        let targets = &options.here.targets;
        let mut header = Header {
            journal_version: Header::version(),
            tool_version: options.version.to_owned(),
            id: new_id(now),
            started: now.to_string(),
            machine,
            peer: options.peer.clone(),
            nfs: options.nfs.clone(),
            directories,
            config: Config {
                profile: options.profile.name().to_owned(),
                budget_s: budget.as_secs_f64(),
                seed,
                cpus: vec![cpu],
                selectors: options.selectors.clone(),
                min_rounds: looks[0],
                max_rounds: looks[looks.len() - 1],
                samples_per_round: options.profile.effort().samples,
                worker_start_ms: None,
                resumed: 0,
                program: None,
                environment: Default::default(),
                congestion: targets.congestion.clone(),
                drop_caches: targets.drop_caches,
                real_time: targets.real_time,
                thorough: targets.thorough,
            },
            targets: targets.clone(),
            strict_budget: options.budget.is_some(),
            time_limit_s: options.time_limit.as_secs_f64(),
            noise,
            warnings,
            rows: rows.iter().map(Row::name).collect(),
            studies: options.study_ids(),
            programs: options
                .here
                .programs
                .iter()
                .map(|one| one.id.clone())
                .collect(),
            candidates,
        };
        header.measured_by(&options.program);
        let journal = options.journal_folder.as_ref().and_then(|folder| {
            let path = folder.join(format!("{}.journal", header.id));
            Journal::create(&path, &header)
                .map_err(|error| header.warnings.push(journal::lost(&error)))
                .ok()
        });
        let mut session = Self::assemble(header, journal, rows, options, clock, begun, interrupted);
        session.cores = cores;
        Ok(session)
    }

    fn assemble(
        header: Header,
        journal: Option<Journal>,
        rows: Vec<Row>,
        options: &Options,
        mut clock: RunClock,
        begun: Instant,
        interrupted: &'a AtomicBool,
    ) -> Self {
        let calibrated = clock.calibrate();
        let cpu = header.config.cpus[0];
        let target = Profile::from_name(&header.config.profile)
            .unwrap_or_default()
            .target_half_width();
        let allowed = cpu::allowed().unwrap_or_else(|_| vec![cpu]);
        choose::keep_off(cpu, &allowed);
        Self {
            settings: ClockSettings {
                source: calibrated.source().name().to_owned(),
                ticks_per_ns: calibrated.ticks_per_ns(),
                cost: clock.cost(),
            },
            states: order::tiered(rows, &order::tiers(&options.studies))
                .into_iter()
                .map(|(row, tier)| {
                    let mut state = RowState::new(row, target);
                    state.tier = tier;
                    state
                })
                .collect(),
            replay: Vec::new(),
            here: options.here.clone(),
            launcher: Launcher::new(
                options.program.clone(),
                Duration::from_secs_f64(header.time_limit_s),
                interrupted,
            ),
            clock,
            cpu,
            times: choose::times_of(&allowed),
            usable: allowed.clone(),
            allowed,
            measurable: header.candidates.clone(),
            cores: Cores::default(),
            known_cores: options.known_cores.clone(),
            kept: KeptFile::open(
                options.kept_runs.as_deref(),
                &header.machine,
                &header.config,
            ),
            common_ghz: None,
            is_of_pair: false,
            may_defer: false,
            chosen: begun,
            started_in_ms: Vec::new(),
            beside_s: Vec::new(),
            earlier: Duration::ZERO,
            begun,
            interrupted,
            journal,
            header,
        }
    }

    /// The warnings about the machine before the first round.
    pub fn warnings(&self) -> &[Warning] {
        &self.header.warnings
    }

    /// The far end with which this run was begun, and how it is reached, if it has one.
    pub fn peer(&self) -> Option<(&Peer, &PeerTarget)> {
        let peer = self.header.peer.as_deref()?;
        Some((peer, self.header.targets.peer.as_ref()?))
    }

    /// The NFS server with which this run was begun, if it has one.
    pub fn nfs(&self) -> Option<&NfsServer> {
        self.header.nfs.as_deref()
    }

    fn elapsed(&self) -> Duration {
        self.earlier + self.begun.elapsed()
    }

    /// Adds the results of a finished worker, from the journal or fresh.
    fn absorb(&mut self, record: Record) {
        let Record {
            round,
            pass,
            benchmark,
            cases,
            cpu,
            steal_percent,
            started_in_ms,
            ..
        } = record;
        self.started_in_ms.push(started_in_ms);
        let mut used = Vec::new();
        for (suffix, result) in cases {
            let state = self.states.iter_mut().find(|state| {
                state.row.benchmark.id == benchmark && state.row.case.suffix() == suffix
            });
            if let Some(state) = state {
                // The observed steal belongs to the job's CPU.
                let result = result.map(|mut findings| {
                    let samples = &mut findings.samples;
                    samples.round = round;
                    samples.steal_percent = steal_percent.filter(|_| samples.cpu == cpu);
                    findings
                });
                let findings = result.as_ref().ok();
                let own = findings.map(|findings| (findings.samples.cpu, findings.alone_ratio));
                state.take(pass, result);
                if let (Pass::Timed, Some((own, ratio))) = (pass, own) {
                    // A resumed run may know more than the one before.
                    if ratio.is_some_and(|ratio| self.cores.refutes(ratio, own)) {
                        state
                            .rounds
                            .last_mut()
                            .into_iter()
                            .for_each(invalidate::invalidate);
                    }
                    used.push(own);
                }
            }
        }
        used.into_iter().for_each(|cpu| self.note_used(cpu));
    }

    /// Runs one job, restarting from the next case if one of its cases ended the worker.
    fn execute(&mut self, mut job: Job, round: u32, padding: usize) -> Result<Record, Interrupted> {
        let before = cpu_times(self.cpu).ok();
        let mut record = Record {
            round,
            pass: job.pass,
            benchmark: job.benchmark.clone(),
            cases: Vec::new(),
            cpu: self.cpu,
            steal_percent: None,
            started_in_ms: 0.0,
            elapsed_s: 0.0,
            is_whole: true,
        };
        while !job.cases.is_empty() {
            let deadline = self.deadline();
            let outcome = self.launcher.run(&job, padding, Some(deadline))?;
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
                let failure =
                    || Failure::Failed("the worker ended before it came to this row".into());
                record
                    .cases
                    .extend(left.drain(..).map(|case| (case.suffix, Err(failure()))));
            }
            job.cases = left;
        }
        record.steal_percent = before
            .zip(cpu_times(self.cpu).ok())
            .map(|(before, after)| after - before)
            // The kernel counts in ticks of some ms: a short worker often sees none.
            .filter(|times| times.total() > 0)
            .map(|times| 100.0 * times.steal_share());
        record.elapsed_s = self.elapsed().as_secs_f64();
        Ok(record)
    }
}

/// A unique name that sorts by time, to the millisecond.
fn new_id(now: jiff::Timestamp) -> String {
    format!(
        "{}-{:06x}",
        now.strftime("%Y%m%dT%H%M%S.%3fZ"),
        fastrand::u32(..1 << 24)
    )
}
