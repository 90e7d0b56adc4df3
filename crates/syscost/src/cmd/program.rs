//! Commands of a user's own: what is started, and the first run of each.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use syscost_benches::command::execute;
use syscost_harness::commands::{Command, Output};
use syscost_harness::worker::owner_variable;
use syscost_report::commands as render;

use crate::{Failed, selection};

/// Maximum length of the name of a command that is given none, in characters.
pub(super) const MAX_NAME: usize = 60;

/// A command that these words start, with the environment of this process.
///
/// # Errors
/// There is no such program.
pub(super) fn started(name: String, words: Vec<String>, time_limit: Duration) -> Result<Command> {
    let owner = owner_variable();
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, value.to_str()?)));
    Ok(Command {
        name,
        file: found(&words[0])?,
        words,
        environment: variables.chain([owner.clone()]).collect(),
        owner,
        prepare: None,
        input: None,
        warm: Vec::new(),
        cold: Vec::new(),
        output: Output::Compared,
        is_pinned: false,
        expected: None,
        first_ns: None,
        warm_up: 0,
        time_limit_s: time_limit.as_secs_f64(),
    })
}

/// Runs a command once, and learns what it ends with and prints.
///
/// # Errors
/// It would lose a privilege where its calls are counted, cannot be executed, or fails.
pub(super) fn first_run(
    command: &mut Command,
    ignores_failure: bool,
    cpus: &[u32],
    interrupted: &AtomicBool,
) -> Result<execute::Run> {
    if let Some(how) = execute::privileged(Path::new(&command.file)) {
        let what = format!("it is {how}, which it would lose where its system calls are counted");
        return Err(failed(command, &what).into());
    }
    let ran = run(command, cpus, interrupted)?;
    if ran.said.ended == NOT_EXECUTED && ran.complaint.is_empty() {
        let why = execute::not_executable(Path::new(&command.file));
        let what = format!("{} cannot be executed: {why}", command.file);
        return Err(failed(command, &what).into());
    }
    if ran.said.ended != SUCCESS && !ignores_failure {
        let said = match ran.complaint.as_str() {
            "" => String::new(),
            said => format!(": {said}"),
        };
        let what = format!(
            "{}{said} (--ignore-failure measures it all the same)",
            ran.said.ended
        );
        return Err(failed(command, &what).into());
    }
    command.expected = Some(ran.said.clone());
    command.first_ns = Some(ran.execution.cpu_ns);
    Ok(ran)
}

/// Does what precedes a run, and runs a command once.
pub(super) fn run(
    command: &Command,
    cpus: &[u32],
    interrupted: &AtomicBool,
) -> Result<execute::Run> {
    prepare(command)?;
    let ran = execute::run(command, None, cpus, Some(interrupted), None);
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failed::Interrupted.into());
    }
    Ok(ran.map_err(|why| failed(command, &why.to_string()))?)
}

/// Does what precedes a run.
pub(super) fn prepare(command: &Command) -> Result<(), Failed> {
    execute::prepare(command).map_err(|why| failed(command, &why.to_string()))
}

/// What is to be said of a command that cannot be measured.
pub(super) fn failed(command: &Command, why: &str) -> Failed {
    Failed::Usage(format!("`{}`: {why}", render::readable(&command.name)))
}

const SUCCESS: &str = "exit status: 0";
const NOT_EXECUTED: &str = "exit status: 127";

/// The file that is executed.
fn found(program: &str) -> Result<String, Failed> {
    if program.contains('/') {
        return Ok(program.to_owned());
    }
    let file = selection::command(program);
    let file = file.and_then(|file| file.into_os_string().into_string().ok());
    file.ok_or_else(|| {
        Failed::Usage(format!(
            "there is no command `{program}` in the folders of PATH"
        ))
    })
}

/// The text, or its beginning and its end with what tells it from others between them.
pub(super) fn shortened(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= MAX_NAME {
        return text.to_owned();
    }
    let (begin, end) = (40, MAX_NAME - 40 - 3);
    let part = |letters: &[char]| letters.iter().collect::<String>();
    format!(
        "{}...{}",
        part(&letters[..begin]),
        part(&letters[letters.len() - end..])
    )
}
