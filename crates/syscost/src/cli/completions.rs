//! What shells complete besides commands and options: groups, benchmarks, their parameters, studies, kept
//! runs and tags.
//!
//! `SYSCOST_COMPLETE=bash syscost` prints the script. It calls the program itself, so it completes what this
//! program and this data directory have.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{
    self, ArgValueCandidates, ArgValueCompleter, CompletionCandidate, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, EnvCompleter, Fish, Shells, Zsh};
use syscost_benches::CATALOGUE;
use syscost_harness::{Case, Entry, Testbed};
use syscost_store::Store;

use super::Cli;
use crate::cmd::study::published;
use crate::{files, references};

/// The environment variable by which a script asks for completions.
const VARIABLE: &str = "SYSCOST_COMPLETE";

/// The shells that have a script.
const SHELLS: Shells<'static> = Shells(&[&Bash, &Fish, &Zsh]);

/// Bash splits words at `=` and `:`, also within quotes that are not closed, so the command line is
/// split here, and what bash takes for the beginning of the last word is left out of the answer. It
/// expands `{a,b}`, so outside of quotes a comma after a brace is escaped.
struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let completer = completer.replace('\'', r"'\''");
        writeln!(
            buf,
            r#"_complete_{name}() {{
    mapfile -t COMPREPLY < <({var}=bash '{completer}' -- "${{COMP_LINE:0:COMP_POINT}}" "$2")
    if [[ ${{COMPREPLY-}} == *[=/:] ]]; then
        compopt -o nospace
    fi
}}
# Not every bash can keep the order.
complete -o bashdefault -o default -o nosort -F _complete_{name} {bin} 2>/dev/null ||
    complete -o bashdefault -o default -F _complete_{name} {bin}"#
        )
    }

    fn write_complete(
        &self,
        command: &mut Command,
        arguments: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let [line, word] = &arguments[..] else {
            return Ok(());
        };
        let (words, is_quoted) = words(&line.to_string_lossy());
        let last = words.last().cloned().unwrap_or_default();
        let word = word.to_string_lossy().replace("\\,", ",");
        let left_out = last.strip_suffix(&word).unwrap_or("");
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        let index = words.len().saturating_sub(1);
        for candidate in engine::complete(command, words, index, current_dir)? {
            let value = candidate.get_value().to_string_lossy();
            let rest = value.strip_prefix(left_out).unwrap_or(&value);
            match value.contains('{') && !is_quoted {
                true => writeln!(buf, "{}", rest.replace(',', "\\,"))?,
                false => writeln!(buf, "{rest}")?,
            }
        }
        Ok(())
    }
}

/// The words of a command line that is being typed, without quotes, and whether the last one, which may be
/// empty, is within quotes.
fn words(line: &str) -> (Vec<String>, bool) {
    let (mut words, mut quote) = (vec![String::new()], None);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if letter == open => quote = None,
            (None, ' ' | '\t') => words.push(String::new()),
            (None, '\\') => words.last_mut().expect("one").extend(letters.next()),
            (_, letter) => words.last_mut().expect("one").push(letter),
        }
    }
    let last = words.pop();
    words.retain(|word| !word.is_empty());
    words.extend(last);
    (words, quote.is_some())
}

/// The command line, with the possible values of its arguments: benchmarks and kept runs.
fn command() -> Command {
    with_values(Cli::command())
}

/// The scripts by which shells complete `syscost`, a name in PATH, each with the name of its file.
pub fn scripts() -> [(&'static str, String); 3] {
    let all: [(_, &dyn EnvCompleter); 3] = [
        ("syscost.bash", &Bash),
        ("syscost.fish", &Fish),
        ("_syscost", &Zsh),
    ];
    all.map(|(file, shell)| {
        let mut script = Vec::new();
        let written =
            shell.write_registration(VARIABLE, "syscost", "syscost", "syscost", &mut script);
        written.expect("memory takes it");
        (file, String::from_utf8(script).expect("it is made of text"))
    })
}

/// Prints completions or the script that asks for them and exits, if the environment says so.
pub(crate) fn answer() {
    CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .shells(SHELLS)
        .complete();
}

fn with_values(command: Command) -> Command {
    command
        .mut_args(with_candidates)
        .mut_subcommands(with_values)
}

/// Adds the possible values. A value name means the same kind of value in all commands.
fn with_candidates(argument: Arg) -> Arg {
    let is_option = argument.get_long().is_some();
    let names = argument.get_value_names().unwrap_or_default();
    let name = names.first().map(|name| name.as_str().to_owned());
    let candidates: fn() -> Vec<CompletionCandidate> = match name.as_deref() {
        Some("RUN" | "BASE" | "NEW" | "RUN|FILE") => runs,
        Some("REFERENCE") => || both(shipped(), runs()),
        Some("TAG") => tags,
        Some("JOURNAL") => journals,
        Some("STUDY") => studies,
        Some("STUDY|RUN") => || both(studies(), runs()),
        Some("ID|WORDS") => selectors,
        Some("RUN|SELECTOR") => return argument.add(ArgValueCompleter::new(Selectors(runs))),
        Some("SELECTOR" | "SELECTOR|WORDS") if !is_option => {
            return argument.add(ArgValueCompleter::new(Selectors(Vec::new)));
        }
        Some(_) | None => return argument,
    };
    argument.add(ArgValueCandidates::new(candidates))
}

fn both(
    one: Vec<CompletionCandidate>,
    other: Vec<CompletionCandidate>,
) -> Vec<CompletionCandidate> {
    one.into_iter().chain(other).collect()
}

/// Names with what is said of each.
fn candidates<'a>(named: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<CompletionCandidate> {
    let candidate = |(name, about): (&str, &str)| {
        CompletionCandidate::new(name).help(Some(about.to_owned().into()))
    };
    named.into_iter().map(candidate).collect()
}

/// Groups, then ids of benchmarks, with their titles.
fn selectors() -> Vec<CompletionCandidate> {
    let groups = CATALOGUE.visible_groups();
    let groups = groups.map(|group| (group.name, group.title));
    let benchmarks = CATALOGUE.benchmarks();
    candidates(groups.chain(benchmarks.map(|one| (one.id, one.title))))
}

/// Completes selectors: these names, groups, benchmarks, and the parameters of a benchmark.
struct Selectors(fn() -> Vec<CompletionCandidate>);

impl ValueCompleter for Selectors {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let current = current.to_string_lossy();
        match current.split_once('{') {
            Some((id, typed)) => CATALOGUE
                .find(id)
                .map_or_else(Vec::new, |benchmark| of_benchmark(benchmark, typed)),
            None => {
                let mut all = both((self.0)(), selectors());
                all.retain(|one| one.get_value().to_string_lossy().starts_with(&*current));
                all
            }
        }
    }
}

/// Completes the parameters of a benchmark, `key=value,key=`.
fn of_benchmark(benchmark: &'static Entry, typed: &str) -> Vec<CompletionCandidate> {
    let (done, last) = match typed.rsplit_once(',') {
        Some((done, last)) => (format!("{done},"), last),
        None => (String::new(), typed),
    };
    let is_done = |key: &str| {
        done.split(',')
            .any(|one| one.split('=').next() == Some(key))
    };
    let begun = format!("{}{{{done}", benchmark.id);
    let completed = parameters_of(benchmark, last).into_iter();
    let completed = completed.filter(|(text, _)| !is_done(text.trim_end_matches('=')));
    let completed = completed.map(|(text, about)| {
        let end = if text.ends_with('=') { "" } else { "}" };
        CompletionCandidate::new(format!("{begun}{text}{end}")).help(about.map(Into::into))
    });
    completed.collect()
}

/// The parameters of a benchmark that begin like this: keys with what they mean, or, after a key, the values of
/// its rows here.
fn parameters_of(benchmark: &Entry, typed: &str) -> Vec<(String, Option<&'static str>)> {
    let mut found: Vec<(String, Option<&str>)> = match typed.contains('=') {
        false => {
            let keys = benchmark.parameters.iter();
            keys.map(|(key, meaning)| (format!("{key}="), Some(*meaning)))
                .collect()
        }
        true => {
            let cases = (benchmark.cases)(&Testbed::plain()).into_iter();
            let of_case = |case: Case| {
                let parameters = case.parameters();
                let texts = parameters.map(|(key, value)| (format!("{key}={value}"), None));
                texts.collect::<Vec<_>>()
            };
            cases.flat_map(of_case).collect()
        }
    };
    let mut seen = BTreeSet::new();
    found.retain(|(text, _)| text.starts_with(typed) && seen.insert(text.clone()));
    found
}

/// Ids of studies, with their titles, and `all`.
fn studies() -> Vec<CompletionCandidate> {
    let published = published();
    let named = published
        .iter()
        .map(|study| (&study.id[..], &study.title[..]));
    candidates(named.chain([("all", "every published experiment")]))
}

/// The shipped references.
fn shipped() -> Vec<CompletionCandidate> {
    references::names().map(CompletionCandidate::new).collect()
}

/// Tags, in their order.
fn tags() -> Vec<CompletionCandidate> {
    let tags = Store::of_user().tags().into_values().flatten();
    let tags: BTreeSet<String> = tags.collect();
    tags.into_iter().map(CompletionCandidate::new).collect()
}

/// Journals of interrupted runs, newest first.
fn journals() -> Vec<CompletionCandidate> {
    let journals = files::unfinished(&Store::of_user()).into_iter();
    journals.map(CompletionCandidate::new).collect()
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

    #[test]
    fn there_is_a_script_for_every_shell() {
        for (file, script) in scripts() {
            assert!(script.contains(VARIABLE), "{file}: {script}");
        }
        command().debug_assert();
    }

    #[test]
    fn a_line_that_is_being_typed_has_words() {
        for (line, wanted, is_quoted) in [
            ("syscost run ", &["syscost", "run", ""][..], false),
            (
                "syscost  show 'a b{c=",
                &["syscost", "show", "a b{c="],
                true,
            ),
            (r#"x "it's" a\ b"#, &["x", "it's", "a b"], false),
            ("", &[""], false),
        ] {
            let wanted = wanted.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(words(line), (wanted, is_quoted), "{line}");
        }
    }

    #[test]
    fn parameters_complete_by_key_and_value() {
        let of = |typed: &str| -> Vec<String> {
            let found = Selectors(Vec::new).complete(OsStr::new(typed));
            let names = found.iter().map(|one| one.get_value().to_string_lossy());
            names.map(String::from).collect()
        };
        let poll = "syscall.poll{of=pipe,";
        assert_eq!(of(&format!("{poll}f")), [format!("{poll}fds=")]);
        assert_eq!(
            of(&format!("{poll}fds=10")),
            [format!("{poll}fds=10}}"), format!("{poll}fds=100}}")]
        );
        assert_eq!(of(&format!("{poll}o")), [""; 0], "it is there already");
        assert_eq!(of("syscall.nu"), ["syscall.null"]);
        assert_eq!(of("no.such{"), [""; 0]);
    }
}
