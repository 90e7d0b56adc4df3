//! A run that goes on where it was interrupted.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use syscost_results::Directory;

use super::choose::{listen, probed_cpus};
use super::journal::{Header, Journal};
use super::{Event, Observer, Options, Session, SessionError};
use crate::catalogue::Catalogue;
use crate::clock::RunClock;
use crate::doctor::{self, ProcessState};
use crate::{directory, machine, programs};

impl<'a> Session<'a> {
    /// Resumes a run that was interrupted.
    ///
    /// # Errors
    /// When the journal cannot be used, or was made on another machine, by another version or for other
    /// studies.
    pub fn resume(
        path: &Path,
        catalogue: Catalogue,
        options: &Options,
        observer: &mut dyn Observer,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, SessionError> {
        let begun = Instant::now();
        observer.event(Event::Preparing("reading the journal"));
        let (journal, mut header, records) = Journal::open(path)?;
        if header.studies != options.study_ids() {
            return Err(SessionError::Command {
                path: path.to_owned(),
                command: header.command(),
            });
        }
        let mut options = options.clone();
        options.here.targets = header.targets.clone();
        options.here.programs = programs::resumed(&header.programs, &options.here.programs);
        let foreign = |cause: String| SessionError::Foreign {
            path: path.to_owned(),
            cause,
        };
        if let Some(difference) = difference(&header, options.version) {
            return Err(foreign(difference));
        }
        let everything = catalogue.groups().iter().flat_map(|group| group.benchmarks);
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
        observer.event(Event::Preparing("checking the clock"));
        let mut probed = probed_cpus(Some(&header.config.cpus))?;
        let others = probed_cpus(None)?.into_iter();
        probed.extend(others.filter(|cpu| !header.config.cpus.contains(cpu)));
        let mut clock = RunClock::choose(&probed);
        let rough = clock.calibrate();
        observer.event(Event::Preparing("listening for noise"));
        let (cores, _) = listen(&probed, &rough, &options, &machine::capture());
        let mut session = Self::assemble(
            header,
            Some(journal),
            rows,
            &options,
            clock,
            begun,
            interrupted,
        );
        session.earlier = records.last().map_or(Duration::ZERO, |record| {
            Duration::from_secs_f64(record.elapsed_s)
        });
        session.replay = records;
        session.cores = cores;
        Ok(session)
    }
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
    machine::difference(&header.machine, &now)
        .or_else(|| difference_of_storage(&header.directories, &header.targets.directories))
        .or_else(|| doctor::difference(&now, &ProcessState::read(), &header.warnings))
}

/// Why the rest of a run would be measured on different storage than its beginning; `None` if it would not.
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
