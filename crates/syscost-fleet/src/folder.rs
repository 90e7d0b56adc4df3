//! The directory of a collection:
//!
//! - `fleet.json`: what was asked, and what became of every node;
//! - `nodes/NODE.json.gz`: the documents that were looked at, and `nodes/NODE.log`: what a node printed;
//! - `arriving/`: what nodes have sent and nobody has looked at.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use syscost_results::document::Digest;
use syscost_store::{LoadError, Untrusted, load_digest, trusted, write_atomically};

use crate::NodeName;
use crate::harmless::harmless;
use crate::program::Program;

/// Name of the file that says what was asked and what became of it.
pub const FILE: &str = "fleet.json";

/// Version of that file's shape.
const SCHEMA_VERSION: u32 = 3;

/// More bytes than that file has of any fleet.
const MAX_SIZE: u64 = 64 << 20;

/// How much of the end of a log is looked at, in bytes.
const TAIL_BYTES: u64 = 4096;

/// What became of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing yet.
    Waiting,
    /// It measures.
    Running,
    /// Its document is in `nodes/`.
    Done,
    /// It gave no document; the reason says why.
    Failed,
    /// The engine does not reach it.
    Unreachable,
}

impl State {
    /// As it is called in `fleet.json`.
    pub fn word(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Unreachable => "unreachable",
        }
    }
}

/// A node of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// What became of it.
    pub state: State,
    /// The host's name that its document must have, where the engine knows it.
    pub host: Option<String>,
    /// The engine's job, while something of it may be left: of Slurm its number, of Ansible the
    /// directory on the host.
    pub job: Option<String>,
    /// Why there is no document.
    pub reason: Option<String>,
}

impl Node {
    /// A node of which nothing is known yet.
    pub fn waiting(host: Option<String>) -> Self {
        Self {
            state: State::Waiting,
            host,
            job: None,
            reason: None,
        }
    }

    /// A node that cannot be asked.
    pub fn unreachable(reason: &str) -> Self {
        let mut node = Self::waiting(None);
        node.end(State::Unreachable, reason);
        node
    }

    /// Notes how it ended. What nodes say may be anything, so it is made harmless for a terminal.
    pub fn end(&mut self, state: State, reason: &str) {
        self.state = state;
        self.reason = Some(harmless(reason));
    }
}

/// What is measured on each node, and how it gets there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Arguments of `syscost` on the node, without those for its output.
    pub arguments: Vec<String>,
    /// The programs that are brought to the nodes, each for another processor.
    pub programs: Vec<Program>,
    /// The directory on nodes in which one is made for the program and its files.
    pub scratch: String,
    /// After how many seconds a node's measurement is ended by the engine.
    pub limit_s: u64,
}

/// How nodes are reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// By jobs of Slurm.
    Slurm {
        /// The partition.
        partition: String,
    },
    /// By a playbook of Ansible.
    Ansible {
        /// Inventory, as `ansible-playbook -i` takes it.
        inventory: PathBuf,
    },
}

impl Engine {
    /// Its name, for people.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Slurm { .. } => "Slurm",
            Engine::Ansible { .. } => "Ansible",
        }
    }
}

/// The content of `fleet.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Version of this file's shape.
    pub schema_version: u32,
    /// Names its jobs and directories.
    pub id: String,
    /// When it began, RFC 3339, UTC.
    pub created: String,
    /// How nodes are reached.
    pub engine: Engine,
    /// What is asked of each.
    pub request: Request,
    /// The nodes.
    pub nodes: BTreeMap<NodeName, Node>,
}

impl Collection {
    /// A new collection.
    pub fn new(engine: Engine, request: Request, nodes: BTreeMap<NodeName, Node>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            id: Self::new_id(),
            created: now(),
            engine,
            request,
            nodes,
        }
    }

    /// A new id, which nobody has used before.
    pub fn new_id() -> String {
        format!("{:012x}", fastrand::u64(..) >> 16)
    }

    /// Makes sure that nobody else decides what is started: the programs, which are those that the collection began with, and the
    /// inventory, which may name commands.
    ///
    /// # Errors
    /// Which of them is not to be trusted, and why.
    pub fn check(&self) -> Result<(), FolderError> {
        for program in &self.request.programs {
            program.check(&trusted(&program.path)?)?;
        }
        match &self.engine {
            // A list of hosts is no file.
            Engine::Ansible { inventory } if inventory.exists() => {
                Ok(trusted(inventory).map(drop)?)
            }
            Engine::Ansible { .. } | Engine::Slurm { .. } => Ok(()),
        }
    }

    /// How many nodes are in this state.
    pub fn count(&self, state: State) -> usize {
        self.nodes
            .values()
            .filter(|node| node.state == state)
            .count()
    }
}

/// Why a collection's directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file cannot be made, read or written.
    #[error("{0} {1}: {2}")]
    Io(&'static str, PathBuf, io::Error),
    /// There is something else in the way.
    #[error(
        "{0} exists; continue its collection with --resume {0}, or give another directory with -o"
    )]
    Exists(PathBuf),
    /// There is something of others in the way.
    #[error(
        "{0} exists, and others than you may have written what is in it; give another directory with -o"
    )]
    ExistsOfOthers(PathBuf),
    /// It holds no collection that this version can read.
    #[error(
        "{0} is not the file of a collection that this version can read ({1}); give a directory that `syscost fleet run` made"
    )]
    Foreign(PathBuf, String),
    /// Somebody else may decide what would be started.
    #[error("what a collection says is started on every node: {0}")]
    Untrusted(#[from] Untrusted),
    /// The program is not the one that the collection began with.
    #[error(
        "{0} is another program than the one that the collection began with; begin a new collection, or put that one back"
    )]
    OtherProgram(PathBuf),
    /// A program is for no processor that is known.
    #[error(
        "{0} is a program neither for x86-64 nor for 64-bit Arm; give one that is with --binary"
    )]
    Processor(PathBuf),
    /// Another `fleet run` is at work there.
    #[error("another syscost collects into {0}; wait for its end")]
    Busy(PathBuf),
}

/// The directory of a collection, which one process at a time writes to.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// What was asked, and what became of it; kept by [`Folder::save`].
    pub collection: Collection,
    _lock: Lock,
}

impl Folder {
    /// Makes the directory of a new collection, for its owner only.
    ///
    /// # Errors
    /// When it exists or cannot be made.
    pub fn create(path: &Path, collection: Collection) -> Result<Self, FolderError> {
        let path = make(path, ["nodes", "arriving"]).map_err(|error| match error {
            FolderError::Io(_, part, cause)
                if part == path && cause.kind() == io::ErrorKind::AlreadyExists =>
            {
                match trusted(&part.join(FILE)) {
                    Ok(_) => FolderError::Exists(part),
                    Err(_) => FolderError::ExistsOfOthers(part),
                }
            }
            error => error,
        })?;
        let folder = Self {
            _lock: Lock::take(&path)?,
            path,
            collection,
        };
        folder.save()?;
        Ok(folder)
    }

    /// Opens a collection's directory again. Nodes without a document, and those whose document cannot be read, are waiting.
    ///
    /// # Errors
    /// When it holds no collection, or another process is collecting into it; when others may have written what it says is to be
    /// started.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let file = path.join(FILE);
        file.symlink_metadata().map_err(failed("reading", &file))?;
        let path = trusted(path)?;
        trusted(&path.join(FILE))?;
        let collection = read(&path)?;
        collection.check()?;
        let mut folder = Self {
            _lock: Lock::take(&path)?,
            path,
            collection,
        };
        for (name, node) in &mut folder.collection.nodes {
            let document = document_in(&folder.path, name);
            if node.state == State::Done && look(&document, node.host.as_deref()).is_ok() {
                continue;
            }
            // What is left of it is found by its job.
            node.state = State::Waiting;
            node.reason = None;
        }
        Ok(folder)
    }

    /// The directory, as an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a node's document is kept.
    pub fn document(&self, node: &NodeName) -> PathBuf {
        document_in(&self.path, node)
    }

    /// Where a node's document arrives.
    pub fn arriving(&self, node: &NodeName) -> PathBuf {
        self.path.join("arriving").join(format!("{node}.json.gz"))
    }

    /// Where what a node prints is kept.
    pub fn log(&self, node: &NodeName) -> PathBuf {
        self.path.join("nodes").join(format!("{node}.log"))
    }

    /// The last lines that a node printed.
    pub fn tail(&self, node: &NodeName) -> String {
        tail(&self.log(node)).unwrap_or_default()
    }

    /// Writes `fleet.json`.
    pub fn save(&self) -> Result<(), FolderError> {
        write_json(&self.path.join(FILE), &self.collection)
    }

    /// Keeps a document that has arrived, if it is one of this node; `false` if none has arrived. One that is not is removed, and
    /// the node has failed.
    pub fn accept(&mut self, name: &NodeName) -> Result<bool, FolderError> {
        let arrived = self.arriving(name);
        if arrived.symlink_metadata().is_err() {
            return Ok(false);
        }
        let kept = self.document(name);
        let Some(node) = self.collection.nodes.get_mut(name) else {
            return Ok(false);
        };
        match look(&arrived, node.host.as_deref()) {
            Ok(_) => {
                fs::set_permissions(&arrived, Permissions::from_mode(0o600))
                    .map_err(failed("keeping", &arrived))?;
                fs::rename(&arrived, &kept).map_err(failed("moving", &arrived))?;
                node.state = State::Done;
                node.reason = None;
            }
            Err(why) => {
                // What cannot be removed, as a directory in its place, costs this node alone.
                let _ = fs::remove_file(&arrived);
                node.end(State::Failed, &format!("its document was refused: {why}"));
            }
        }
        Ok(true)
    }
}

/// Makes a directory with these parts, for its owner only, and returns its absolute path: nodes are told where it is.
pub(crate) fn make(path: &Path, parts: [&str; 2]) -> Result<PathBuf, FolderError> {
    let mut builder = DirBuilder::new();
    let builder = builder.mode(0o700);
    builder.create(path).map_err(failed("making", path))?;
    let path = fs::canonicalize(path).map_err(failed("finding", path))?;
    for part in parts.map(|part| path.join(part)) {
        builder.create(&part).map_err(failed("making", &part))?;
    }
    Ok(path)
}

/// This moment, RFC 3339, UTC.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Reads what was asked and what became of it, without a lock.
///
/// # Errors
/// When the directory holds no collection that this version can read.
pub(crate) fn read(folder: &Path) -> Result<Collection, FolderError> {
    let path = folder.join(FILE);
    // Opening a pipe would wait.
    let facts = path.symlink_metadata().map_err(failed("reading", &path))?;
    let foreign = |cause: String| FolderError::Foreign(path.clone(), cause);
    if !facts.is_file() || facts.len() > MAX_SIZE {
        return Err(foreign(
            "it is no regular file, or a very large one".to_owned(),
        ));
    }
    let bytes = fs::read(&path).map_err(failed("reading", &path))?;
    let collection: Collection =
        serde_json::from_slice(&bytes).map_err(|error| foreign(error.to_string()))?;
    match collection.schema_version {
        SCHEMA_VERSION => Ok(collection),
        other => Err(foreign(format!(
            "its version is {other}, not {SCHEMA_VERSION}"
        ))),
    }
}

/// Writes a value as JSON, whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FolderError> {
    let text =
        serde_json::to_vec_pretty(value).map_err(|error| failed("writing", path)(error.into()))?;
    write_atomically(path, &text).map_err(failed("writing", path))
}

/// Reads a document of unknown origin; `host` is that of which it must be.
pub(crate) fn look(path: &Path, host: Option<&str>) -> Result<Digest, String> {
    // Opening a pipe would wait, and a link may lead anywhere.
    let is_file = path.symlink_metadata().is_ok_and(|facts| facts.is_file());
    if !is_file {
        return Err("it is not a regular file".to_owned());
    }
    let digest = load_digest(path).map_err(|error| match error {
        LoadError::Document { cause, .. } => {
            cause.to_string().trim_start_matches([':', ' ']).to_owned()
        }
        other => other.to_string(),
    })?;
    let short = |name: &str| {
        name.split('.')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    match host.filter(|host| short(host) != short(&digest.machine.hostname)) {
        Some(host) => Err(format!(
            "it is of the machine {:?}, not of {host}",
            digest.machine.hostname
        )),
        None => Ok(digest),
    }
}

pub(crate) fn tail(log: &Path) -> io::Result<String> {
    if !log.symlink_metadata()?.is_file() {
        return Ok(String::new());
    }
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    Ok(lines[lines.len().saturating_sub(3)..].join("; "))
}

fn document_in(folder: &Path, node: &NodeName) -> PathBuf {
    folder.join("nodes").join(format!("{node}.json.gz"))
}

/// A directory that no other process collects into meanwhile.
#[derive(Debug)]
struct Lock(File);

impl Lock {
    fn take(path: &Path) -> Result<Self, FolderError> {
        let folder = File::open(path).map_err(failed("opening", path))?;
        match folder.try_lock() {
            Err(fs::TryLockError::WouldBlock) => Err(FolderError::Busy(path.to_owned())),
            // Some network file systems have no locks.
            Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(Self(folder)),
        }
    }
}

impl Drop for Lock {
    /// Closing it would not do: a process that another thread starts at this moment has a copy until it
    /// executes its program, and a copy keeps the lock.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

pub(crate) fn failed<'p>(
    action: &'static str,
    path: &'p Path,
) -> impl Fn(io::Error) -> FolderError + 'p {
    move |cause| FolderError::Io(action, path.to_owned(), cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_owner_though_a_process_being_started_has_a_copy_of_it() {
        let place = tempfile::tempdir().expect("a folder");
        let lock = Lock::take(place.path()).expect("nobody else's");
        let copy = lock.0.try_clone().expect("a copy");
        let busy = Lock::take(place.path()).expect_err("it is taken");
        assert!(matches!(busy, FolderError::Busy(_)), "{busy}");
        drop(lock);
        Lock::take(place.path()).expect("its owner let it go");
        drop(copy);
    }

    #[test]
    fn a_collection_is_continued_only_if_nobody_else_can_have_said_what_is_started() {
        let place = tempfile::tempdir().expect("a folder");
        let (program, hosts) = (place.path().join("program"), place.path().join("hosts"));
        fs::write(&program, "ours").expect("written");
        fs::write(&hosts, "n1").expect("written");
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
        };
        mode(&program, 0o755);
        mode(&hosts, 0o644);
        if let Err(reason) = trusted(place.path()) {
            return println!("skipped: {reason}");
        }
        let request = Request {
            arguments: Vec::new(),
            programs: vec![Program::read(program.clone()).expect("read")],
            scratch: "/tmp".to_owned(),
            limit_s: 60,
        };
        let engine = Engine::Ansible {
            inventory: hosts.clone(),
        };
        let collection = Collection::new(engine, request, BTreeMap::new());
        let path = place.path().join("kept");
        drop(Folder::create(&path, collection.clone()).expect("made"));
        let open = || Folder::open(&path).map(drop);
        open().expect("it is ours");
        let file = path.join(FILE);
        for (part, open_to_all, closed) in [
            (&path, 0o777, 0o700),
            (&file, 0o666, 0o600),
            (&program, 0o775, 0o755),
            (&hosts, 0o646, 0o644),
        ] {
            mode(part, open_to_all);
            let refused = open().expect_err("others may write it");
            assert!(matches!(refused, FolderError::Untrusted(_)), "{refused}");
            // Nobody is told to continue what others may have begun.
            let again = Folder::create(&path, collection.clone()).expect_err("it exists");
            let is_advised = again.to_string().contains("--resume");
            assert_eq!(is_advised, part != &path && part != &file, "{again}");
            mode(part, closed);
        }
        fs::write(&program, "another").expect("written");
        let refused = open().expect_err("it is another program");
        assert!(matches!(refused, FolderError::OtherProgram(_)), "{refused}");
    }
}
