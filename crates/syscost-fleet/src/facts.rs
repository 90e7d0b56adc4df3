//! What is recorded of a machine, as names with values in words: what makes machines alike, and what may explain that one is not.

use std::collections::BTreeMap;

use serde_json::Value;
use syscost_results::document::Digest;
use syscost_results::run::Noise;

use crate::harmless::harmless;

/// The facts by which machines are alike, if no others are chosen.
pub const ALIKE: [&str; 5] = ["arch", "cpu_model", "cpus_online", "hypervisor", "product"];
/// Before the names of labels.
pub const LABEL: &str = "label:";
/// Before the words of the kernel's command line.
const COMMAND_LINE: &str = "kernel_cmdline ";
/// Facts that name a machine, or that are better told in another way.
const IGNORED: [&str; 6] = [
    "hostname",
    "caches",
    "cpu_pressure_avg10",
    "kernel_cmdline",
    "load1",
    "memory_modules",
];
/// Width of the steps in which frequencies count as equal, as a share.
const FREQUENCY_STEP: f64 = 0.02;
/// No machine has more facts; a document may claim any number.
const MAX_FACTS: usize = 1000;

/// The facts of the machine of a run, by name.
pub fn of(digest: &Digest) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let machine = &digest.machine;
    if let Ok(Value::Object(fields)) = serde_json::to_value(machine) {
        for (name, value) in fields {
            if !IGNORED.contains(&&*name) {
                flatten(&name, &value, &mut facts);
            }
        }
    }
    let mut add = |name: String, value: String| {
        facts.insert(harmless(&name), harmless(&value));
    };
    for (label, value) in &digest.config.labels {
        add(format!("{LABEL}{label}"), value.clone());
    }
    for word in machine
        .kernel_cmdline
        .iter()
        .flat_map(|line| line.split_whitespace())
    {
        match word.split_once('=') {
            Some((name, value)) => add(format!("{COMMAND_LINE}{name}"), value.to_owned()),
            None => add(format!("{COMMAND_LINE}{word}"), "given".to_owned()),
        }
    }
    let caches = machine
        .caches
        .iter()
        .map(|cache| format!("L{} {} {} B", cache.level, cache.kind, cache.size_bytes));
    let caches: Vec<String> = caches.collect();
    if !caches.is_empty() {
        add("caches".to_owned(), caches.join(", "));
    }
    if let Some(modules) = memory_modules(digest) {
        add("memory_modules".to_owned(), modules);
    }
    if let Some(ghz) = digest.core_ghz.filter(|ghz| *ghz > 0.0) {
        // In the middle of its step, so that equal steps read the same.
        let step = (ghz.ln() / FREQUENCY_STEP).round();
        add(
            "core_ghz".to_owned(),
            format!("about {:.2}", (step * FREQUENCY_STEP).exp()),
        );
    }
    if let Some(percent) = core_ours(&digest.noise) {
        let tenth = (percent / 10.0).floor().clamp(0.0, 9.0) * 10.0;
        add(
            "core_ours".to_owned(),
            format!("{tenth} to {} % of the time", tenth + 10.0),
        );
    }
    if let Some(load) = machine.load1.filter(|load| load.is_finite()) {
        let share = load / f64::from(machine.cpus_online.max(1));
        let bin = match share {
            below if below < 0.25 => "below a quarter of the CPUs",
            below if below < 1.0 => "up to all CPUs",
            _ => "more than all CPUs",
        };
        add("load1".to_owned(), bin.to_owned());
    }
    add("syscost".to_owned(), digest.tool.version.clone());
    add("profile".to_owned(), digest.config.profile.clone());
    facts.into_iter().take(MAX_FACTS).collect()
}

/// The share of the time in which the cores that measured were not shared, in percent: the mean over them; `None` where it is not
/// known.
pub fn core_ours(noise: &[Noise]) -> Option<f64> {
    let used = noise.iter().filter(|cpu| cpu.used);
    let known: Vec<f64> = used
        .filter_map(|cpu| cpu.measured_alone_percent.or(cpu.alone_percent))
        .collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// The memory modules by kind: `4 of DDR4, 17179869184 B at 3200 MT/s`.
fn memory_modules(digest: &Digest) -> Option<String> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for module in &digest.machine.memory_modules {
        let mut kind = module
            .kind
            .clone()
            .unwrap_or_else(|| "unknown kind".to_owned());
        if let Some(bytes) = module.size_bytes {
            kind += &format!(", {} GiB", bytes >> 30);
        }
        if let Some(rate) = module.transfers_m_per_s {
            kind += &format!(" at {rate} MT/s");
        }
        *kinds.entry(kind).or_default() += 1;
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| format!("{count} of {kind}"))
        .collect();
    (!kinds.is_empty()).then(|| kinds.join("; "))
}

/// The leaves of a value with their paths.
fn flatten(path: &str, value: &Value, facts: &mut BTreeMap<String, String>) {
    let text = match value {
        Value::Null => return,
        Value::Object(fields) => {
            for (name, value) in fields {
                flatten(&format!("{path}.{name}"), value, facts);
            }
            return;
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    facts.insert(harmless(path), harmless(&text));
}
