//! The far end of a run's network measurements: found and identified before anything is measured.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::write;
use serde::{Deserialize, Serialize};
use syscost_harness::machine;
use syscost_harness::peer::{self, ADDRESS, TOKEN_FILE};
use syscost_net::address::Endpoint;
use syscost_net::token::exposure;
use syscost_net::{Session, Token};
use syscost_results::Machine;
use syscost_results::run::Peer;

use crate::Failed;
use crate::terminal::warn;

/// How long the far end may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

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
    token: Handed,
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

    /// The path, which the run document requires to be UTF-8.
    fn path_text(&self) -> Result<&str> {
        let path = self.path.to_str().ok_or_else(|| {
            let path = self.path.display();
            Failed::Usage(format!(
                "{path} is not in UTF-8; give the token file another name"
            ))
        })?;
        Ok(path)
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

    /// Lets this process list the rows that need a far end: a name that means none of them should not
    /// cost the far end a session, with which `syscost serve --once` ends.
    ///
    /// # Errors
    /// When the name has no address, or the path of the token is not UTF-8.
    pub(crate) fn give(&self) -> Result<()> {
        let endpoint = &self.endpoint;
        let first = self.addresses.first();
        let first = first.ok_or_else(|| anyhow!("{endpoint} has no address"))?;
        peer::give(&first.to_string(), self.token.path_text()?);
        Ok(())
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
            match Session::connect(address, &self.token.token, PATIENCE) {
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
    pub(crate) fn find_again(then: &Peer, token_file: &Path) -> Result<FarEnd> {
        if token_file.starts_with(PROC) {
            bail!(
                "the token of this run came from a pipe, which cannot be read again; \
                 to be resumable, a run needs it in a file"
            );
        }
        let handed = Handed::read(token_file)?;
        let address = then
            .address
            .parse()
            .with_context(|| format!("{:?} is not an address", then.address))?;
        let session = Session::connect(address, &handed.token, PATIENCE)?;
        let far_end = FarEnd::new(session, then.name.clone(), handed)?;
        if let Some(difference) = machine::difference(&then.machine, &far_end.peer.machine) {
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
        let far_end = FarEnd {
            _session: session,
            peer,
            token,
        };
        peer::give(&far_end.peer.address, far_end.token.path_text()?);
        Ok(far_end)
    }

    /// The environment variables by which workers find the far end.
    ///
    /// # Errors
    /// When the path of the token file is not UTF-8, which the run document requires.
    pub(crate) fn environment(&self) -> Result<[(String, Option<String>); 2]> {
        let path = self.token.path_text()?;
        let set = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        Ok([set(ADDRESS, &self.peer.address), set(TOKEN_FILE, path)])
    }
}
