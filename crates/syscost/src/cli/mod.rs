//! The command line: the source of help, man pages and completions.

mod ab;
mod bill;
#[cfg(feature = "fleet")]
mod check;
mod compare;
mod completions;
#[cfg(feature = "doctor")]
mod doctor;
#[cfg(feature = "fleet")]
pub mod fleet;
mod history;
mod kept;
pub mod manual;
mod parse;
mod run;
mod serve;
#[cfg(feature = "studies")]
mod study;
mod time;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use syscost_harness::session::Profile;

pub use ab::AbArguments;
pub use bill::{BillArguments, BillFormat, GrownBy};
#[cfg(feature = "fleet")]
pub use check::{CheckArguments, CheckFormat};
pub use compare::{CompareArguments, CompareFormat, CompareOutput, FailOn};
pub(crate) use completions::answer;
pub use completions::scripts;
#[cfg(feature = "doctor")]
pub use doctor::DoctorArguments;
#[cfg(feature = "fleet")]
pub use fleet::{FleetArguments, FleetCommand};
pub use history::{HistoryArguments, HistoryCommand, PruneArguments};
pub use kept::{
    BesideArgument, ExportArguments, ExportFormat, PlotArguments, PlotKind, PlotTheme,
    ReportArguments, ShowArguments, ShowFormat,
};
pub(crate) use parse::parse;
pub use run::{FarEnds, RunArguments};
pub use serve::ServeArguments;
#[cfg(feature = "studies")]
pub use study::{
    StudyArguments, StudyCommand, StudyFormat, StudyReportArguments, StudyRunArguments,
};
pub use time::{CommandOutput, TimeArguments};
pub use values::CpuList;
pub(crate) use values::{congestion, cpu_list, directory, form, label, seconds};

/// Heading of the options that every command has, after its own.
const EVERYWHERE: &str = "For every command";

/// What does this computer charge for its primitives?
///
/// Measures clock reads, calls, operations, system calls, signals, tasks, switches, messages, locks,
/// memory, the network and file systems on this machine. Each number is the median over several
/// fresh processes. With six or more it has an exact 95 % confidence interval; with fewer it is
/// flagged `few`, and the interval is approximate or missing. What a benchmark claims is compared
/// with what the kernel counted, and a refuted claim withholds its number.
#[derive(Debug, Parser)]
#[command(
    name = "syscost",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(after_help = manual::with_exit_codes("", "\
Begin with:
  syscost run --profile quick      what people look at first, in seconds
  syscost time 'sort a' 'sort b'   commands of your own, compared
  syscost run syscall              one group, in a minute or less
  syscost list context switch      find benchmarks by common terms
  syscost explain syscall.null     what a row means
  syscost doctor                   whether this machine is fit for measuring
  syscost doctor --watch           how much its cores are shared, live
  syscost show --summary           its summary, and a reference beside it
  syscost compare latest~1 latest  what changed between the last two runs
  syscost report latest -o r.html  an HTML report
  source <(SYSCOST_COMPLETE=bash syscost)
                                   completes benchmarks and kept runs

Where a run is asked for, give its document, `latest`, `latest~1` and so on, the beginning of a kept run's id, or its tag; a tag of several runs means the newest where one run is asked for, and all of them elsewhere.

For one command: `syscost COMMAND --help`."))]
pub struct Cli {
    /// When to write colours: `always`, `never`, or `auto`, on a terminal unless NO_COLOR is set and elsewhere if CLICOLOR_FORCE is
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto, hide_possible_values = true, help_heading = EVERYWHERE)]
    pub color: Color,
    /// Print the result and errors only: no progress, no warnings, no notes, no next steps
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Finds `--color` among these arguments before they are parsed, since usage errors and help are
/// coloured, too.
pub(crate) fn color_of(words: impl Iterator<Item = String>) -> Color {
    let mut words = words.take_while(|word| word != "--");
    let mut color = None;
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        color = value
            .and_then(|value| Color::from_str(&value, false).ok())
            .or(color);
    }
    color.unwrap_or(Color::Auto)
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure, print a table, keep the run
    Run(RunArguments),
    /// Measure commands of your own, in turn: CPU time, elapsed time, memory, system calls
    Time(TimeArguments),
    /// Count what a program asks of the kernel, and what that costs here
    Bill(BillArguments),
    /// Print the table of a kept run again, some of its rows, or its summary
    Show(ShowArguments),
    /// Compare runs: what became better or worse, and what is inconclusive
    Compare(CompareArguments),
    /// Compare two programs or environments, measured in turn so that the machine's drift cancels
    Ab(AbArguments),
    /// Write an HTML report of one or more runs
    Report(ReportArguments),
    /// Write one chart, for papers and documents
    Plot(PlotArguments),
    /// The kept runs: list them, follow rows over time, tag, prune
    History(HistoryArguments),
    /// Write runs for other tools: CSV, Markdown, JSON lines, Parquet, OpenMetrics, Bencher, KTAP
    Export(ExportArguments),
    /// Remove what killed runs left behind: scratch directories, queues, semaphores
    Clean(CleanArguments),
    /// List benchmarks and whether they can run here
    List(ListArguments),
    /// Explain a benchmark: what it measures and what it does not, how to read it, and what
    /// evidence supports it
    Explain(ExplainArguments),
    /// Check whether this machine is fit for measuring, and suggest fixes
    #[cfg(feature = "doctor")]
    Doctor(DoctorArguments),
    /// Repeat published experiments and compare with their figures and with syscost's method
    #[cfg(feature = "studies")]
    Study(StudyArguments),
    /// Check whether this machine is as it should be: one line and an exit code, in 20 s
    #[cfg(feature = "fleet")]
    Check(CheckArguments),
    /// Many machines: measure them all, find those that are not like the others
    #[cfg(feature = "fleet")]
    Fleet(FleetArguments),
    /// Serve as the far end of another machine's network measurements
    Serve(ServeArguments),
    /// Test syscost itself: operations of known cost, false claims it must refute, simulated
    /// SMT interference it must detect
    Selftest(SelftestArguments),
}

/// When to write colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set; elsewhere if CLICOLOR_FORCE is
    Auto,
    /// Also into files and pipes
    Always,
    /// Nowhere
    Never,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost list [OPTIONS] [SELECTOR|WORDS]...")]
#[command(after_help = "\
Examples:
  syscost list                 every benchmark, and why one cannot run here
  syscost list memory          a group
  syscost list page fault      what these words find
  syscost list lat_ctx         what measures the same as lmbench's program")]
pub struct ListArguments {
    /// Only these groups, ids or patterns, or what is found by these words: `context switch`, `lat_ctx`
    #[arg(value_name = "SELECTOR|WORDS")]
    pub selectors: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  syscost explain memory           a group: what to look at first
  syscost explain syscall.null     a benchmark
  syscost explain false sharing    what these words find")]
pub struct ExplainArguments {
    /// Id of the benchmark, e.g. `syscall.null`, words that find it: `false sharing`, or a group:
    /// `memory`
    #[arg(value_name = "ID|WORDS", required = true)]
    pub words: Vec<String>,
}

/// How long one row may take.
#[derive(Debug, Clone, Copy, Args)]
pub struct RowArgument {
    /// Seconds one row may take in one process before it is ended
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    pub time_limit: Duration,
}

/// Arguments of `selftest`.
#[derive(Debug, Args)]
#[command(after_help = "\
It takes half a minute on a quiet machine.

  syscost selftest
  syscost selftest --format json")]
pub struct SelftestArguments {
    /// Seconds one control may take in one process before it is ended; one of them takes them all
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "5")]
    pub time_limit: Duration,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Arguments of `clean`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost clean [OPTIONS] [PATH]...")]
#[command(after_help = "\
A run removes what it made, and what killed runs left according to their records. `clean` does the latter without a run, and also searches the directories of interrupted runs, the default directory, and each PATH.

It removes only this user's directories with syscost's marker (or with a name and mode that only syscost gives, on record or untouched for an hour), made by processes that have ended, and files that were left half written in the data folder. It never follows a link.

  syscost clean --dry-run
  syscost clean /mnt/scratch")]
pub struct CleanArguments {
    /// Directories to search as well, e.g. those given to a lost run by `--dir`
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only list what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people.
    Table,
    /// One JSON document.
    Json,
}

/// A [`Profile`] by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// 6 to 51 rounds within 20 s; without a selector, a short list of rows.
    Quick,
    /// 6 to 51 rounds within 150 s, of the rows that people read; for a selection, 0.31 s per row,
    /// at least 30 s.
    Standard,
    /// 6 to 25 rounds of every row within 5 min.
    Full,
    /// 12 to 30 rounds of every row within 15 min.
    Careful,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Quick => Profile::Quick,
            ProfileName::Standard => Profile::Standard,
            ProfileName::Full => Profile::Full,
            ProfileName::Careful => Profile::Careful,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_profile_is_described_by_its_looks_and_its_budget() {
        for one in ProfileName::value_variants() {
            let profile = Profile::from(*one);
            let value = one.to_possible_value().expect("none is hidden");
            let help = value.get_help().expect("each has one").to_string();
            let looks = profile.looks();
            let rounds = format!("{} to {} rounds", looks[0], looks[looks.len() - 1]);
            assert!(help.starts_with(&rounds), "{help}");
            // The end of a run takes a little of it.
            let within = 10.0 * (profile.budget(10_000).as_secs_f64() / 10.0).ceil();
            let within = match within >= 300.0 {
                true => format!("within {} min", within / 60.0),
                false => format!("within {within} s"),
            };
            assert!(help.contains(&within), "{help}: {within}");
        }
    }

    /// A command and all its subcommands.
    fn all(command: &clap::Command) -> Vec<&clap::Command> {
        let nested = command.get_subcommands().flat_map(all);
        std::iter::once(command).chain(nested).collect()
    }

    #[test]
    fn usage_lines_for_errors_are_those_of_help() {
        // They are written out where clap's own line for an error would show optional arguments as required.
        let mut cli = Cli::command();
        cli.build();
        for command in all(&cli) {
            let is_optional = |one: &clap::Arg| !one.is_required_set();
            if command.get_name() != "help" && command.get_positionals().any(is_optional) {
                let name = command.get_name();
                assert!(command.get_overridden_usage().is_some(), "{name}");
            }
            let mut command = command.clone();
            let written_out = command.render_usage().to_string();
            command = command.override_usage(None::<&'static str>);
            assert_eq!(written_out, command.render_usage().to_string());
        }
    }

    #[test]
    fn sentences_of_help_flow_and_examples_keep_their_lines() {
        let cli = Cli::command();
        for command in all(&cli) {
            let help = command.get_after_help().map(ToString::to_string);
            for line in help.iter().flat_map(|help| help.lines()) {
                let is_whole = match line.starts_with(' ') {
                    true => line.len() <= 80,
                    false => line.is_empty() || line.ends_with(['.', ':']),
                };
                assert!(is_whole, "{}: {line}", command.get_name());
            }
        }
    }

    #[test]
    fn the_help_of_run_names_all_groups() {
        let groups = syscost_benches::CATALOGUE.visible_groups();
        let names: Vec<&str> = groups.map(|group| group.name).collect();
        let (last, others) = names.split_last().expect("there are groups");
        let line = format!("Groups: {} and {last}.", others.join(", "));
        let cli = Cli::command();
        let run = cli.find_subcommand("run").expect("it is a command");
        let help = run.get_after_help().map(ToString::to_string);
        assert!(help.is_some_and(|help| help.contains(&line)), "{line}");
    }

    #[test]
    fn the_colour_is_known_before_the_rest_is_parsed() {
        let of = |words: &str| color_of(words.split(' ').map(str::to_owned));
        assert_eq!(of("syscost run --color never x"), Color::Never);
        assert_eq!(of("syscost --color=always nonsense"), Color::Always);
        assert_eq!(of("syscost run -- --color=always"), Color::Auto);
        assert_eq!(of("syscost --color"), Color::Auto);
        assert_eq!(of("syscost --color=mauve"), Color::Auto);
    }
}
