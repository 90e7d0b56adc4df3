//! `syscost study NAME --source`: the programs of a study.

use anyhow::Result;
use syscost_benches::study_sources::{SourceFile, headers, included, programs};
use syscost_results::study::Study;

use crate::{Failed, cmd};

/// Prints the program of a procedure, or a header; all programs of the study if `name` is empty.
pub(super) fn print(study: &Study, name: &str) -> Result<()> {
    let programs = programs(&study.id);
    if programs.is_empty() {
        let files = study
            .quantities
            .iter()
            .filter_map(|one| one.program.as_deref());
        let files: Vec<&str> = files.collect();
        let what = match &files[..] {
            [] => format!("`{}` has no programs", study.id),
            files => format!(
                "the programs of `{}` are your own: {}",
                study.id,
                files.join(", ")
            ),
        };
        return Err(Failed::Usage(what).into());
    }
    let headers = headers(&study.id);
    let wanted = name.strip_suffix(".c").unwrap_or(name);
    let is_header = |one: &&SourceFile| one.name.trim_start_matches("../") == name;
    if let Some(header) = headers.iter().find(is_header) {
        return cmd::print_data(header.text);
    }
    let is_wanted = |one: &&SourceFile| wanted.is_empty() || one.name == wanted;
    let chosen: Vec<&SourceFile> = programs.iter().filter(is_wanted).collect();
    if chosen.is_empty() {
        return Err(unknown(study, wanted, &programs).into());
    }
    let texts = chosen.iter().map(|one| {
        let begin = begin(study, one, &included(one.text, &headers));
        format!("{begin}{}", one.text)
    });
    cmd::print_data(&texts.collect::<Vec<String>>().join("\n"))
}

/// A comment on what a program is and how it is compiled by hand.
fn begin(study: &Study, program: &SourceFile, includes: &[SourceFile]) -> String {
    let (id, name, flags) = (&study.id, program.name, &study.flags);
    let mut text = format!(
        "/*\n * {id}: {name}.c\n * cc {flags} -std=gnu11 -static -pthread -o {name} {name}.c -lm\n"
    );
    for file in includes {
        let plain = file.name.trim_start_matches("../");
        text += &format!(" * {}: syscost study {id} --source {plain}\n", file.name);
    }
    text + " */\n"
}

fn unknown(study: &Study, name: &str, programs: &[SourceFile]) -> Failed {
    let names: Vec<&str> = programs.iter().map(|one| one.name).collect();
    let meant = super::meant(name, &names);
    Failed::Usage(format!("{} has no program `{name}`{meant}", study.id))
}
