//! `syscost study`: repeats published experiments and judges them.

mod check;
mod counts;
mod hand_in;
mod programs;
mod source;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use syscost_benches::{CATALOGUE, STUDIES, study_sources};
use syscost_harness::Testbed;
use syscost_harness::targets::{THOROUGH_STUDY, THOROUGH_TIME_LIMIT};
use syscost_harness::{Catalogue, Row};
use syscost_report::TableOptions;
use syscost_report::study as render;
use syscost_report::units::quantity;
use syscost_report::wrap::together;
use syscost_results::Run;
use syscost_results::study::{Quantity, Study, means};
use syscost_studies::{StudyError, figures, left_out};

use crate::cli::{
    BesideArgument, Format, ProfileName, RunArguments, StudyArguments, StudyCommand, StudyFormat,
    StudyRunArguments,
};
use crate::error::exit;
use crate::selection::similar;
use crate::{Failed, terminal, terminal::say};
use counts::Counts;

pub(super) use hand_in::section;

/// Runs the command.
pub(crate) fn run(arguments: StudyArguments) -> Result<u8> {
    match arguments.command {
        Some(StudyCommand::Run(arguments)) => repeat(*arguments),
        Some(StudyCommand::Report(arguments)) => hand_in::report(&arguments),
        None => match (&arguments.study, &arguments.source) {
            (None, _) => list(),
            (Some(study), None) => show(study),
            (Some(study), Some(name)) => show_source(study, name),
        },
    }
}

/// The published studies.
pub(crate) fn published() -> Vec<Study> {
    let parsed = STUDIES.iter().map(|text| syscost_studies::parse(text));
    parsed
        .map(|study| study.expect("a test reads every study of the catalogue"))
        .collect()
}

/// Published figures of the quantity of a row, without those that are doubtful or whose name claims
/// more than was measured.
pub(super) fn published_of(studies: &[Study], name: &str) -> Vec<String> {
    let is_same = |quantity: &&Quantity| {
        let ours = quantity.ours.as_deref();
        ours.is_some_and(|ours| means(ours, name))
            && quantity.ours_scale.is_none()
            && quantity.claims.is_empty()
    };
    let mut found = Vec::new();
    for study in studies {
        for one in study.quantities.iter().filter(is_same) {
            for figure in figures(study, one) {
                if let (Some(value), true) = (figure.value, figure.doubts.is_empty()) {
                    let value = together(&quantity(one.unit, value));
                    found.push(format!("{} on {} {value}", study.id, figure.machine));
                }
            }
        }
    }
    found
}

/// What names all published studies.
const ALL: &str = "all";

/// Whether this is the name of a study's file rather than its id.
fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "toml")
}

/// Finds the study with this id, or reads it from this file, which must name only what exists.
fn find(name: &str, counts: Counts<'_>) -> Result<Study> {
    let known = published();
    let ids: Vec<String> = known.iter().map(|study| study.id.clone()).collect();
    if is_file(name) {
        let text = std::fs::read_to_string(name)
            .map_err(|error| Failed::Usage(format!("reading the study {name}: {error}")))?;
        return read(&text, &ids, counts)
            .map_err(|error| Failed::Usage(format!("{name}{error}")).into());
    }
    known
        .into_iter()
        .find(|study| study.id == name)
        .ok_or_else(|| {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let meant = meant(name, &ids);
            let what = format!(
                "no study is called `{name}`{meant}, or give a file of your own: NAME.toml"
            );
            Failed::Usage(what).into()
        })
}

/// Reads a study of the user from this text.
fn read(text: &str, published: &[String], counts: Counts<'_>) -> Result<Study, StudyError> {
    let (study, lines) = syscost_studies::parse_with_lines(text)?;
    check::check(&study, &lines, published, counts)?;
    match (counts, &study.quantities[..]) {
        // To be measured, it must name a row.
        (Counts::Tried(_), [first, ..]) if study.rows().is_empty() => Err(StudyError {
            line: lines.of("quantity.0"),
            problem: format!(
                "quantity `{}`, field `ours`: missing; give the row that measures it, or in `as_published` the one that \
                 repeats the procedure",
                first.id
            ),
        }),
        _ => Ok(study),
    }
}

fn find_all(names: &[String], counts: Counts<'_>) -> Result<Vec<Study>> {
    let mut studies = Vec::new();
    for name in names {
        match name.as_str() {
            ALL => studies.extend(published()),
            name => studies.push(find(name, counts)?),
        }
    }
    let mut ids = BTreeSet::new();
    if let Some(twice) = studies.iter().find(|study| !ids.insert(study.id.clone())) {
        let what = format!(
            "two of these studies are called `{}`: name each once",
            twice.id
        );
        return Err(Failed::Usage(what).into());
    }
    Ok(studies)
}

fn options(is_verbose: bool) -> TableOptions {
    TableOptions {
        width: terminal::width(),
        color: true,
        verbose: is_verbose,
        ..TableOptions::default()
    }
}

fn list() -> Result<u8> {
    super::print(&render::list(published().iter(), &options(false)))?;
    Ok(exit::DONE)
}

fn show(name: &str) -> Result<u8> {
    let studies = find_all(&[name.to_owned()], Counts::Unknown)?;
    let options = options(false);
    let texts = studies.iter().map(|study| {
        let text = render::published(study, &options);
        match study_sources::programs(&study.id).is_empty() {
            true => text,
            false => text + &format!("\nIts programs: syscost study {} --source\n", study.id),
        }
    });
    super::print(&texts.collect::<Vec<String>>().join("\n"))?;
    Ok(exit::DONE)
}

fn show_source(study: &str, program: &str) -> Result<u8> {
    for study in find_all(&[study.to_owned()], Counts::Unknown)? {
        source::print(&study, program)?;
    }
    Ok(exit::DONE)
}

/// What may be meant by a name that is none of these, as the end of a message.
fn meant(name: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    let similar = similar(name, known.iter().copied());
    match &similar[..] {
        [] => format!("; there are {all}"),
        names => format!("; did you mean `{}`? There are {all}", names.join("` or `")),
    }
}

fn repeat(mut arguments: StudyRunArguments) -> Result<u8> {
    let studies = find_all(&arguments.studies, Counts::Tried(arguments.row.time_limit))?;
    if arguments.thorough {
        let limit = &mut arguments.row.time_limit;
        *limit = THOROUGH_TIME_LIMIT.max(*limit);
    }
    let command = command(&arguments);
    let folder = arguments.output.take_if(|path| hand_in::is_folder(path));
    if let Some(folder) = &folder {
        hand_in::make(folder)?;
    }
    let is_resumed = arguments.resume.is_some();
    let files = arguments.studies.iter().filter(|name| is_file(name));
    let beside = files.map(|file| Path::new(file).with_file_name(""));
    let own: Vec<(&Study, PathBuf)> = own_of(&studies).zip(beside).collect();
    // Until the run has ended.
    let (programs, _folder) = programs::make(&own, is_resumed)?;
    let here = Testbed {
        programs: programs.clone(),
        ..Testbed::plain()
    };
    let selectors = match is_resumed {
        true => Vec::new(),
        false => selectors(&studies, arguments.far.peer.is_some(), &here),
    };
    if selectors.is_empty() && !is_resumed {
        let what = "no row of these studies can be measured here: those of a far end need --peer HOST --token-file FILE, those of several CPUs more than may be used";
        return Err(Failed::Usage(what.to_owned()).into());
    }
    let budget = arguments
        .budget
        .or_else(|| budget(&arguments, studies.len()));
    let left_out = RefCell::new(Vec::new());
    let code = super::run::measured(
        as_run(arguments, selectors, budget),
        &studies,
        programs,
        &command,
        &|run, arguments, saved_to| {
            left_out.replace(left_out_of(&studies, run, arguments.thorough));
            if arguments.output.as_deref() == Some(Path::new("-")) {
                return Ok(());
            }
            let judged = hand_in::repeated(&studies, &[run]);
            if let Some(folder) = &folder {
                hand_in::write(folder, &judged, &[run])?;
            }
            hand_in::print(&judged, &[run], StudyFormat::Table, false)?;
            match saved_to {
                Some(path) if !terminal::is_quiet() => {
                    let path = path.display();
                    super::print(&format!("\nSaved to {path}\nNext: syscost study report\n"))
                }
                _ => Ok(()),
            }
        },
    )?;
    let left_out = left_out.into_inner();
    for line in &left_out {
        say!("{line}");
    }
    Ok(match code {
        exit::DONE if !left_out.is_empty() => exit::INCOMPLETE,
        code => code,
    })
}

/// Those of these studies that are the user's own.
pub(super) fn own_of(studies: &[Study]) -> impl Iterator<Item = &Study> {
    let ids: Vec<String> = published().into_iter().map(|study| study.id).collect();
    studies.iter().filter(move |study| !ids.contains(&study.id))
}

/// The command by which such a run is resumed, and its report or document written.
fn command(arguments: &StudyRunArguments) -> String {
    let output = arguments.output.as_deref();
    let output = output.map(|path| format!(" -o {}", path.display()));
    "study run ".to_owned() + &arguments.studies.join(" ") + &output.unwrap_or_default()
}

/// Says of each study for which of its published figures a run has none here, because its time was too
/// short.
fn left_out_of(studies: &[Study], run: &Run, is_thorough: bool) -> Vec<String> {
    let advice = match is_thorough {
        true => "",
        false => ", or the time that it needs with --thorough",
    };
    let of = |study: &Study| {
        let left_out = left_out(study, run);
        let titles: Vec<&str> = left_out.iter().map(|one| one.title.as_str()).collect();
        (!titles.is_empty()).then(|| {
            format!(
                "{} is incomplete: {:.0} s were too short for {}; give it more with --budget{advice}",
                study.id,
                run.duration_s,
                titles.join("; ")
            )
        })
    };
    studies.iter().filter_map(of).collect()
}

/// Returns the selectors of the rows of these studies. A `*` in a study's name, for what the run
/// decides, means the same in a selector. Names that match no row on this machine, such as rows of
/// a far end or of a second CPU, are left out.
fn selectors(studies: &[Study], has_peer: bool, here: &Testbed) -> Vec<String> {
    let everything = CATALOGUE.all();
    let rows: Vec<String> = Catalogue::rows(everything, here)
        .iter()
        .map(Row::name)
        .collect();
    let is_here = |meant: &str| match meant.contains("path=remote") {
        // Its rows are only known once the far end is.
        true => has_peer,
        false => rows.iter().any(|name| means(meant, name)),
    };
    let names = studies.iter().flat_map(Study::rows);
    let (here, elsewhere): (Vec<&str>, Vec<&str>) = names.partition(|name| is_here(name));
    // Where there is none at all, an error says so.
    if !(here.is_empty() || elsewhere.is_empty()) {
        let names = elsewhere.join(", ");
        say!("not here, and left out (rows of a far end need --peer, others more CPUs): {names}");
    }
    here.into_iter().map(str::to_owned).collect()
}

/// Returns the time limit of a standard or full run of this many studies: published procedures repeat an
/// operation much more often than one of syscost's samples does, so the usual limit is too short.
fn budget(arguments: &StudyRunArguments, studies: usize) -> Option<Duration> {
    /// Up to a minute, including the look at the machine beforehand.
    const STUDY: Duration = Duration::from_secs(57);
    let studies = u32::try_from(studies).unwrap_or(u32::MAX);
    if arguments.thorough {
        return Some(THOROUGH_STUDY.saturating_mul(studies));
    }
    let is_of_rows = matches!(arguments.profile, ProfileName::Standard | ProfileName::Full);
    is_of_rows.then(|| STUDY.saturating_mul(studies))
}

fn as_run(
    arguments: StudyRunArguments,
    selectors: Vec<String>,
    budget: Option<Duration>,
) -> RunArguments {
    RunArguments {
        selectors,
        profile: arguments.profile,
        budget,
        patient: None,
        cpus: None,
        format: Format::Table,
        output: arguments.output,
        real_time: false,
        far: arguments.far,
        congestion: None,
        dir: arguments.dir.into_iter().collect(),
        allow_drop_caches: false,
        labels: Vec::new(),
        no_samples: false,
        no_save: false,
        repeat: 1,
        tag: None,
        resume: arguments.resume,
        row: arguments.row,
        beside: BesideArgument::default(),
        strict: false,
        verbose: false,
        thorough: arguments.thorough,
    }
}

fn has_rows_of(run: &Run, study: &Study) -> bool {
    let mut rows = run.measurements.iter();
    rows.any(|row| study.is_judged_by(&row.name))
}

/// Whether a run repeats a procedure of this study. Its rows of the catalogue do not count: most
/// runs have them.
fn has_procedures_of(run: &Run, study: &Study) -> bool {
    let mut procedures = study
        .quantities
        .iter()
        .filter_map(|one| one.as_published.as_ref());
    procedures.any(|name| run.measurements.iter().any(|row| means(name, &row.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection;

    #[test]
    fn every_name_in_a_study_selects_rows() {
        let studies = published();
        let selected = selectors(&studies, false, &Testbed::plain());
        let rows = selection::rows(&selected, &Testbed::plain())
            .expect("every name is one of the catalogue");
        for name in &selected {
            let is_there = |row: &Row| means(name, &row.name());
            assert!(
                rows.iter().any(is_there),
                "`ours = {name}` in a study.toml is no row any more: name the one that it is now"
            );
        }
        let with_peer = selectors(&studies, true, &Testbed::plain());
        // One CPU has not the rows of several.
        let has_all = syscost_sys::cpu::allowed().is_ok_and(|cpus| cpus.len() > 1);
        let mut names = studies.iter().flat_map(Study::rows);
        let is_left_out =
            |name: &&str| !name.contains('*') && !with_peer.contains(&name.to_string());
        assert_eq!(names.find(is_left_out).filter(|_| has_all), None);
    }
}
