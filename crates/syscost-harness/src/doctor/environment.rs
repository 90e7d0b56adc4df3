//! Variables of the environment and of the system that change what is measured.

use std::{env, fs};

use super::{Finding, Level, finding};
use crate::variation::Variation;

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

/// The libraries that the dynamic linker gives to every program (ld.so(8)).
const PRELOADED: &str = "/etc/ld.so.preload";

/// The variables that are set, each as `NAME=value`, ascending, and libraries that every program is
/// given.
pub(super) fn variables() -> Vec<String> {
    let mut set: Vec<String> = env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let value: String = value.to_string_lossy().chars().take(MAX_VALUE).collect();
            (is_of_note(&name) && !value.is_empty()).then(|| format!("{name}={value}"))
        })
        .collect();
    set.sort_unstable();
    set.extend(preloaded(
        &fs::read_to_string(PRELOADED).unwrap_or_default(),
    ));
    set
}

/// The libraries in this list, which white space or colons separate, as `FILE=library,library`.
fn preloaded(list: &str) -> Option<String> {
    let libraries = list.split(|letter: char| letter.is_whitespace() || letter == ':');
    let libraries: Vec<&str> = libraries.filter(|library| !library.is_empty()).collect();
    let shown = || {
        libraries
            .join(",")
            .chars()
            .take(MAX_VALUE)
            .collect::<String>()
    };
    (!libraries.is_empty()).then(|| format!("{PRELOADED}={}", shown()))
}

fn is_of_note(name: &str) -> bool {
    let is_variation = Variation::ALL.iter().any(|one| one.variable() == name);
    is_variation || NAMES.contains(&name) || name.starts_with(PREFIX)
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
    fn libraries_that_every_program_is_given_are_of_note() {
        let found = preloaded("/lib/libmalloc.so\n /lib/other.so:/lib/third.so\n");
        let expected = "/etc/ld.so.preload=/lib/libmalloc.so,/lib/other.so,/lib/third.so";
        assert_eq!(found.as_deref(), Some(expected));
        assert_eq!(preloaded(" \n"), None);
    }

    #[test]
    fn what_tunes_the_c_library_is_of_note() {
        for name in ["LD_PRELOAD", "MALLOC_PERTURB_", "SYSCOST_BATCH_FACTOR"] {
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
