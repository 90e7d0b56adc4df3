//! `syscost`: what does this computer charge for its primitives?
//!
//! The program's own code: command line ([`cli`]), one file per command ([`cmd`]), selection of
//! rows, progress, file locations. The other crates hold the benchmarks and how they are measured.

// Both macros panic when the stream cannot be written; see `terminal::say`.
#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod cli;
pub mod cmd;
mod directories;
mod error;
mod files;
mod interrupt;
mod kept;
#[cfg_attr(not(feature = "nfs"), path = "no_nfs.rs")]
mod nfs;
mod pager;
mod parts;
mod peer;
mod progress;
mod references;
mod selection;
mod terminal;

use std::env;
use std::thread;

use syscost_benches::CATALOGUE;
use syscost_harness::{Entry, machine, worker};
use syscost_sys::process;

use cli::Command;
pub use error::Failed;
use error::exit;
use terminal::say;

/// Version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built of, empty where nothing tells.
const COMMIT: &str = env!("SYSCOST_COMMIT");

/// What the file of a benchmark needs, in one import.
pub use syscost_harness::prelude;

/// Runs the program with benchmarks of its own, which are measured where nothing is named, and returns its
/// exit code: the
/// `main` of a program that measures its own functions. docs/functions.md shows one.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use syscost::prelude::*;
///
/// const SQRT: Benchmark = Benchmark {
///     title: "square root",
///     measure: |plan| {
///         let mut x = 2.0_f64;
///         plan.measure(Loop::function(move || {
///             x = (x + 2.0).sqrt();
///             x
///         }))
///     },
///     ..Benchmark::DEFAULT
/// };
///
/// fn main() -> ExitCode {
///     syscost::main_with(vec![SQRT.named("math.sqrt", "//! The square root of a number.")]).into()
/// }
/// ```
pub fn main_with(own: Vec<Entry>) -> u8 {
    match CATALOGUE.add(own) {
        Ok(()) => main(),
        Err(error) => usage_error(&error),
    }
}

/// Says that the program is wrong about this, and returns the exit code of it.
pub fn usage_error(what: &dyn std::fmt::Display) -> u8 {
    say!("{}error:{} {what}", terminal::RED, terminal::RESET);
    exit::USAGE
}

/// Runs the program and returns its exit code.
pub fn main() -> u8 {
    // All other signals are as in a fresh session.
    process::survive_failed_writes();
    process::reset_signals();
    process::reset_settings();
    if !COMMIT.is_empty() {
        machine::set_commit(COMMIT);
    }
    // A run starts some thousand workers: they are recognised before anything else is set up.
    if env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == worker::ARGUMENT)
    {
        let is_asked = env::args_os()
            .nth(2)
            .is_some_and(|argument| argument == worker::ABOUT);
        let result = if is_asked {
            worker::print_about(VERSION)
        } else {
            worker::run(&CATALOGUE)
        };
        return match result {
            Ok(()) => exit::DONE,
            Err(error) => {
                say!("syscost worker: {error}");
                exit::FAILURE
            }
        };
    }
    if let Some(bytes) = process::address_space_limit().filter(|bytes| *bytes < MIN_ADDRESS_SPACE) {
        say!(
            "its address space is limited to {} MiB (ulimit -v), and syscost needs {} MiB",
            bytes >> 20,
            MIN_ADDRESS_SPACE >> 20
        );
        return exit::FAILURE;
    }
    // `ulimit -s` limits only the main thread, and users should not have to know how much stack the
    // parser needs.
    let thread = thread::Builder::new().name("syscost".to_owned());
    match thread
        .stack_size(STACK_BYTES)
        .spawn(dispatch)
        .map(thread::JoinHandle::join)
    {
        Ok(Ok(code)) => code,
        // The panic has printed its message.
        Ok(Err(_)) => exit::PANICKED,
        Err(_) => dispatch(),
    }
}

/// What this program is called by: one with benchmarks of its own as it was called.
fn own_name() -> String {
    let called = env::args().next().filter(|_| CATALOGUE.has_own());
    called.unwrap_or_else(|| "syscost".to_owned())
}

/// Minimum address space, in bytes: with less, the catalogue cannot be listed, and an allocation
/// that fails ends the program without a reason.
const MIN_ADDRESS_SPACE: u64 = 96 << 20;

/// Stack of the thread that does all the work, in bytes.
const STACK_BYTES: usize = 8 << 20;

/// Runs the requested command.
fn dispatch() -> u8 {
    cli::answer();
    terminal::choose_color(cli::color_of(
        env::args_os().map(|word| word.to_string_lossy().into_owned()),
    ));
    let cli = cli::parse();
    if cli.quiet {
        terminal::be_quiet();
    }
    let result = match cli.command {
        Command::Run(arguments) => cmd::run::run(arguments),
        Command::Time(arguments) => cmd::time::run(&arguments),
        Command::Bill(arguments) => cmd::bill::run(&arguments),
        Command::Show(arguments) => cmd::show::run(&arguments),
        Command::Compare(arguments) => cmd::compare::run(&arguments),
        Command::Ab(arguments) => cmd::ab::run(&arguments),
        Command::Report(arguments) => cmd::report::run(&arguments),
        Command::Plot(arguments) => cmd::plot::run(&arguments),
        Command::History(arguments) => cmd::history::run(&arguments),
        Command::Export(arguments) => cmd::export::run(&arguments),
        Command::Clean(arguments) => cmd::clean::run(&arguments),
        Command::List(arguments) => cmd::list::run(&arguments),
        Command::Explain(arguments) => cmd::explain::run(&arguments),
        #[cfg(feature = "doctor")]
        Command::Doctor(arguments) => cmd::doctor::run(&arguments),
        #[cfg(feature = "fleet")]
        Command::Check(arguments) => cmd::check::run(&arguments),
        #[cfg(feature = "fleet")]
        Command::Fleet(arguments) => cmd::fleet::run(arguments),
        Command::Serve(arguments) => cmd::serve::run(&arguments),
        #[cfg(feature = "studies")]
        Command::Study(arguments) => cmd::study::run(arguments),
        Command::Selftest(arguments) => cmd::selftest::run(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) if error::is_broken_pipe(&error) => exit::DONE,
        Err(error) => {
            say!("{}error:{} {error:#}", terminal::RED, terminal::RESET);
            error::code_of(&error)
        }
    }
}
