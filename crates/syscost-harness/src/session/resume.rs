//! A run that goes on where it was interrupted.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::choose::{listen, probed_cpus};
use super::journal::Journal;
use super::{Event, Observer, Options, Session, SessionError, foreign};
use crate::catalogue::Catalogue;
use crate::clock::RunClock;
use crate::{machine, programs};

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
        if let Some(difference) = foreign::difference(&header, options.version) {
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
