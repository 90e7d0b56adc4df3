//! A run that takes the time that its operations need: only when asked for by `syscost study run
//! --thorough`. Searches go on to their end, and published procedures make the number of operations that
//! was published where fewer are usual.

use std::time::Duration;

/// The environment variable that asks workers for it, when it is [`ASKED`].
pub const VARIABLE: &str = "SYSCOST_THOROUGH";

/// The value that asks for it.
pub const ASKED: &str = "1";

/// How long a search may take before it says what it found so far.
pub const SEARCH: Duration = Duration::from_secs(15 * 60);

/// How long a case may take in one worker: somewhat longer than its search.
pub const TIME_LIMIT: Duration = Duration::from_secs(20 * 60);

/// The time budget for each study.
pub const STUDY: Duration = Duration::from_secs(60 * 60);

/// Whether this process was asked for it by its coordinator.
pub fn is_asked() -> bool {
    std::env::var(VARIABLE).as_deref() == Ok(ASKED)
}
