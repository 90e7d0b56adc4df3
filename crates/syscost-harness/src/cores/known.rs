//! What undisturbed cores of this processor's model showed in earlier runs, so that a run whose
//! cores are always shared can notice it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use syscost_results::Machine;
use syscost_sys::core_probe::{Alone, SAME_STATE};

use super::Cores;

/// One model's mode, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Mode {
    ratio: f64,
    limit: f64,
}

/// The modes of the models seen so far, by the text of [`key`].
type Modes = BTreeMap<String, Mode>;

/// Where the mode of this machine's model is stored.
#[derive(Debug, Clone)]
pub struct Known {
    file: PathBuf,
    key: String,
}

impl Known {
    /// In this file, for builds of this version and a clock with this grain, in ticks.
    pub fn new(file: &Path, machine: &Machine, version: &str, grain: u32) -> Self {
        Self {
            file: file.to_owned(),
            key: key(machine, version, grain),
        }
    }

    /// The mode, if one is known that makes sense.
    pub fn recall(&self) -> Option<Alone> {
        let Mode { ratio, limit } = *read::<Modes>(&self.file).get(&self.key)?;
        let is_sound = ratio.is_finite() && ratio > 0.0 && limit > ratio && limit < 1.5 * ratio;
        is_sound.then_some(Alone { ratio, limit })
    }

    /// Stores the lowest mode of these cores if it is the lowest of their model, or the usual one
    /// where the lowest is a rare state. If it cannot be written, the next run has to find it out
    /// again.
    pub(crate) fn remember(&self, cores: &Cores) {
        if let Some(lowest) = cores.lowest() {
            self.store(lowest);
        }
    }

    fn store(&self, alone: Alone) {
        let is_higher = |known: Alone| known == alone || SAME_STATE * known.ratio < alone.ratio;
        if self.recall().is_some_and(is_higher) {
            return;
        }
        let mut modes: Modes = read(&self.file);
        let Alone { ratio, limit } = alone;
        modes.insert(self.key.clone(), Mode { ratio, limit });
        replace(&self.file, &modes);
    }
}

/// What a file holds; nothing if it cannot be read.
pub(crate) fn read<T: Default + DeserializeOwned>(file: &Path) -> T {
    let text = fs::read(file).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Replaces a file as a whole or, where that is impossible, not at all.
pub(crate) fn replace(file: &Path, content: &impl Serialize) {
    if let Ok(text) = serde_json::to_vec(content) {
        let fresh = file.with_extension(format!("{}.tmp", std::process::id()));
        // The very first run creates the folder.
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        let _ = folder
            .and_then(|()| fs::write(&fresh, text))
            .and_then(|()| fs::rename(&fresh, file));
    }
}

/// Raised when modes are determined differently than before: stored ones may then be wrong.
const METHOD: u32 = 4;

/// The key of a mode. Another build may have other probes, and a clock with another grain certainly
/// has.
fn key(machine: &Machine, version: &str, grain: u32) -> String {
    let signature = machine.cpu_signature.as_deref().unwrap_or_default();
    format!(
        "{}, {signature}, clock of {grain}, syscost {version}, method {METHOD}",
        machine.cpu_model
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_mode_of_a_model_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("not there yet/cores.json");
        let machine = Machine {
            cpu_model: "Model".to_owned(),
            ..Machine::default()
        };
        let mode = |ratio: f64| Alone {
            ratio,
            limit: 1.03 * ratio,
        };
        let known = Known::new(&file, &machine, "1", 1);
        assert_eq!(known.recall(), None);
        for ratio in [1.2, 0.79, 0.9] {
            known.store(mode(ratio));
        }
        assert_eq!(known.recall(), Some(mode(0.79)));
        // A slightly higher mode turned out to be the usual state.
        known.store(mode(0.84));
        assert_eq!(known.recall(), Some(mode(0.84)));
        let other = Known::new(&file, &machine, "2", 1);
        assert_eq!(other.recall(), None, "another build");
        let odd = "{\"Model, , clock of 1, syscost 1, method 4\": {\"ratio\": -1, \"limit\": 2}}";
        fs::write(&file, odd).expect("written");
        assert_eq!(known.recall(), None, "that is no mode");
        fs::write(&file, "no JSON").expect("written");
        assert_eq!(known.recall(), None);
    }
}
