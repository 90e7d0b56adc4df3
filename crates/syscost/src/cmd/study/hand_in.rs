//! `syscost study report`: what runs say about studies, in all formats, and as a folder to hand in.

use std::fs;
use std::path::Path;

use anyhow::Result;
use syscost_report::document::Block;
use syscost_report::study::Repeated;
use syscost_report::{TableOptions, sentence, study as render};
use syscost_results::Run;
use syscost_results::study::Study;
use syscost_studies::JudgedStudy;

use super::counts::Counts;
use super::{ALL, find_all, has_procedures_of, has_rows_of, is_file, published};
use crate::cli::{StudyFormat, StudyReportArguments};
use crate::error::exit;
use crate::terminal::{self, note};
use crate::{Failed, cmd, files, kept};

/// Prints the studies of kept runs.
pub(super) fn report(arguments: &StudyReportArguments) -> Result<u8> {
    let folder = arguments.output.as_deref().filter(|path| is_folder(path));
    let format = match (folder, arguments.format) {
        (None, _) => arguments.form()?,
        (Some(_), None) => StudyFormat::Markdown,
        (Some(_), Some(_)) => {
            let what =
                "a folder gets the report in all formats; leave --format out, or name a file";
            return Err(Failed::Usage(what.to_owned()).into());
        }
    };
    if let (None, Some(path)) = (folder, &arguments.output) {
        files::check_writable(path)?;
    }
    let known = published();
    let is_study =
        |name: &str| name == ALL || is_file(name) || known.iter().any(|study| study.id == name);
    let names = arguments.names.iter().cloned();
    let (studies, mut runs): (Vec<String>, Vec<String>) = names.partition(|name| is_study(name));
    if runs.is_empty() {
        runs.push("latest".to_owned());
    }
    let named = find_all(&studies, Counts::Unknown)?;
    let lack = |run: &Run| {
        let has = match &named[..] {
            [] => {
                !run.studies.is_empty() || known.iter().any(|study| has_procedures_of(run, study))
            }
            named => named.iter().any(|study| has_rows_of(run, study)),
        };
        (!has).then(|| "has no rows of a study asked for".to_owned())
    };
    let runs = kept::several(&runs);
    let runs = runs.iter().map(|name| kept::find(name, lack));
    let runs = runs.collect::<Result<Vec<Run>>>()?;
    kept::distinct(&runs)?;
    // What its rows count is in the run.
    for run in &runs {
        find_all(&studies, Counts::Of(run))?;
    }
    let runs: Vec<&Run> = runs.iter().collect();
    let studies = match &named[..] {
        [] => repeated_in(&runs),
        named => repeated(named, &runs),
    };
    if studies.is_empty() {
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        let what = format!(
            "no rows of a study are in {}; to measure them: syscost study run ID",
            ids.join(", ")
        );
        return Err(Failed::Usage(what).into());
    }
    match (folder, &arguments.output) {
        (Some(folder), _) => write(folder, &studies, &runs)?,
        (None, Some(path)) => {
            let text = text(&studies, &runs, format, &options(arguments.verbose, false))?;
            files::write(path, text.as_bytes())?;
        }
        (None, None) => print(&studies, &runs, format, arguments.verbose)?,
    }
    Ok(exit::DONE)
}

/// These studies, judged by runs.
pub(super) fn repeated(studies: &[Study], runs: &[&Run]) -> Vec<Repeated> {
    let studies = studies.iter();
    studies.map(|study| Repeated::new(study, runs)).collect()
}

/// Returns the studies that one of these runs repeats, published ones and the user's own, judged by all of
/// them.
fn repeated_in(runs: &[&Run]) -> Vec<Repeated> {
    let mut studies = published();
    studies.retain(|study| runs.iter().any(|run| has_procedures_of(run, study)));
    for own in runs.iter().flat_map(|run| &run.studies) {
        if studies.iter().all(|known| known.id != own.id) {
            studies.push(own.clone());
        }
    }
    repeated(&studies, runs)
}

/// The section of a page on the studies that its runs repeat.
pub(in crate::cmd) fn section(runs: &[&Run]) -> Vec<Block> {
    match &repeated_in(runs)[..] {
        [] => Vec::new(),
        studies => render::section(studies, runs),
    }
}

/// Prints studies that runs repeat.
pub(super) fn print(
    studies: &[Repeated],
    runs: &[&Run],
    format: StudyFormat,
    is_verbose: bool,
) -> Result<()> {
    let text = text(studies, runs, format, &options(is_verbose, true))?;
    match format {
        StudyFormat::Table => cmd::print(&text),
        StudyFormat::Json | StudyFormat::Markdown | StudyFormat::Html | StudyFormat::Csv => {
            cmd::print_data(&text)
        }
    }
}

fn options(verbose: bool, color: bool) -> TableOptions {
    TableOptions {
        color,
        ..super::options(verbose)
    }
}

fn text(
    studies: &[Repeated],
    runs: &[&Run],
    format: StudyFormat,
    options: &TableOptions,
) -> Result<String> {
    Ok(match format {
        StudyFormat::Table => {
            let mut text = String::new();
            for (run, label) in runs.iter().zip(render::labels(runs)) {
                let machine = sentence::machine(run);
                let line = match runs.len() {
                    1 => machine,
                    _ => format!("{label}: {machine}, {}", sentence::time(&run.started)),
                };
                text += &(terminal::wrapped(&line, "") + "\n");
            }
            for study in studies {
                text += "\n";
                text += &render::text(study, runs, options);
            }
            text
        }
        StudyFormat::Json => {
            let judged = studies.iter().flat_map(|one| &one.by);
            let judged: Vec<&JudgedStudy> = judged.map(|(_, judged)| judged).collect();
            serde_json::to_string_pretty(&judged)? + "\n"
        }
        StudyFormat::Markdown => render::markdown(studies, runs, None),
        StudyFormat::Html => render::lab_report(studies, runs),
        StudyFormat::Csv => render::csv(studies, runs)?,
    })
}

/// Whether the path of an output is that of a folder: one that is there, or a new one without extension.
pub(super) fn is_folder(path: &Path) -> bool {
    let is_standard_output = path == Path::new("-");
    let is_new = !path.exists() && path.extension().is_none() && !is_standard_output;
    path.is_dir() || is_new || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Makes a folder to hand in, before anything is measured for it.
///
/// # Errors
/// [`Failed::Usage`] when it cannot be made or written to.
pub(super) fn make(folder: &Path) -> Result<(), Failed> {
    for part in [folder, &folder.join(FIGURES), &folder.join(DATA)] {
        fs::create_dir_all(part).map_err(|cause| {
            let what = format!(
                "{} cannot be made: {cause}; give another folder",
                part.display()
            );
            Failed::Usage(what)
        })?;
    }
    files::check_writable(&folder.join(REPORT))
}

/// The parts of a folder to hand in.
const REPORT: &str = "report.md";
const PAGE: &str = "report.html";
const FIGURES: &str = "figures";
const DATA: &str = "data";

/// Writes a report to hand in: as text and as a page, its charts as pictures, its data, and the
/// documents of the runs.
pub(super) fn write(folder: &Path, studies: &[Repeated], runs: &[&Run]) -> Result<()> {
    make(folder)?;
    let mut data = Vec::new();
    for study in studies {
        for figure in render::figures(study, runs) {
            let path = format!("{FIGURES}/{}.svg", figure.name);
            files::write(&folder.join(path), figure.svg.as_bytes())?;
        }
        let table = render::csv(std::slice::from_ref(study), runs)?;
        let path = format!("{DATA}/{}.csv", study.study.id);
        files::write(&folder.join(&path), table.as_bytes())?;
        data.push(path);
    }
    for run in runs {
        let document = serde_json::to_string_pretty(run)? + "\n";
        let path = format!("{DATA}/{}.json", run.id);
        files::write(&folder.join(&path), document.as_bytes())?;
        data.push(path);
    }
    let data = data.iter().map(|path| format!("- [{path}]({path})\n"));
    let report = render::markdown(studies, runs, Some(FIGURES));
    let report = report + "\n## Data\n\n" + &data.collect::<String>();
    files::write(&folder.join(REPORT), report.as_bytes())?;
    let page = render::lab_report(studies, runs);
    files::write(&folder.join(PAGE), page.as_bytes())?;
    note!(
        "Wrote {}: {REPORT}, {PAGE}, {FIGURES}/ and {DATA}/",
        folder.display()
    );
    Ok(())
}
