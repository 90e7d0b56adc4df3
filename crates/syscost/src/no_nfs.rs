//! In the place of [`nfs`](crate::nfs) in a build without that part.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use syscost_net::nfs::Export;
use syscost_results::run::NfsServer;

use crate::Failed;

/// There is none.
pub(crate) enum NfsEnd {}

impl NfsEnd {
    pub(crate) fn find(_: &Export, _: &AtomicBool) -> Result<NfsEnd> {
        lacking()
    }

    pub(crate) fn find_again(_: &NfsServer, _: &AtomicBool) -> Result<NfsEnd> {
        lacking()
    }

    pub(crate) fn server(&self) -> &NfsServer {
        match *self {}
    }

    pub(crate) fn target(&self) -> &Export {
        match *self {}
    }
}

fn lacking() -> Result<NfsEnd> {
    Err(Failed::Usage("this build has no NFS client: take a release".to_owned()).into())
}
