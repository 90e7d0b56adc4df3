//! Arguments of `run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use syscost_harness::directory::Directory;
use syscost_net::address::Endpoint;
use syscost_net::nfs::Export;

use super::serve::endpoint;
use super::{
    BesideArgument, CpuList, Format, ProfileName, RowArgument, congestion, cpu_list, directory,
    label, seconds,
};

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost run [OPTIONS] [SELECTOR|WORDS]...")]
#[command(after_help = "\
Selectors name a group, a benchmark, a row, or a pattern of them:
  syscost run syscall                        a group
  syscost run syscall.null 'call.*'          a benchmark and a pattern
  syscost run 'syscall.null{call=getppid}'   one row
  syscost run 'memory.latency{size=256M}'    rows that have this parameter
  syscost run 'memory{size=64K}'             all rows of a group that have it
Each is taken by itself if all are such names, or programs of lmbench; otherwise they are words to search for, all together, as `syscost list` \
does:
  syscost run false sharing                  what has these words
  syscost run lat_ctx                        what lmbench's program measures
Groups: timing, call, op, memory, syscall, signal, task, switch, ipc, net, fs, sync and scale.
Without a selector the profile says which rows are measured: quick those people look at first, standard those they read, full and careful all. By name any row is.

Two kernels, or mitigations on and off:
  syscost run --repeat 3 --tag before        restart with the other one, then
  syscost run --repeat 3 --tag after
  syscost compare before after               pools the three runs of each side

An interrupted run is resumed with --resume and the path of its journal, which `run` prints when it begins.")]
pub struct RunArguments {
    /// What to measure: groups, ids, rows or patterns, or words that find benchmarks; the rows of the
    /// profile if none is given
    #[arg(value_name = "SELECTOR|WORDS")]
    pub selectors: Vec<String>,
    /// How thoroughly to measure: quick (up to 20 s), standard (up to 150 s), full (every row, up to
    /// 5 min) or careful (up to 15 min)
    #[arg(long, value_enum, default_value_t = ProfileName::Standard)]
    pub profile: ProfileName,
    /// Seconds the run may take, or a time such as `2m`, instead of the profile's own; ends it even
    /// before its minimum number of rounds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// Seconds that the run may wait in addition while another guest or program shares every core: moments when a core is
    /// ours come in blocks of seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub patient: Option<Duration>,
    /// CPU to measure on, as `3` or `2,3`: the first measures, the others are probed; by default,
    /// the CPUs with the least contention from sibling threads
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub cpus: Option<CpuList>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write the run document to this file as well, packed if its name ends in `.gz`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Measure the rows of the real-time class as well (`class=fifo`); needs CAP_SYS_NICE or an
    /// RLIMIT_RTPRIO of 80. Such a task briefly monopolises its CPU
    #[arg(long)]
    pub real_time: bool,
    /// The far ends of the measurements.
    #[command(flatten)]
    pub far: FarEnds,
    /// Congestion control of all TCP connections, e.g. `cubic`; the default is the system's. The
    /// kernel lists those it allows in /proc/sys/net/ipv4/tcp_allowed_congestion_control
    #[arg(long, value_name = "NAME", value_parser = congestion)]
    pub congestion: Option<String>,
    /// Directory in which file systems are measured, on any file system, even a remote one; its
    /// rows are called `dir=LABEL`, or by the path. May be repeated: the table shows the
    /// directories side by side. The default is ~/.cache/syscost, or the same below XDG_CACHE_HOME.
    /// Only a scratch directory in it is written to, and removed
    #[arg(long, value_name = "[LABEL=]PATH", value_parser = directory)]
    pub dir: Vec<Directory>,
    /// Empty the page cache of the whole machine where a single file cannot be evicted from it
    /// (root only). All other programs have to read their files again
    #[arg(long)]
    pub allow_drop_caches: bool,
    /// What this machine is to you, kept in the document and told by exports and pages: `--label
    /// instance=m5.large`; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Leave the raw samples out of the document
    #[arg(long)]
    pub no_samples: bool,
    /// Measure N whole runs, one after the other: each is kept, takes the time of a run and begins
    /// afresh. Printed are the last and how the runs agree; -o FILE.json
    /// writes FILE.1.json and so on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Name the run, as `syscost history tag` does. Several runs may have one tag: `compare before after`
    /// pools all that have it
    #[arg(long, value_name = "TAG", conflicts_with = "no_save")]
    pub tag: Option<String>,
    /// Do not keep the run in the data directory
    #[arg(long)]
    pub no_save: bool,
    /// Resume the interrupted run recorded in this journal; journals lie in
    /// $XDG_DATA_HOME/syscost/journals (by default ~/.local/share/syscost/journals)
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["selectors", "profile", "budget", "patient", "repeat", "cpus", "labels", "real_time", "congestion", "time_limit", "peer", "nfs", "dir", "allow_drop_caches"])]
    pub resume: Option<PathBuf>,
    /// How long a row may take.
    #[command(flatten)]
    pub row: RowArgument,
    /// Another run beside it.
    #[command(flatten)]
    pub beside: BesideArgument,
    /// Exit with 3 if a row failed or a number was withheld
    #[arg(long)]
    pub strict: bool,
    /// Show every row with its evidence; otherwise a run without a selection ends with a summary
    #[arg(short, long)]
    pub verbose: bool,
    /// Whether to take the time that operations need; of studies alone.
    #[arg(skip)]
    pub thorough: bool,
}

/// Other machines, as far ends of the measurements.
#[derive(Debug, Args)]
pub struct FarEnds {
    /// Far end of the network measurements: a machine that runs `syscost serve`, whose token is in
    /// --token-file. Without one only loopback is measured
    #[arg(long, value_name = "HOST[:PORT]", value_parser = endpoint, requires = "token_file")]
    pub peer: Option<Endpoint>,
    /// File with the far end's token, which --peer needs
    #[arg(long, value_name = "FILE", requires = "peer")]
    pub token_file: Option<PathBuf>,
    /// NFS server to measure `fs.nfs` against, without a mount. Ports that are not given are looked up
    /// with its port mapper; a directory is made in the export, and removed again
    #[arg(long, value_name = "nfs://HOST[:PORT[:MOUNTPORT]]/PATH", value_parser = export)]
    pub nfs: Option<Export>,
}

fn export(text: &str) -> Result<Export, String> {
    text.parse()
}
