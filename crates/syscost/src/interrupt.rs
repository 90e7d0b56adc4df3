//! Ctrl-C ends a run cleanly.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use syscost_sys::process;

use crate::error::exit;

/// Returns a flag that SIGINT, SIGTERM and SIGHUP set, but for those that whoever started this program has
/// it ignore: nohup lets it go on when its terminal is closed, and a command that it starts is to ignore them, too. A second SIGINT or SIGTERM ends the program at
/// once; its workers die with it. A second SIGHUP does not: a terminal that is closed sends one, and its
/// shell another.
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
