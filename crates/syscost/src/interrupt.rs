//! Ctrl-C ends a run cleanly.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::exit;

/// Returns a flag that SIGINT, SIGTERM and SIGHUP set. A second signal ends the program at once;
/// its workers die with it.
pub(crate) fn catch() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let code = i32::from(exit::INTERRUPTED);
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .context("catching Ctrl-C")?;
    }
    Ok(flag)
}
