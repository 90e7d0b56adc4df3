//! Ctrl-C ends a run cleanly.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use syscost_sys::process;

use crate::error::exit;

/// Returns a flag that SIGINT, SIGTERM and SIGHUP set. A second SIGINT or SIGTERM ends the program at
/// once; its workers die with it. A second SIGHUP does not: a terminal that is closed sends one, and its
/// shell another.
///
/// A signal that this program was started to ignore, as by nohup, stays ignored, also in what it starts.
pub(crate) fn catch() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let code = i32::from(exit::INTERRUPTED);
    let heard = |signal: &i32| !process::ignores(*signal);
    for signal in [SIGINT, SIGTERM].into_iter().filter(heard) {
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&flag))
            .context("catching Ctrl-C")?;
    }
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(heard) {
        signal_hook::flag::register(signal, Arc::clone(&flag)).context("catching Ctrl-C")?;
    }
    Ok(flag)
}
