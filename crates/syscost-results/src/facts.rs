//! The one table of recorded facts: what each is in words, whether it may be told to strangers, how
//! it varies, and which costs it can change. A machine's fact without a line here does not compile.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::machine::{Cache, MemoryModule};
use crate::{Known, Machine};

/// Which costs a fact can change, what changes most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Affects {
    /// Everything: it is another machine.
    Processor,
    /// Everything that computes.
    Frequency,
    /// Entering the kernel, and what it does there.
    Kernel,
    /// How much of a CPU the processes get.
    CpuTime,
    /// Memory: page faults, cache misses, what is touched for the first time.
    Memory,
    /// Waking a CPU that sleeps.
    Waking,
    /// Reading the clock.
    Clock,
    /// Rows of a directory or of an NFS server.
    Files,
    /// Rows of a far end.
    Network,
    /// How everything was measured.
    Method,
    /// Nothing by itself.
    Nothing,
}

impl Affects {
    /// Whether it can change rows of this group (the first part of their ids).
    pub fn can_change(self, group: &str) -> bool {
        let is_one_of = |groups: &[&str]| groups.contains(&group);
        match self {
            Affects::Processor | Affects::Frequency | Affects::CpuTime | Affects::Method => true,
            Affects::Kernel => !is_one_of(&["op", "call"]),
            Affects::Memory => is_one_of(&["memory", "task", "ipc", "scale", "fs", "net"]),
            Affects::Waking => {
                is_one_of(&["switch", "sync", "ipc", "net", "signal", "fs", "scale"])
            }
            Affects::Clock => is_one_of(&["timing"]),
            Affects::Files => is_one_of(&["fs"]),
            Affects::Network => is_one_of(&["net"]),
            Affects::Nothing => false,
        }
    }

    /// What it does, as a clause.
    fn words(self) -> Option<&'static str> {
        Some(match self {
            Affects::Processor => "another machine",
            Affects::Frequency => "the cores may run at another frequency",
            Affects::Kernel => {
                "system calls, page faults, context switches and new processes may cost otherwise"
            }
            Affects::CpuTime => "processes may get another share of the CPUs",
            Affects::Memory => "page faults and cache misses may cost otherwise",
            Affects::Waking => "waking a CPU that sleeps may cost otherwise",
            Affects::Clock => "reading the clock may cost otherwise",
            Affects::Files | Affects::Network | Affects::Method | Affects::Nothing => return None,
        })
    }
}

/// How a fact differs between runs of one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Varies {
    /// Only if somebody changed it.
    Never,
    /// By a little from boot to boot: memory that the kernel reserves, and swap sized as a share of
    /// memory.
    Slightly,
    /// As the run chose or found it; no setting of the machine.
    ByRun,
    /// With the hour, and adds nothing to what is told of the hour elsewhere.
    ByHour,
}

/// Measured numbers (floating-point ones, and integers that [vary slightly](Varies::Slightly))
/// differ if they are further apart than this share.
pub(crate) const TOLERANCE: f64 = 0.01;

/// Whether two measured numbers are the same.
pub fn are_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= TOLERANCE * one.abs().max(other.abs())
}

/// What is known of a fact before its value.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its path in the run document, or how the paths of several begin.
    pub path: &'static str,
    /// What people call it.
    pub words: &'static str,
    /// Between runs of one machine.
    pub varies: Varies,
    /// What it can change.
    pub affects: Affects,
}

macro_rules! field {
    ($path:expr, $words:literal, $affects:ident, $varies:ident) => {
        Field {
            path: $path,
            words: $words,
            affects: Affects::$affects,
            varies: Varies::$varies,
        }
    };
}

macro_rules! machine {
    ($($field:ident: $words:literal, $affects:ident, $varies:ident, $seen_by:ident $(as $told:ident)?;)+) => {
        const MACHINE: &[Field] =
            &[$(field!(concat!("machine.", stringify!($field)), $words, $affects, $varies)),+];

        /// A fact without a line here does not compile.
        const _: fn(fn() -> Machine) -> Machine = |any| Machine { $($field: any().$field),+ };

        impl Machine {
            /// Its facts with their paths in the document, those first that change most: each
            /// weakness of the CPU is one and each word of the kernel's command line; so are all
            /// caches together, and all memory modules. What is not known is left out.
            pub fn facts(&self) -> Vec<(String, Value)> {
                $(let $field = &self.$field;)+
                let mut facts = Vec::new();
                $(facts.extend(leaves(
                    concat!("machine.", stringify!($field)),
                    machine!(@told $field $($told)?),
                ));)+
                facts
            }

            /// Clears whatever the table does not call public.
            pub(crate) fn anonymize(&mut self) {
                $(let $field = &mut self.$field;)+
                $(machine!(@$seen_by $field);)+
            }
        }
    };
    (@told $field:ident) => { as_recorded($field) };
    (@told $field:ident $told:ident) => { $told($field) };
    (@public $field:ident) => { let _ = $field; };
    (@private $field:ident) => { *$field = Default::default(); };
}

machine! {
    arch: "architecture", Processor, Never, public;
    cpu_model: "processor", Processor, Never, public;
    cpu_vendor: "processor's maker", Processor, Never, public;
    cpu_signature: "processor's family, model and stepping", Processor, Never, public;
    product: "product", Processor, Never, public;
    governor: "frequency governor", Frequency, Never, public;
    turbo: "turbo", Frequency, Never, public;
    frequency_driver: "frequency driver", Frequency, Never, public;
    kernel: "kernel", Kernel, Never, public;
    mitigations: "mitigations", Kernel, Never, public;
    microcode: "microcode", Kernel, Never, public;
    hypervisor: "hypervisor", Kernel, Never, public as what;
    container: "container", Kernel, Never, public as what;
    kernel_cmdline: "kernel's command line", Kernel, Never, private as command_line_words;
    kernel_version: "kernel's build", Kernel, Never, private;
    firmware: "firmware", Kernel, Never, public;
    cgroup_cpu_quota: "CPU quota", CpuTime, Never, public as what;
    scheduling: "scheduling class", CpuTime, Never, public;
    cpus_allowed: "CPUs allowed", CpuTime, Never, public;
    cpus_online: "CPUs online", CpuTime, Never, public;
    cores: "cores", CpuTime, Never, public;
    sockets: "sockets", CpuTime, Never, public;
    smt: "SMT", CpuTime, Never, public;
    transparent_hugepages: "transparent huge pages", Memory, Never, public;
    memory_modules: "memory modules", Memory, Never, public as module_list;
    caches: "caches", Memory, Never, public as cache_list;
    numa_nodes: "NUMA nodes", Memory, Never, public;
    memory_bytes: "memory", Memory, Slightly, public;
    swap_bytes: "swap", Memory, Slightly, public;
    cgroup_memory_bytes: "memory limit", Memory, Never, public as what;
    overcommit_memory: "overcommit of memory", Memory, Never, public;
    aslr: "address space layout randomisation", Memory, Never, public;
    idle_driver: "idle driver", Waking, Never, public;
    idle_governor: "idle governor", Waking, Never, public;
    guest_halt_poll_ns: "polling of an idle CPU", Waking, Never, public;
    clocksource: "kernel's clock source", Clock, Never, public;
    libc: "C library", Method, Never, public;
    build: "build", Method, Never, public;
    perf_event_paranoid: "perf_event_paranoid", Nothing, Never, public;
    distribution: "distribution", Nothing, Never, public;
    hostname: "host name", Nothing, Never, private;
    load1: "load average", Nothing, ByHour, public;
    cpu_pressure_avg10: "CPU pressure", Nothing, ByHour, public;
}

/// Those of a run beside its machine.
const OF_RUN: &[Field] = &[
    field!("config.labels", "label", Processor, Never),
    field!("core_ghz", "core frequency in GHz", Frequency, ByRun),
    field!("directory", "directory", Files, Never),
    field!("nfs", "NFS server", Files, Never),
    field!("peer", "far end", Network, Never),
    field!("config.congestion", "congestion control", Network, Never),
    field!("clock.source", "clock", Clock, Never),
    field!("clock", "clock", Nothing, Slightly),
    field!("config.program", "program", Method, Never),
    field!("config.wrapper", "started by", Method, Never),
    field!("config.options", "options", Method, Never),
    field!("config.environment", "environment", Method, Never),
    field!("tool.version", "version of syscost", Method, Never),
    field!("config.cpus", "CPUs that measured", Method, ByRun),
    field!("config.seed", "seed", Nothing, ByHour),
    field!(
        "config.worker_start_ms",
        "start of a worker in ms",
        Nothing,
        ByHour
    ),
    field!("noise", "noise", Nothing, ByHour),
    field!("id", "run", Nothing, ByHour),
    field!("started", "began", Nothing, ByHour),
    field!("duration", "duration", Nothing, ByHour),
    field!("config.profile", "profile", Method, Never),
    field!("config", "configuration", Method, ByRun),
    field!("complete", "complete", Method, ByRun),
    field!("warnings", "warnings", Nothing, ByRun),
];

/// What is known of the fact with this path in a run document; `None` for one that no table has, as
/// of a later version.
pub fn field_of(path: &str) -> Option<&'static Field> {
    let is_it = |field: &&Field| {
        let rest = path.strip_prefix(field.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ', '[']))
    };
    MACHINE.iter().chain(OF_RUN).find(is_it)
}

/// A fact's name for people: `mitigations, retbleed` of `machine.mitigations.retbleed`; the path
/// itself where nothing is known of it.
pub fn words(path: &str) -> String {
    let (whose, path) = match path.strip_prefix("peer.machine.") {
        Some(rest) => ("far end's ", &*format!("machine.{rest}")),
        None => ("", path),
    };
    match field_of(path) {
        Some(field) if path == field.path => format!("{whose}{}", field.words),
        Some(field) => {
            let rest = path[field.path.len() + 1..].replace('_', " ");
            format!("{whose}{}, {rest}", field.words)
        }
        None => path.to_owned(),
    }
}

/// What a fact can change; nothing is known of one that no table has. The far end's are the network's.
pub fn affects(path: &str) -> Affects {
    field_of(path).map_or(Affects::Nothing, |field| field.affects)
}

/// How a fact varies. The far end's machine is one, too.
pub fn varies(path: &str) -> Varies {
    let own = path
        .strip_prefix("peer.")
        .filter(|rest| rest.starts_with("machine."));
    field_of(own.unwrap_or(path)).map_or(Varies::Never, |field| field.varies)
}

/// What a difference in it does to the numbers, as a clause.
pub(crate) fn meaning(path: &str) -> Option<&'static str> {
    affects(path).words()
}

/// The leaves of a value with their paths: the fields of objects, and the elements of lists that
/// have fields. Nothing is left out but what is null.
pub fn leaves(path: &str, value: Value) -> Vec<(String, Value)> {
    match value {
        Value::Null => Vec::new(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .flat_map(|(name, value)| leaves(&format!("{path}.{name}"), value))
                .collect()
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let items = items.into_iter().enumerate();
            items
                .flat_map(|(index, item)| leaves(&format!("{path}[{index}]"), item))
                .collect()
        }
        value => vec![(path.to_owned(), value)],
    }
}

/// As the document has it.
fn as_recorded(value: &impl serde::Serialize) -> Value {
    // No field has keys that JSON cannot represent.
    serde_json::to_value(value).unwrap_or_default()
}

/// What it is, if it is there. That it is not is no fact to compare by: older documents did not tell it
/// from what nothing tells.
fn what(known: &Known<impl serde::Serialize>) -> Value {
    known.what().map_or(Value::Null, as_recorded)
}

/// Each word by its name; `given` where it has no value.
fn command_line_words(line: &Option<String>) -> Value {
    let words = line.iter().flat_map(|line| line.split_whitespace());
    let by_name = words.map(|word| word.split_once('=').unwrap_or((word, "given")));
    Value::Object(
        by_name
            .map(|(name, value)| (name.to_owned(), Value::from(value)))
            .collect(),
    )
}

/// `L1 data 32 KiB, L2 unified 1024 KiB`.
fn cache_list(caches: &[Cache]) -> Value {
    let one = |cache: &Cache| {
        let size = cache
            .size_bytes
            .map(|bytes| format!(" {} KiB", bytes >> 10));
        format!(
            "L{} {}{}",
            cache.level,
            cache.kind,
            size.unwrap_or_default()
        )
    };
    listed(caches.iter().map(one))
}

/// By kind: `4 of DDR4, 16 GiB at 3200 MT/s`.
fn module_list(modules: &[MemoryModule]) -> Value {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for module in modules {
        let mut kind = module.kind.as_deref().unwrap_or("unknown kind").to_owned();
        if let Some(bytes) = module.size_bytes {
            kind += &format!(", {} GiB", bytes >> 30);
        }
        if let Some(rate) = module.transfers_m_per_s {
            kind += &format!(" at {rate} MT/s");
        }
        *kinds.entry(kind).or_default() += 1;
    }
    listed(
        kinds
            .iter()
            .map(|(kind, count)| format!("{count} of {kind}")),
    )
}

/// Null for an empty list.
fn listed(texts: impl Iterator<Item = String>) -> Value {
    let texts: Vec<String> = texts.collect();
    match texts.is_empty() {
        true => Value::Null,
        false => Value::from(texts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_has_words_and_what_it_changes_by_its_path() {
        assert_eq!(words("machine.kernel"), "kernel");
        assert_eq!(
            words("machine.kernel_cmdline.isolcpus"),
            "kernel's command line, isolcpus"
        );
        assert_eq!(
            words("machine.mitigations.spec_store_bypass"),
            "mitigations, spec store bypass"
        );
        assert_eq!(words("peer.machine.kernel"), "far end's kernel");
        assert_eq!(words("directory.ssd options"), "directory, ssd options");
        assert_eq!(words("sunshine.hours"), "sunshine.hours");
        assert_eq!(affects("machine.mitigations.retbleed"), Affects::Kernel);
        assert_eq!(affects("peer.machine.kernel"), Affects::Network);
        assert_eq!(affects("clock.source"), Affects::Clock);
        assert_eq!(varies("peer.machine.load1"), Varies::ByHour);
        assert!(Affects::Kernel.can_change("syscall") && !Affects::Kernel.can_change("op"));
    }

    #[test]
    fn a_machine_tells_what_it_knows_in_words() {
        let machine = Machine {
            kernel_cmdline: Some("quiet isolcpus=1".to_owned()),
            caches: vec![Cache {
                level: 1,
                kind: "data".to_owned(),
                size_bytes: Some(32 << 10),
                line_bytes: None,
                shared_by: None,
            }],
            turbo: Some(false),
            ..Machine::default()
        };
        let facts = machine.facts();
        let value = |path: &str| {
            let fact = facts.iter().find(|(known, _)| known == path);
            fact.map(|(_, value)| value.to_string())
        };
        for (path, expected) in [
            ("machine.caches", Some("\"L1 data 32 KiB\"")),
            ("machine.kernel_cmdline.quiet", Some("\"given\"")),
            ("machine.kernel_cmdline.isolcpus", Some("\"1\"")),
            ("machine.turbo", Some("false")),
            ("machine.smt", None),
            ("machine.memory_modules", None),
        ] {
            assert_eq!(value(path).as_deref(), expected, "{path}");
        }
    }
}
