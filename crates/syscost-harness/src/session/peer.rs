//! The far end of a resumed run, and its NFS server.

use std::path::Path;

use syscost_results::run::{Config, NfsServer, Peer};

use super::Session;
use crate::nfs;
use crate::peer::{ADDRESS, TOKEN_FILE, give};

/// Gives this process the far end and the NFS server of a run with this configuration, if it had
/// any: its rows depend on them.
pub(super) fn give_of(config: &Config) {
    let set = |name| config.environment.get(name)?.as_deref();
    if let Some((address, token_file)) = set(ADDRESS).zip(set(TOKEN_FILE)) {
        give(address, token_file);
    }
    if let Some(export) = set(nfs::EXPORT) {
        nfs::give(export);
    }
}

impl Session<'_> {
    /// The far end with which this run was begun, and the file of its token, if it has one.
    pub fn peer(&self) -> Option<(&Peer, &Path)> {
        let peer = self.header.peer.as_deref()?;
        // A journal whose far end has no token file is refused.
        let token_file = self.header.config.environment.get(TOKEN_FILE)?.as_deref()?;
        Some((peer, Path::new(token_file)))
    }

    /// The NFS server with which this run was begun, if it has one.
    pub fn nfs(&self) -> Option<&NfsServer> {
        self.header.nfs.as_deref()
    }
}
