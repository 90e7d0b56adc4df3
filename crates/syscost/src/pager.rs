//! Shows long text on a terminal through the user's pager.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anstream::{AutoStream, ColorChoice, adapter::strip_str};
use anyhow::Result;

use crate::cmd;
use crate::terminal::note;

/// The pager if PAGER is not set.
const USUAL: &str = "less";
/// Options of less if LESS is not set: exit at once if all fits, show colours, and leave the text
/// on the screen.
const LESS: &str = "FRX";

/// Prints text, through the pager if standard output is a terminal and there is a pager.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn print(text: &str) -> Result<()> {
    let is_terminal = io::stdout().is_terminal();
    let paged = words(env::var_os("PAGER"))
        .filter(|_| is_terminal)
        .is_some_and(|words| page(&words, text));
    match paged {
        true => Ok(()),
        false => cmd::print(text),
    }
}

/// Splits the value of PAGER into a program and its arguments; `None` if it is empty or `cat`.
fn words(pager: Option<OsString>) -> Option<Vec<String>> {
    let pager = pager.map_or_else(
        || USUAL.to_owned(),
        |own| own.to_string_lossy().into_owned(),
    );
    let words: Vec<String> = pager.split_whitespace().map(str::to_owned).collect();
    let is_wanted = words.first().is_some_and(|program| program != "cat");
    is_wanted.then_some(words)
}

/// Exit codes of a shell or `env` that cannot start a program.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Shows the text in the pager; returns false if the pager could not be started. One that fails
/// later may have shown all of the text, so the text is not printed again.
fn page(words: &[String], text: &str) -> bool {
    // Ctrl-C is for the pager, which inherits no handler, but would inherit an ignored signal.
    let interrupted = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, interrupted);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        let text = match AutoStream::choice(&io::stdout()) {
            ColorChoice::Never => strip_str(text).to_string(),
            ColorChoice::Auto | ColorChoice::Always | ColorChoice::AlwaysAnsi => text.to_owned(),
        };
        // A user who quits the pager early closes the pipe; this is not an error.
        let _ = input.write_all(text.as_bytes());
    }
    let status = child.wait();
    if let Ok(status) = &status
        && !status.success()
    {
        let pager = words.join(" ");
        note!("the pager `{pager}` ended with {status}; PAGER=cat prints without one");
    }
    let code = status.ok().and_then(|status| status.code());
    code.is_none_or(|code| !NOT_STARTED.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pager_is_the_one_that_the_user_named() {
        let of = |text: &str| words(Some(text.into()));
        assert_eq!(words(None), Some(vec!["less".to_owned()]));
        assert_eq!(
            of("more -d"),
            Some(vec!["more".to_owned(), "-d".to_owned()])
        );
        assert_eq!(of(" "), None);
        assert_eq!(of("cat"), None);
    }

    #[test]
    fn a_missing_pager_shows_no_text_and_one_that_fails_may_have_shown_it() {
        let page = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            page(&words, "a line\n")
        };
        assert!(!page(&["/nonexistent/pager"]));
        assert!(!page(&["env", "/nonexistent/pager"]));
        assert!(page(&["false"]));
        assert!(page(&["true"]));
    }
}
