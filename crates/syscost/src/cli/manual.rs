//! What man pages say beside options: exit codes, which help tells as well, environment and files.

use crate::error::exit;

/// Something with a meaning, of these commands; of all of them, if none is named.
type Entry<T> = (T, &'static str, &'static [&'static str]);

/// The exit codes that have one meaning wherever they occur.
const EXIT_CODES: &[Entry<u8>] = &[
    (exit::DONE, "done", &[]),
    (
        exit::FAILURE,
        "failure (also when nothing was compared, or --fail-on could judge less than half of the rows)",
        &[],
    ),
    (
        exit::USAGE,
        "bad usage (also a run, row, benchmark, CPU, journal, file or program that does not exist)",
        &[],
    ),
    (
        exit::GATE,
        "a gate failed (a regression with --fail-on; with --strict a number withheld or a row failed)",
        &["run", "ab"],
    ),
    (
        exit::NOTHING,
        "nothing was measured though this machine could",
        &["run", "study run", "fleet run"],
    ),
    (
        exit::INCOMPLETE,
        "a study is incomplete (its time was too short for quantities with published figures)",
        &["study run"],
    ),
    (
        exit::INTERRUPTED,
        "interrupted",
        &["run", "ab", "doctor", "study run", "fleet run"],
    ),
];

/// Those that mean something else, or something narrower, of one command.
const OWN_EXIT_CODES: &[(&str, u8, &str)] = &[
    (
        "compare",
        exit::FAILURE,
        "the gate of --fail-on cannot tell: fewer rows than --min-conclusive asks for are shown to be no worse; or nothing could be compared",
    ),
    ("compare", exit::GATE, "the gate of --fail-on failed"),
    ("check", exit::DONE, "as it should be"),
    ("check", exit::NOT_AS_IT_SHOULD_BE, "not as it should be"),
    (
        "check",
        exit::CANNOT_TELL,
        "cannot tell (something else ran on the cores, or the baseline is of another kind of machine)",
    ),
    (
        "check",
        exit::NOT_CHECKED,
        "could not measure (also bad usage)",
    ),
    (
        "fleet report",
        exit::DONE,
        "all machines are like the others",
    ),
    (
        "fleet report",
        exit::FAILURE,
        "cannot tell: fewer than half of the machines could be judged",
    ),
    (
        "fleet report",
        exit::GATE,
        "some machines are not like the others",
    ),
    (
        "fleet run",
        exit::FAILURE,
        "failure, or some nodes have no document",
    ),
    ("clean", exit::FAILURE, "something could not be removed"),
    ("selftest", exit::FAILURE, "a test failed"),
    (
        "selftest",
        exit::NOTHING,
        "cannot tell: nothing failed, and no known cost was met",
    ),
];

/// The exit codes of a command (`study run`) and what they mean there; of the program itself, `""`,
/// all that have one meaning.
pub fn exit_codes(command: &str) -> Vec<(u8, &'static str)> {
    let own = OWN_EXIT_CODES.iter().filter(|(of, ..)| *of == command);
    let own: Vec<(u8, &str)> = own.map(|(_, code, meaning)| (*code, *meaning)).collect();
    let is_own = |code: u8| own.iter().any(|(known, _)| *known == code);
    let general = of(EXIT_CODES, command).filter(|(code, _)| !is_own(*code));
    let mut codes: Vec<(u8, &str)> = general.chain(own.iter().copied()).collect();
    codes.sort_unstable();
    codes
}

/// The exit codes of a command in a sentence.
pub fn exit_codes_sentence(command: &str) -> String {
    let codes = exit_codes(command).into_iter();
    let codes = codes.map(|(code, meaning)| format!("{code} {meaning}"));
    format!("Exit codes: {}.", codes.collect::<Vec<_>>().join("; "))
}

/// This text below a command's help, and its exit codes.
pub(super) fn with_exit_codes(command: &str, text: &str) -> String {
    format!("{text}\n\n{}", exit_codes_sentence(command))
}

const ENVIRONMENT: &[Entry<&str>] = &[
    (
        "NO_COLOR",
        "No colours, unless --color says otherwise.",
        &[],
    ),
    (
        "CLICOLOR_FORCE",
        "Colours in files and pipes as well, unless --color says otherwise.",
        &[],
    ),
    (
        "COLUMNS",
        "The width of tables and charts that go into a file or a pipe.",
        &[],
    ),
    (
        "XDG_DATA_HOME",
        "Runs are kept in syscost/ in this directory; ~/.local/share if not set.",
        &[],
    ),
    (
        "XDG_CACHE_HOME",
        "Files are measured in syscost/ in this directory if no --dir is given; ~/.cache if not set.",
        &["run", "ab", "check", "study run", "selftest"],
    ),
    (
        "PAGER",
        "The pager of tables on a terminal; less if not set.",
        &["show"],
    ),
    (
        "CC",
        "The compiler of a study's programs; cc if not set.",
        &["study run", "study"],
    ),
    (
        "SYSCOST_COMPLETE",
        "bash, zsh or fish: the program prints the script by which this shell completes commands, options, benchmarks and kept runs, such as for `source <(SYSCOST_COMPLETE=bash syscost)`.",
        &[""],
    ),
];

/// The environment variables that a command reads, and what for.
pub fn environment(command: &str) -> Vec<(&'static str, &'static str)> {
    of(ENVIRONMENT, command).collect()
}

const FILES: &[Entry<&str>] = &[
    (
        "~/.local/share/syscost/runs/ID.json",
        "The document of a kept run; docs/run.schema.json describes it.",
        &[],
    ),
    (
        "~/.local/share/syscost/tags/ID/TAG",
        "An empty file for each tag of a kept run.",
        &["run", "history", "history tag", "history prune"],
    ),
    (
        "~/.local/share/syscost/journals/",
        "Journals of unfinished runs, for --resume.",
        &["run", "study run"],
    ),
    (
        "~/.local/share/syscost/index.sqlite",
        "An index of the kept runs; it may be removed, and is made again.",
        &["history", "history prune", "report"],
    ),
    (
        "~/.cache/syscost/",
        "The default directory in which files are measured; what is made there is removed.",
        &["run", "ab", "check", "study run", "selftest", "clean"],
    ),
];

/// The files that a command reads or writes, besides those that it is given.
pub fn files(command: &str) -> Vec<(&'static str, &'static str)> {
    of(FILES, command).collect()
}

fn of<'c, T: Copy>(
    entries: &'static [Entry<T>],
    command: &'c str,
) -> impl Iterator<Item = (T, &'static str)> + use<'c, T> {
    let is_of = move |commands: &[&str]| {
        commands.is_empty() || command.is_empty() || commands.contains(&command)
    };
    let of_it = entries
        .iter()
        .filter(move |(_, _, commands)| is_of(commands));
    of_it.map(|(name, meaning, _)| (*name, *meaning))
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(all(feature = "doctor", feature = "fleet", feature = "studies"))]
    #[test]
    fn every_command_named_here_exists() {
        use clap::CommandFactory;
        let cli = super::super::Cli::command();
        let is_there = |path: &str| {
            let mut words = path.split(' ');
            words
                .try_fold(&cli, |command, word| command.find_subcommand(word))
                .is_some()
        };
        let named = EXIT_CODES.iter().flat_map(|(.., commands)| *commands);
        let named = named.chain(ENVIRONMENT.iter().flat_map(|(.., commands)| *commands));
        let named = named.chain(FILES.iter().flat_map(|(.., commands)| *commands));
        for path in named.chain(OWN_EXIT_CODES.iter().map(|(of, ..)| of)) {
            // That of the program alone is none.
            assert!(path.is_empty() || is_there(path), "{path}");
        }
    }

    #[test]
    fn a_commands_own_meaning_of_a_code_replaces_the_general_one() {
        let codes = exit_codes("check");
        assert_eq!(codes[2].1, OWN_EXIT_CODES[4].2);
        assert_eq!(codes.len(), 4, "{codes:?}");
        let of = |command: &str| -> Vec<u8> {
            exit_codes(command).iter().map(|(code, _)| *code).collect()
        };
        assert_eq!(of("compare"), [0, 1, 2, 3]);
        assert_eq!(of("study run"), [0, 1, 2, 4, 5, 130]);
        assert_eq!(of("list"), [0, 1, 2]);
        let all = exit_codes_sentence("");
        assert!(
            all.starts_with("Exit codes: 0 done; 1 failure (")
                && all.ends_with("; 130 interrupted."),
            "{all}"
        );
    }
}
