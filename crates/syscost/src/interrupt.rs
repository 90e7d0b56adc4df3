//! Ctrl-C ends a run politely.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::exit;

/// The flag that Ctrl-C, a polite kill and a closed terminal raise. A second one ends the program at once; its workers die with it.
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
