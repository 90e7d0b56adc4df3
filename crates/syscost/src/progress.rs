//! A progress bar on a terminal, drawn only between workers.

use std::io::{self, IsTerminal};
use std::time::Duration;

use crate::terminal::{is_quiet, note};
use indicatif::{ProgressBar, ProgressStyle};
use syscost_harness::session::{Event, Observer};
use syscost_report::sentence;

/// Number of steps of the bar.
const STEPS: u64 = 1000;

/// A progress bar on standard error, if that is a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The command that measures, after `syscost`.
    command: String,
    /// Which run of several this is: `run 2 of 3: `.
    which: String,
    /// Whether rows without a number are expected, and not reported.
    quiet: bool,
}

impl Progress {
    /// The progress of this command, after `syscost`.
    pub(crate) fn new(command: &str) -> Self {
        let command = command.to_owned();
        if is_quiet() || !io::stderr().is_terminal() {
            return Self {
                bar: ProgressBar::hidden(),
                command,
                which: String::new(),
                quiet: false,
            };
        }
        // No steady tick: its thread would run beside the measurement.
        let template = match anstream::AutoStream::choice(&io::stderr()) {
            anstream::ColorChoice::Never => "{bar:24} {percent:>3} %  {wide_msg}",
            _ => "{bar:24.cyan/dim} {percent:>3} %  {wide_msg}",
        };
        let bar = ProgressBar::new(STEPS).with_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Self {
            bar,
            command,
            which: String::new(),
            quiet: false,
        }
    }

    /// The progress of one run of several.
    pub(crate) fn of_run(self, number: u32, runs: u32) -> Self {
        Self {
            which: format!("run {number} of {runs}: "),
            ..self
        }
    }

    /// Draws the bar, but does not report rows without a number.
    pub(crate) fn quiet(command: &str) -> Self {
        Self {
            quiet: true,
            ..Self::new(command)
        }
    }

    /// Prints a line above the bar, or as a note if the bar is hidden, since that would print nothing.
    pub(crate) fn print_line(&self, line: &str) {
        if self.bar.is_hidden() {
            note!("{line}");
        } else {
            self.bar.println(line);
        }
    }

    /// Removes the bar.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Preparing(what) => self.bar.set_message(what.to_owned()),
            Event::Begin { rows, .. } if self.quiet || rows == 0 => {}
            Event::Begin { rows, journal } => {
                let mut line = format!("{}measuring {}", self.which, sentence::count(rows, "row"));
                if let Some(journal) = journal {
                    line += &format!(
                        "; if interrupted, resume with: {} {} --resume {}",
                        crate::own_name(),
                        self.command,
                        journal.display()
                    );
                }
                self.print_line(&line);
            }
            Event::Working {
                benchmark,
                round,
                rounds,
                done,
                left,
            } => {
                self.bar.set_position((done * STEPS as f64) as u64);
                self.bar.set_message(format!(
                    "{}round {round} of {rounds}  {} left  {benchmark}",
                    self.which,
                    readable(left)
                ));
            }
            Event::Trouble { .. } if self.quiet => {}
            Event::Trouble { name, reason } => self.bar.println(format!("{name}: {reason}")),
        }
        self.bar.tick();
    }
}

fn readable(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
