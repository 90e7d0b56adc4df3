//! Man pages and shell completions, from the command line's definition.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Generator;
use clap_mangen::Man;
use syscost::cli::{Cli, Shell, script};

/// `docs/man/*.1`, one for the program and one for each command, and `docs/completions/*`, with the
/// names that shells expect.
pub(crate) fn files() -> Result<BTreeMap<PathBuf, String>> {
    let mut files = BTreeMap::new();
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let verbs = program.get_subcommands().filter(|verb| !verb.is_hide_set());
    for command in std::iter::once(&program).chain(verbs) {
        let (name, page) = man(command)?;
        files.insert(Path::new("docs/man").join(name), page);
    }
    for shell in Shell::value_variants() {
        let script = script(*shell, "syscost").map_err(|cause| anyhow!(cause))?;
        let path = Path::new("docs/completions").join(shell.file_name("syscost"));
        files.insert(path, script);
    }
    Ok(files)
}

fn man(command: &Command) -> Result<(String, String)> {
    let version = Cli::command().get_version().unwrap_or_default().to_owned();
    let page = Man::new(command.clone())
        .source(format!("syscost {version}"))
        .manual("syscost manual");
    let mut text = Vec::new();
    page.render(&mut text).context("writing a man page")?;
    Ok((page.get_filename(), String::from_utf8(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_and_every_shell_completes_it() {
        let files = files().unwrap();
        let verbs: Vec<String> = Cli::command()
            .get_subcommands()
            .map(|verb| verb.get_name().to_owned())
            .collect();
        assert!(verbs.len() >= 5, "{verbs:?}");
        for verb in &verbs {
            let page = files.get(&PathBuf::from(format!("docs/man/syscost-{verb}.1")));
            assert!(
                page.is_some_and(|page| page.contains(".SH SYNOPSIS")),
                "{verb}"
            );
        }
        for name in ["syscost.bash", "_syscost", "syscost.fish"] {
            let script = &files[&Path::new("docs/completions").join(name)];
            // The script asks the program for its commands.
            assert!(script.contains("SYSCOST_COMPLETE"), "{script}");
        }
        assert!(files[Path::new("docs/man/syscost.1")].contains("syscost\\-run(1)"));
        assert_eq!(files.len(), verbs.len() + 1 + Shell::value_variants().len());
    }
}
