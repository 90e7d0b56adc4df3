//! Other tools that measure the same work: `peers.toml`, read.

use std::sync::LazyLock;

use serde::Deserialize;

use super::read::Figure;

/// Another tool, and our row that measures the same work.
#[derive(Debug)]
pub(super) struct Peer {
    /// Name of our row; its unit is that of both figures.
    pub(super) row: String,
    /// Its name in the table; the first word is the program.
    pub(super) name: String,
    /// Its shell command.
    pub(super) command: String,
    /// What it has in common with others.
    pub(super) set: &'static Set,
}

/// What several peers have in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Set {
    /// How the figure is read from the output.
    pub(super) figure: Figure,
    /// Where both run.
    pub(super) cpus: Cpus,
    /// Number of invocations whose median is one figure.
    pub(super) invocations: usize,
    /// Options for our run to match the peer.
    #[serde(default)]
    pub(super) options: Vec<String>,
    /// How the work differs, and how that affects the ratio.
    pub(super) differs: String,
    pairs: Vec<Pair>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    row: String,
    name: String,
    /// What runs as long as the command.
    server: Option<String>,
    command: String,
}

/// The CPUs a peer and our row may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Cpus {
    /// All tasks on one CPU.
    One,
    /// Two CPUs, among which the kernel places the tasks freely.
    Two,
    /// All CPUs.
    All,
}

/// The environment variable with the path of this program, which is itself a peer for benchmarks
/// that are published as rules.
pub(super) const OWN: &str = "LAB";

/// The name of this program as a peer.
pub(super) const OWN_PROGRAM: &str = "lab";

/// Makes `$d`, a folder in the user's cache directory, where our rows are measured as well.
const FOLDER: &str = "cache=${XDG_CACHE_HOME:-$HOME/.cache}; mkdir -p $cache; \
    d=$(mktemp -d $cache/syscost-peer-XXXXXX); trap 'rm -rf \"$d\"' EXIT; ";

/// Every peer, in the order of the file.
pub(super) fn peers() -> &'static [Peer] {
    #[derive(Deserialize)]
    struct File {
        set: Vec<Set>,
    }
    static SETS: LazyLock<Vec<Set>> = LazyLock::new(|| {
        let file: File = toml::from_str(include_str!("peers.toml")).expect("a test reads it");
        file.set
    });
    static PEERS: LazyLock<Vec<Peer>> = LazyLock::new(|| {
        let of_set = |set: &'static Set| set.pairs.iter().map(move |pair| Peer::new(set, pair));
        SETS.iter().flat_map(of_set).collect()
    });
    &PEERS
}

impl Peer {
    fn new(set: &'static Set, pair: &Pair) -> Self {
        let mut command = pair.command.clone();
        if let Some(server) = &pair.server {
            command =
                format!("{server} >/dev/null 2>&1 & trap 'kill $!' EXIT; sleep 0.5; {command}");
        }
        if command.contains("$d") {
            command.insert_str(0, FOLDER);
        }
        Self {
            row: pair.row.clone(),
            name: pair.name.clone(),
            command,
            set,
        }
    }

    /// The program that must be installed.
    pub(super) fn program(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }

    /// The Debian package that has it; empty for this program itself.
    pub(super) fn package(&self) -> &str {
        match self.program() {
            OWN_PROGRAM => "",
            "cyclictest" | "hackbench" => "rt-tests",
            "likwid-bench" => "likwid",
            "perf" => "linux-perf",
            "ping" => "iputils-ping",
            named_alike => named_alike,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashSet;

    use syscost_benches::CATALOGUE;
    use syscost_harness::{Catalogue, Here};

    use super::*;

    /// A peer that runs this command.
    pub(crate) fn peer(row: &str, name: &str, cpus: Cpus, command: &str) -> Peer {
        let set = Set {
            figure: Figure::Plain,
            cpus,
            invocations: 3,
            options: Vec::new(),
            differs: "Nothing.".to_owned(),
            pairs: Vec::new(),
        };
        Peer {
            row: row.to_owned(),
            name: name.to_owned(),
            command: command.to_owned(),
            set: Box::leak(Box::new(set)),
        }
    }

    #[test]
    fn every_peer_is_whole_has_a_row_of_ours_and_is_listed_once() {
        let rows = Catalogue::rows(CATALOGUE.benchmarks(), &Here::plain());
        let rows: HashSet<String> = rows.iter().map(|row| row.name()).collect();
        let mut keys = HashSet::new();
        for peer in peers() {
            let key = (&peer.row, &peer.name);
            assert!(keys.insert(key), "{key:?}");
            // Some machines lack two CPUs, or these vectors.
            let may_lack = peer.set.cpus == Cpus::Two || peer.row.contains("simd=");
            assert!(rows.contains(&peer.row) || may_lack, "{key:?}");
            let is_own = peer.program() == OWN_PROGRAM;
            let program = if is_own { OWN } else { peer.program() };
            assert!(peer.command.contains(program), "{key:?}");
            assert!(peer.set.invocations > 0 && !peer.set.differs.is_empty());
        }
        assert!(keys.len() > 40, "{}", keys.len());
    }
}
