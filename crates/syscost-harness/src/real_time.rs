//! Measuring in the scheduler's real-time class: only when asked for, since a real-time task takes
//! its CPU from all other tasks.

use syscost_sys::Unsupported;

/// The environment variable that permits workers to enter the class, when it is `1`.
pub const VARIABLE: &str = "SYSCOST_REAL_TIME";

/// Whether this process may enter the class.
///
/// # Errors
/// When it was not asked for; the error says how to do so.
pub fn permitted() -> Result<(), Unsupported> {
    match std::env::var(VARIABLE).as_deref() {
        Ok("1") => Ok(()),
        _ => Err(Unsupported::new(
            "the real-time class is entered only when asked for: `syscost run --real-time`",
        )),
    }
}
