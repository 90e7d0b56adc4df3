//! Finds and reads the documents of many machines, one after the other and some at a time, so that not all are in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use serde::Serialize;
use syscost_results::Machine;
use syscost_results::document::Digest;
use syscost_results::run::Config;
use syscost_store::load_digest;

use crate::folder::{self, State};
use crate::harmless::harmless;

/// The directory of a collection in which its documents are.
const NODES: &str = "nodes";
/// The label that names the machine of a run.
const NODE_LABEL: &str = "node";
/// Maximum number of threads that unpack and parse documents.
const READERS: usize = 8;

/// A document of a machine.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its figures.
    pub digest: Digest,
    /// Which of the directories or tables it is from, counted from 0; single documents are from one.
    pub source: usize,
    /// Where it is, for people.
    pub place: String,
}

/// What is not judged, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The document.
    pub what: String,
    /// Why not, as the rest of a sentence that begins with it.
    pub why: String,
}

impl LeftOut {
    /// Leaves something out; both texts may be any file's.
    pub fn new(what: &str, why: impl ToString) -> Self {
        LeftOut {
            what: harmless(what),
            why: harmless(&why.to_string()),
        }
    }
}

/// A node that was asked and gave no document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Silent {
    /// The node.
    pub node: String,
    /// What became of it.
    pub state: State,
    /// Why.
    pub reason: String,
}

/// A place with documents cannot be looked into.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {cause}; name documents, or directories of documents")]
pub struct ReadError {
    /// The place.
    path: PathBuf,
    /// Why not.
    cause: std::io::Error,
}

/// Documents yet to be read.
#[derive(Debug, Default)]
pub struct Places {
    /// Each with the number of its source.
    files: Vec<(PathBuf, usize)>,
    /// Nodes that gave none, as the journals beside them say.
    pub silent: Vec<Silent>,
    /// What is called like a document in a directory and is no regular file: opening a pipe would
    /// wait, and a link may lead anywhere.
    pub left_out: Vec<LeftOut>,
}

impl Places {
    /// Adds a document, or those of a directory and of its directory `nodes`.
    ///
    /// # Errors
    /// If there is no such file or directory.
    pub fn add(&mut self, path: &Path, source: usize) -> Result<(), ReadError> {
        let failed = |cause| ReadError {
            path: path.to_owned(),
            cause,
        };
        if !fs::metadata(path).map_err(failed)?.is_dir() {
            self.files.push((path.to_owned(), source));
            return Ok(());
        }
        self.silent.extend(silent(path));
        let mut found = self.documents(path).map_err(failed)?;
        let nodes = path.join(NODES);
        if nodes.is_dir() {
            found.extend(self.documents(&nodes).map_err(failed)?);
        }
        self.files
            .extend(found.into_iter().map(|file| (file, source)));
        Ok(())
    }

    /// The files of a directory that are called like documents, in the order of their names.
    fn documents(&mut self, directory: &Path) -> std::io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let is_document = name.ends_with(".json") || name.ends_with(".json.gz");
            if !is_document || name == folder::FILE {
                continue;
            }
            let kind = entry.file_type()?;
            if kind.is_file() {
                found.push(path);
            } else if !kind.is_dir() {
                let why = "it is not a regular file";
                self.left_out
                    .push(LeftOut::new(&path.display().to_string(), why));
            }
        }
        found.sort();
        Ok(found)
    }

    /// The documents' files, those of a directory in the order of their names.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Reads them, in any order.
    pub fn read(&self) -> impl Iterator<Item = Result<Document, LeftOut>> + use<> {
        let files = Arc::new(self.files.clone());
        let next = Arc::new(AtomicUsize::new(0));
        let readers = thread::available_parallelism()
            .map_or(1, usize::from)
            .min(READERS);
        let (sender, documents) = sync_channel(2 * readers);
        for _ in 0..readers {
            let (files, next, sender) = (files.clone(), next.clone(), sender.clone());
            thread::spawn(move || {
                while let Some((file, source)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let place = file.display().to_string();
                    let read = match load_digest(file) {
                        Ok(mut digest) => {
                            name_machine(&mut digest.machine, &digest.config, file);
                            Ok(Document {
                                digest,
                                source: *source,
                                place,
                            })
                        }
                        // Its sentence begins with the path, which is told once.
                        Err(error) => {
                            let why = error.to_string();
                            let rest = why.strip_prefix(&place).unwrap_or(&why);
                            Err(LeftOut::new(
                                &place,
                                rest.trim_start_matches([':', ',', ' ']),
                            ))
                        }
                    };
                    // Whoever reads may have had enough.
                    if sender.send(read).is_err() {
                        return;
                    }
                }
            });
        }
        documents.into_iter()
    }
}

/// Names the machine of a document as whoever measured it did, as far as that is known: host names
/// need not differ. A node of a collection by the document's file, others by the label.
pub fn name_machine(machine: &mut Machine, config: &Config, file: &Path) {
    let node = node_of(file).or_else(|| config.labels.get(NODE_LABEL).cloned());
    if let Some(node) = node.filter(|node| !node.is_empty()) {
        machine.hostname = node;
    }
}

/// The node of a collection whose document a file is.
fn node_of(file: &Path) -> Option<String> {
    let node = file.file_name()?.to_str()?.strip_suffix(".json.gz")?;
    let nodes = file.parent().filter(|parent| parent.ends_with(NODES))?;
    let is_collection = nodes.parent()?.join(folder::FILE).is_file();
    is_collection.then(|| node.to_owned())
}

/// The nodes of a collection without a document; none if no collection can be read there: documents
/// can be judged without it.
fn silent(path: &Path) -> Vec<Silent> {
    let Ok(collection) = folder::read(path) else {
        return Vec::new();
    };
    let nodes = collection.nodes.into_iter();
    let silent = nodes.filter(|(_, node)| node.state != State::Done);
    silent
        .map(|(name, node)| Silent {
            node: name.into(),
            state: node.state,
            reason: harmless(&node.reason.unwrap_or_default()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::folder::Node;

    #[test]
    fn machines_are_called_as_they_were_asked() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join(NODES).join("n1.json.gz");
        fs::create_dir(folder.path().join(NODES)).expect("made");
        let mut digest = Digest::from(&crate::fixture::run());
        let mut name = |file: &Path, label: Option<&str>| {
            let label = label.map(|label| (NODE_LABEL.to_owned(), label.to_owned()));
            digest.machine.hostname = "localhost".to_owned();
            digest.config.labels = label.into_iter().collect();
            name_machine(&mut digest.machine, &digest.config, file);
            digest.machine.hostname.clone()
        };
        assert_eq!(name(&file, None), "localhost");
        assert_eq!(name(&file, Some("n2")), "n2");
        fs::write(folder.path().join(folder::FILE), "{}").expect("written");
        assert_eq!(name(&file, Some("n2")), "n1");
        assert_eq!(name(&folder.path().join("n3.json.gz"), None), "localhost");
    }

    #[test]
    fn a_collection_is_its_documents_and_the_nodes_without_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let nodes = folder.path().join(NODES);
        fs::create_dir(&nodes).expect("made");
        for (name, text) in [
            ("a.json", ""),
            ("b.json.gz", "no gzip"),
            ("c.json", "{\"schema_version\": 999}"),
            ("d.log", "a log"),
        ] {
            fs::write(nodes.join(name), text).expect("written");
        }
        std::os::unix::fs::symlink("a.json", nodes.join("link.json")).expect("a link");
        let _socket = std::os::unix::net::UnixListener::bind(nodes.join("socket.json"));
        let request = folder::Request {
            arguments: Vec::new(),
            programs: Vec::new(),
            scratch: String::new(),
            limit_s: 1,
        };
        let engine = Engine::Slurm {
            partition: "all".to_owned(),
        };
        let mut done = Node::waiting(None);
        done.state = State::Done;
        let nodes = [("n1", done), ("n2", Node::unreachable("no\u{202e} route"))];
        let nodes = nodes.map(|(name, node)| (name.parse().expect("a name"), node));
        let collection = folder::Collection::new(engine, request, nodes.into());
        let journal = folder.path().join(folder::FILE);
        folder::write_json(&journal, &collection).expect("written");
        let mut places = Places::default();
        places.add(folder.path(), 0).expect("a directory");
        assert_eq!(places.left_out.len(), 2, "{:?}", places.left_out);
        let [silent] = &places.silent[..] else {
            panic!("one node: {:?}", places.silent);
        };
        assert_eq!(
            (&*silent.node, silent.state, &*silent.reason),
            ("n2", State::Unreachable, "no\\u{202e} route")
        );
        let mut refused: Vec<LeftOut> = places.read().filter_map(Result::err).collect();
        refused.sort_by(|one, other| one.what.cmp(&other.what));
        let reasons: Vec<&str> = refused.iter().map(|left| &*left.why).collect();
        assert_eq!(refused.len(), 3, "{reasons:?}");
        assert!(reasons[2].contains("newer"), "{reasons:?}");
        assert!(places.add(Path::new("/no/such/place"), 0).is_err());
    }
}
