//! Arguments of `fleet run` and `fleet net`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::{Format, ProfileName, label, parameter, seconds};

/// Arguments of `fleet run`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost fleet run [OPTIONS] [SELECTOR|WORDS]...")]
#[command(after_help = "\
For example:
  syscost fleet run --engine slurm --partition compute
  syscost fleet run --engine slurm --nodes 'n[1-8]' syscall
  syscost fleet run --engine ansible -i hosts.ini --profile quick
  syscost fleet run --resume fleet-2026-11-27

With Slurm every node gets a job of its own, exclusively; the directory must be on a file system that the nodes share. Nodes that are down are named, not waited for. \
Ctrl-C cancels the jobs that were submitted and keeps what has arrived; --resume measures only nodes without a document.

The directory then has a document of each node in nodes/, and in fleet.json why there is none. What to do with them: `syscost fleet report DIR`.")]
pub struct CollectArguments {
    /// What to measure, as for `syscost run`; the rows of the profile if none is given
    #[arg(value_name = "SELECTOR|WORDS")]
    pub selectors: Vec<String>,
    /// How nodes are reached
    #[arg(long, value_enum, required_unless_present = "resume")]
    pub engine: Option<EngineName>,
    /// Which nodes.
    #[command(flatten)]
    pub which: Which,
    /// The directory of the collection, which is made; by default `fleet-` and the date
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Continue the collection in this directory: only nodes without a document are measured
    #[arg(long, value_name = "DIR", conflicts_with_all = ["selectors", "engine", "partition", "nodes", "inventory", "limit", "output", "cases", "profile", "budget", "labels", "samples", "binary", "scratch", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// Print the scripts or the playbook, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Only rows that have this parameter, e.g. `size=64K`; may be repeated
    #[arg(long = "case", value_name = "KEY=VALUE", value_parser = parameter)]
    pub cases: Vec<String>,
    /// How thoroughly to measure, as for `syscost run`
    #[arg(long, value_enum, default_value_t = ProfileName::Standard)]
    pub profile: ProfileName,
    /// Seconds the run of a node may take, or a time such as `2m`, instead of the profile's own
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// What these machines are to you, kept in their documents; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Keep the raw samples in the documents, which are then some five times as large
    #[arg(long)]
    pub samples: bool,
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
    #[arg(short, long, value_name = "PARTITION")]
    pub partition: Option<String>,
    /// Nodes of Slurm, e.g. `n[1-8]`; all of the partition if none are given
    #[arg(long, value_name = "LIST")]
    pub nodes: Option<String>,
    /// Inventory of Ansible
    #[arg(
        short,
        long,
        value_name = "INVENTORY",
        required_if_eq("engine", "ansible")
    )]
    pub inventory: Option<PathBuf>,
    /// Hosts of the inventory, as Ansible's --limit; all if none are given
    #[arg(short, long, value_name = "PATTERN", requires = "inventory")]
    pub limit: Option<String>,
}

/// How the program gets to nodes.
#[derive(Debug, Args)]
pub struct Transport {
    /// The program for the nodes, if they need another than this one: for another architecture, or a
    /// static one where their C library is another
    #[arg(long, value_name = "FILE")]
    pub binary: Option<PathBuf>,
    /// Directory on the nodes in which one is made for the program and its files, and removed again;
    /// file systems are measured there, too
    #[arg(long, value_name = "DIR", default_value = "/tmp")]
    pub scratch: String,
}

/// How nodes are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// Jobs of Slurm, one for each node
    Slurm,
    /// A playbook of Ansible
    Ansible,
}

/// Arguments of `fleet net`.
#[derive(Debug, Args)]
#[command(after_help = "\
For example:
  syscost fleet net --nodes 'n[1-8]'
  syscost fleet net --partition compute --at-once 1 --budget 20

Every pair of nodes is measured once, by a job of Slurm that has both exclusively: one serves, the other measures. The token that they share is made for this and removed at the end, \
and nothing listens any longer. The directory must be on a file system that the nodes share.

A link is slow if it is slower than the other links of its two nodes let one expect; a node, if all of its links are. It takes 5 nodes to tell one from the other.")]
pub struct NetArguments {
    /// Partition of Slurm; the default one if none is given
    #[arg(short, long, value_name = "PARTITION")]
    pub partition: Option<String>,
    /// Nodes of Slurm, e.g. `n[1-8]`; all of the partition if none are given
    #[arg(long, value_name = "LIST")]
    pub nodes: Option<String>,
    /// The directory of the results, which is made; by default `fleet-net-` and the date
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How many pairs are measured at the same time, at most; by default half as many as there are
    /// nodes. They may share links between switches
    #[arg(long, value_name = "PAIRS", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
    /// Print the scripts, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Seconds the measurement of a pair may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "8")]
    pub budget: Duration,
    /// How it gets there.
    #[command(flatten)]
    pub transport: Transport,
    /// How long a job may wait for its nodes; as long as Slurm lets it, if not given
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub wait: Option<Duration>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
