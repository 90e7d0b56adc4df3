//! The NFS server of a run: found before anything is measured, and cleaned up afterwards.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use syscost_net::address::Endpoint;
use syscost_net::nfs::{Export, NFS_PORT};
use syscost_nfs::{Client, sweep};
use syscost_results::run::NfsServer;

use crate::Failed;
use crate::terminal::note;

/// Time limit for finding the server and for each sweep, in all its calls: a run has a budget, and a
/// server may answer each call late.
const LIMIT: Duration = Duration::from_secs(10);

/// Time limit of the sweep at the end.
const LAST_LIMIT: Duration = Duration::from_secs(5);

/// How often it is checked whether the run was interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// The NFS server of a run, cleaned up when dropped.
pub(crate) struct NfsEnd {
    server: NfsServer,
    located: Export,
}

impl NfsEnd {
    /// Finds the server that was named on the command line.
    ///
    /// # Errors
    /// When there is no such host, no server that answers in time, or nothing exported under that path.
    pub(crate) fn find(export: &Export, interrupted: &AtomicBool) -> Result<NfsEnd> {
        let name = export.to_string();
        let export = export.clone();
        let found = attended(LIMIT, Some(interrupted), move || mounted(&export));
        NfsEnd::new(found??, name, interrupted)
    }

    /// Finds the server of an interrupted run.
    pub(crate) fn find_again(then: &NfsServer, interrupted: &AtomicBool) -> Result<NfsEnd> {
        let located: Export = then.export.parse().map_err(|error| anyhow!("{error}"))?;
        let mount = move || Ok((Client::mount(&located)?, located));
        let found: Result<_> = attended(LIMIT, Some(interrupted), mount)?;
        NfsEnd::new(found?, then.name.clone(), interrupted)
    }

    fn new(
        (mut client, located): (Client, Export),
        name: String,
        interrupted: &AtomicBool,
    ) -> Result<NfsEnd> {
        let swept = move || {
            let limits = client.limits()?;
            // Where the directory cannot be listed, the rows that write report what is wrong.
            Ok((limits, sweep(&mut client).unwrap_or(0)))
        };
        let swept: Result<_> = attended(LIMIT, Some(interrupted), swept)?;
        let (limits, removed) = swept?;
        report(removed);
        Ok(NfsEnd {
            server: NfsServer {
                name,
                export: located.to_string(),
                read_bytes: limits.read,
                write_bytes: limits.write,
            },
            located,
        })
    }

    /// The server, as the run document records it.
    pub(crate) fn server(&self) -> &NfsServer {
        &self.server
    }

    /// The server as workers reach it.
    pub(crate) fn target(&self) -> &Export {
        &self.located
    }
}

impl Drop for NfsEnd {
    /// Removes what killed workers left. If the server cannot be reached, the next run removes it.
    fn drop(&mut self) {
        let located = self.located.clone();
        let _ = attended(LAST_LIMIT, None, move || {
            Client::mount(&located).and_then(|mut client| sweep(&mut client))
        });
    }
}

/// Connects to the first address of a server that answers, as clients do; if none does, the last
/// error is reported.
fn mounted(export: &Export) -> Result<(Client, Export)> {
    let endpoint = Endpoint {
        host: export.host.clone(),
        port: export.port.unwrap_or(NFS_PORT),
    };
    let addresses = endpoint
        .look_up()
        .with_context(|| format!("resolving {}", export.host))?;
    let mut refused = anyhow!("{} has no address", export.host);
    for address in addresses {
        match Client::locate(export, address)
            .and_then(|located| Ok((Client::mount(&located)?, located)))
        {
            Ok(found) => return Ok(found),
            Err(error) => refused = error.into(),
        }
    }
    Err(refused)
}

/// Returns the result of this work, which may wait for a server in any of its calls, unless it takes
/// too long or the run is interrupted. Then the thread that does it is left to itself; its next
/// answer that is late ends it.
fn attended<T: Send + 'static>(
    limit: Duration,
    interrupted: Option<&AtomicBool>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (tell, told) = mpsc::channel();
    let begun = Instant::now();
    thread::Builder::new()
        .spawn(move || tell.send(work()))
        .context("starting a thread")?;
    loop {
        match told.recv_timeout(LOOK) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(anyhow!("it panicked")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if interrupted.is_some_and(|interrupted| interrupted.load(Ordering::Relaxed)) {
            return Err(Failed::Interrupted.into());
        }
        if begun.elapsed() >= limit {
            let limit = limit.as_secs();
            return Err(anyhow!(
                "the NFS server has not answered all calls within {limit} s"
            ));
        }
    }
}

fn report(removed: usize) {
    match removed {
        0 => {}
        1 => note!("removed a folder that a killed run left on the NFS server"),
        _ => note!("removed {removed} folders that killed runs left on the NFS server"),
    }
}
