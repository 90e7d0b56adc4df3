//! The far end of a run's network measurements: found and identified before anything is measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use syscost_harness::machine;
use syscost_harness::peer::{self, ADDRESS, TOKEN_FILE};
use syscost_net::address::Endpoint;
use syscost_net::token::exposure;
use syscost_net::{Session, Token};
use syscost_results::Machine;
use syscost_results::run::Peer;

use crate::Failed;
use crate::terminal::{self, note};

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
    token_file: PathBuf,
}

impl FarEnd {
    /// Connects to the far end that was named on the command line.
    ///
    /// # Errors
    /// When there is no token, no such host, or no server that knows the token and speaks this
    /// version.
    pub(crate) fn find(endpoint: &Endpoint, token_file: &Path) -> Result<FarEnd> {
        let token = Token::read(token_file)?;
        if let Some(warning) = exposure(token_file) {
            note!("{}warning:{} {warning}", terminal::YELLOW, terminal::RESET);
        }
        let addresses = endpoint
            .look_up()
            .with_context(|| format!("resolving {endpoint}"))?;
        // The first that answers, as clients do; if none does, the last error is reported.
        let mut refused = anyhow!("{endpoint} has no address");
        for address in addresses {
            if address.ip().is_unspecified() {
                let ip = address.ip();
                refused = anyhow!("{ip} is the wildcard address, not that of a machine");
                continue;
            }
            match Session::connect(address, &token, PATIENCE) {
                Ok(session) => return FarEnd::new(session, endpoint.to_string(), token_file),
                Err(error) => refused = error.into(),
            }
        }
        Err(refused)
    }

    /// Connects to the far end of an interrupted run, which must still be the same machine.
    ///
    /// # Errors
    /// As [`FarEnd::find`], and when it is another machine by now.
    pub(crate) fn find_again(then: &Peer, token_file: &Path) -> Result<FarEnd> {
        let token = Token::read(token_file)?;
        let address = then
            .address
            .parse()
            .with_context(|| format!("{:?} is not an address", then.address))?;
        let session = Session::connect(address, &token, PATIENCE)?;
        let far_end = FarEnd::new(session, then.name.clone(), token_file)?;
        if let Some(difference) = machine::difference(&then.machine, &far_end.peer.machine) {
            bail!("the far end is not the machine that the run began with: {difference}");
        }
        Ok(far_end)
    }

    fn new(session: Session, name: String, token_file: &Path) -> Result<FarEnd> {
        let address = session.peer();
        let facts = Facts::deserialize(session.facts())
            .with_context(|| format!("{address} did not identify its machine"))?;
        let peer = Peer {
            name,
            address: address.to_string(),
            version: facts.version,
            machine: facts.machine,
        };
        // Workers may have another working directory.
        let token_file = std::path::absolute(token_file)
            .with_context(|| format!("finding {}", token_file.display()))?;
        Ok(FarEnd {
            _session: session,
            peer,
            token_file,
        })
    }

    /// Lets this process list the rows that need a far end.
    ///
    /// # Errors
    /// As [`FarEnd::environment`].
    pub(crate) fn give(&self) -> Result<()> {
        peer::give(&self.peer.address, self.token_path()?);
        Ok(())
    }

    /// The environment variables by which workers find the far end.
    ///
    /// # Errors
    /// When the path of the token file is not UTF-8, which the run document requires.
    pub(crate) fn environment(&self) -> Result<[(String, Option<String>); 2]> {
        let path = self.token_path()?;
        let set = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        Ok([set(ADDRESS, &self.peer.address), set(TOKEN_FILE, path)])
    }

    fn token_path(&self) -> Result<&str> {
        let path = self.token_file.to_str().ok_or_else(|| {
            let path = self.token_file.display();
            Failed::Usage(format!(
                "{path} is not in UTF-8; give the token file another name"
            ))
        })?;
        Ok(path)
    }
}
