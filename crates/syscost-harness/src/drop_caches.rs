//! Emptying the whole page cache: only when asked for by `syscost run --allow-drop-caches`, since it
//! slows all other programs down.

use syscost_sys::files::caches;

/// The environment variable that permits workers to do it, when it is [`GRANTED`].
pub const VARIABLE: &str = "SYSCOST_DROP_CACHES";

/// The value that grants permission.
pub const GRANTED: &str = "1";

/// Permits it in this process, if its coordinator does.
pub(crate) fn take_permission() {
    if std::env::var(VARIABLE).as_deref() == Ok(GRANTED) {
        caches::permit_dropping();
    }
}
