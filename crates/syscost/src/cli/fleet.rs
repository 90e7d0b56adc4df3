//! Arguments of `fleet`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand, ValueEnum};
use syscost_fleet::template::TEMPLATES;

use super::{ProfileName, label, manual, seconds};

/// Arguments of `fleet`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  syscost fleet run --partition compute
  syscost fleet report fleet-2026-11-27")]
pub struct FleetArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// What is done with many machines.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Measure many machines through Slurm or Ansible, one document each
    Run(Box<CollectArguments>),
    /// Find the machines that are not like the others: in what, by how much, and what about them is
    /// different
    Report(FleetReportArguments),
    /// Write the file that another program needs to measure or check machines with syscost
    Template(TemplateArguments),
}

/// Arguments of `fleet run`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost fleet run [OPTIONS] [SELECTOR|WORDS]...")]
#[command(after_help = "\
Examples:
  syscost fleet run --partition compute
  syscost fleet run --nodes 'n[1-8]' syscall
  syscost fleet run -i hosts.ini --profile quick
  syscost fleet run --resume fleet-2026-11-27

Nodes are reached through Slurm, or with -i through Ansible. With Slurm every node gets a job of its own, exclusively; the directory must be on a file system that the nodes share. Nodes that are down are named, not waited for. \
Ctrl-C cancels the jobs that were submitted and keeps what has arrived; --resume measures only nodes without a document.

The directory then has a document of each node in nodes/, and in fleet.json why there is none. What to do with them: `syscost fleet report DIR`.")]
pub struct CollectArguments {
    /// What to measure, as for `syscost run`; the rows of the profile if none is given
    #[arg(value_name = "SELECTOR|WORDS")]
    pub selectors: Vec<String>,
    /// Which nodes.
    #[command(flatten)]
    pub which: Which,
    /// The directory of the collection, which is made; by default `fleet-` and the date
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Continue the collection in this directory: only nodes without a document are measured
    #[arg(long, value_name = "DIR", conflicts_with_all = ["selectors", "partition", "nodes", "inventory", "output", "profile", "budget", "labels", "binaries", "scratch", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// Print the scripts or the playbook, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How thoroughly to measure, as for `syscost run`
    #[arg(long, value_enum, default_value_t = ProfileName::Standard)]
    pub profile: ProfileName,
    /// Seconds the run of a node may take, or a time such as `2m`, instead of the profile's own
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// What these machines are to you, kept in their documents; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// How it gets there.
    #[command(flatten)]
    pub transport: Transport,
    /// How long to wait for nodes that do not start: for a job of Slurm to begin, for a connection of
    /// Ansible. Without it a job may wait as long as Slurm lets it
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub wait: Option<Duration>,
}

/// Which nodes.
#[derive(Debug, Args)]
pub struct Which {
    /// Partition of Slurm; the default one if none is given
    #[arg(short, long, value_name = "PARTITION", conflicts_with = "inventory")]
    pub partition: Option<String>,
    /// Nodes of Slurm, e.g. `n[1-8]`, or a pattern of hosts as Ansible's --limit; all of the partition or inventory if none are
    /// given
    #[arg(long, value_name = "LIST")]
    pub nodes: Option<String>,
    /// Inventory of Ansible, through which the nodes are reached then
    #[arg(short, long, value_name = "INVENTORY")]
    pub inventory: Option<PathBuf>,
}

/// How the program gets to nodes.
#[derive(Debug, Args)]
pub struct Transport {
    /// The program for the nodes, if they need another than this one: a static one where their C library is
    /// another. Repeat it for nodes of both architectures: each is brought the one for its processor
    #[arg(long = "binary", value_name = "FILE")]
    pub binaries: Vec<PathBuf>,
    /// Directory on the nodes in which one is made for the program and its files, and removed again;
    /// file systems are measured there, too
    #[arg(long, value_name = "DIR", default_value = "/tmp")]
    pub scratch: String,
}

/// Arguments of `fleet report`.
#[derive(Debug, Args)]
#[command(after_help = manual::with_exit_codes("fleet report", "\
A machine is held against those with the same processor, number of CPUs, hypervisor and product, or with the same values of other \
facts (--cohort). Each of its rows is compared with the median of the others, by how far they are apart; deviations up to 2 % \
do not count. Of the machines called unlike the others, at most 5 % are so by chance, however many there are, and however many \
rows. Of several documents of a machine the latest counts; the earlier ones say since when it has been like this, and what \
changed. A machine whose cores were its own much less of the time than others' is never called slow.

  syscost fleet report fleet-2026-11-27          a collection of `fleet run`
  syscost fleet report monday friday -o now.html two collections, and a page
  syscost fleet report nodes/*.json.gz --cohort label:instance

A CPU quota stops programs between operations, so it is read and not measured: machines that let a process use fewer CPUs than the others are told apart."))]
pub struct FleetReportArguments {
    /// Collections or documents
    #[arg(value_name = "DIR|DOCUMENT", required = true)]
    pub paths: Vec<PathBuf>,
    /// Also write a page to this file
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Hold machines against each other that have the same values of these facts: those of `machine` in a document (kernel,
    /// memory_modules, mitigations.retbleed), core_ghz, label:NAME
    #[arg(long, value_name = "FACT,...", value_delimiter = ',', default_values = syscost_fleet::facts::ALIKE)]
    pub cohort: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = FleetReportFormat::Table)]
    pub format: FleetReportFormat,
    /// Write what machines of each cohort cost to this file, for `syscost check --baseline`
    #[arg(long = "save-baseline", value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Show every machine and row that differs, and every document left out
    #[arg(short, long)]
    pub verbose: bool,
}

/// How to print what is said of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FleetReportFormat {
    /// Text for people, the worst machine first.
    Table,
    /// One JSON document.
    Json,
}

/// Arguments of `fleet template`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  syscost fleet template kubernetes -o deploy
  syscost fleet template systemd -o units")]
pub struct TemplateArguments {
    /// For which program
    #[arg(value_parser = names())]
    pub name: String,
    /// Write the files into this folder; without it, the only file is printed
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

fn names() -> PossibleValuesParser {
    let named = |template: &syscost_fleet::template::Template| {
        PossibleValue::new(template.name).help(template.about)
    };
    TEMPLATES.iter().map(named).collect::<Vec<_>>().into()
}
