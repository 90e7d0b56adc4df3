//! Which facts of machine and program differ between the sides.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;
use syscost_stats::order;

use super::{Cause, Change, Comparison, Difference, Row};
use crate::facts::{self, Affects, Varies, affects, leaves, varies};
use crate::run::{NfsServer, Peer, Warning};
use crate::{Directory, Known, Run, row_name};

/// The address of a run's far end.
const PEER_ADDRESS: &str = "peer.address";
/// The NFS export that was measured without a mount.
const NFS_EXPORT: &str = "nfs.export";
/// Prefix of facts about directories, before the label.
const DIRECTORY: &str = "directory.";
/// Facts that a document has wherever they were given, and an anonymous one never as they were.
const GIVEN: [&str; 5] = [
    PEER_ADDRESS,
    NFS_EXPORT,
    "config.program",
    "config.wrapper",
    "config.environment",
];
/// Prefixes of facts of which each machine has some: one that is missing among them is not there.
const SOME: [&str; 2] = ["machine.mitigations.", "machine.kernel_cmdline."];
/// Variables of older documents through which workers found the far end, the NFS server and the
/// directories, and which said what they might do; other facts describe these better.
const OF_PLACES: [&str; 7] = [
    "SYSCOST_PEER",
    "SYSCOST_NFS",
    "SYSCOST_DIR",
    "SYSCOST_CONGESTION",
    "SYSCOST_DROP_CACHES",
    "SYSCOST_REAL_TIME",
    "SYSCOST_THOROUGH",
];
/// In the place of what is not there.
const NONE: &str = "none";
/// Fields of a directory that its storage already contains, or that explain nothing.
const BESIDE_DETAILS: [&str; 8] = [
    "label",
    "path",
    "filesystem",
    "source",
    "mount_point",
    "layers",
    "total_bytes",
    "free_bytes",
];
/// The differing facts, the likeliest explanations first.
pub(super) fn differing(base: &[&Run], new: &[&Run]) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    let sides = [base, new].map(|runs| runs.iter().map(|run| told(run)).collect::<Vec<_>>());
    let has_peer = |runs: &[&Run]| runs.iter().any(|run| run.peer.is_some());
    let have_peers = has_peer(base) && has_peer(new);
    for (name, _) in sides.iter().flatten().flatten() {
        if varies(name) == Varies::ByHour || found.iter().any(|known| known.fact == *name) {
            continue;
        }
        // If one side has no far end, the missing address says so; the far end's other facts are
        // not differences.
        if name.starts_with("peer.") && name != PEER_ADDRESS && !have_peers {
            continue;
        }
        // Likewise for a directory.
        if let Some((label, _)) = detail_of_directory(name) {
            let storage = format!("{DIRECTORY}{label}");
            let is_known = |runs: &Vec<Vec<(String, Value)>>| {
                let mut facts = runs.iter().flatten();
                facts.any(|(known, _)| *known == storage)
            };
            if !sides.iter().all(is_known) {
                continue;
            }
        }
        let [left, right] = [&sides[0], &sides[1]].map(|side| values(side, name));
        // What is not known of a side is no difference.
        if !left.is_empty() && !right.is_empty() && !alike(name, &left, &right) {
            let is_of_one_side = [&left, &right].iter().any(|side| **side == [NONE]);
            found.push(Difference {
                meaning: meaning(name, is_of_one_side).map(str::to_owned),
                fact: name.clone(),
                base: Some(shown(&left)),
                new: Some(shown(&right)),
                explains: false,
            });
        }
    }
    found.extend(core_frequency(base, new));
    found.sort_by_key(|difference| affects(&difference.fact));
    found
}

/// The core's frequency, which affects everything that only computes.
fn core_frequency(base: &[&Run], new: &[&Run]) -> Option<Difference> {
    let median = |runs: &[&Run]| {
        let known: Vec<f64> = runs.iter().filter_map(|run| run.core_ghz).collect();
        order::median(&known)
    };
    let (before, after) = (median(base)?, median(new)?);
    let change = before / after - 1.0;
    (change.abs() > facts::TOLERANCE).then(|| Difference {
        fact: "core_ghz".to_owned(),
        base: Some(format!("{before:.2}")),
        new: Some(format!("{after:.2}")),
        meaning: Some(format!(
            "costs of pure computation change by {:+.1} % with it",
            100.0 * change
        )),
        explains: false,
    })
}

fn meaning(fact: &str, is_of_one_side: bool) -> Option<&'static str> {
    Some(match fact {
        _ if is_of_one_side && fact.starts_with(DIRECTORY) => {
            "of one side only: to compare two directories, give them one label, --dir LABEL=PATH"
        }
        "machine.cpu_model" | "machine.cpu_signature" => "another processor",
        "machine.hostname" => "another machine, or another name for it",
        "machine.build.profile" => {
            "a debug build measures its own slowness: compare release builds"
        }
        "tool.version" => "the way of measuring may have changed",
        "config.profile" => "profiles warm up and repeat differently: compare equal ones",
        "config.cpus" => "CPUs differ in what shares their cores and in noise: --cpus fixes one",
        PEER_ADDRESS => "rows with path=remote are of another far end, or of another way to it",
        NFS_EXPORT => "rows of the NFS server are of another one, or of another way to it",
        "clock.source" => "clocks differ in what a reading costs",
        "complete" => "a run that ended early has fewer rounds",
        "warnings" => "what disturbed one side only",
        _ if fact.starts_with(DIRECTORY) && detail_of_directory(fact).is_none() => {
            "rows with this label are of another file system or device"
        }
        _ => return facts::meaning(fact),
    })
}

/// The label and the fact in `directory.LABEL FACT`, e.g. `options` of `directory.ssd options`; a
/// label has no spaces.
fn detail_of_directory(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(DIRECTORY)?.split_once(' ')
}

/// The facts of a directory, its storage first; its path and how full it is are not among them.
fn of_directory(directory: &Directory, facts: &mut Vec<(String, Value)>) {
    let name = format!("{DIRECTORY}{}", directory.label);
    facts.push((name.clone(), Value::from(directory.storage())));
    let Ok(Value::Object(fields)) = serde_json::to_value(directory) else {
        return;
    };
    for (field, value) in fields {
        if !BESIDE_DETAILS.contains(&field.as_str()) {
            facts.extend(leaves(&format!("{name} {field}"), value));
        }
    }
}

/// The recorded facts, without those that an anonymous run has lost, and with what is known not to be there.
fn told(run: &Run) -> Vec<(String, Value)> {
    let mut facts = recorded(run);
    if is_anonymous(run) {
        facts.retain(|(name, _)| !is_given(name) && name != "machine.hostname");
    }
    let machine = &run.machine;
    let absent = [
        ("machine.hypervisor", machine.hypervisor == Known::No),
        ("machine.container", machine.container == Known::No),
        (
            "machine.cgroup_cpu_quota",
            machine.cgroup_cpu_quota == Known::No,
        ),
        (
            "machine.cgroup_memory_bytes",
            machine.cgroup_memory_bytes == Known::No,
        ),
    ];
    let absent = absent.into_iter().filter(|(_, is_absent)| *is_absent);
    facts.extend(absent.map(|(name, _)| (name.to_owned(), Value::from(NONE))));
    facts
}

/// Whether what identifies the machine's owner was removed: each machine has a name.
fn is_anonymous(run: &Run) -> bool {
    run.machine.hostname.is_empty()
}

fn is_given(name: &str) -> bool {
    GIVEN.contains(&name) || name.starts_with("config.labels.")
}

fn recorded(run: &Run) -> Vec<(String, Value)> {
    let mut facts = run.machine.facts();
    if let Some(peer) = &run.peer {
        let host = Peer::host_of(&peer.address);
        facts.push((PEER_ADDRESS.to_owned(), Value::from(host)));
        facts.push(("peer.version".to_owned(), Value::from(&*peer.version)));
        let machine = peer.machine.facts().into_iter();
        facts.extend(machine.map(|(name, value)| (format!("peer.{name}"), value)));
    }
    if let Some(server) = &run.nfs {
        let place = NfsServer::place_of(&server.export);
        facts.push((NFS_EXPORT.to_owned(), Value::from(place)));
    }
    for directory in &run.directories {
        of_directory(directory, &mut facts);
    }
    let of_the_hour = run
        .warnings
        .iter()
        .filter(|warning| warning.is_of_the_hour());
    let codes = of_the_hour.map(|warning| warning.code.as_str());
    let codes: Vec<&str> = codes.collect::<BTreeSet<_>>().into_iter().collect();
    // Regardless of the order in which they measured.
    let mut cpus = run.config.cpus.clone();
    cpus.sort_unstable();
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let config = &run.config;
    let is_set = |variable: &str| config.environment.contains_key(variable);
    let mut allowed = vec![
        (
            "--allow-drop-caches",
            config.drop_caches,
            "SYSCOST_DROP_CACHES",
        ),
        ("--real-time", config.real_time, "SYSCOST_REAL_TIME"),
        ("--thorough", config.thorough, "SYSCOST_THOROUGH"),
    ];
    allowed.retain(|(_, is_given, variable)| *is_given || is_set(variable));
    let allowed: Vec<&str> = allowed.iter().map(|(option, ..)| *option).collect();
    let is_of_place = |name: &str| OF_PLACES.iter().any(|start| name.starts_with(start));
    let environment = config
        .environment
        .iter()
        .filter(|(name, _)| !is_of_place(name));
    let environment = environment.map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => format!("without {name}"),
    });
    let environment: Vec<String> = environment.collect();
    for (key, value) in &config.labels {
        facts.push((format!("config.labels.{key}"), Value::from(value.as_str())));
    }
    for (name, value) in [
        ("clock.source", Value::from(run.clock.source.as_str())),
        ("clock.ghz", Value::from(run.clock.ghz)),
        ("tool.version", Value::from(run.tool.version.as_str())),
        ("config.profile", Value::from(run.config.profile.as_str())),
        ("config.cpus", Value::from(cpus.join(" "))),
        ("config.program", Value::from(run.config.program.clone())),
        ("config.wrapper", Value::from(run.config.wrapper.clone())),
        ("config.environment", Value::from(environment.join(" "))),
        ("config.congestion", Value::from(config.chosen_congestion())),
        ("config.options", Value::from(allowed.join(" "))),
        ("complete", Value::from(run.complete)),
        ("warnings", Value::from(codes.join(" "))),
    ] {
        facts.push((name.to_owned(), value));
    }
    facts
}

/// How the processes of all runs of one side were set up and those of the other were not, with what it
/// does to the numbers where that is known: a filter, a tracer, a limit. In the documents' order, which is
/// that of importance.
pub(super) fn causes(base: &[&Run], new: &[&Run]) -> Vec<Cause> {
    let mut found: Vec<Cause> = Vec::new();
    for (is_new, own, other) in [(true, new, base), (false, base, new)] {
        let settings = own.first().map_or(&[][..], |run| &run.warnings);
        for warning in settings.iter().filter(|one| !one.is_of_the_hour()) {
            let is_there = |run: &&&Run| run.warnings.iter().any(|one| is_as(one, warning));
            if own.iter().all(|run| is_there(&run)) && !other.iter().any(|run| is_there(&run)) {
                let (affects, words) = effect(&warning.code);
                found.push(Cause {
                    is_new,
                    message: warning.message.clone(),
                    effect: words.map(str::to_owned),
                    affects,
                    explains: false,
                });
            }
        }
    }
    found
}

/// Whether one run has what another has: the same code, and where that stands for many settings the
/// same message.
fn is_as(one: &Warning, other: &Warning) -> bool {
    let is_of_many = [
        "process_settings",
        "environment",
        "cgroup_quota",
        "landlock",
    ];
    let is_one = !is_of_many.contains(&one.code.as_str()) || one.message == other.message;
    one.code == other.code && is_one
}

/// Which costs a setting that a warning tells of can change, and how.
fn effect(code: &str) -> (Affects, Option<&'static str>) {
    let (affects, words) = match code {
        "seccomp" => (Affects::Kernel, "every system call pays for it"),
        "tracer" => (Affects::Kernel, "system calls and signals stop"),
        "perf_events" => (
            Affects::Kernel,
            "system calls, faults and switches are counted, and pay for it",
        ),
        "landlock" => (Affects::Files, "every path that is opened is checked"),
        "vdso" => (Affects::Clock, "reading the clock is a system call"),
        "aslr" => (Affects::Memory, "every process has the same layout"),
        "cgroup_quota" => (
            Affects::CpuTime,
            "the kernel stops it when its share of a period is used up",
        ),
        "build" => (Affects::Method, "a debug build measures its own slowness"),
        "governor" | "turbo" => (Affects::Frequency, "the cores run at another frequency"),
        "transparent_hugepages" => (Affects::Memory, "memory has pages of another size"),
        "clocksource" | "clock_fallback" => (Affects::Clock, "reading the clock costs more"),
        // Many things, and each message tells which.
        _ => return (Affects::Method, None),
    };
    (affects, Some(words))
}

/// Marks what can change rows that did, and puts it first.
pub(super) fn rank(comparison: &mut Comparison) {
    let changed = |row: &&Row| matches!(row.verdict, Change::Worse | Change::Better);
    let of_rows = comparison.rows.iter().filter(changed);
    let together = comparison
        .changed_groups()
        .map(|(group, _)| group.name.as_str());
    let of_rows = of_rows.map(|row| row_name::group(&row.name));
    let groups: BTreeSet<String> = of_rows.chain(together).map(str::to_owned).collect();
    let explains = |affects: Affects| groups.iter().any(|group| affects.can_change(group));
    for cause in &mut comparison.causes {
        cause.explains = explains(cause.affects);
    }
    for fact in &mut comparison.facts {
        fact.explains = explains(affects(&fact.fact));
    }
    comparison.causes.sort_by_key(|cause| !cause.explains);
    comparison.facts.sort_by_key(|fact| !fact.explains);
}

/// Every recorded fact by which runs of one machine may show different costs, as one text: runs with
/// the same differ by nothing but the hour, as far as documents tell.
pub fn setting(run: &Run) -> String {
    let mut setting = String::new();
    for (name, value) in recorded(run) {
        if varies(&name) == Varies::Never && !value.is_null() {
            setting += &format!("{name}={value}\n");
        }
    }
    for warning in run.warnings.iter().filter(|one| !one.is_of_the_hour()) {
        setting += &format!("{}: {}\n", warning.code, warning.message);
    }
    setting
}

/// The distinct values of a fact over the runs of a side of which it is known.
fn values(side: &[Vec<(String, Value)>], name: &str) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for run in side {
        let mut told = run.iter().filter(|(_, value)| !value.is_null());
        let value = told.find(|(known, _)| known == name);
        let value = value.map(|(_, value)| value.clone());
        let value = value.or_else(|| is_absent(run, name).then(|| Value::from(NONE)));
        let is_fresh = |value: &Value| !values.iter().any(|known| equal(name, known, value));
        values.extend(value.filter(is_fresh));
    }
    values
}

/// Whether a run that does not have a fact tells by this that there is none.
fn is_absent(run: &[(String, Value)], name: &str) -> bool {
    let is_anonymous = || !run.iter().any(|(known, _)| known == "machine.hostname");
    let is_storage = name.starts_with(DIRECTORY) && detail_of_directory(name).is_none();
    let own = name.strip_prefix("peer.").unwrap_or(name);
    let has_some = |prefix: &&str| {
        let others = &name[..name.len() - own.len() + prefix.len()];
        run.iter().any(|(known, _)| known.starts_with(others))
    };
    is_storage
        || name == "config.congestion"
        || (is_given(name) && !is_anonymous())
        || SOME
            .iter()
            .filter(|prefix| own.starts_with(**prefix))
            .any(has_some)
}

/// Whether both sides have the same values of a fact, in any order.
fn alike(name: &str, left: &[Value], right: &[Value]) -> bool {
    let within = |all: &[Value], one: &Value| all.iter().any(|known| equal(name, known, one));
    left.iter().all(|value| within(right, value)) && right.iter().all(|value| within(left, value))
}

fn equal(name: &str, left: &Value, right: &Value) -> bool {
    // 254 CPUs differ from 256, however close the numbers are.
    let is_measured = left.is_f64() || right.is_f64() || varies(name) == Varies::Slightly;
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) if is_measured => facts::are_close(left, right),
        (Some(_) | None, Some(_) | None) => left == right,
    }
}

/// The values as text.
fn shown(values: &[Value]) -> String {
    let known: Vec<String> = values
        .iter()
        .map(|value| match value {
            Value::String(text) if text.is_empty() => NONE.to_owned(),
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_f64() => {
                number.as_f64().map_or_else(String::new, rounded)
            }
            other => other.to_string(),
        })
        .collect();
    known.join(" or ")
}

/// A measured number with four significant digits, enough to distinguish values that differ by more
/// than [`facts::TOLERANCE`].
fn rounded(number: f64) -> String {
    let magnitude = number.abs().max(f64::MIN_POSITIVE).log10().floor();
    let decimals = (3.0 - magnitude).clamp(0.0, 12.0) as usize;
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
