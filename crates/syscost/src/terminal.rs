//! How wide and how colourful the terminal is.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

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

/// A line to people, on standard error. Nobody may listen, or the disk may be full: `eprintln!` would end the program for it.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::terminal::say_line(format_args!($($text)*))
    };
}
pub(crate) use say;

/// What [`say!`] does.
pub(crate) fn say_line(text: fmt::Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "{text}");
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

/// Text wrapped for the terminal, each line indented.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    wrapped_item(text, indent, indent)
}

/// The same, the first line behind the mark of a list.
pub(crate) fn wrapped_item(text: &str, first: &str, others: &str) -> String {
    let options = textwrap::Options::new(width().min(COMMON_WIDTH))
        .initial_indent(first)
        .subsequent_indent(others);
    textwrap::fill(text, options)
}
