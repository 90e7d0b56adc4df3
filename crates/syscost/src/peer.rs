//! The far end of a run's network measurements: found and identified before anything is measured.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::write;
use serde::{Deserialize, Serialize};
use syscost_harness::machine;
use syscost_harness::peer::PeerTarget;
use syscost_net::address::Endpoint;
use syscost_net::token::exposure;
use syscost_net::{Session, Token};
use syscost_results::Machine;
use syscost_results::run::Peer;
use syscost_sys::process;

use crate::Failed;
use crate::terminal::warn;

/// What a server reports about itself.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Version of syscost there.
    pub(crate) version: String,
    /// The machine.
    pub(crate) machine: Machine,
}

/// The far end, with a session that lasts as long as the run: `syscost serve --once` ends with it.
pub(crate) struct FarEnd {
    _session: Session,
    /// The far end, as the run document records it.
    pub(crate) peer: Peer,
    /// The far end as workers reach it.
    pub(crate) target: PeerTarget,
    /// Read by workers while the run lasts.
    _token: Handed,
}

/// A token that workers read, too.
struct Handed {
    token: Token,
    /// Where they find it.
    path: PathBuf,
    /// A copy in memory, where the token came from a pipe, which can be read only once.
    _copy: Option<OwnedFd>,
}

impl Handed {
    fn read(token_file: &Path) -> Result<Handed> {
        let token = Token::read(token_file)?;
        let failed = || format!("handing on the token of {}", token_file.display());
        // Without links: another process's standard input is not this one's.
        let real = std::fs::canonicalize(token_file);
        let (path, copy) = match real.ok().filter(|real| real.is_file()) {
            Some(path) => (path, None),
            None => copied(&token)
                .map(|(path, copy)| (path, Some(copy)))
                .with_context(failed)?,
        };
        Ok(Handed {
            token,
            path,
            _copy: copy,
        })
    }

    /// A far end at this address, for workers.
    fn target(&self, address: SocketAddr) -> Result<PeerTarget> {
        // Jobs and journals are text.
        if self.path.to_str().is_none() {
            let path = self.path.display();
            let what = format!("{path} is not in UTF-8; give the token file another name");
            return Err(Failed::Usage(what).into());
        }
        Ok(PeerTarget {
            address,
            token_file: self.path.clone(),
        })
    }
}

/// A copy of a token in memory, and the path by which this user's processes read it while this one
/// lives.
fn copied(token: &Token) -> io::Result<(PathBuf, OwnedFd)> {
    let copy = memfd_create("syscost-token", MemfdFlags::CLOEXEC)?;
    let digits = token.reveal();
    // In another PID namespace /proc may know this process by another number.
    let process = std::fs::read_link(PROC.to_owned() + "self")?;
    let path = Path::new(PROC).join(process);
    let written = write(&copy, digits.as_bytes())?;
    match written == digits.len() {
        true => Ok((path.join("fd").join(copy.as_raw_fd().to_string()), copy)),
        false => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Where processes and their open files are found.
const PROC: &str = "/proc/";

/// A far end that was named on the command line, with its token, before anything has been said to it.
pub(crate) struct Named {
    endpoint: Endpoint,
    addresses: Vec<SocketAddr>,
    token: Handed,
}

impl Named {
    /// Reads the token and looks the name up.
    ///
    /// # Errors
    /// When there is no token or no such host.
    pub(crate) fn find(endpoint: &Endpoint, token_file: &Path) -> Result<Named> {
        let token = Handed::read(token_file)?;
        if let Some(warning) = exposure(token_file) {
            warn(&warning);
        }
        let addresses = endpoint
            .look_up()
            .with_context(|| format!("resolving {endpoint}"))?;
        if let Some(address) = addresses
            .iter()
            .find(|address| address.ip().is_unspecified())
        {
            let ip = address.ip();
            bail!("{ip} is the wildcard address, not that of a machine");
        }
        Ok(Named {
            endpoint: endpoint.clone(),
            addresses,
            token,
        })
    }

    /// The far end as rows are listed for it, before anything has been said to it: a name that means none of
    /// them should not cost it a session, with which `syscost serve --once` ends.
    ///
    /// # Errors
    /// When the name has no address, or the path of the token is not UTF-8.
    pub(crate) fn target(&self) -> Result<PeerTarget> {
        let endpoint = &self.endpoint;
        let first = self.addresses.first();
        let first = first.ok_or_else(|| anyhow!("{endpoint} has no address"))?;
        self.token.target(*first)
    }

    /// Connects to the first address that answers, as clients do; if none does, the last error is
    /// reported.
    ///
    /// # Errors
    /// When there is no server that knows the token and speaks this version.
    pub(crate) fn connect(self) -> Result<FarEnd> {
        let name = self.endpoint.to_string();
        let mut refused = anyhow!("{name} has no address");
        for address in self.addresses {
            match Session::connect(address, &self.token.token, process::patience()) {
                Ok(session) => return FarEnd::new(session, name, self.token),
                Err(error) => refused = error.into(),
            }
        }
        Err(refused)
    }
}

impl FarEnd {
    /// Connects to the far end of an interrupted run, which must still be the same machine.
    ///
    /// # Errors
    /// As for [`Named::connect`], and when it is another machine by now.
    pub(crate) fn find_again(then: &Peer, reached: &PeerTarget) -> Result<FarEnd> {
        let token_file = &reached.token_file;
        if token_file.starts_with(PROC) {
            bail!(
                "the token of this run came from a pipe, which cannot be read again; \
                 to be resumable, a run needs it in a file"
            );
        }
        let handed = Handed::read(token_file)?;
        let session = Session::connect(reached.address, &handed.token, process::patience())?;
        let far_end = FarEnd::new(session, then.name.clone(), handed)?;
        if let Some(difference) =
            machine::difference(&then.machine, &far_end.peer.machine, machine::IDENTITY)
        {
            bail!("the far end is not the machine that the run began with: {difference}");
        }
        Ok(far_end)
    }

    fn new(session: Session, name: String, token: Handed) -> Result<FarEnd> {
        let address = session.peer();
        let facts = Facts::deserialize(session.facts())
            .with_context(|| format!("{address} did not identify its machine"))?;
        let peer = Peer {
            name,
            address: address.to_string(),
            version: facts.version,
            machine: facts.machine,
        };
        Ok(FarEnd {
            _session: session,
            target: token.target(address)?,
            peer,
            _token: token,
        })
    }
}
