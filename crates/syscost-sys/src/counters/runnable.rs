//! How many tasks want a processor.

use std::fs;

use crate::{SystemError, Unsupported};

const PATH: &str = "/proc/loadavg";

/// The number of tasks on all processors of the machine that run or are ready to, the calling one
/// included.
///
/// # Errors
/// `Unsupported` where there is no /proc/loadavg.
pub fn runnable_tasks() -> Result<u64, Unsupported> {
    let text = fs::read_to_string(PATH).map_err(|cause| SystemError::new("read", PATH, cause))?;
    parse(&text).ok_or_else(|| Unsupported::new(format!("{PATH} has no number of runnable tasks")))
}

/// The numerator of the fourth field.
fn parse(text: &str) -> Option<u64> {
    let (runnable, _) = text.split_ascii_whitespace().nth(3)?.split_once('/')?;
    runnable.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runnable_tasks_are_before_the_stroke() {
        assert_eq!(parse("0.71 1.26 2.10 3/171 4242\n"), Some(3));
        assert_eq!(parse("0.71 1.26 2.10\n"), None);
    }

    #[test]
    fn this_task_is_one_of_them() {
        assert!(or_skip!(runnable_tasks()) >= 1);
    }
}
