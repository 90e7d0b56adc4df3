//! Variables of the environment that change what is measured.

use std::env;

use super::{Finding, Level, finding};
use crate::trial::Trial;

/// Variables that tune or replace the C library, or its allocator.
const NAMES: [&str; 5] = [
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_BIND_NOW",
    "LD_PROFILE",
];
const PREFIX: &str = "MALLOC_";

/// Maximum length of a value that is shown in full, in characters.
const MAX_VALUE: usize = 80;

/// The variables that are set, each as `NAME=value`, ascending.
pub(super) fn variables() -> Vec<String> {
    let mut set: Vec<String> = env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let value: String = value.to_string_lossy().chars().take(MAX_VALUE).collect();
            (is_of_note(&name) && !value.is_empty()).then(|| format!("{name}={value}"))
        })
        .collect();
    set.sort_unstable();
    set
}

fn is_of_note(name: &str) -> bool {
    let is_trial = Trial::ALL.iter().any(|trial| trial.variable() == name);
    is_trial || NAMES.contains(&name) || name.starts_with(PREFIX)
}

/// The finding on these variables.
pub(super) fn of(variables: &[String]) -> Finding {
    let bad = (Level::Warning, "unset what you do not want to measure with");
    finding(
        "environment",
        (!variables.is_empty()).then_some(bad),
        match variables {
            [] => "no variable that tunes the C library or this program".to_owned(),
            set => format!(
                "the environment changes what is measured: {}",
                set.join(" ")
            ),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tunes_the_c_library_is_of_note() {
        for name in ["LD_PRELOAD", "MALLOC_PERTURB_", "SYSCOST_MARGIN_FACTOR"] {
            assert!(is_of_note(name), "{name}");
        }
        // Cargo sets the first for every program that it runs.
        for name in ["LD_LIBRARY_PATH", "PATH", "SYSCOST_OWNER"] {
            assert!(!is_of_note(name), "{name}");
        }
        let found = of(&["LD_PRELOAD=x.so".to_owned()]);
        assert_eq!((found.code, found.level), ("environment", Level::Warning));
        assert!(found.seen.ends_with("LD_PRELOAD=x.so"), "{found:?}");
        assert_eq!(of(&[]).level, Level::Good);
    }
}
