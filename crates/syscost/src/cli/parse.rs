//! Parses the command line, and says what may have been meant where it is wrong.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};
use syscost_benches::CATALOGUE;

use super::Cli;
use crate::error::exit;

/// What other programs call some commands.
const OTHER_NAMES: [(&str, &str); 13] = [
    ("version", "--version"),
    ("benchmark", "run"),
    ("bench", "time"),
    ("stat", "time"),
    ("exec", "time"),
    ("hyperfine", "time"),
    ("measure", "run"),
    ("diff", "compare"),
    ("chart", "plot"),
    ("html", "report"),
    ("info", "doctor"),
    ("ls", "list"),
    ("test", "selftest"),
];

/// Maximum number of wrong letters in the name of a command.
const MAX_WRONG: usize = 2;

/// The command line of this process; prints help and errors, and then exits.
pub(crate) fn parse() -> Cli {
    of(std::env::args_os()).unwrap_or_else(|error| {
        if error.use_stderr()
            && is_check(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
        {
            // Its callers know 2 as an answer.
            let _ = error.print();
            std::process::exit(i32::from(exit::NOT_CHECKED));
        }
        error.exit()
    })
}

/// Whether these words call `syscost check`.
fn is_check(words: impl Iterator<Item = String>) -> bool {
    let mut words = words.skip(1).filter(|word| !word.starts_with('-'));
    words.next().as_deref() == Some("check")
}

fn of(words: impl Iterator<Item = OsString>) -> Result<Cli, Error> {
    let words: Vec<OsString> = words.collect();
    let words = as_time(&words).unwrap_or(words);
    let parsed = with_signs(Cli::command()).try_get_matches_from(&words);
    let parsed = parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    parsed.map_err(|error| unknown_command(&error, &words).unwrap_or(error))
}

/// `ab OPTIONS -- COMMAND -- COMMAND` as what it is: `time OPTIONS -- 'COMMAND' 'COMMAND'`.
fn as_time(words: &[OsString]) -> Option<Vec<OsString>> {
    let mut parts = words.split(|word| word == "--");
    let (before, first, other) = (parts.next()?, parts.next()?, parts.next()?);
    let verb = before.iter().position(|word| word == "ab")?;
    let is_of_two = parts.next().is_none() && !first.is_empty() && !other.is_empty();
    let joined = |command: &[OsString]| {
        let words: Option<Vec<&str>> = command.iter().map(|word| word.to_str()).collect();
        shlex::try_join(words?).ok().map(OsString::from)
    };
    let mut time = before.to_vec();
    time[verb] = "time".into();
    time.extend(["--".into(), joined(first)?, joined(other)?]);
    is_of_two.then_some(time)
}

/// A negative number is a value: who reads it knows better what is wrong with it than the parser of
/// options.
fn with_signs(command: Command) -> Command {
    let with_sign = |argument: Arg| {
        let has_value = argument.get_action().takes_values() && !argument.is_positional();
        argument.allow_negative_numbers(has_value)
    };
    command.mut_args(with_sign).mut_subcommands(with_signs)
}

/// The error for an unknown command that resembles a known one.
fn unknown_command(error: &Error, words: &[OsString]) -> Option<Error> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    // Commands of a command are its own matter.
    let is_option = |word: &&OsString| word.to_string_lossy().starts_with('-');
    let first = words.iter().skip(1).find(|word| !is_option(word))?;
    let meant = meant(typed).filter(|_| first.to_str() == Some(typed))?;
    let words = format!("there is no command `{typed}`; did you mean `syscost {meant}`?");
    Some(Cli::command().error(ErrorKind::InvalidSubcommand, words))
}

/// The command that a word may have been meant to be.
fn meant(typed: &str) -> Option<String> {
    let others = OTHER_NAMES.iter().find(|(name, _)| *name == typed);
    let is_of_catalogue = || {
        let mut groups = CATALOGUE.visible_groups();
        groups.any(|group| group.name == typed) || CATALOGUE.find(typed).is_some()
    };
    let nearest = || {
        let command = Cli::command();
        let names = command.get_subcommands().map(Command::get_name);
        let near = names.map(|name| (strsim::osa_distance(typed, name), name));
        let near = near.filter(|(wrong, name)| *wrong <= MAX_WRONG && *wrong < name.len());
        near.min().map(|(_, name)| name.to_owned())
    };
    match others {
        Some((_, meant)) => Some((*meant).to_owned()),
        None if is_of_catalogue() => Some(format!("run {typed}")),
        None => nearest(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ab_of_two_commands_is_time_of_both() {
        let of_line = |line: &str| of(line.split(' ').map(OsString::from)).map(|cli| cli.command);
        let line = "syscost ab --budget 9 -- ls -l -- grep -r a b.c";
        match of_line(line) {
            Ok(crate::cli::Command::Time(time)) => {
                assert_eq!(time.commands, ["ls -l", "grep -r a b.c"]);
                assert!(time.budget.is_some());
            }
            other => panic!("{other:?}"),
        }
        for line in ["syscost ab -- syscall.null", "syscost ab memory"] {
            assert!(matches!(of_line(line), Ok(crate::cli::Command::Ab(_))));
        }
    }

    fn refused(line: &str) -> String {
        let words = line.split(' ').map(OsString::from);
        match of(words) {
            Ok(_) => panic!("{line} is accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_unknown_command_is_answered_with_the_one_that_was_meant() {
        for (typed, meant) in [
            ("rnu", "run"),
            ("shwo", "show"),
            ("comapre", "compare"),
            ("version", "--version"),
            ("benchmark", "run"),
            ("memory", "run memory"),
            ("syscall.null", "run syscall.null"),
        ] {
            let said = refused(&format!("syscost {typed}"));
            assert!(
                said.contains(&format!("did you mean `syscost {meant}`?")),
                "{said}"
            );
        }
        let said = refused("syscost zebra");
        assert!(
            said.contains("zebra") && !said.contains("did you mean"),
            "{said}"
        );
        let said = refused("syscost fleet lst");
        assert!(!said.contains("`syscost list`"), "{said}");
    }

    /// The options that take a value, each with the names of its command.
    fn options(command: &Command, path: &str) -> Vec<String> {
        let own = command.get_arguments();
        let valued = own.filter(|argument| argument.get_action().takes_values());
        let mut lines: Vec<String> = valued
            .filter_map(|argument| Some(format!("{path} --{}", argument.get_long()?)))
            .collect();
        for nested in command.get_subcommands() {
            lines.extend(options(nested, &format!("{path} {}", nested.get_name())));
        }
        lines
    }

    #[test]
    fn a_negative_number_is_no_option() {
        let all = options(&Cli::command(), "syscost");
        assert!(all.len() > 30, "{all:?}");
        for line in all {
            let words = format!("{line} -5");
            let said = of(words.split(' ').map(OsString::from)).err();
            let said = said.map_or_else(String::new, |error| error.to_string());
            assert!(
                !said.contains("unexpected argument '-5'"),
                "{words}: {said}"
            );
        }
        assert!(refused("syscost run --budget -5").contains("give a positive number"));
    }
}
