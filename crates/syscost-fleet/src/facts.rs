//! What is recorded of a machine, as names with values in words: what makes machines alike, and what may explain that one is not.

use std::collections::BTreeMap;

use serde_json::Value;
use syscost_results::document::Digest;
use syscost_results::facts::{Field, Varies, field_of, words};
use syscost_results::run::core_ours;

use crate::harmless::harmless;

/// The facts by which machines are alike, if no others are chosen.
pub const ALIKE: [&str; 5] = ["arch", "cpu_model", "cpus_online", "hypervisor", "product"];
/// Before the names of labels.
pub const LABEL: &str = "label:";
/// Before the names of a machine's facts in a document.
const MACHINE: &str = "machine.";
/// Width of the steps in which frequencies count as equal, as a share.
const FREQUENCY_STEP: f64 = 0.02;
/// No machine has more facts; a document may claim any number.
const MAX_FACTS: usize = 1000;

/// The facts of the machine of a run, by name.
pub fn of(digest: &Digest) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let machine = &digest.machine;
    let known = machine.facts().into_iter();
    for (path, value) in known.filter(|(path, _)| !is_of_one(path)) {
        let name = path.strip_prefix(MACHINE).unwrap_or(&path);
        let text = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        facts.insert(harmless(name), harmless(&text));
    }
    let mut add = |name: String, value: String| {
        facts.insert(harmless(&name), harmless(&value));
    };
    for (label, value) in &digest.config.labels {
        add(format!("{LABEL}{label}"), value.clone());
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

/// Whether it names a machine, or is told in another way.
fn is_of_one(path: &str) -> bool {
    path == "machine.hostname" || field_of(path).is_some_and(|field| field.varies == Varies::ByHour)
}

/// What is known of a machine's fact by the name it has here; `None` for a label, and what is told of the hour.
pub(crate) fn field(name: &str) -> Option<&'static Field> {
    field_of(&format!("{MACHINE}{name}"))
}

/// It in words, as in the report of one machine.
pub(crate) fn told(name: &str) -> String {
    words(&format!("{MACHINE}{name}"))
}
