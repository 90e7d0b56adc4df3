//! The programs of a user's own study: compiled before anything is measured.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};
use syscost_benches::HEADER;
use syscost_harness::directory;
use syscost_harness::programs::{Executable, OwnProgram};
use syscost_results::study::{Quantity, Study};
use syscost_studies::counted;

use syscost_sys::scratch::{self, Tree};

use crate::Failed;

/// Compiles the programs of studies, read from files in these folders, into a folder of its own, which is
/// removed when it is dropped.
///
/// # Errors
/// [`Failed::Usage`] where a file is not there or does not compile, with what the compiler says. In a run
/// that is resumed, this costs the program's row alone.
pub(super) fn make(
    studies: &[(&Study, PathBuf)],
    is_resumed: bool,
) -> Result<(Vec<OwnProgram>, Option<Tree>)> {
    let mut quantities = studies.iter().flat_map(|(study, _)| &study.quantities);
    if !quantities.any(Quantity::is_own) {
        return Ok((Vec::new(), None));
    }
    let tree = scratch::tree_in(&directory::default().made()?)?;
    let held = tree.folder().file().as_raw_fd();
    let scratch =
        fs::read_link(format!("/proc/self/fd/{held}")).context("finding a scratch folder")?;
    let mut all = Vec::new();
    for (study, beside) in studies {
        for quantity in study.quantities.iter().filter(|one| one.is_own()) {
            let made = match made(study, quantity, beside, &scratch) {
                Err(reason) if is_resumed => Err(first_line(&reason.to_string())),
                made => Ok(made?),
            };
            all.push(OwnProgram::new(&study.id, &quantity.id, made));
        }
    }
    Ok((all, Some(tree)))
}

/// The first line of a message that ends with what a compiler printed.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.trim_end_matches(':').to_owned()
}

/// Makes the program of a quantity that has one.
fn made(study: &Study, quantity: &Quantity, beside: &Path, scratch: &Path) -> Result<Executable> {
    let wrong = |what: String| Failed::Usage(format!("quantity `{}`: {what}", quantity.id));
    let made = |command: Vec<String>, how: String| Executable {
        command,
        directory: scratch.to_owned(),
        unit: match quantity.prints.as_deref() {
            Some("cycles") => "ticks".to_owned(),
            other => other.unwrap_or("ns").to_owned(),
        },
        counted: {
            let counted = counted(quantity).into_iter();
            counted.map(|(_, name)| name.to_owned()).collect()
        },
        how,
    };
    if let Some(command) = &quantity.command {
        let [program, arguments @ ..] = &command[..] else {
            return Err(
                wrong("field `command`: give a program and its arguments".to_owned()).into(),
            );
        };
        // A path is from the study's file; a name alone is looked up as a shell does.
        let found = match program.contains('/') {
            true => path(&beside.join(program))?,
            false => program.clone(),
        };
        return Ok(made([&[found], arguments].concat(), command.join(" ")));
    }
    let file = quantity.program.as_deref().unwrap_or_default();
    let source = beside.join(file);
    if !source.is_file() {
        let what = format!("field `program`: there is no file {}", source.display());
        return Err(wrong(what).into());
    }
    fs::write(scratch.join("result.h"), HEADER).context("writing result.h for the compiler")?;
    let executable = scratch.join(format!("{}.{}", study.id, quantity.id));
    let compiler = env::var("CC").unwrap_or_default();
    let compiler = match compiler.trim() {
        "" => "cc",
        set => set,
    };
    let mut refused = String::new();
    // Static, as those of the published studies; where there is no C library for that, not.
    for linked in [&["-static"][..], &[]] {
        // The compiler may come with arguments, as in `ccache gcc`.
        let mut words = compiler.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command
            .args(words)
            .args(study.flags.split_whitespace())
            .args(linked);
        command
            .arg("-pthread")
            .arg("-I")
            .arg(scratch)
            .arg("-o")
            .arg(&executable)
            .arg(&source);
        let ran = command.arg("-lm").output();
        let ran =
            ran.map_err(|cause| wrong(format!("starting the compiler {compiler}: {cause}")))?;
        if ran.status.success() {
            let how = [&[compiler, &study.flags], linked, &[file]].concat();
            return Ok(made(vec![path(&executable)?], how.join(" ")));
        }
        refused = String::from_utf8_lossy(&ran.stderr).into_owned();
    }
    Err(wrong(format!(
        "{compiler} does not compile {}:\n{refused}",
        source.display()
    ))
    .into())
}

/// A path as text, absolute.
fn path(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path)?;
    let text = absolute.into_os_string().into_string();
    text.map_err(|path| Failed::Usage(format!("{} is not UTF-8", path.display())).into())
}
