//! Arguments of `time`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::compare::fail_on;
use super::{CpuList, FailOn, Format, cpu_list, seconds};

/// Arguments of `time`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost time [OPTIONS] <COMMAND>...")]
#[command(after_help = "\
Examples:
  syscost time 'sort a.txt'               one command
  syscost time 'grep -r x .' 'rg x'       which is faster, and by how much
  syscost time -L n 1,2,4 'make -j{n}' -p 'make clean'
  syscost time ./a ./b --fail-on worse:2% a gate

Each run is a process of its own; commands take turns in shuffled rounds, until the CPU time of each is known to 2 % or the budget is spent. The first is what the others \
are compared with. A shell starts them if one of them needs it (-S), and is part of what they cost. What it prints must be the same in each run \
(--output null if it cannot be), and so must its exit status.")]
pub struct TimeArguments {
    /// What to run, each command one argument
    #[arg(value_name = "COMMAND", required = true)]
    pub commands: Vec<String>,
    /// The shell that runs them: a program that takes `-c COMMAND`, `none`, or `auto`: /bin/sh if one of them has
    /// other characters than words have
    #[arg(short = 'S', long, value_name = "SHELL", default_value = "auto")]
    pub shell: String,
    /// The same as `--shell none`
    #[arg(short = 'N', conflicts_with = "shell")]
    pub no_shell: bool,
    /// What results call a command; once for each, in their order
    #[arg(short = 'n', long, value_name = "NAME")]
    pub command_name: Vec<String>,
    /// Runs of each command before its first timed one
    #[arg(short, long, value_name = "RUNS", default_value_t = 0)]
    pub warmup: u32,
    /// Exactly so many timed runs of each, one in each round
    #[arg(short, long, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "min_runs")]
    pub runs: Option<u32>,
    /// At least so many rounds
    #[arg(short, long, value_name = "RUNS")]
    pub min_runs: Option<u32>,
    /// What a shell does before each run, untimed: one for all commands, or one for each
    #[arg(short, long, value_name = "STEP")]
    pub prepare: Vec<String>,
    /// What a shell does before the first run of all
    #[arg(short, long, value_name = "STEP")]
    pub setup: Option<String>,
    /// What a shell does after the last run of all
    #[arg(short, long, value_name = "STEP")]
    pub cleanup: Option<String>,
    /// Measure commands that fail, too
    #[arg(short, long)]
    pub ignore_failure: bool,
    /// Each of these values, separated by commas, in the place of `{NAME}` in commands and steps
    #[arg(short = 'L', long, num_args = 2, value_names = ["NAME", "VALUES"])]
    pub parameter_list: Vec<String>,
    /// Each number from MIN to MAX in the place of `{NAME}`
    #[arg(short = 'P', long, num_args = 3, value_names = ["NAME", "MIN", "MAX"])]
    pub parameter_scan: Vec<String>,
    /// By how much the numbers of --parameter-scan grow
    #[arg(short = 'D', long, value_name = "STEP", default_value_t = 1.0)]
    pub parameter_step_size: f64,
    /// File that each run reads as standard input
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Where output goes: compared from run to run, or not
    #[arg(long, value_enum, default_value_t = CommandOutput::Compare, conflicts_with = "show_output")]
    pub output: CommandOutput,
    /// Let the commands write to standard output
    #[arg(long)]
    pub show_output: bool,
    /// File that is in the page cache when a run begins; may be repeated
    #[arg(long, value_name = "FILE")]
    pub warm: Vec<PathBuf>,
    /// File that is not in the page cache when a run begins; may be repeated
    #[arg(long, value_name = "FILE")]
    pub cold: Vec<PathBuf>,
    /// Seconds that all may take [default: what 51 rounds take, up to a minute]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// Seconds that one run may take before it is ended
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    pub time_limit: Duration,
    /// CPU to measure on; by default, the CPUs with the least contention from sibling threads
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub cpus: Option<CpuList>,
    /// Fail (exit code 3) if a command is slower than the first by so much: `worse:5%`
    #[arg(long, value_name = "worse[:PERCENT]", value_parser = fail_on)]
    pub fail_on: Option<FailOn>,
    /// Keep the run under this name, too
    #[arg(long, value_name = "NAME")]
    pub tag: Option<String>,
    /// Do not keep the run
    #[arg(long)]
    pub no_save: bool,
    /// Write the results to this file in hyperfine's form
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Where a command's output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CommandOutput {
    /// Into memory; it must be the same in each run
    Compare,
    /// Nowhere
    Null,
}
