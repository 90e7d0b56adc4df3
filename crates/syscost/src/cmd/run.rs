//! `syscost run`: measures, prints and keeps a run.

pub(super) mod print;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use syscost_benches::CATALOGUE;
use syscost_harness::doctor::SHARED_CORE;
use syscost_harness::programs::OwnProgram;
use syscost_harness::session::{Finished, Options, Session};
use syscost_harness::variation::Variation;
use syscost_harness::worker::Program;
use syscost_harness::{Targets, Testbed, congestion};
use syscost_results::agreement::agreement;
use syscost_results::study::Study;
use syscost_results::{Measurement, Run, Status};
use syscost_store::Store;
use syscost_sys::{cpu, files::caches, process};

use crate::cli::{CpuList, Format, RunArguments};
use crate::error::{exit, unless_broken_pipe};
use crate::nfs::NfsEnd;
use crate::peer::{FarEnd, Named};
use crate::progress::Progress;
use crate::{
    Failed, directories, files, interrupt, kept, references, selection,
    terminal::{self, note, say, warn},
};

/// Runs the command.
pub(crate) fn run(arguments: RunArguments) -> Result<u8> {
    // Found before the run, so that a wrong name costs no measurement, and `latest` is an earlier one.
    let reference = references::given(&arguments.beside, arguments.format == Format::Table)?;
    let show = |run: &Run, arguments: &RunArguments, saved_to: Option<&Path>| {
        print::print(run, reference.as_ref(), arguments, saved_to)
    };
    measured(arguments, &[], Vec::new(), "run", &show)
}

/// Shows a finished run, given the path where it is saved.
pub(super) type Show<'s> = &'s dyn Fn(&Run, &RunArguments, Option<&Path>) -> Result<()>;

/// Measures, keeps and shows a run, which repeats these studies with the programs of the user's own among them;
/// `command` resumes it.
pub(super) fn measured(
    mut arguments: RunArguments,
    studies: &[Study],
    programs: Vec<OwnProgram>,
    command: &str,
    show: Show<'_>,
) -> Result<u8> {
    process::limit_work(arguments.row.time_limit);
    let store = Store::of_user();
    let repeat = arguments.repeat;
    if let Some(output) = &arguments.output {
        for number in 1..=repeat {
            files::check_writable(&numbered(output, number, repeat)?)?;
        }
    }
    if let Some(tag) = &arguments.tag {
        Store::check_tag(tag)?;
        tell_tagged(&store, tag);
    }
    admit(arguments.cpus.as_ref());
    let far = &arguments.far;
    let named = far.peer.as_ref().zip(far.token_file.as_ref());
    let named = named.map(|(endpoint, token_file)| Named::find(endpoint, token_file));
    let named = named.transpose()?;
    let interrupted = interrupt::catch()?;
    let nfs = arguments.far.nfs.as_ref();
    let found = nfs.map(|export| NfsEnd::find(export, &interrupted));
    let mut nfs = found.transpose()?;
    directories::check(&arguments.dir)?;
    let mut here = Testbed::with(targets(&arguments, named.as_ref(), nfs.as_ref())?);
    here.programs = programs;
    // Now that it is known which rows the directories and the far end have.
    let rows = match &arguments.resume {
        Some(_) => Vec::new(),
        None => selection::planned(&arguments.selectors, arguments.profile.into(), &here)?,
    };
    let mut far_end = named.map(Named::connect).transpose()?;
    if let Some(far_end) = &far_end {
        // The address that answered, which may not be the first.
        here.targets.peer = Some(far_end.target.clone());
    }
    let options = options(
        &arguments,
        studies,
        &store,
        here,
        far_end.as_ref(),
        nfs.as_ref(),
    )?;
    // The run of --resume is being resumed; others that were interrupted, or
    // whose time was up, are worth a note.
    if arguments.resume.is_none()
        && std::io::stderr().is_terminal()
        && let Some(journal) = files::unfinished(&store).first()
    {
        note!(
            "{}an earlier run did not finish; to continue it, give its command --resume {}{}",
            terminal::DIM,
            journal.display(),
            terminal::RESET
        );
    }
    // Of those before the last, the exit codes.
    let (mut runs, mut codes) = (Vec::new(), Vec::new());
    let (finished, saved) = loop {
        let number = 1 + u32::try_from(runs.len())?;
        let mut progress = Progress::new(command);
        if repeat > 1 {
            progress = progress.of_run(number, repeat);
        }
        let mut session = match &arguments.resume {
            Some(journal) => {
                let session =
                    Session::resume(journal, &CATALOGUE, &options, &mut progress, &interrupted)?;
                far_end = far_end_of(&session)?;
                arguments.tag = arguments.tag.or_else(|| session.header().tag.clone());
                let then = session.header().nfs.as_deref();
                let found = then.map(|then| NfsEnd::find_again(then, &interrupted));
                nfs = found.transpose()?;
                session
            }
            None => Session::new(rows.clone(), &options, &mut progress, &interrupted)?,
        };
        // Reported before the first round, so that users can end the run instead of waiting for a
        // shared core.
        let mut early = session.header().warnings.iter();
        if let Some(warning) = early.find(|warning| warning.code == SHARED_CORE) {
            progress.print_line(&format!("{}; {}", warning.message, warning.advice));
        }
        session.measure(&mut progress);
        progress.done();
        let [mut finished] = session.finish(!arguments.no_samples);
        finished.run.studies = super::study::own_of(studies).cloned().collect();
        let mut run = finished.run.clone();
        remove_samples(&mut run);
        runs.push(run);
        if arguments.no_samples {
            remove_samples(&mut finished.run);
        }
        let saved = save(&store, &finished.run, &arguments, number);
        if number == repeat || saved.is_err() || interrupted.load(Ordering::Relaxed) {
            break (finished, saved);
        }
        codes.push(close(finished, &arguments, command));
    };
    drop(far_end);
    drop(nfs);
    let mut runs: Vec<&Run> = runs.iter().collect();
    // A run that cannot be saved is still printed: that is all the user gets. One that cannot be
    // printed is still kept and judged.
    let printed = show(
        &finished.run,
        &arguments,
        saved.as_ref().ok().and_then(Option::as_deref),
    );
    saved.map_err(|error| match &finished.journal {
        Some(journal) => error.context(format!(
            "the run is not saved, only its journal is: syscost {command} --resume {} tries again",
            journal.path().display()
        )),
        None => error,
    })?;
    runs.retain(|run| !kept::was_interrupted(run));
    if let Some(agreement) = agreement(&runs) {
        note!("{}", print::agreement(&agreement, arguments.tag.as_deref()));
    }
    let was_interrupted = interrupted.load(Ordering::Relaxed);
    match repeat {
        _ if !was_interrupted => {}
        1 => say!("interrupted"),
        repeat => say!("interrupted: {} of {repeat} runs were measured", runs.len()),
    }
    codes.push(close(finished, &arguments, command));
    // Where the terminal was closed, nothing can be printed.
    if !was_interrupted {
        unless_broken_pipe(printed)?;
    }
    if was_interrupted {
        return Ok(exit::INTERRUPTED);
    }
    let mut codes = codes.into_iter();
    Ok(codes.find(|code| *code != exit::DONE).unwrap_or(exit::DONE))
}

/// Says which runs have this tag already: a comparison would take them together with what is measured now.
fn tell_tagged(store: &Store, tag: &str) {
    if let Ok([oldest, more @ ..]) = store.kept_ids(tag).as_deref() {
        let runs_have = syscost_report::sentence::agreeing(1 + more.len(), "# run[s] [has|have]");
        note!(
            "{runs_have} the tag {tag} already, the oldest {oldest}; compared by it are all together (to begin anew: \
             syscost history tag --delete {tag} {tag})"
        );
    }
}

fn remove_samples(run: &mut Run) {
    for row in &mut run.measurements {
        row.samples = None;
    }
}

/// The file of one run of several, with its number before the extension; of a single one, or if it is a device,
/// the file itself.
///
/// # Errors
/// When several are to be written to standard output.
fn numbered(output: &Path, number: u32, runs: u32) -> Result<PathBuf, Failed> {
    if runs == 1 || (output.exists() && !output.is_file()) {
        return Ok(output.to_owned());
    }
    if output == Path::new("-") {
        let words = "standard output holds one document: give -o a file, of which --repeat makes one for each run";
        return Err(Failed::Usage(words.to_owned()));
    }
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    // `.json.gz` is one extension.
    let end = name.strip_suffix(".gz").unwrap_or(&name).rfind('.');
    let (stem, extension) = name.split_at(end.unwrap_or(name.len()));
    Ok(output.with_file_name(format!("{stem}.{number}{extension}")))
}

/// Adds the CPUs that are named to those that may be used, before rows are planned: isolated ones
/// are not among them otherwise. The session says which one is refused.
pub(super) fn admit(cpus: Option<&CpuList>) {
    if let Some(CpuList(cpus)) = cpus {
        let _ = cpu::admit(cpus);
    }
}

/// Finds the far end that a resumed run began with.
fn far_end_of(session: &Session<'_>) -> Result<Option<FarEnd>> {
    let (then, target) = (&session.header().peer, &session.header().targets.peer);
    let then = then.as_deref().zip(target.as_ref());
    let again = then.map(|(then, target)| FarEnd::find_again(then, target));
    again.transpose()
}

fn options(
    arguments: &RunArguments,
    studies: &[Study],
    store: &Store,
    here: Testbed,
    far_end: Option<&FarEnd>,
    nfs: Option<&NfsEnd>,
) -> Result<Options> {
    Ok(Options {
        profile: arguments.profile.into(),
        budget: arguments.budget,
        rounds: None,
        patience: arguments.patient.unwrap_or_default(),
        seed: None,
        cpus: arguments.cpus.as_ref().map(|list| list.0.clone()),
        time_limit: arguments.row.time_limit,
        selectors: arguments.selectors.clone(),
        labels: arguments.labels.iter().cloned().collect(),
        tag: arguments.tag.clone(),
        studies: studies.to_vec(),
        program: program()?,
        here,
        journal_folder: Some(store.journals()),
        known_cores: Some(store.known_cores()),
        kept_runs: Some(store.kept_runs()),
        peer: far_end.map(|far_end| Box::new(far_end.peer.clone())),
        nfs: nfs.map(|nfs| Box::new(nfs.server().clone())),
        version: crate::VERSION,
    })
}

/// What the run measures against and in, and what it may do, by its command line.
fn targets(
    arguments: &RunArguments,
    named: Option<&Named>,
    nfs: Option<&NfsEnd>,
) -> Result<Targets> {
    let mut targets = Targets {
        peer: named.map(Named::target).transpose()?,
        nfs: nfs.map(|nfs| nfs.target().clone()),
        congestion: arguments.congestion.clone(),
        drop_caches: arguments.allow_drop_caches,
        real_time: arguments.real_time,
        thorough: arguments.thorough,
        ..Targets::default()
    };
    if !arguments.dir.is_empty() {
        targets.directories = arguments.dir.clone();
    }
    if targets.drop_caches {
        caches::try_dropping().context("emptying the page cache (--allow-drop-caches)")?;
    }
    if let Some(name) = &targets.congestion {
        congestion::try_out(name).context("choosing the congestion control (--congestion)")?;
    }
    Ok(targets)
}

/// This program, with the factors of variations, which the run records.
fn program() -> Result<Program> {
    let program = Program::this().context("finding this program's own file")?;
    let mut environment = Vec::new();
    for variation in Variation::ALL {
        if let Some(factor) = variation.given() {
            environment.push((variation.variable().to_owned(), Some(factor.to_string())));
        }
    }
    Ok(program.with_environment(environment))
}

/// Saves the document to the requested file and to the data folder, with its tag, and returns where
/// it can be found. A run in which nothing was even tried is not kept in the data folder: as the latest, it
/// would hide one with numbers.
fn save(
    store: &Store,
    run: &Run,
    arguments: &RunArguments,
    number: u32,
) -> Result<Option<PathBuf>> {
    let output = arguments.output.as_ref();
    let output = output.map(|output| numbered(output, number, arguments.repeat));
    let output = output.transpose()?;
    let text = serde_json::to_vec_pretty(run)?;
    let is_tried = |row: &Measurement| !matches!(row.status, Status::Skipped | Status::Unsupported);
    let is_worth_keeping = run.measurements.iter().any(is_tried);
    if !arguments.no_save && !is_worth_keeping {
        note!("nothing was tried: this run is not among those of `syscost history`");
    }
    // First, as the data folder may be one that cannot be written to.
    if let Some(output) = &output {
        files::write_document(output, &text)?;
    }
    if arguments.no_save || !is_worth_keeping {
        return Ok(output);
    }
    keep(store, run, &text, arguments.tag.as_deref()).map(Some)
}

/// Keeps a run, and says where.
///
/// # Errors
/// It cannot be kept.
pub(super) fn keep_and_say(store: &Store, run: &Run, tag: Option<&str>) -> Result<()> {
    let path = keep(store, run, &serde_json::to_vec_pretty(run)?, tag)?;
    note!("saved to {}", path.display());
    Ok(())
}

/// Keeps a run in the data folder, with its tag unless it was interrupted: a comparison would take its few
/// rows for all.
fn keep(store: &Store, run: &Run, text: &[u8], tag: Option<&str>) -> Result<PathBuf> {
    let path = store.keep(run, text)?;
    if let Some(tag) = tag {
        let id = &run.id;
        let tagged = match kept::was_interrupted(run) {
            true => Err("it was interrupted".to_owned()),
            false => store.tag(id, tag).map_err(|error| error.to_string()),
        };
        if let Err(why) = tagged {
            warn(&format!(
                "run {id} is kept, but not tagged: {why} (syscost history tag {id} {tag})"
            ));
        }
    }
    Ok(path)
}

fn close(finished: Finished, arguments: &RunArguments, command: &str) -> u8 {
    let Finished {
        run,
        journal,
        waited,
    } = finished;
    if !waited.is_zero() {
        let seconds = waited.as_secs_f64();
        note!(
            "waited {seconds:.1} s for a core of its own, of the {:.0} s that it might (--patient)",
            run.config.patience_s
        );
    }
    if run.complete {
        if let Some(journal) = journal {
            journal.remove();
        }
    } else if let Some(journal) = &journal {
        let mut rows = run.measurements.iter();
        let what = match rows.any(|row| row.status == Status::Skipped) {
            true => "not everything was measured",
            false => "some rows had too few rounds",
        };
        let path = journal.path().display();
        note!("{what}; to continue: syscost {command} --resume {path}");
    }
    let statuses: Vec<Status> = run.measurements.iter().map(|row| row.status).collect();
    judge(&statuses, arguments.strict)
}

/// Returns the exit code of a run whose rows have these statuses.
fn judge(rows: &[Status], is_strict: bool) -> u8 {
    let any = |wanted: &[Status]| rows.iter().any(|status| wanted.contains(status));
    let is_answered = rows.iter().any(|status| status.has_figures()) || any(&[Status::Withheld]);
    // That this machine does not support a row is a result, too.
    if !is_answered && any(&[Status::Failed, Status::Skipped]) {
        say!(
            "{}",
            match any(&[Status::Failed]) {
                true => "nothing was measured: no row has a number, and each says why",
                false => "nothing was measured in that time; give it more with --budget",
            }
        );
        return exit::NOTHING;
    }
    let is_wrong = any(&[Status::Failed, Status::Withheld]);
    match is_strict && is_wrong {
        true => exit::GATE,
        false => exit::DONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_several_runs_has_a_file_of_its_own() {
        let of = |output: &str| numbered(Path::new(output), 2, 3).map(PathBuf::into_os_string);
        for (output, second) in [
            ("run.json", "run.2.json"),
            ("a.b/run.json.gz", "a.b/run.2.json.gz"),
            ("x/run", "x/run.2"),
        ] {
            assert_eq!(of(output).expect("a file"), second);
            let only = numbered(Path::new(output), 1, 1).expect("a file");
            assert_eq!(only, Path::new(output));
        }
        assert_eq!(of("/dev/null").expect("a device"), "/dev/null");
        assert!(of("-").is_err());
    }

    #[test]
    fn the_exit_code_shows_whether_anything_was_measured() {
        use Status::{AboveRange, BelowResolution, Failed, Ok, Skipped, Unsupported, Withheld};
        for is_strict in [false, true] {
            assert_eq!(
                judge(&[Ok, BelowResolution, Unsupported, Skipped], is_strict),
                exit::DONE
            );
            assert_eq!(judge(&[Unsupported], is_strict), exit::DONE);
            assert_eq!(judge(&[AboveRange], is_strict), exit::DONE);
            for nothing in [
                &[Failed, Failed][..],
                &[Skipped],
                &[Unsupported, Failed, Skipped],
            ] {
                assert_eq!(judge(nothing, is_strict), exit::NOTHING, "{nothing:?}");
            }
        }
        for wrong in [[Ok, Failed], [Ok, Withheld]] {
            assert_eq!(judge(&wrong, false), exit::DONE);
            assert_eq!(judge(&wrong, true), exit::GATE);
        }
    }
}
