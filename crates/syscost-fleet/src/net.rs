//! The network between every pair of nodes, measured through Slurm: a job for each pair, in which one node serves and the other measures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use syscost_results::document::Digest;

use crate::NodeName;
use crate::engine::slurm::{self, Job, Patient, Seen, cancel_all, queue, submission, submitted};
use crate::engine::{EngineError, pause, quoted};
use crate::folder::{Collection, FolderError, Request, failed, look, make, now, write_json};
use crate::harmless::harmless;
use crate::slow_links::{Between, Figure, Slow, find};
use crate::tournament::rounds;

/// Name of the file with the results.
pub const FILE: &str = "net.json";

/// What is measured between two nodes: selectors of rows.
pub const ROWS: [&str; 3] = [
    "net.tcp.round_trip{path=remote,wait=block,size=64}",
    "net.tcp.bandwidth{path=remote,streams=1,size=64K,direction=send,via=write}",
    "net.tcp.bandwidth{path=remote,streams=1,size=64K,direction=receive,via=write}",
];

/// Time between two looks at the queue.
const PAUSE: Duration = Duration::from_millis(500);

/// A pair of nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// One node.
    pub a: NodeName,
    /// The other.
    pub b: NodeName,
    /// Round trip of 64 bytes over TCP, in nanoseconds.
    pub round_trip_ns: Option<Figure>,
    /// Goodput from `a` to `b` over one TCP connection, in bytes per second.
    pub forth_b_per_s: Option<Figure>,
    /// From `b` to `a`.
    pub back_b_per_s: Option<Figure>,
    /// Why a figure is missing.
    pub reason: Option<String>,
}

impl Pair {
    /// Takes what is better from another measurement: disturbances only ever slow down.
    fn keep_better(&mut self, other: &Pair) {
        let better = |one: Option<Figure>, other: Option<Figure>, is_time: bool| match (one, other)
        {
            (Some(one), Some(other)) if (other.median < one.median) == is_time => Some(other),
            (one, other) => one.or(other),
        };
        self.round_trip_ns = better(self.round_trip_ns, other.round_trip_ns, true);
        self.forth_b_per_s = better(self.forth_b_per_s, other.forth_b_per_s, false);
        self.back_b_per_s = better(self.back_b_per_s, other.back_b_per_s, false);
        let has_all = self.round_trip_ns.is_some()
            && self.forth_b_per_s.is_some()
            && self.back_b_per_s.is_some();
        if has_all {
            self.reason = None;
        }
    }
}

/// The network between nodes: the content of `net.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Net {
    /// Version of this file's shape.
    pub schema_version: u32,
    /// When it began, RFC 3339, UTC.
    pub created: String,
    /// The nodes, in the order of the matrices.
    pub nodes: Vec<NodeName>,
    /// Nodes that were left out, and why.
    pub left_out: BTreeMap<NodeName, String>,
    /// The pairs.
    pub pairs: Vec<Pair>,
}

impl Net {
    /// Every pair of these nodes, in rounds, yet to be measured.
    fn of(nodes: Vec<NodeName>, left_out: BTreeMap<NodeName, String>) -> Self {
        let pair = |(a, b): (usize, usize)| Pair {
            a: nodes[a].clone(),
            b: nodes[b].clone(),
            round_trip_ns: None,
            forth_b_per_s: None,
            back_b_per_s: None,
            reason: None,
        };
        let pairs = rounds(nodes.len()).into_iter().flatten().map(pair);
        Net {
            schema_version: 1,
            created: now(),
            pairs: pairs.collect(),
            nodes,
            left_out,
        }
    }

    /// What is slow by round trips, and by the slower direction's goodput; `None` where there are too few nodes to tell.
    pub fn slow(&self) -> [Option<Slow>; 2] {
        let place = |name: &NodeName| self.nodes.iter().position(|node| node == name);
        let of = |figure: &dyn Fn(&Pair) -> Option<Figure>| -> Vec<Between> {
            let found = self.pairs.iter().filter_map(|pair| {
                let figure = figure(pair)?;
                Some(Between {
                    a: place(&pair.a)?,
                    b: place(&pair.b)?,
                    figure,
                })
            });
            found.collect()
        };
        let slower = |pair: &Pair| {
            let [forth, back] = [pair.forth_b_per_s?, pair.back_b_per_s?];
            Some(if forth.median < back.median {
                forth
            } else {
                back
            })
        };
        [
            find(self.nodes.len(), &of(&|pair| pair.round_trip_ns), true),
            find(self.nodes.len(), &of(&slower), false),
        ]
    }
}

/// How pairs are measured.
#[derive(Debug)]
pub struct Plan<'p> {
    /// The partition.
    pub partition: &'p str,
    /// What is asked of each pair, and how it gets there.
    pub request: &'p Request,
    /// The program, where nodes find it.
    pub program: &'p Path,
    /// The file with the token, where nodes find it.
    pub token: &'p Path,
    /// How many pairs are measured at the same time, at most.
    pub at_once: usize,
    /// How long a job may wait for its nodes.
    pub wait: Option<Duration>,
}

/// The directory of a collection of pairs.
#[derive(Debug)]
pub struct NetFolder {
    path: PathBuf,
}

impl NetFolder {
    /// Makes it, for its owner only.
    ///
    /// # Errors
    /// When it exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, FolderError> {
        let path = make(path, ["pairs", "arriving"])?;
        Ok(Self { path })
    }

    /// The directory, as an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, part: &str, pair: &Pair, ending: &str) -> PathBuf {
        // No name has a comma.
        self.path
            .join(part)
            .join(format!("{},{}.{ending}", pair.a, pair.b))
    }
}

/// What a pair's job runs: whichever node the script runs on measures, the other one serves.
pub fn script(plan: &Plan<'_>, pair: &Pair, addresses: [&str; 2], arriving: &Path) -> String {
    let text = |path: &Path| quoted(&path.display().to_string());
    let words: Vec<String> = plan
        .request
        .arguments
        .iter()
        .map(|word| quoted(word))
        .collect();
    format!(
        r#"#!/bin/sh
umask 077
scratch=$(mktemp -d {scratch}/syscost-XXXXXXXX) || exit
serving=
trap 'kill $serving 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 143' TERM INT
mkdir "$scratch/data" || exit
export XDG_DATA_HOME="$scratch/data" XDG_CACHE_HOME="$scratch/data"
case $SLURMD_NODENAME in
{a}) far={b} address={to_b} ;;
*) far={a} address={to_a} ;;
esac
srun --overlap --nodes=1 --ntasks=1 --nodelist="$far" {program} serve --once --listen "$address" --token-file {token} > "$scratch/served" &
serving=$!
until grep -q '^listening' "$scratch/served"; do kill -0 $serving || exit; sleep 0.1; done
{program} {words} --peer "$address" --token-file {token} --output "$scratch/run.json.gz" || exit
# It is there as a whole, or not at all.
arriving={arriving}
cp "$scratch/run.json.gz" "$arriving.part" && mv "$arriving.part" "$arriving"
"#,
        scratch = quoted(&plan.request.scratch),
        a = pair.a,
        b = pair.b,
        to_a = quoted(addresses[0]),
        to_b = quoted(addresses[1]),
        program = text(plan.program),
        token = text(plan.token),
        words = words.join(" "),
        arriving = text(arriving),
    )
}

/// The nodes that can be measured and the pairs of them, in rounds; nodes that are down are left out.
///
/// # Errors
/// When Slurm cannot be asked, or fewer than two nodes are there.
pub fn nodes(
    partition: &str,
    list: Option<&str>,
) -> Result<(Net, BTreeMap<NodeName, Seen>), EngineError> {
    let known = slurm::nodes(partition, list)?;
    let mut seen = slurm::seen(partition, list)?;
    seen.retain(|_, node| node.down.is_none());
    let left_out = known
        .into_iter()
        .filter_map(|(name, node)| Some((name, node.reason?)))
        .collect();
    if seen.len() < 2 {
        return Err(EngineError::NoNodes(format!(
            "{} of these nodes can be measured, and it takes two; `sinfo` shows their states",
            seen.len()
        )));
    }
    let nodes: Vec<NodeName> = seen.keys().cloned().collect();
    Ok((Net::of(nodes, left_out), seen))
}

/// Which of these pairs are measured at the same time, by their places: none has a node twice.
pub fn turns(net: &Net, which: &[usize], at_once: usize) -> Vec<Vec<usize>> {
    let mut turns: Vec<Vec<usize>> = Vec::new();
    let mut busy = BTreeSet::new();
    for &index in which {
        let pair = &net.pairs[index];
        let is_free = !busy.contains(&pair.a) && !busy.contains(&pair.b);
        match turns
            .last_mut()
            .filter(|turn| is_free && turn.len() < at_once)
        {
            Some(turn) => turn.push(index),
            None => {
                busy.clear();
                turns.push(vec![index]);
            }
        }
        busy.extend([pair.a.clone(), pair.b.clone()]);
    }
    turns
}

/// Measures every pair, turn by turn, and then once more what looks slow; when `stop` is set, what was submitted is cancelled. `tell`
/// is given how many pairs are through, of how many.
///
/// # Errors
/// When Slurm cannot be asked, or the directory not be written to; jobs that were submitted are cancelled then.
pub fn collect(
    folder: &NetFolder,
    net: &mut Net,
    seen: &BTreeMap<NodeName, Seen>,
    plan: &Plan<'_>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(usize, usize),
) -> Result<(), EngineError> {
    let id = Collection::new_id();
    let collector = Collector {
        folder,
        seen,
        plan,
        id: &id,
        stop,
    };
    let all: Vec<usize> = (0..net.pairs.len()).collect();
    collector.pass(net, &all, tell)?;
    // One bad moment makes no slow link: what looks slow, or lacks a figure, is measured once more, and the better figure counts.
    let first = net.pairs.clone();
    let doubtful = doubtful(net);
    collector.pass(net, &doubtful, tell)?;
    for index in doubtful {
        net.pairs[index].keep_better(&first[index]);
    }
    Ok(write_json(&folder.path.join(FILE), net)?)
}

/// The places of pairs that are to be measured again.
fn doubtful(net: &Net) -> Vec<usize> {
    let mut accused = BTreeSet::new();
    for (a, b, _) in net.slow().into_iter().flatten().flat_map(|slow| slow.links) {
        accused.insert([&net.nodes[a], &net.nodes[b]]);
    }
    let is_doubtful = |pair: &Pair| {
        pair.reason.is_some()
            || accused.contains(&[&pair.a, &pair.b])
            || accused.contains(&[&pair.b, &pair.a])
    };
    let places = net.pairs.iter().enumerate();
    places
        .filter(|(_, pair)| is_doubtful(pair))
        .map(|(index, _)| index)
        .collect()
}

/// What measures pairs.
struct Collector<'c> {
    folder: &'c NetFolder,
    seen: &'c BTreeMap<NodeName, Seen>,
    plan: &'c Plan<'c>,
    /// Names the jobs.
    id: &'c str,
    stop: &'c AtomicBool,
}

impl Collector<'_> {
    /// Measures these pairs, turn by turn.
    fn pass(
        &self,
        net: &mut Net,
        which: &[usize],
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<(), EngineError> {
        let mut through = 0;
        for turn in turns(net, which, self.plan.at_once) {
            let is_stopped = self.stop.load(Ordering::Relaxed);
            for &index in &turn {
                net.pairs[index].reason =
                    is_stopped.then(|| "not measured: interrupted".to_owned());
            }
            if is_stopped {
                continue;
            }
            let mut jobs = BTreeMap::new();
            let outcome = self.measure(net, &turn, &mut jobs);
            let cancelled = match outcome.is_ok() && !self.stop.load(Ordering::Relaxed) {
                true => Ok(()),
                false => cancel_all(self.id, jobs.values().map(|job| &*job.number)),
            };
            for index in jobs.keys() {
                net.pairs[*index].reason = Some("interrupted: its job was cancelled".to_owned());
            }
            through += turn.len();
            write_json(&self.folder.path.join(FILE), net)?;
            outcome.and(cancelled)?;
            tell(through, which.len());
        }
        Ok(())
    }

    fn measure(
        &self,
        net: &mut Net,
        turn: &[usize],
        jobs: &mut BTreeMap<usize, Job>,
    ) -> Result<(), EngineError> {
        let (folder, plan) = (self.folder, self.plan);
        for &index in turn {
            let pair = &mut net.pairs[index];
            let ends = [&pair.a, &pair.b];
            let addresses = ends.map(|name| &*self.seen[name].address);
            let (log, limit_s) = (folder.file("pairs", pair, "log"), plan.request.limit_s);
            let words = submission(&folder.path, self.id, plan.partition, &ends, &log, limit_s);
            let arriving = folder.file("arriving", pair, "json.gz");
            match submitted(&words, &script(plan, pair, addresses, &arriving)) {
                Ok(number) => drop(jobs.insert(index, Job::new(number))),
                Err(EngineError::Failed(_, cause)) => {
                    pair.reason = Some(format!("sbatch: {cause}"));
                }
                Err(error) => return Err(error),
            }
        }
        let mut patient = Patient::default();
        while !jobs.is_empty() && pause(PAUSE, self.stop) {
            let Some(queue) = patient.bears(queue(self.id))? else {
                continue;
            };
            for index in turn {
                let Some(job) = jobs.get_mut(index) else {
                    continue;
                };
                let pair = &mut net.pairs[*index];
                let is_over = match queue.get(&job.number) {
                    Some(queued) => match job.cancel_late(queued, plan.wait) {
                        Some(reason) => {
                            pair.reason = Some(reason);
                            true
                        }
                        None => false,
                    },
                    None => self.settle(pair, job)?,
                };
                if is_over {
                    jobs.remove(index);
                }
            }
        }
        Ok(())
    }

    /// Takes the figures of a job that has left the queue, or finds out why there are none; `false` if they may still appear.
    fn settle(&self, pair: &mut Pair, job: &mut Job) -> Result<bool, EngineError> {
        let arrived = self.folder.file("arriving", pair, "json.gz");
        if arrived.symlink_metadata().is_ok() {
            let [a, b] = [&pair.a, &pair.b].map(|name| &*self.seen[name].host);
            // Either may have measured.
            let looked = look(&arrived, Some(a)).map(|digest| (digest, true));
            match looked.or_else(|_| look(&arrived, Some(b)).map(|digest| (digest, false))) {
                Ok((digest, is_by_a)) => {
                    let kept = self.folder.file("pairs", pair, "json.gz");
                    fs::rename(&arrived, &kept).map_err(failed("moving", &arrived))?;
                    take(pair, &digest, is_by_a);
                }
                Err(why) => {
                    fs::remove_file(&arrived).map_err(failed("removing", &arrived))?;
                    pair.reason = Some(harmless(&format!("its document was refused: {why}")));
                }
            }
            return Ok(true);
        }
        let log = self.folder.file("pairs", pair, "log");
        let Some(why) = job.why_nothing(|| crate::folder::tail(&log).unwrap_or_default()) else {
            return Ok(false);
        };
        pair.reason = Some(harmless(&why));
        Ok(true)
    }
}

/// Takes a pair's figures from the document of one of its nodes.
fn take(pair: &mut Pair, digest: &Digest, is_by_a: bool) {
    let figure = |start: &str, part: &str| {
        let mut rows = digest.rows.iter();
        let row = rows.find(|row| {
            row.name.starts_with(start)
                && row.name.contains("path=remote")
                && row.name.contains(part)
        })?;
        let estimate = &row.estimate;
        let median = estimate.median.filter(|_| row.status.has_figures())?;
        let figure = Figure {
            median,
            low: estimate.ci95_low,
            high: estimate.ci95_high,
        };
        // Logarithms are taken of them.
        (figure.median > 0.0 && figure.low.is_none_or(|low| low > 0.0)).then_some(figure)
    };
    pair.round_trip_ns = figure("net.tcp.round_trip{", "size=64");
    let sent = figure("net.tcp.bandwidth{", "direction=send");
    let received = figure("net.tcp.bandwidth{", "direction=receive");
    (pair.forth_b_per_s, pair.back_b_per_s) = match is_by_a {
        true => (sent, received),
        false => (received, sent),
    };
    if pair.round_trip_ns.is_none() || sent.is_none() || received.is_none() {
        let mut missing = digest.rows.iter().filter(|row| !row.status.has_figures());
        let reason =
            missing.find_map(|row| Some(format!("{}: {}", row.name, row.reason.as_ref()?)));
        pair.reason = Some(harmless(
            &reason.unwrap_or_else(|| "its document lacks a row".to_owned()),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_have_all_pairs_and_no_node_twice() {
        let name = |index: usize| format!("n{index}").parse::<NodeName>().expect("a name");
        let net = Net::of((0..7).map(name).collect(), BTreeMap::new());
        let every: Vec<usize> = (0..21).collect();
        for at_once in [1, 2, 100] {
            let turns = turns(&net, &every, at_once);
            let mut all: Vec<usize> = turns.concat();
            all.sort_unstable();
            assert_eq!(all, every);
            for turn in &turns {
                assert!(turn.len() <= at_once.min(3));
                let ends = turn
                    .iter()
                    .flat_map(|&index| [&net.pairs[index].a, &net.pairs[index].b]);
                assert_eq!(ends.collect::<BTreeSet<_>>().len(), 2 * turn.len());
            }
        }
        assert_eq!(turns(&net, &every, 100).len(), 7);
    }
}
