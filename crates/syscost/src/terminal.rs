//! How wide and how colourful the terminal is.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use syscost_report::wrap::hanging;

use crate::cli::Color;

/// Trouble.
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
/// Doubt.
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
/// All is well.
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// Secondary things.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Back to plain; `{RED}text{RESET}`.
pub(crate) const RESET: anstyle::Reset = anstyle::Reset;

/// Width of what is not a terminal, and of the widest text worth reading, in columns.
const COMMON_WIDTH: usize = 120;

/// The least that is heeded, as tables do.
const MIN_WIDTH: usize = 60;

/// A line to people, on standard error. Nobody may listen, or the disk may be full: `eprintln!` would end the program for it.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::terminal::say_line(format_args!($($text)*))
    };
}
pub(crate) use say;

/// Like [`say!`], but silent where `--quiet` was given: what is worth knowing, but is neither an error nor the reason for an exit code.
macro_rules! note {
    ($($text:tt)*) => {
        if !$crate::terminal::is_quiet() {
            $crate::terminal::say_line(format_args!($($text)*));
        }
    };
}
pub(crate) use note;

/// Whether `--quiet` was given.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Silences [`note!`].
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether notes and progress are unwanted.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// What [`say!`] does.
pub(crate) fn say_line(text: fmt::Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Makes all that is written heed the colours that were asked for; `Auto` leaves it to the terminal and to NO_COLOR, CLICOLOR and CLICOLOR_FORCE.
pub(crate) fn choose_color(color: Color) {
    let choice = match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Columns to write standard output in; where it is no terminal, as many as `COLUMNS` says.
pub(crate) fn width() -> usize {
    if !io::stdout().is_terminal() {
        let columns = std::env::var("COLUMNS").ok();
        return columns
            .and_then(|columns| columns.parse().ok())
            .unwrap_or(COMMON_WIDTH);
    }
    terminal_size::terminal_size().map_or(COMMON_WIDTH, |(width, _)| usize::from(width.0))
}

/// Lines of the terminal.
pub(crate) fn height() -> usize {
    const COMMON: usize = 24;
    terminal_size::terminal_size().map_or(COMMON, |(_, height)| usize::from(height.0))
}

/// Columns of the lines of a text: of a wide terminal not all.
pub(crate) fn text_width() -> usize {
    width().clamp(MIN_WIDTH, COMMON_WIDTH)
}

/// Text wrapped for the terminal, each line indented.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    wrapped_item(text, indent, indent)
}

/// The same, the first line behind the mark of a list.
pub(crate) fn wrapped_item(text: &str, first: &str, others: &str) -> String {
    hanging(text, text_width(), first, others).join("\n")
}
