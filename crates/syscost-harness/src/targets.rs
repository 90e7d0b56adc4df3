//! What a run measures against and in, and what it may do beyond the usual. The command line says it once;
//! every job carries it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use syscost_net::nfs::Export;
use syscost_sys::Unsupported;

use crate::congestion;
use crate::directory::{self, Directory};
use crate::failure::Failure;
use crate::peer::{self, PeerTarget};

/// How long a thorough search may take before it says what it found so far.
pub const THOROUGH_SEARCH: Duration = Duration::from_secs(15 * 60);

/// How long a case of a thorough run may take in one worker: somewhat longer than its search.
pub const THOROUGH_TIME_LIMIT: Duration = Duration::from_secs(20 * 60);

/// The time budget of a thorough run for each study.
pub const THOROUGH_STUDY: Duration = Duration::from_secs(60 * 60);

/// What a run measures against and in, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Targets {
    /// The far end of network measurements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<PeerTarget>,
    /// The NFS server that is measured against without a mount: an export with numeric address and both ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nfs: Option<Export>,
    /// The directories in which file systems are measured, in the order in which they were named.
    pub directories: Vec<Directory>,
    /// The congestion control of TCP measurements; without one, sockets keep the system's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Whether the whole page cache may be emptied, which slows all other programs down.
    pub drop_caches: bool,
    /// Whether the real-time class may be entered: its tasks take their CPU from all others.
    pub real_time: bool,
    /// Whether the time that operations need is taken: searches go on to their end, and published procedures
    /// make the number of operations that was published where fewer are usual.
    pub thorough: bool,
}

impl Default for Targets {
    /// What a run without options measures: files in the default directory.
    fn default() -> Self {
        Self {
            peer: None,
            nfs: None,
            directories: vec![directory::default()],
            congestion: None,
            drop_caches: false,
            real_time: false,
            thorough: false,
        }
    }
}

impl Targets {
    /// The far end of network measurements, with its token.
    ///
    /// # Errors
    /// When there is none (the error says how to give one), or its token cannot be read.
    pub fn peer(&self) -> Result<peer::PeerAccess, Unsupported> {
        let peer = self.peer.as_ref().ok_or_else(|| {
            Unsupported::new(
                "no far end was given: `syscost serve` on another machine, and here `--peer HOST --token-file FILE`",
            )
        })?;
        peer.open()
    }

    /// The NFS server that is measured against without a mount.
    ///
    /// # Errors
    /// When there is none; the error says how to give one.
    pub fn nfs(&self) -> Result<&Export, Unsupported> {
        self.nfs.as_ref().ok_or_else(|| {
            Unsupported::new(
                "no NFS server was given: --nfs nfs://HOST/EXPORT, which needs no mount",
            )
        })
    }

    /// The directory that rows call by this label.
    pub fn directory(&self, label: &str) -> Result<&Directory, Failure> {
        let mut directories = self.directories.iter();
        directories.find(|one| one.label == label).ok_or_else(|| {
            Failure::Unsupported(format!(
                "no directory {label:?} was given: `--dir {label}=PATH`"
            ))
        })
    }

    /// Whether the real-time class may be entered.
    ///
    /// # Errors
    /// When it was not asked for; the error says how to do so.
    pub fn real_time(&self) -> Result<(), Unsupported> {
        match self.real_time {
            true => Ok(()),
            false => Err(Unsupported::new(
                "the real-time class is entered only when asked for: `syscost run --real-time`",
            )),
        }
    }

    /// The first of them that no command line of `syscost run` could have given: they come from a
    /// damaged journal, or from another program.
    pub(crate) fn flaw(&self) -> Option<&'static str> {
        let mut directories = self.directories.iter();
        let is_peer = self.peer.as_ref().is_none_or(PeerTarget::is_usable);
        let is_located = self
            .nfs
            .as_ref()
            .is_none_or(|nfs| nfs.addresses().is_some());
        let are_directories = !self.directories.is_empty() && directories.all(Directory::is_usable);
        let congestion = self.congestion.as_deref();
        match (is_peer, is_located, are_directories) {
            (false, ..) => Some("far end"),
            (_, false, _) => Some("NFS server"),
            (.., false) => Some("directories"),
            _ if !congestion.is_none_or(congestion::is_name) => Some("congestion control"),
            _ => None,
        }
    }
}
