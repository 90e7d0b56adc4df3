//! How nodes are reached: by the programs of Slurm or Ansible, which this machine has already. Nothing here opens a connection.

pub mod ansible;
pub mod slurm;

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub use crate::folder::Engine;
use crate::folder::{Collection, FolderError};
use crate::harmless::harmless;

/// Why an engine could not be used.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A program is not installed here.
    #[error("{0} is not installed on this machine: {1}")]
    Missing(String, &'static str),
    /// A program could not be started, or said no.
    #[error("{0}: {1}")]
    Failed(String, String),
    /// It knows no node that is meant.
    #[error("{0}")]
    NoNodes(String),
    /// An argument cannot be passed on.
    #[error("{0}")]
    Argument(String),
    /// The collection's directory.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// Called when something about a node has changed.
pub type Tell<'t> = &'t mut dyn FnMut(&Collection);

/// Runs one of an engine's programs with this input, and returns what it printed.
fn ask(words: &[&str], input: &str, install: &'static str) -> Result<String, EngineError> {
    let program = words[0];
    let failed = |cause: io::Error| could_not_start(program, &cause, install);
    let mut child = Command::new(program)
        .args(&words[1..])
        // A group of its own: Ctrl-C would end sbatch after it has submitted and before it has said what.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that has ended already says why itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(failed)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let cause = harmless(&String::from_utf8_lossy(&output.stderr));
            Err(EngineError::Failed(program.to_owned(), cause))
        }
    }
}

fn could_not_start(program: &str, cause: &io::Error, install: &'static str) -> EngineError {
    match cause.kind() {
        io::ErrorKind::NotFound => EngineError::Missing(program.to_owned(), install),
        _ => EngineError::Failed(program.to_owned(), cause.to_string()),
    }
}

/// Sleeps, but not after `stop` is set; whether it was not.
pub(crate) fn pause(length: Duration, stop: &AtomicBool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < length && !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
    }
    !stop.load(Ordering::Relaxed)
}

/// A word as POSIX shells read it back.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_word_as_it_was() {
        for word in ["", "a b", "it's", "$(id) `id` \\", "line\nline", "-n"] {
            let script = format!("printf %s {}", quoted(word));
            assert_eq!(ask(&["sh"], &script, "").expect("it runs"), word);
        }
    }

    #[test]
    fn a_missing_program_is_named_with_what_to_install() {
        let error = ask(&["no-such-program-of-slurm"], "", "apt install it").expect_err("missing");
        let text = error.to_string();
        assert!(
            text.contains("no-such-program-of-slurm is not installed")
                && text.contains("apt install it"),
            "{text}"
        );
        let error =
            ask(&["sh"], "echo 'no\x1b[31m such thing' >&2; exit 3", "").expect_err("it fails");
        assert_eq!(error.to_string(), "sh: no\\u{1b}[31m such thing");
    }
}
