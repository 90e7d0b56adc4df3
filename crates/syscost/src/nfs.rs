//! The NFS server of a run: found before anything is measured, and cleaned up afterwards.

use anyhow::{Context, Result, anyhow};
use syscost_harness::nfs::{EXPORT, give};
use syscost_net::address::Endpoint;
use syscost_net::nfs::{Client, Export, NFS_PORT, sweep};
use syscost_results::run::NfsServer;

use crate::terminal::note;

/// The NFS server of a run, cleaned up when dropped.
pub(crate) struct NfsEnd {
    /// The server, as the run document records it.
    pub(crate) server: NfsServer,
    located: Export,
}

impl NfsEnd {
    /// Finds the server that was named on the command line, and lets this process list the rows that
    /// need it.
    ///
    /// # Errors
    /// When there is no such host, no server that answers, or nothing exported under that path.
    pub(crate) fn find(export: &Export) -> Result<NfsEnd> {
        let endpoint = Endpoint {
            host: export.host.clone(),
            port: export.port.unwrap_or(NFS_PORT),
        };
        let addresses = endpoint
            .look_up()
            .with_context(|| format!("resolving {}", export.host))?;
        // The first that answers, as clients do; if none does, the last error is reported.
        let mut refused = anyhow!("{} has no address", export.host);
        for address in addresses {
            match Client::locate(export, address)
                .and_then(|located| Ok((Client::mount(&located)?, located)))
            {
                Ok((client, located)) => return NfsEnd::new(client, export.to_string(), located),
                Err(error) => refused = error.into(),
            }
        }
        Err(refused)
    }

    /// Finds the server of an interrupted run.
    ///
    /// # Errors
    /// As [`NfsEnd::find`].
    pub(crate) fn find_again(then: &NfsServer) -> Result<NfsEnd> {
        let located: Export = then.export.parse().map_err(|error| anyhow!("{error}"))?;
        NfsEnd::new(Client::mount(&located)?, then.name.clone(), located)
    }

    fn new(mut client: Client, name: String, located: Export) -> Result<NfsEnd> {
        let limits = client.limits()?;
        // Where the directory cannot be listed, the rows that write report what is wrong.
        report(sweep(&mut client).unwrap_or(0));
        give(&located.to_string());
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

    /// The environment variable by which workers find the server.
    pub(crate) fn environment(&self) -> (String, Option<String>) {
        (EXPORT.to_owned(), Some(self.server.export.clone()))
    }
}

impl Drop for NfsEnd {
    /// Removes what killed workers left. If the server cannot be reached, the next run removes it.
    fn drop(&mut self) {
        if let Ok(mut client) = Client::mount(&self.located) {
            let _ = sweep(&mut client);
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
