//! What the benches share that hold what happens elsewhere against a list: emulated machines, user lands.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use glob::Pattern;
use syscost_results::{Run, Status};

/// Where they keep what they make: `~/.cache/syscost-lab`, or the same below `XDG_CACHE_HOME`.
pub(crate) fn kept() -> PathBuf {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
    cache.unwrap_or_else(env::temp_dir).join("syscost-lab")
}

/// Whether a name contains one of these words; without any, all do.
pub(crate) fn is_asked(words: &[String], name: &str) -> bool {
    words.is_empty() || words.iter().any(|word| name.contains(word.as_str()))
}

/// Whether a text is what a pattern of the list means.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern).is_ok_and(|pattern| pattern.matches(text))
}

/// How many rows of the run have a number: `12 of 14`.
pub(crate) fn measured(run: &Run) -> String {
    let rows = run.measurements.iter();
    let measured = rows.filter(|row| row.status == Status::Ok).count();
    format!("{measured} of {}", run.measurements.len())
}

/// Prints what is not as listed; `printed` is where more of it is.
///
/// # Errors
/// If anything is.
pub(crate) fn ended(complaints: &[String], printed: &Path) -> Result<()> {
    if complaints.is_empty() {
        return Ok(());
    }
    println!("\nNot as listed:\n- {}", complaints.join("\n- "));
    bail!(
        "{} of what happened is not as listed; what was printed is in {}",
        complaints.len(),
        printed.display()
    )
}
