//! `syscost fleet template`: writes the files that another program needs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use syscost_fleet::template::{self, File, Template};

use crate::Failed;
use crate::cli::fleet::TemplateArguments;
use crate::error::exit;
use crate::files::write;
use crate::terminal::note;

/// Runs the command.
pub(super) fn run(arguments: &TemplateArguments) -> Result<u8> {
    let template = template::find(&arguments.name).expect("the command line has only these");
    match (&arguments.output, template.files) {
        (Some(folder), _) => write_all(template, folder)?,
        (None, [only]) => crate::cmd::print_data(only.text)?,
        (None, files) => {
            let names: Vec<&str> = files.iter().map(|file| file.name).collect();
            let homeless = format!(
                "{} is {} files ({}); name a folder for them: -o DIR",
                template.name,
                files.len(),
                names.join(", ")
            );
            return Err(Failed::Usage(homeless).into());
        }
    }
    Ok(exit::DONE)
}

/// Writes the files into a folder, which is created if it does not exist. What is there already is
/// not replaced: it may have been adapted.
fn write_all(template: &Template, folder: &Path) -> Result<()> {
    let there = template.files.iter().map(|file| folder.join(file.name));
    if let Some(path) = there.into_iter().find(|path| path.exists()) {
        let path = path.display();
        let occupied = format!("{path} is there already; remove it, or name another folder");
        return Err(Failed::Usage(occupied).into());
    }
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    for file in template.files {
        write_one(file, &folder.join(file.name))?;
    }
    Ok(())
}

/// Writes one file, which may be executed if it is a program.
fn write_one(file: &File, path: &Path) -> Result<()> {
    write(path, file.text.as_bytes())?;
    if file.is_program() {
        let may = fs::set_permissions(path, Permissions::from_mode(0o755));
        may.with_context(|| format!("making {} executable", path.display()))?;
    }
    note!("Wrote {}", path.display());
    Ok(())
}
