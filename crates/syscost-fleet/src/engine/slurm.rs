//! Slurm: a job of its own for each node, so that a node that dies costs no other one its numbers.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{EngineError, Tell, ask, pause, quoted};
use crate::NodeName;
use crate::folder::{Folder, Node, Request, State, failed};
use crate::harmless::harmless;
use crate::program::none_for;

/// What this machine needs.
const INSTALL: &str = "`fleet run` needs Slurm's clients and its slurm.conf on the machine where it is called, usually a login node (Debian: apt install slurm-client); -i INVENTORY reaches nodes through Ansible";

/// Time between two looks at the queue.
const PAUSE: Duration = Duration::from_secs(1);

/// How long looks at the queue may fail, as they do while slurmctld is restarted.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often it is asked which nodes are down, in looks at the queue.
const LOOKS_PER_STATE: u32 = 5;

/// How long a document may take to be seen here after its job has ended: file servers cache directories.
const CACHED: Duration = Duration::from_secs(30);

/// How much longer than its limit a job may be listed without having sent a document.
const OVERDUE: Duration = Duration::from_secs(180);

/// How many jobs one call of scancel is given.
const CHUNK: usize = 200;

/// A node as Slurm sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The host's name.
    pub host: String,
    /// The address by which Slurm reaches it.
    pub address: String,
    /// Why no job can start there.
    pub down: Option<String>,
}

/// The partition that is given, or the default one: sinfo lists all nodes, but sbatch submits to that one.
///
/// # Errors
/// When Slurm cannot be asked, or has no default.
pub fn partition(given: Option<&str>) -> Result<String, EngineError> {
    if let Some(name) = given {
        return Ok(name.to_owned());
    }
    let listed = answer(&["sinfo", "--noheader", "--format=%P"])?;
    default_of(&listed).map(str::to_owned).ok_or_else(|| {
        EngineError::NoNodes(
            "Slurm has no default partition; name one with --partition (`sinfo` lists them)"
                .to_owned(),
        )
    })
}

/// The partition that sinfo marks with `*`.
fn default_of(listed: &str) -> Option<&str> {
    listed
        .lines()
        .find_map(|line| line.trim().strip_suffix('*'))
}

/// The nodes of a partition, or those of a list in Slurm's notation, such as `n[1-8]`.
///
/// # Errors
/// When Slurm cannot be asked, or no node is meant.
pub fn nodes(partition: &str, list: Option<&str>) -> Result<BTreeMap<NodeName, Node>, EngineError> {
    let seen = seen(partition, list)?;
    let mut nodes = BTreeMap::new();
    for (name, seen) in &seen {
        let node = match &seen.down {
            Some(why) => Node::unreachable(why),
            None => Node::waiting(Some(seen.host.clone())),
        };
        nodes.insert(name.clone(), node);
    }
    if let Some(list) = list {
        let named = answer(&["scontrol", "show", "hostnames", list])?;
        for name in named.lines() {
            let unknown = || Node::unreachable("Slurm has no such node, or not in this partition");
            nodes.entry(parsed(name)?).or_insert_with(unknown);
        }
    }
    match nodes.is_empty() {
        true => Err(EngineError::NoNodes(
            "Slurm has no nodes in this partition; `sinfo` lists what there is".to_owned(),
        )),
        false => Ok(nodes),
    }
}

/// What Slurm says of nodes.
pub fn seen(partition: &str, list: Option<&str>) -> Result<BTreeMap<NodeName, Seen>, EngineError> {
    let partition = format!("--partition={partition}");
    let list = list.map(|list| format!("--nodes={list}"));
    // The reason is last, because it may be any text.
    let format = "--format=%N|%n|%o|%T|%E";
    let mut words = vec!["sinfo", "--noheader", "--Node", &partition, format];
    words.extend(list.as_deref());
    let mut nodes = BTreeMap::new();
    for line in answer(&words)?.lines() {
        let mut parts = line.splitn(5, '|');
        let [name, host, address, state, reason] =
            std::array::from_fn(|_| parts.next().unwrap_or_default());
        let seen = Seen {
            host: host.to_owned(),
            address: address.to_owned(),
            down: down(state, reason),
        };
        nodes.insert(parsed(name)?, seen);
    }
    Ok(nodes)
}

/// What one of Slurm's programs prints.
fn answer(words: &[&str]) -> Result<String, EngineError> {
    ask(words, "", INSTALL).map_err(|error| match error {
        EngineError::Failed(_, cause) if is_of_no_cluster(&cause) => {
            EngineError::NoNodes("there is no Slurm cluster here; name hosts with -i".to_owned())
        }
        other => other,
    })
}

/// Whether Slurm's programs are there, but nothing tells them of a cluster: neither slurm.conf nor DNS.
fn is_of_no_cluster(cause: &str) -> bool {
    cause.contains("Could not establish a configuration source")
}

fn parsed(name: &str) -> Result<NodeName, EngineError> {
    name.parse()
        .map_err(|error| EngineError::NoNodes(format!("Slurm names a node strangely: {error}")))
}

/// Why no job can start on a node in this state (sinfo(1), NODE STATE CODES). What is busy, sleeps or boots can run one later.
fn down(state: &str, reason: &str) -> Option<String> {
    const DOWN: [&str; 8] = [
        "down", "drain", "fail", "error", "unknown", "inval", "perfctrs", "maint",
    ];
    let is_silent = state.ends_with('*');
    let is_down = DOWN.iter().any(|down| state.starts_with(down));
    (is_down || is_silent).then(|| match reason {
        "" | "none" if is_silent => format!("{state}: it does not answer Slurm"),
        "" | "none" => state.to_owned(),
        reason => format!("{state}: {reason}"),
    })
}

/// The call of sbatch for a job on these nodes; the script comes by its standard input.
pub fn submission(
    folder: &Path,
    id: &str,
    partition: &str,
    nodes: &[&NodeName],
    log: &Path,
    limit_s: u64,
) -> Vec<String> {
    let list: Vec<&str> = nodes.iter().map(|node| node.as_ref()).collect();
    vec![
        "sbatch".to_owned(),
        "--parsable".to_owned(),
        format!("--job-name={}", job_name(id)),
        "--exclusive".to_owned(),
        format!("--nodes={}", list.len()),
        "--ntasks-per-node=1".to_owned(),
        // All of the node's memory.
        "--mem=0".to_owned(),
        format!("--nodelist={}", list.join(",")),
        // A job that is started again would measure twice.
        "--no-requeue".to_owned(),
        format!("--time={}", limit_s.div_ceil(60)),
        format!("--chdir={}", folder.display()),
        // Slurm replaces %j and the like.
        format!("--output={}", log.display().to_string().replace('%', "%%")),
        format!("--partition={partition}"),
    ]
}

/// The name of a collection's jobs, by which they are found again.
fn job_name(id: &str) -> String {
    format!("syscost-{id}")
}

/// The beginning of a job's script: a directory of its own on its nodes, with the program for them, which is removed at the end.
/// All programs are in the directory that nodes `share`.
fn preamble(request: &Request, shared: &Path) -> String {
    let scratch = quoted(&request.scratch);
    let mut cases = String::new();
    for program in &request.programs {
        let machine = program.machine.as_deref().unwrap_or("*");
        let path = quoted(&shared.join(program.name()).display().to_string());
        cases += &format!("{machine}) shared={path} ;;\n");
    }
    let none = none_for(&request.programs, "$machine");
    format!(
        "#!/bin/sh
umask 077
machine=$(uname -m)
case $machine in
{cases}*) echo \"{none}\" >&2; exit 1 ;;
esac
scratch=$(mktemp -d {scratch}/syscost-XXXXXXXX) || exit
trap 'rm -rf \"$scratch\"' EXIT
trap 'exit 143' TERM INT
program=$scratch/syscost
sbcast --force \"$shared\" \"$program\" || program=$shared
# Nothing is kept at home, which nodes may share, and file systems are measured on the node's own.
mkdir \"$scratch/data\" || exit
export XDG_DATA_HOME=\"$scratch/data\" XDG_CACHE_HOME=\"$scratch/data\"
"
    )
}

/// What a node's job runs.
pub fn script(request: &Request, shared: &Path, arriving: &Path) -> String {
    let mut text = preamble(request, shared);
    let words: Vec<String> = request.arguments.iter().map(|word| quoted(word)).collect();
    let words = words.join(" ");
    let arriving = quoted(&arriving.display().to_string());
    text.push_str(&format!(
        "\"$program\" {words} --output \"$scratch/run.json.gz\" || exit
# It is there as a whole, or not at all.
arriving={arriving}
cp \"$scratch/run.json.gz\" \"$arriving.part\" && mv \"$arriving.part\" \"$arriving\"
"
    ));
    text
}

/// A job that has been submitted.
pub(crate) struct Job {
    pub(crate) number: String,
    submitted: Instant,
    /// When it was first missing from the queue.
    gone: Option<Instant>,
    /// When it was first seen in the queue and not waiting for its node.
    running: Option<Instant>,
    /// Whether its node was down at the last look: a node may seem so for a moment.
    was_down: bool,
}

impl Job {
    pub(crate) fn new(number: String) -> Self {
        Self {
            number,
            submitted: Instant::now(),
            gone: None,
            running: None,
            was_down: false,
        }
    }

    /// Cancels it if it has waited for its nodes for longer than this, and returns why it is over.
    pub(crate) fn cancel_late(&self, queued: &Queued, wait: Option<Duration>) -> Option<String> {
        let is_late = wait.is_some_and(|wait| self.submitted.elapsed() > wait);
        if !queued.is_pending || !is_late {
            return None;
        }
        // Where that fails, the next look will do.
        let is_cancelled = cancel([&*self.number]).is_ok();
        let why = &queued.reason;
        is_cancelled.then(|| format!("its job did not start in time; Slurm says why: {why}"))
    }

    /// Why it is over though Slurm still lists it: its time is long over, and no document has come.
    fn overdue(&mut self, limit_s: u64) -> Option<String> {
        let since = *self.running.get_or_insert_with(Instant::now);
        let is_overdue = since.elapsed() > Duration::from_secs(limit_s) + OVERDUE;
        (is_overdue && cancel([&*self.number]).is_ok()).then(|| {
            format!(
                "its job {} does not end, though its time is over",
                self.number
            )
        })
    }

    /// Why nothing came of it, when it is no longer in the queue and printed what `said` gives;
    /// `None` while a document may still come.
    pub(crate) fn why_nothing(&mut self, said: impl FnOnce() -> String) -> Option<String> {
        let since = *self.gone.get_or_insert_with(Instant::now);
        let end = end_of(&self.number);
        if end.is_success() && since.elapsed() < CACHED {
            return None;
        }
        let (said, number) = (said(), &self.number);
        Some(match (end.is_success(), said.is_empty()) {
            (true, _) => {
                format!("its job {number} succeeded, but nothing has arrived here: {SHARED}")
            }
            // Slurm's way to say that it could not open the job's files.
            (false, true) if end.code == "0:53" => {
                format!("its job {number} could not be started there: {SHARED}")
            }
            (false, true) => format!("its job {number} ended: {end}"),
            (false, false) => format!("its job {number} ended: {end}; it printed: {said}"),
        })
    }
}

/// Measures all nodes that are waiting, each in a job of its own.
///
/// The programs are in its directory ([`share`]). A job that has not started after `wait` is cancelled. When `stop` is set, all jobs
/// that were submitted are.
///
/// # Errors
/// When Slurm cannot be asked, or the directory not be written to; jobs that were submitted are cancelled then.
pub fn collect(
    folder: &mut Folder,
    wait: Option<Duration>,
    stop: &AtomicBool,
    tell: Tell<'_>,
) -> Result<(), EngineError> {
    let mut jobs = BTreeMap::new();
    let outcome = measure(folder, wait, stop, tell, &mut jobs);
    let cancelled = match outcome.is_ok() && !stop.load(Ordering::Relaxed) {
        true => Ok(()),
        false => cancel_all(&folder.collection.id, jobs.values().map(|job| &*job.number)),
    };
    for name in jobs.keys() {
        // One may have arrived in the meantime.
        if !folder.accept(name)?
            && let Some(node) = folder.collection.nodes.get_mut(name)
        {
            node.end(State::Waiting, "interrupted: its job was cancelled");
            node.job = None;
        }
    }
    folder.save()?;
    tell(&folder.collection);
    outcome.and(cancelled)
}

fn measure(
    folder: &mut Folder,
    wait: Option<Duration>,
    stop: &AtomicBool,
    tell: Tell<'_>,
    jobs: &mut BTreeMap<NodeName, Job>,
) -> Result<(), EngineError> {
    submit(folder, stop, jobs)?;
    let mut looks = 0;
    let mut patient = Patient::default();
    while !jobs.is_empty() && pause(PAUSE, stop) {
        let Some(queue) = patient.bears(queue(&folder.collection.id))? else {
            continue;
        };
        let names: Vec<NodeName> = jobs.keys().cloned().collect();
        for name in &names {
            let job = jobs.get_mut(name).expect("it is one of them");
            let is_over = match queue.get(&job.number) {
                Some(queued) if queued.is_pending => match job.cancel_late(queued, wait) {
                    Some(reason) => {
                        ended(folder, name, State::Waiting, &reason);
                        true
                    }
                    None => false,
                },
                // A job may take long to be over, or begin again, when its document is there.
                Some(_) if folder.accept(name)? => true,
                Some(_) => match job.overdue(folder.collection.request.limit_s) {
                    Some(reason) => {
                        ended(folder, name, State::Failed, &reason);
                        true
                    }
                    None => {
                        let node = folder.collection.nodes.get_mut(name);
                        node.expect("every job is a node's").state = State::Running;
                        false
                    }
                },
                None => settle(folder, name, job)?,
            };
            if is_over {
                jobs.remove(name);
            }
        }
        if looks % LOOKS_PER_STATE == 0 {
            give_up_on_dead(folder, jobs, &queue);
        }
        looks += 1;
        folder.save()?;
        tell(&folder.collection);
    }
    Ok(())
}

/// Submits a job for each node that is waiting and has none.
fn submit(
    folder: &mut Folder,
    stop: &AtomicBool,
    jobs: &mut BTreeMap<NodeName, Job>,
) -> Result<(), EngineError> {
    let collection = &folder.collection;
    let super::Engine::Slurm { partition } = collection.engine.clone() else {
        return Ok(());
    };
    // Those of a collector that was killed are still there.
    let queue = queue(&collection.id)?;
    let running: HashMap<&str, &str> = queue
        .iter()
        .map(|(number, queued)| (&*queued.node, &**number))
        .collect();
    let names: Vec<NodeName> = collection.nodes.keys().cloned().collect();
    for name in names {
        if folder.collection.nodes[&name].state != State::Waiting || stop.load(Ordering::Relaxed) {
            continue;
        }
        // Its job may have ended while nobody looked.
        if folder.accept(&name)? {
            continue;
        }
        let number = match running.get(name.as_ref()) {
            Some(number) => Ok((*number).to_owned()),
            None => {
                // A log is of one attempt.
                let log = folder.log(&name);
                let _ = fs::remove_file(&log);
                let collection = &folder.collection;
                let limit_s = collection.request.limit_s;
                let words = submission(
                    folder.path(),
                    &collection.id,
                    &partition,
                    &[&name],
                    &log,
                    limit_s,
                );
                let text = script(&collection.request, folder.path(), &folder.arriving(&name));
                submitted(&words, &text)
            }
        };
        match number {
            Ok(number) => {
                let node = folder
                    .collection
                    .nodes
                    .get_mut(&name)
                    .expect("it is one of them");
                node.job = Some(number.clone());
                jobs.insert(name, Job::new(number));
            }
            Err(EngineError::Failed(_, cause)) => {
                ended(folder, &name, State::Failed, &format!("sbatch: {cause}"))
            }
            Err(error) => return Err(error),
        }
    }
    Ok(folder.save()?)
}

/// Submits a script, and returns the job's number.
pub(crate) fn submitted(words: &[String], script: &str) -> Result<String, EngineError> {
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let printed = ask(&words, script, INSTALL)?;
    // A site's own sbatch may say more before. In a federation the cluster's name follows.
    let number = printed.trim().lines().last().unwrap_or_default();
    let number = number.split(';').next().unwrap_or_default();
    match !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(number.to_owned()),
        false => {
            let cause = format!("it printed no job's number, but {:?}", harmless(number));
            Err(EngineError::Failed("sbatch".to_owned(), cause))
        }
    }
}

pub(crate) struct Queued {
    is_pending: bool,
    /// The nodes that it asked for.
    node: String,
    /// Why it is not running.
    reason: String,
}

/// Bears that looks at the queue fail for some time.
#[derive(Default)]
pub(crate) struct Patient {
    /// When the first of those in a row failed.
    since: Option<Instant>,
}

impl Patient {
    /// What a look has shown; `None` if it failed and another one is worth while.
    pub(crate) fn bears<T>(
        &mut self,
        look: Result<T, EngineError>,
    ) -> Result<Option<T>, EngineError> {
        match look {
            Ok(seen) => {
                self.since = None;
                Ok(Some(seen))
            }
            Err(_) if self.since.get_or_insert_with(Instant::now).elapsed() < PATIENCE => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The jobs of a collection that have not ended, by number.
pub(crate) fn queue(id: &str) -> Result<BTreeMap<String, Queued>, EngineError> {
    let name = format!("--name={}", job_name(id));
    let format = "--format=%i|%T|%n|%r";
    let text = answer(&["squeue", "--noheader", "--me", &name, format])?;
    let mut jobs = BTreeMap::new();
    for line in text.lines() {
        let mut parts = line.splitn(4, '|');
        let [number, state, node, reason] =
            std::array::from_fn(|_| parts.next().unwrap_or_default());
        let queued = Queued {
            is_pending: state == "PENDING",
            node: node.to_owned(),
            reason: harmless(reason),
        };
        jobs.insert(number.to_owned(), queued);
    }
    Ok(jobs)
}

/// Takes the document of a job that has left the queue, or finds out why there is none; `false` if one may still appear.
fn settle(folder: &mut Folder, name: &NodeName, job: &mut Job) -> Result<bool, EngineError> {
    if folder.accept(name)? {
        return Ok(true);
    }
    let Some(reason) = job.why_nothing(|| folder.tail(name)) else {
        return Ok(false);
    };
    ended(folder, name, State::Failed, &reason);
    Ok(true)
}

/// What is wrong where files of this machine are not seen on a node.
const SHARED: &str =
    "the directory of -o must be on a file system that the nodes share with this machine";

/// How a job ended, as far as Slurm remembers (MinJobAge).
struct End {
    state: String,
    reason: String,
    code: String,
}

impl End {
    fn is_success(&self) -> bool {
        self.state == "COMPLETED"
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            state,
            reason,
            code,
        } = self;
        write!(f, "{state}")?;
        if !matches!(&**reason, "" | "None") {
            write!(f, " ({reason})")?;
        }
        match &**code {
            "" | "0:0" => Ok(()),
            code => write!(f, ", exit code {code}"),
        }
    }
}

/// How a job that has left the queue ended.
fn end_of(number: &str) -> End {
    let shown = answer(&["scontrol", "--oneliner", "show", "job", number]);
    let text = shown.unwrap_or_default();
    let field = |key: &str| {
        let value = text
            .split_whitespace()
            .find_map(|word| word.strip_prefix(key));
        value.unwrap_or_default().to_owned()
    };
    let state = field("JobState=");
    End {
        state: match state.is_empty() {
            true => "Slurm does not know how any more".to_owned(),
            false => state,
        },
        reason: field("Reason="),
        code: field("ExitCode="),
    }
}

/// Cancels the jobs that wait for a node which is down at two looks: Slurm would keep them until it is back.
fn give_up_on_dead(
    folder: &mut Folder,
    jobs: &mut BTreeMap<NodeName, Job>,
    queue: &BTreeMap<String, Queued>,
) {
    let is_pending = |job: &Job| {
        queue
            .get(&job.number)
            .is_some_and(|queued| queued.is_pending)
    };
    let super::Engine::Slurm { partition } = &folder.collection.engine else {
        return;
    };
    if !jobs.values().any(is_pending) {
        return;
    }
    // A later look will do where this one fails.
    let Ok(seen) = seen(partition, None) else {
        return;
    };
    let dead = |name: &NodeName| seen.get(name).and_then(|seen| seen.down.clone());
    let mut given_up = Vec::new();
    for (name, job) in jobs.iter_mut().filter(|(_, job)| is_pending(job)) {
        let why = dead(name);
        let is_dead = why.is_some() && job.was_down;
        job.was_down = why.is_some();
        // Where it cannot be cancelled now, a later look will do.
        if let Some(why) = why.filter(|_| is_dead && cancel([&*job.number]).is_ok()) {
            given_up.push((name.clone(), why));
        }
    }
    for (name, why) in given_up {
        jobs.remove(&name);
        ended(folder, &name, State::Unreachable, &why);
    }
}

/// Cancels jobs; those that have ended meanwhile are no failure.
fn cancel<'j>(numbers: impl IntoIterator<Item = &'j str>) -> Result<(), EngineError> {
    let numbers: Vec<&str> = numbers.into_iter().collect();
    for some in numbers.chunks(CHUNK) {
        answer(&[&["scancel", "--quiet"], some].concat())?;
    }
    Ok(())
}

/// Cancels these jobs, and what else the queue lists of this collection: one may have been submitted without a number having come back.
pub(crate) fn cancel_all<'j>(
    id: &str,
    numbers: impl IntoIterator<Item = &'j str>,
) -> Result<(), EngineError> {
    cancel(numbers)?;
    cancel(queue(id)?.keys().map(|number| &**number))
}

fn ended(folder: &mut Folder, name: &NodeName, state: State, reason: &str) {
    if let Some(node) = folder.collection.nodes.get_mut(name) {
        node.end(state, reason);
        node.job = None;
    }
}

/// Puts the programs where nodes find them: in the directory that they share.
pub fn share(folder: &Folder) -> Result<Shared, EngineError> {
    let mut shared = Shared::default();
    for program in &folder.collection.request.programs {
        let path = folder.path().join(program.name());
        // Jobs of a collector that was killed may run the one that is there, so that it cannot be written to.
        let part = path.with_extension("part");
        fs::copy(&program.path, &part).map_err(failed("copying", &program.path))?;
        // What is started is what was looked at.
        if let Err(other) = program.check(&part) {
            let _ = fs::remove_file(&part);
            return Err(other.into());
        }
        fs::rename(&part, &path).map_err(failed("renaming", &part))?;
        shared.0.push(path);
    }
    Ok(shared)
}

/// Copies of the programs, removed on drop.
#[derive(Debug, Default)]
pub struct Shared(Vec<PathBuf>);

impl Drop for Shared {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;

    #[test]
    fn without_a_cluster_there_is_no_slurm_here() {
        // What sinfo 22.05 prints where neither slurm.conf nor DNS names a cluster.
        let said = "sinfo: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host sinfo: error: fetch_config: \
                    DNS SRV lookup failed sinfo: error: _establish_config_source: failed to fetch config sinfo: fatal: Could \
                    not establish a configuration source";
        assert!(is_of_no_cluster(said));
        assert!(!is_of_no_cluster(
            "slurm_load_node: Unable to contact slurm controller"
        ));
    }

    #[test]
    fn nodes_that_start_no_job_are_told_from_busy_ones() {
        for fine in [
            "idle",
            "allocated",
            "mixed",
            "completing",
            "idle~",
            "idle#",
            "allocated+",
            "planned",
            "reserved",
        ] {
            assert_eq!(down(fine, "none"), None, "{fine}");
        }
        for (state, reason, said) in [
            ("drained", "bad DIMM | C2", "drained: bad DIMM | C2"),
            ("down*", "Not responding", "down*: Not responding"),
            ("idle*", "none", "idle*: it does not answer Slurm"),
        ] {
            assert_eq!(down(state, reason).as_deref(), Some(said));
        }
    }

    #[test]
    fn looks_may_fail_for_some_time_only() {
        let failed = || Err::<(), _>(EngineError::NoNodes("slurmctld is away".to_owned()));
        let mut patient = Patient::default();
        assert!(matches!(patient.bears(failed()), Ok(None)));
        patient.since = patient.since.and_then(|since| since.checked_sub(PATIENCE));
        assert!(patient.bears(failed()).is_err());
        assert!(matches!(patient.bears(Ok(())), Ok(Some(()))));
        assert!(matches!(patient.bears(failed()), Ok(None)));
    }

    #[test]
    fn a_jobs_number_is_the_last_that_is_printed() {
        let of =
            |script: &str| submitted(&["sh".to_owned()], script).map_err(|error| error.to_string());
        assert_eq!(of("echo 41").as_deref(), Ok("41"));
        assert_eq!(
            of("echo Welcome, your account is fine; echo '41;cluster'").as_deref(),
            Ok("41")
        );
        assert!(of("echo no number").is_err_and(|error| error.contains("no job's number")));
    }

    #[test]
    fn the_shared_program_is_replaced_while_it_runs() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let request = Request {
            arguments: Vec::new(),
            programs: vec![Program::read("/bin/sleep".into()).expect("read")],
            scratch: "/tmp".to_owned(),
            limit_s: 60,
        };
        let engine = super::super::Engine::Slurm {
            partition: "all".to_owned(),
        };
        let collection = crate::folder::Collection::new(engine, request, BTreeMap::new());
        let folder = Folder::create(&place.path().join("kept"), collection).expect("made");
        let shared = share(&folder).expect("copied");
        let mut running = std::process::Command::new(&shared.0[0])
            .arg("60")
            .spawn()
            .expect("it starts");
        let again = share(&folder).map(|shared| shared.0[0].exists());
        running.kill().expect("it runs");
        running.wait().expect("it ends");
        assert!(again.expect("copied again"));
    }

    #[test]
    fn the_default_partition_is_the_marked_one() {
        assert_eq!(default_of("long\ncompute*\ngpu\n"), Some("compute"));
        assert_eq!(default_of("long\ngpu\n"), None);
    }

    #[test]
    fn the_script_is_valid_and_arguments_stay_what_they_are() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let arriving = folder.path().join("it's here").join("n1.json.gz");
        fs::create_dir(arriving.parent().expect("a folder")).expect("made");
        // In place of the program: writes its arguments to the file that follows --output.
        let program = folder.path().join("syscost");
        fs::write(
            &program,
            "#!/bin/sh\nfor last; do :; done\nprintf '%s|' \"$@\" > \"$last\"\n",
        )
        .expect("written");
        fs::set_permissions(
            &program,
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )
        .expect("ours");
        let request = Request {
            arguments: ["run", "a{b=c}", "$(touch bad) ' \" \\"]
                .map(str::to_owned)
                .to_vec(),
            programs: vec![Program::read(program).expect("read")],
            scratch: folder.path().display().to_string(),
            limit_s: 60,
        };
        let text = script(&request, folder.path(), &arriving);
        // Without sbcast, as on a node without Slurm's clients.
        ask(&["sh"], &text, "").expect("it succeeds");
        let written = fs::read_to_string(&arriving).expect("it has arrived");
        assert!(
            written.starts_with("run|a{b=c}|$(touch bad) ' \" \\|--output|"),
            "{written}"
        );
        let left: Vec<_> = fs::read_dir(folder.path())
            .expect("there")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert_eq!(left.len(), 2, "the scratch directory is gone: {left:?}");
    }

    #[test]
    fn each_node_is_brought_the_program_for_its_processor() {
        let program = |machine: Option<&str>| Program {
            path: PathBuf::new(),
            sha256: String::new(),
            machine: machine.map(str::to_owned),
        };
        let chosen = |machine: &str, programs: &[Program]| {
            let request = Request {
                arguments: Vec::new(),
                programs: programs.to_vec(),
                scratch: "/tmp".to_owned(),
                limit_s: 60,
            };
            let begun = preamble(&request, Path::new("/shared"));
            let begun = begun.replacen("$(uname -m)", machine, 1);
            let (choice, _) = begun.split_once("scratch=").expect("there");
            ask(&["sh"], &format!("{choice}echo \"$shared\""), "")
                .map_err(|error| error.to_string())
        };
        let both = [program(Some("x86_64")), program(Some("aarch64"))];
        for machine in ["x86_64", "aarch64"] {
            let path = format!("/shared/syscost-{machine}\n");
            assert_eq!(chosen(machine, &both), Ok(path));
        }
        let said = "sh: no program for aarch64, only for x86_64: give one with a further --binary";
        assert_eq!(chosen("aarch64", &both[..1]), Err(said.to_owned()));
        let any = [program(Some("x86_64")), program(None)];
        assert_eq!(chosen("riscv64", &any), Ok("/shared/syscost\n".to_owned()));
    }
}
