//! The run document: all results of one `syscost run`, in one JSON object.
//!
//! Changes are additive only; [`SCHEMA_VERSION`] rises when a reader of an older version could
//! misread a newer document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bill::Bill;
use crate::measurement::LimitBasis;
use crate::study::Study;
use crate::{Directory, Machine, Measurement};

/// Version of the document's shape.
pub const SCHEMA_VERSION: u32 = 1;

/// One run of syscost on one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Version of the document's shape, [`SCHEMA_VERSION`] when written.
    pub schema_version: u32,
    /// The program that measured.
    pub tool: Tool,
    /// Unique name of the run, sortable by time.
    pub id: String,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// How long it took, in seconds, over all its parts if it was resumed.
    pub duration_s: f64,
    /// Whether every row got its minimum number of rounds; false after Ctrl-C or with too small a
    /// budget. This is said of the whole run, even where its document was printed with some of its
    /// rows only.
    pub complete: bool,
    /// The measured machine.
    pub machine: Machine,
    /// The far end of the network measurements, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Box<Peer>>,
    /// The NFS server that was measured against without a mount, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nfs: Option<Box<NfsServer>>,
    /// The directories of the file-system rows, in the order given; empty if no such row was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<Directory>,
    /// The user's own studies that it repeats; empty for those that the program knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub studies: Vec<Study>,
    /// What a program asked of the kernel, of `syscost bill`; the rows price it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bill: Option<Box<Bill>>,
    /// The clock that took the samples.
    pub clock: Clock,
    /// The core's frequency at which costs are given, in GHz; null when its chains disagreed.
    pub core_ghz: Option<f64>,
    /// What that frequency is, and at which the cores ran; null where it is not known, and in older
    /// documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// What the machine did to a program that only reads the clock, per probed CPU.
    pub noise: Vec<Noise>,
    /// Instructions of one repetition of the burst that probes a core: the one that was sharpest here;
    /// null where cores were not probed, and in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// How the run was asked for.
    pub config: Config,
    /// What a reader should know before believing the numbers.
    pub warnings: Vec<Warning>,
    /// One entry per measured case, in the catalogue's order.
    pub measurements: Vec<Measurement>,
}

/// The frequencies of a run's cores, by chains of dependent instructions at each sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frequency {
    /// The one at which costs are given, in GHz.
    pub usual_ghz: f64,
    /// Whether that is the usual one of this machine, known from earlier runs; else it is this
    /// run's.
    pub is_of_machine: bool,
    /// One of twenty samples was taken at a lower one, in GHz.
    pub low_ghz: f64,
    /// One of twenty samples was taken at a higher one, in GHz.
    pub high_ghz: f64,
}

/// The far end of the network measurements: another machine, where `syscost serve` runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peer {
    /// As it was named on the command line, with its port.
    pub name: String,
    /// Its numeric address and port, looked up once, before anything was measured.
    pub address: String,
    /// Version of syscost there.
    pub version: String,
    /// That machine, as it describes itself.
    pub machine: Machine,
}

impl Peer {
    /// The host of an address: a server that listens on another port is still the same far end.
    pub fn host_of(address: &str) -> &str {
        address
            .rsplit_once(':')
            .map_or(address, |(host, _port)| host)
    }
}

/// An NFS server that was measured against without a mount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NfsServer {
    /// The export as it was named on the command line.
    pub name: String,
    /// The same with the server's numeric address, its port and that of its mount service, looked up
    /// once, before anything was measured: `nfs://10.0.0.7:2049:20048/srv`.
    pub export: String,
    /// Bytes that it returns at most in one READ.
    pub read_bytes: u32,
    /// Bytes that it takes at most in one WRITE.
    pub write_bytes: u32,
}

impl NfsServer {
    /// The host and path of an export: a restarted server may have other ports.
    pub fn place_of(export: &str) -> String {
        let rest = export.strip_prefix("nfs://").unwrap_or(export);
        let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = server.rsplitn(3, ':').nth(2).unwrap_or(server);
        format!("{host}{path}")
    }
}

/// The program that measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// Always `syscost`.
    pub name: String,
    /// Version of the program.
    pub version: String,
}

/// The clock that took the samples, and whether it can be trusted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clock {
    /// `tsc`, `cntvct` or `clock_gettime`.
    pub source: String,
    /// Ticks per nanosecond, calibrated against CLOCK_MONOTONIC_RAW.
    pub ghz: f64,
    /// Smallest step seen between two different readings, in ns.
    pub step_ns: f64,
    /// What one start-stop pair costs, in ns.
    pub read_ns: f64,
    /// Change of the calibration from the run's start to its end, in parts per million; null if the
    /// run broke off.
    pub drift_ppm: Option<f64>,
    /// The checks this clock passed or failed.
    pub health: Vec<Health>,
}

/// One check of the clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// What was checked, e.g. `invariant`.
    pub check: String,
    /// Whether it passed; null if it could not be checked here.
    pub ok: Option<bool>,
    /// What was seen.
    pub detail: String,
}

/// The noise probe of one CPU: a loop that only reads the clock and notes where time went missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// Logical CPU number.
    pub cpu: u32,
    /// How long the probe ran, in seconds.
    pub probe_s: f64,
    /// Share of that time lost in gaps over 5 us, in percent.
    pub lost_percent: f64,
    /// The longest gap, in us.
    pub longest_gap_us: f64,
    /// How many gaps exceeded 5 us.
    pub gaps_over_5us: u64,
    /// Whether measurements ran on this CPU.
    pub used: bool,
    /// Share of the probes of its core that found nothing else running on it, in percent; null where that
    /// cannot be determined. Nothing probes while another program runs on the CPU itself.
    #[serde(default)]
    pub alone_percent: Option<f64>,
    /// The same over all processes that measured on this CPU: the mean; null where none did, or
    /// none could tell.
    #[serde(default)]
    pub measured_alone_percent: Option<f64>,
    /// How much longer independent instructions took while the core was shared, in percent: the
    /// median; null if no probe found it so.
    #[serde(default)]
    pub shared_slowdown_percent: Option<f64>,
    /// Time of independent over dependent instructions while the core is ours: a constant of the
    /// processor's model.
    #[serde(default)]
    pub alone_ratio: Option<f64>,
    /// Largest ratio of a probe that shows a core that is ours; null in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone_limit: Option<f64>,
    /// What says so; null as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_basis: Option<LimitBasis>,
    /// The frequency the core mostly ran at, in GHz.
    #[serde(default)]
    pub core_ghz: Option<f64>,
}

impl Noise {
    /// Share of the time of the probe in which the core was ours, in percent: the CPU ours, and nothing else
    /// on its core; `None` where the latter cannot be determined.
    pub fn ours_percent(&self) -> Option<f64> {
        let had = 1.0 - self.lost_percent / 100.0;
        self.alone_percent.map(|share| share * had)
    }

    /// How much the SMT sibling slows independent instructions, in percent; `None` if none was seen, or
    /// if the difference is within the scatter of the checks.
    pub fn seen_slowdown_percent(&self) -> Option<f64> {
        self.shared_slowdown_percent
            .filter(|percent| *percent >= 1.0)
    }
}

/// How the run was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Config {
    /// `quick`, `standard`, `full` or `careful`.
    pub profile: String,
    /// Time budget in seconds.
    pub budget_s: f64,
    /// How long the run might wait in addition while no core was ours, in seconds (`--patient`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub patience_s: f64,
    /// Seed of every shuffle and padding.
    pub seed: u64,
    /// The CPUs that measured, by number.
    pub cpus: Vec<u32>,
    /// The selectors given on the command line; empty means everything.
    pub selectors: Vec<String>,
    /// Rounds planned at least.
    pub min_rounds: u32,
    /// Rounds at most that count; those in which the core was not ours are made up for.
    pub max_rounds: u32,
    /// Samples per round and case, unless fewer to fit the budget.
    pub samples_per_round: u32,
    /// What starting one worker process cost, in ms, median over the run.
    pub worker_start_ms: Option<f64>,
    /// How often the run was resumed after it broke off.
    pub resumed: u32,
    /// The program that measured, if another than the one that led the run (`syscost ab`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The command that started what measured, followed by it (`syscost ab --b-wrapper`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrapper: Option<String>,
    /// Environment variables set for measuring; null for those taken away.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, Option<String>>,
    /// What the machine is to whoever asked, as `--label` gave it: `instance` is `m5.large`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The congestion control of TCP measurements, if not the system's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Whether the whole page cache could be emptied (`--allow-drop-caches`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drop_caches: bool,
    /// Whether the real-time class could be entered (`--real-time`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub real_time: bool,
    /// Whether searches and published procedures took all the time that they need (`--thorough`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thorough: bool,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl Config {
    /// The congestion control of TCP measurements, if not the system's default: that of an older document is
    /// among its variables.
    pub fn chosen_congestion(&self) -> Option<&str> {
        let variable = || self.environment.get("SYSCOST_CONGESTION")?.as_deref();
        self.congestion.as_deref().or_else(variable)
    }
}

/// Something a reader should know before believing the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Stable name, e.g. `steal`.
    pub code: String,
    /// What was seen.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

impl Warning {
    /// Codes of what was seen in the hour of a run; all others are of how it was set up.
    const OF_THE_HOUR: [&str; 10] = [
        "clock",
        "converted",
        "cpu_pressure",
        "cpus",
        "journal_lost",
        "load",
        "noise",
        "probes_shifted",
        "shared_core",
        "steal",
    ];

    /// Whether another run of the same program on the same machine may do without it.
    pub fn is_of_the_hour(&self) -> bool {
        Self::OF_THE_HOUR.contains(&self.code.as_str())
    }
}

/// The share of the probes that found the cores that measured not shared, in percent: the mean over them; `None` where it is not
/// known.
pub fn core_ours(noise: &[Noise]) -> Option<f64> {
    let used = noise.iter().filter(|cpu| cpu.used);
    let known: Vec<f64> = used
        .filter_map(|cpu| cpu.measured_alone_percent.or(cpu.alone_percent))
        .collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_the_same_with_other_ports() {
        for (export, place) in [
            ("nfs://10.0.0.1:2049:635/srv/a:b", "10.0.0.1/srv/a:b"),
            ("nfs://[fe80::1]:2049:635/", "[fe80::1]/"),
            ("nfs://db1/e", "db1/e"),
        ] {
            assert_eq!(NfsServer::place_of(export), place);
        }
    }
}
