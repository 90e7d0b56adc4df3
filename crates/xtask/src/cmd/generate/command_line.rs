//! Man pages and shell completions, from the command line's definition.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Generator;
use clap_mangen::Man;
use syscost::cli::{Cli, Shell, script};

/// `docs/man/*.1`, one for the program and one for each command at any depth, and `docs/completions/*`,
/// with the names that shells expect.
pub(crate) fn files() -> Result<BTreeMap<PathBuf, String>> {
    let mut files = BTreeMap::new();
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    for command in all(&program) {
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

/// A command and all its subcommands, except hidden ones.
fn all(command: &Command) -> Vec<&Command> {
    let nested = command.get_subcommands().filter(|one| !one.is_hide_set());
    std::iter::once(command)
        .chain(nested.flat_map(all))
        .collect()
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

    /// Whether a page is about this command: `syscost-history-prune`.
    fn is_page_of(page: &str, name: &str) -> bool {
        page.contains(&format!(".TH {name} 1")) && page.contains(".SH SYNOPSIS")
    }

    #[test]
    fn every_command_has_a_page_and_every_shell_completes_it() {
        let files = files().unwrap();
        let commands: Vec<String> = Cli::command()
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .collect();
        assert!(commands.len() >= 5, "{commands:?}");
        for command in &commands {
            let name = format!("syscost-{command}");
            let page = &files[&Path::new("docs/man").join(format!("{name}.1"))];
            assert!(is_page_of(page, &name), "{page}");
        }
        for name in ["syscost.bash", "_syscost", "syscost.fish"] {
            let script = &files[&Path::new("docs/completions").join(name)];
            // The script asks the program for its commands.
            assert!(script.contains("SYSCOST_COMPLETE"), "{script}");
        }
        assert!(files[Path::new("docs/man/syscost.1")].contains("syscost\\-run(1)"));
    }

    #[test]
    fn every_page_that_another_refers_to_exists() {
        let files = files().unwrap();
        let mut found = 0;
        for page in files.values() {
            // As in the list of a command's own: `syscost\-history\-prune(1)`.
            for line in page.lines().filter(|line| line.ends_with("(1)")) {
                let name = line.trim_end_matches("(1)").replace('\\', "");
                let other = files.get(&Path::new("docs/man").join(format!("{name}.1")));
                assert!(other.is_some_and(|page| is_page_of(page, &name)), "{line}");
                found += 1;
            }
        }
        assert!(found > 20, "{found} references");
        let page = &files[Path::new("docs/man/syscost-history-prune.1")];
        assert!(page.contains("older\\-than"), "{page}");
    }
}
