//! What undisturbed cores of this processor's model showed in earlier runs, so that a run whose
//! cores are always shared can notice it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use syscost_results::Machine;
use syscost_sys::core_probe::{Alone, Burst, Shape, alone};

use super::{Cores, Heard, StoredAlone};

/// What is known of one model, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Mode {
    /// Instructions of the burst that was sharpest.
    burst: u32,
    #[serde(flatten, with = "StoredAlone")]
    alone: Alone,
    /// How many runs in a row have seen only higher ratios.
    unseen_runs: u32,
}

/// After this many runs in a row that saw only higher ratios the lowest of the last one is learnt anew: the processor may
/// have changed, by microcode or by what its hypervisor does, or the first run was wrong. Seldom enough for a machine
/// that has some quiet hour a day.
const MAX_UNSEEN_RUNS: u32 = 30;

/// Ratios within this share of each other are the same.
const SAME_RATIO: f64 = 0.02;

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

    fn stored(&self) -> Option<Mode> {
        let stored = *read::<Modes>(&self.file).get(&self.key)?;
        let Alone { ratio, limit, .. } = stored.alone;
        let is_sound = ratio.is_finite() && ratio > 0.0 && limit > ratio && limit < 1.5 * ratio;
        (is_sound && Burst::with(stored.burst).is_some()).then_some(stored)
    }

    /// The mode, if one is known that makes sense, and the burst that shows it.
    pub fn recall(&self) -> Option<(Burst, Alone)> {
        let Mode { burst, alone, .. } = self.stored()?;
        Some((Burst::with(burst)?, alone))
    }

    /// Stores the lowest mode that these CPUs showed, if it is the lowest of their model, and its limit where the known one
    /// was assumed. A higher one (by over 2 %) never replaces it, but is learnt after [`MAX_UNSEEN_RUNS`] that
    /// saw nothing else: so what is known can neither drift nor stay wrong for good. If it cannot be written, the next run
    /// has to find it out again.
    pub(crate) fn remember(&self, heard: &[Heard]) {
        let seen = heard.iter().filter_map(|one| {
            let Shape { grain, burst } = one.probe.shape();
            Some((burst, alone(&one.readings, grain)?))
        });
        if let Some((burst, lowest)) = seen.min_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)) {
            self.store(burst, lowest);
        }
    }

    /// Stores the lowest mode of these cores, since less was seen than before.
    pub(crate) fn lower(&self, cores: &Cores) {
        let lowest = cores.modes.iter().map(|core| core.alone);
        if let Some(lowest) = lowest.min_by(|a, b| a.ratio.total_cmp(&b.ratio)) {
            self.store(cores.shape().burst, lowest);
        }
    }

    fn store(&self, burst: Burst, seen: Alone) {
        let fresh = Mode {
            burst: burst.instructions(),
            alone: seen,
            unseen_runs: 0,
        };
        let stored = self.stored();
        let mode = match stored.filter(|known| known.burst == fresh.burst) {
            Some(known) if seen.ratio > (1.0 + SAME_RATIO) * known.alone.ratio => {
                let unseen_runs = known.unseen_runs + 1;
                let stays = Mode {
                    unseen_runs,
                    ..known
                };
                if unseen_runs < MAX_UNSEEN_RUNS {
                    stays
                } else {
                    fresh
                }
            }
            Some(known) if seen.ratio > (1.0 - SAME_RATIO) * known.alone.ratio => {
                let is_better = known.alone.is_assumed && !seen.is_assumed;
                let kept = Mode {
                    unseen_runs: 0,
                    ..known
                };
                if is_better { fresh } else { kept }
            }
            _ => fresh,
        };
        if stored != Some(mode) {
            let mut modes: Modes = read(&self.file);
            modes.insert(self.key.clone(), mode);
            replace(&self.file, &modes);
        }
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
const METHOD: u32 = 5;

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

    /// The first kind of burst showed this ratio; limit and whether it was assumed.
    fn mode(ratio: f64, is_assumed: bool) -> Alone {
        Alone {
            ratio,
            limit: if is_assumed { 1.06 } else { 1.03 } * ratio,
            is_assumed,
        }
    }

    fn known(file: &Path, version: &str) -> Known {
        let machine = Machine {
            cpu_model: "Model".to_owned(),
            ..Machine::default()
        };
        Known::new(file, &machine, version, 1)
    }

    #[test]
    fn the_least_mode_of_a_model_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("not there yet/cores.json");
        let known = known(&file, "1");
        let burst = Burst::default();
        assert_eq!(known.recall(), None);
        for ratio in [1.2, 0.79, 0.9] {
            known.store(burst, mode(ratio, true));
        }
        assert_eq!(known.recall(), Some((burst, mode(0.79, true))));
        // A gap that was seen is better than one that is assumed; the other way round it is not.
        known.store(burst, mode(0.8, false));
        known.store(burst, mode(0.79, true));
        assert_eq!(known.recall(), Some((burst, mode(0.8, false))));
        assert_eq!(
            super::tests::known(&file, "2").recall(),
            None,
            "another build"
        );
        fs::write(&file, "no JSON").expect("written");
        assert_eq!(known.recall(), None);
    }

    #[test]
    fn hours_on_shared_cores_move_nothing_by_steps() {
        let folder = tempfile::tempdir().expect("a folder");
        let known = known(&folder.path().join("cores.json"), "1");
        let burst = Burst::default();
        // Each hardly higher than the one before.
        for step in 0..MAX_UNSEEN_RUNS {
            known.store(burst, mode(0.84 * 1.03_f64.powi(step as i32), false));
        }
        assert_eq!(known.recall(), Some((burst, mode(0.84, false))));
        // Once it is seen again, counting starts anew.
        known.store(burst, mode(0.84, false));
        for _ in 0..MAX_UNSEEN_RUNS - 1 {
            known.store(burst, mode(1.3, false));
        }
        assert_eq!(known.recall(), Some((burst, mode(0.84, false))));
        known.store(burst, mode(1.3, false));
        assert_eq!(
            known.recall(),
            Some((burst, mode(1.3, false))),
            "learnt anew"
        );
    }

    #[test]
    fn what_no_run_can_have_stored_is_no_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cores.json");
        let known = known(&file, "1");
        for (burst, ratio, limit) in [
            (60, -1.0, 2.0),
            (60, 1.0, 1.0),
            (60, 1.0, 9.0),
            (7, 1.0, 1.03),
        ] {
            let odd = Mode {
                burst,
                alone: Alone {
                    ratio,
                    limit,
                    is_assumed: false,
                },
                unseen_runs: 0,
            };
            replace(&file, &Modes::from([(known.key.clone(), odd)]));
            assert_eq!(known.recall(), None, "{odd:?}");
        }
    }
}
