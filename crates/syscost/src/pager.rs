//! Long text on a terminal goes through the user's pager.

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

/// The pager where PAGER names none.
const USUAL: &str = "less";
/// How less is to behave where LESS does not say: it ends at once if all fits, shows colours, and leaves the text on the screen.
const LESS: &str = "FRX";

/// Prints text: by the pager if standard output is a terminal and there is a pager, as it is otherwise.
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

/// The pager and its arguments, which blanks separate; `None` where PAGER is empty or `cat`.
fn words(pager: Option<OsString>) -> Option<Vec<String>> {
    let pager = pager.map_or_else(
        || USUAL.to_owned(),
        |own| own.to_string_lossy().into_owned(),
    );
    let words: Vec<String> = pager.split_whitespace().map(str::to_owned).collect();
    let is_wanted = words.first().is_some_and(|program| program != "cat");
    is_wanted.then_some(words)
}

/// How a shell or `env` exits that cannot start what it was asked to.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Whether a pager took the text. One that is not there did not; one that ends with an error may have shown all
/// of it, and nobody wants to read it twice.
fn page(words: &[String], text: &str) -> bool {
    // Ctrl-C is for the pager; a handler, unlike a signal that is ignored, is not inherited.
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
        // Who leaves the pager early has seen enough: that the pipe is closed is no error.
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
    fn the_pager_is_what_the_user_named() {
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
    fn a_pager_that_is_missing_takes_no_text_and_one_that_fails_has_had_it() {
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
