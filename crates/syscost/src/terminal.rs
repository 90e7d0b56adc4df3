//! The terminal: its size and colours, and messages on standard error.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use syscost_report::TableOptions;
use syscost_report::wrap::hanging;

use crate::cli::Color;

/// Errors and bad results.
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
/// Warnings.
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
/// Good results.
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// Secondary text.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Ends a style: `{RED}text{RESET}`.
pub(crate) const RESET: anstyle::Reset = anstyle::Reset;

/// Width of output where no terminal is near, and maximum width of running text, in columns.
const COMMON_WIDTH: usize = 120;

/// Minimum width of running text, in columns, as of tables.
const MIN_WIDTH: usize = 60;

/// Prints a line for people on standard error. Unlike `eprintln!`, it does not panic when the
/// stream is closed or the disk is full.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::terminal::say_line(format_args!($($text)*))
    };
}
pub(crate) use say;

/// As [`say!`], but silent with `--quiet`: for what is worth knowing, but is neither an error nor
/// the reason for an exit code.
macro_rules! note {
    ($($text:tt)*) => {
        if !$crate::terminal::is_quiet() {
            $crate::terminal::say_line(format_args!($($text)*));
        }
    };
}
pub(crate) use note;

/// Prints a warning as [`note!`] does.
pub(crate) fn warn(text: &str) {
    note!("{YELLOW}warning:{RESET} {text}");
}

/// Whether `--quiet` was given.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Silences [`note!`].
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether notes and progress are suppressed.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Implements [`say!`].
pub(crate) fn say_line(text: fmt::Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Sets whether output is coloured; `Auto` depends on the terminal and on NO_COLOR, CLICOLOR and
/// CLICOLOR_FORCE.
pub(crate) fn choose_color(color: Color) {
    let choice = match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Width of standard output, in columns. Where it is not a terminal, the value of `COLUMNS`, or else
/// the width of the terminal that shows standard error: what goes into a pipe is mostly read there.
pub(crate) fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let of = |(width, _): (terminal_size::Width, _)| usize::from(width.0);
    let width = match io::stdout().is_terminal() {
        true => terminal_size::terminal_size_of(io::stdout()).map(of),
        false => columns().or_else(|| terminal_size::terminal_size_of(io::stderr()).map(of)),
    };
    width.unwrap_or(COMMON_WIDTH)
}

/// How a table is written to the terminal.
pub(crate) fn table_options(verbose: bool) -> TableOptions {
    TableOptions {
        width: width(),
        color: true,
        verbose,
        quiet: is_quiet(),
        ..TableOptions::default()
    }
}

/// Width of running text, in columns: less than that of a wide terminal.
pub(crate) fn text_width() -> usize {
    width().clamp(MIN_WIDTH, COMMON_WIDTH)
}

/// Wraps text for the terminal, with each line indented.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    wrapped_item(text, indent, indent)
}

/// As [`wrapped`], with a different prefix, such as a list marker, before the first line.
pub(crate) fn wrapped_item(text: &str, first: &str, others: &str) -> String {
    hanging(text, text_width(), first, others).join("\n")
}
