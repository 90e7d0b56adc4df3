//! How a run begins: anew, as one of a pair, or where it was interrupted.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use syscost_params::Value;
use syscost_results::Directory;
use syscost_results::run::Config;

use super::Session;
use super::executor::{Cpus, Executor, Found, alike, probed_cpus};
use super::journal::{self, Header, Journal};
use super::kept::KeptFile;
use super::ledger::Ledger;
use super::request::{Event, Observer, Options, SessionError};
use super::row::RowState;
use super::schedule::{Budget, Schedule, tiered, tiers};
use crate::catalogue::{Catalogue, Row};
use crate::doctor::{self, ProcessState};
use crate::profile::Profile;
use crate::worker::{Launcher, Program};
use crate::{directory, machine, noise, programs};

impl<'a> Session<'a> {
    /// Prepares a new run of these rows.
    ///
    /// # Errors
    /// When the requested CPUs cannot be used.
    pub fn new(
        rows: Vec<Row>,
        options: &Options,
        observer: &mut dyn Observer,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, SessionError> {
        let begun = Instant::now();
        let (mut header, found) = look_around(&rows, options, observer)?;
        header.measured_by(&options.program);
        let journal = options.journal_folder.as_ref().and_then(|folder| {
            let path = folder.join(format!("{}.journal", header.id));
            Journal::create(&path, &header)
                .map_err(|error| header.warnings.push(journal::lost(&error)))
                .ok()
        });
        let mut ledger = ledger(header, rows, options);
        ledger.journal = journal;
        let programs = [options.program.clone()];
        Ok(assemble(
            [ledger],
            programs,
            options,
            found,
            begun,
            interrupted,
        ))
    }

    /// Resumes a run that was interrupted.
    ///
    /// # Errors
    /// When the journal cannot be used, or was made on another machine, by another version or for
    /// other studies.
    pub fn resume(
        path: &Path,
        catalogue: &Catalogue,
        options: &Options,
        observer: &mut dyn Observer,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, SessionError> {
        let begun = Instant::now();
        observer.event(Event::Preparing("reading the journal"));
        let (journal, mut header, recorded) = Journal::open(path)?;
        if header.studies != options.study_ids() {
            return Err(SessionError::Command(path.to_owned(), header.command()));
        }
        let mut options = options.clone();
        options.here.targets = header.targets.clone();
        options.here.programs = programs::resumed(&header.programs, &options.here.programs);
        let foreign = |cause: String| SessionError::Foreign(path.to_owned(), cause);
        if let Some(difference) = difference(&header, options.version) {
            return Err(foreign(difference));
        }
        let everything = catalogue.all();
        let all = Catalogue::rows(everything, &options.here);
        let rows = header
            .rows
            .iter()
            .map(|name| {
                all.iter()
                    .find(|row| row.name() == *name)
                    .cloned()
                    .ok_or_else(|| foreign(format!("its row {name} is not in the catalogue")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        header.config.resumed += 1;
        // The rest is measured in the same environment.
        let environment = header.config.environment.clone();
        options.program.environment = environment.into_iter().collect();
        let mut probed = probed_cpus(Some(&header.config.cpus))?;
        let others = probed_cpus(None)?.into_iter();
        probed.extend(others.filter(|cpu| !header.config.cpus.contains(cpu)));
        let mut found = Found::on(&probed, &options, &machine::capture(), observer);
        found.noise = header.noise.clone();
        let earlier_s = recorded.last().map_or(0.0, |record| record.elapsed_s);
        let mut ledger = ledger(header, rows, &options);
        ledger.journal = Some(journal);
        ledger.recorded = recorded;
        let programs = [options.program.clone()];
        let mut session = assemble([ledger], programs, &options, found, begun, interrupted);
        session.schedule.budget.earlier = Duration::from_secs_f64(earlier_s);
        Ok(session)
    }
}

impl<'a> Session<'a, 2> {
    /// Prepares two runs of these rows: A, measured as its options say, and B, by another program
    /// or in another environment, with the same clock and on the same CPUs. Neither has a journal:
    /// a pair cannot be resumed. The budget is shared by both.
    pub fn pair(
        rows: Vec<Row>,
        options: &Options,
        program_b: Program,
        observer: &mut dyn Observer,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, SessionError> {
        let begun = Instant::now();
        let (mut header, found) = look_around(&rows, options, observer)?;
        if options.budget.is_none() {
            header.config.budget_s *= 2.0;
        }
        let programs = [options.program.clone(), program_b];
        let mut ledgers = programs.each_ref().map(|program| {
            let mut header = header.clone();
            header.id = new_id(jiff::Timestamp::now());
            header.measured_by(program);
            ledger(header, rows.clone(), options)
        });
        // Each knows the earlier runs that are like it, and neither says anything about the next one.
        for ledger in &mut ledgers {
            ledger.kept = ledger.kept.clone().read_only();
        }
        Ok(assemble(
            ledgers,
            programs,
            options,
            found,
            begun,
            interrupted,
        ))
    }
}

/// What is known before the first round of a new run.
fn look_around(
    rows: &[Row],
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<(Header, Found), SessionError> {
    let now = jiff::Timestamp::now();
    observer.event(Event::Preparing("reading the machine"));
    let mut machine = machine::capture();
    let probed = probed_cpus(options.cpus.as_deref())?;
    let mut found = Found::on(&probed, options, &machine, observer);
    // CPUs that are requested by number are taken in that order: the first measures.
    let (cpu, candidates) = match &options.cpus {
        Some(cpus) => (cpus[0], vec![cpus[0]]),
        None => {
            let quietest = noise::quietest(&found.noise).unwrap_or(probed[0]);
            (quietest, alike(&probed, quietest))
        }
    };
    for noise in &mut found.noise {
        noise.used = noise.cpu == cpu;
    }
    machine::describe(&mut machine, &candidates);
    let targets = &options.here.targets;
    let is_used = |label: &str| {
        let mut rows = rows.iter();
        rows.any(|row| row.case.find(directory::KEY) == Some(label))
    };
    let directories = directory::described(&targets.directories, is_used);
    let far = options.peer.as_ref().map(|peer| &peer.machine);
    let mut warnings = doctor::warnings(&machine, &found.noise, &found.clock);
    warnings.extend(far.and_then(|far| doctor::far_end_warning(&machine, far)));
    warnings.extend(directories.iter().filter_map(doctor::directory_warning));
    let looks = options.profile.looks();
    let rounds = options.rounds.unwrap_or((looks[0], looks[looks.len() - 1]));
    let budget = options.budget.unwrap_or(options.profile.budget(rows.len()));
    let header = Header {
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
            patience_s: options.patience.as_secs_f64(),
            seed: options.seed.unwrap_or_else(|| fastrand::u64(..1 << 53)),
            cpus: vec![cpu],
            selectors: options.selectors.clone(),
            min_rounds: rounds.0,
            max_rounds: rounds.1,
            samples_per_round: options.profile.effort().samples,
            worker_start_ms: None,
            resumed: 0,
            program: None,
            wrapper: None,
            environment: Default::default(),
            labels: options.labels.clone(),
            congestion: targets.congestion.clone(),
            drop_caches: targets.drop_caches,
            real_time: targets.real_time,
            thorough: targets.thorough,
        },
        targets: targets.clone(),
        strict_budget: options.budget.is_some(),
        time_limit_s: options.time_limit.as_secs_f64(),
        noise: found.noise.clone(),
        warnings,
        rows: rows.iter().map(Row::name).collect(),
        tag: options.tag.clone(),
        studies: options.study_ids(),
        programs: options
            .here
            .programs
            .iter()
            .map(|one| one.id.clone())
            .collect(),
        candidates,
    };
    Ok((header, found))
}

/// The empty ledger of a run of these rows.
fn ledger(header: Header, rows: Vec<Row>, options: &Options) -> Ledger {
    let profile = Profile::read(&header.config.profile).unwrap_or_default();
    let rows = tiered(rows, &tiers(&options.studies)).into_iter();
    let rows = rows.map(|(row, tier)| RowState::new(row, tier, profile.target_half_width()));
    let kept = KeptFile::open(options.kept_runs.as_deref(), &header.described());
    Ledger::new(header, rows.collect(), kept)
}

/// The session of runs with these ledgers, measured by these programs.
fn assemble<'a, const RUNS: usize>(
    ledgers: [Ledger; RUNS],
    programs: [Program; RUNS],
    options: &Options,
    found: Found,
    begun: Instant,
    interrupted: &'a AtomicBool,
) -> Session<'a, RUNS> {
    let header = &ledgers[0].header;
    let time_limit = Duration::from_secs_f64(header.time_limit_s);
    let launchers = programs.map(|program| Launcher::new(program, time_limit, interrupted));
    let are_named = options.cpus.is_some();
    let cpus = Cpus::new(header.config.cpus[0], &header.candidates, are_named, begun);
    let here = options.here.clone();
    let budget = Budget {
        begun,
        earlier: Duration::ZERO,
        total_s: header.config.budget_s,
        patience: Duration::from_secs_f64(header.config.patience_s),
        waited: Duration::ZERO,
    };
    let mut session = Session {
        schedule: Schedule::new(&header.config, budget, RUNS),
        executor: Executor::new(launchers.into(), interrupted, found, cpus, here),
        ledgers,
    };
    session.schedule.rounds = options.rounds;
    session.judge();
    session
}

/// A unique name that sorts by time, to the millisecond.
fn new_id(now: jiff::Timestamp) -> String {
    format!(
        "{}-{:06x}",
        now.strftime("%Y%m%dT%H%M%S.%3fZ"),
        fastrand::u32(..1 << 24)
    )
}

/// Why the rest of a run would not be comparable with its beginning: another version, another
/// machine, a directory on different storage, or a process that pays other costs (under a filter, a
/// tracer, another class or nice value). `None` if it would be.
fn difference(header: &Header, version: &str) -> Option<String> {
    if header.tool_version != version {
        return Some(format!("it was begun by syscost {}", header.tool_version));
    }
    let mut now = machine::capture();
    let (candidates, measured) = (&header.candidates, &header.config.cpus);
    let is_known = !candidates.is_empty();
    machine::describe(&mut now, if is_known { candidates } else { measured });
    machine::difference(&header.machine, &now, machine::COSTS)
        .or_else(|| difference_of_storage(&header.directories, &header.targets.directories))
        .or_else(|| doctor::difference(&now, &ProcessState::read(), &header.warnings))
}

/// Why the rest of a run would be measured on different storage than its beginning; `None` if it
/// would not.
fn difference_of_storage(then: &[Directory], given: &[directory::Directory]) -> Option<String> {
    then.iter().find_map(|then| {
        // A directory that could not be used then has no facts; its rows said why.
        let (label, was) = (&then.label, then.storage());
        let directory = given.iter().find(|one| one.label == *label);
        let directory = directory.filter(|_| !was.is_empty())?;
        match directory::facts_of(directory) {
            Ok(now) if now.storage() == was => None,
            Ok(now) => Some(format!(
                "its directory {label} was on {was}, and is on {} now",
                now.storage()
            )),
            Err(reason) => Some(format!("its directory {label} cannot be used: {reason}")),
        }
    })
}
