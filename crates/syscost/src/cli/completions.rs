//! Arguments of `completions`, and what shells complete besides commands and options: benchmarks,
//! groups and kept runs.
//!
//! The scripts call the program itself, so they complete what this program and this data directory have.

use clap::{Arg, Args, Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use syscost_benches::CATALOGUE;
use syscost_store::Store;

use super::Cli;

pub use clap_complete::Shell;

/// The environment variable by which a script asks for completions.
const VARIABLE: &str = "SYSCOST_COMPLETE";

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
For this shell only, and for good:
  source <(syscost completions bash)
  syscost completions bash > ~/.local/share/bash-completion/completions/syscost
  syscost completions zsh > DIR/_syscost          a directory of $fpath
  syscost completions fish > ~/.config/fish/completions/syscost.fish
  eval (syscost completions elvish | slurp)
  syscost completions powershell | Out-String | Invoke-Expression")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// The command line, with the possible values of its arguments: benchmarks and kept runs.
fn command() -> Command {
    with_values(Cli::command())
}

/// Returns the script by which a shell completes `syscost`; it calls `program`, a path or a name
/// in PATH.
///
/// # Errors
/// When there is no script for this shell.
pub fn script(shell: Shell, program: &str) -> Result<String, String> {
    let missing = || format!("there is no script for {shell}");
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string()).ok_or_else(missing)?;
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, "syscost", "syscost", program, &mut script)
        .map_err(|cause| cause.to_string())?;
    String::from_utf8(script).map_err(|cause| cause.to_string())
}

/// Prints the completions and exits, if a completion script has called the program.
pub(crate) fn answer() {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

fn with_values(command: Command) -> Command {
    command
        .mut_args(with_candidates)
        .mut_subcommands(with_values)
}

/// Adds the possible values. A value name means the same kind of value in all commands.
fn with_candidates(argument: Arg) -> Arg {
    let names = argument.get_value_names().unwrap_or_default();
    let name = names.first().map(|name| name.as_str().to_owned());
    match name.as_deref() {
        Some("RUN" | "BASE" | "NEW" | "REFERENCE") => argument.add(ArgValueCandidates::new(runs)),
        Some("RUN|SELECTOR") => {
            let both = || runs().into_iter().chain(selectors()).collect();
            argument.add(ArgValueCandidates::new(both))
        }
        Some("SELECTOR" | "SELECTOR|WORDS" | "NAME") if argument.get_long().is_none() => {
            argument.add(ArgValueCandidates::new(selectors))
        }
        Some("ID|WORDS") if argument.get_long().is_none() => {
            argument.add(ArgValueCandidates::new(benchmarks))
        }
        Some(_) | None => argument,
    }
}

/// Ids of benchmarks, with their titles.
fn benchmarks() -> Vec<CompletionCandidate> {
    let candidate = |id: &str, title: &str| {
        CompletionCandidate::new(id.to_owned()).help(Some(title.to_owned().into()))
    };
    CATALOGUE
        .benchmarks()
        .map(|benchmark| candidate(benchmark.id, benchmark.title))
        .collect()
}

/// Groups, then ids of benchmarks.
fn selectors() -> Vec<CompletionCandidate> {
    let groups = CATALOGUE.visible_groups();
    let groups = groups.map(|group| CompletionCandidate::new(group.name));
    groups.chain(benchmarks()).collect()
}

/// `latest`, tags, and ids, newest first; only `latest` if the directory cannot be read.
fn runs() -> Vec<CompletionCandidate> {
    let names = Store::of_user().names().unwrap_or_default();
    let names = std::iter::once("latest".to_owned()).chain(names);
    names.map(CompletionCandidate::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn there_is_a_script_for_every_shell() {
        for shell in Shell::value_variants() {
            let script = script(*shell, "/a place/syscost").expect("there is one");
            assert!(
                script.contains(VARIABLE) && script.contains("/a place/syscost"),
                "{shell}: {script}"
            );
        }
        command().debug_assert();
    }
}
