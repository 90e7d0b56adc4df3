//! `syscost fleet run`: measures many machines.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use rustix::fs::Mode;
use rustix::process::umask;
use syscost_fleet::NodeName;
use syscost_fleet::engine::{Engine, ansible, slurm};
use syscost_fleet::folder::{Collection, Folder, Request, State};
use syscost_fleet::program::Program;
use syscost_harness::Testbed;
use syscost_harness::session::Profile;
use syscost_results::Status;
use syscost_results::document::DigestRow;
use syscost_store::load_digest;

use crate::cli::fleet::{CollectArguments, Transport};
use crate::error::exit;
use crate::terminal::{GREEN, RED, RESET, YELLOW, note, say, warn, wrapped_item};
use crate::{Failed, interrupt, selection};

/// How much longer than its measurement a node's job may take, in seconds.
const SLACK_S: u64 = 300;

/// How many nodes with the same reason are named.
const MAX_NAMES: usize = 8;

/// Runs the command.
pub(super) fn run(arguments: &CollectArguments) -> Result<u8> {
    // Documents tell much about machines: what is made from here on is for this user only.
    umask(Mode::RWXG | Mode::RWXO);
    let mut folder = match &arguments.resume {
        Some(path) => Folder::open(path)?,
        None => {
            let collection = asked(arguments)?;
            let path = output(arguments.output.as_deref(), "fleet");
            if arguments.dry_run {
                super::super::print(&shown(&collection, &absolute(path)?)?)?;
                return Ok(exit::DONE);
            }
            Folder::create(&path, collection)?
        }
    };
    for program in &folder.collection.request.programs {
        warn_of_linkage(&program.path);
    }
    let stop = interrupt::catch()?;
    let mut progress = Progress::default();
    collect(&mut folder, arguments.wait, &stop, &mut |collection| {
        progress.show(collection)
    })?;
    Ok(close(&folder, stop.load(Ordering::Relaxed)))
}

fn collect(
    folder: &mut Folder,
    wait: Option<Duration>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Collection),
) -> Result<()> {
    tell(&folder.collection);
    match folder.collection.engine {
        Engine::Slurm { .. } => {
            let _shared = slurm::share(folder)?;
            slurm::collect(folder, wait, stop, tell)?;
        }
        Engine::Ansible { .. } => ansible::collect(folder, wait, stop, tell)?,
    }
    Ok(())
}

/// What the command line asks for.
fn asked(arguments: &CollectArguments) -> Result<Collection> {
    let here = Testbed::plain();
    let profile = Profile::from(arguments.profile);
    // Found here, so that a wrong selector is one error and not one of each node.
    let selectors = &arguments.selectors;
    let rows = selection::planned(selectors, profile, &here)?.len();
    let budget = arguments.budget.unwrap_or_else(|| profile.budget(rows));
    let mut words = vec![
        "run".to_owned(),
        "--quiet".to_owned(),
        "--no-save".to_owned(),
        "--no-samples".to_owned(),
    ];
    let profile = arguments.profile.to_possible_value();
    words.extend(profile.map(|profile| format!("--profile={}", profile.get_name())));
    words.extend(
        arguments
            .budget
            .map(|budget| format!("--budget={}", budget.as_secs_f64())),
    );
    words.extend(
        arguments
            .labels
            .iter()
            .map(|(key, value)| format!("--label={key}={value}")),
    );
    words.extend_from_slice(selectors);
    let request = Request {
        arguments: words,
        programs: programs(&arguments.transport)?,
        scratch: scratch(&arguments.transport)?,
        limit_s: budget.as_secs() + SLACK_S,
    };
    let which = &arguments.which;
    let (engine, nodes) = match &which.inventory {
        Some(inventory) => {
            // A list of hosts, with a comma, is no file.
            let inventory = std::fs::canonicalize(inventory).unwrap_or(inventory.clone());
            let (nodes, left_out) = ansible::nodes(&inventory, which.nodes.as_deref())?;
            left_out.iter().for_each(|line| warn(line));
            (Engine::Ansible { inventory }, nodes)
        }
        None => {
            let partition = slurm::partition(which.partition.as_deref())?;
            let nodes = slurm::nodes(&partition, which.nodes.as_deref())?;
            (Engine::Slurm { partition }, nodes)
        }
    };
    Ok(Collection::new(engine, request, nodes))
}

/// The directory that is given, or one called by the date.
fn output(given: Option<&Path>, what: &str) -> PathBuf {
    let date = || {
        PathBuf::from(format!(
            "{what}-{}",
            jiff::Zoned::now().strftime("%Y-%m-%d")
        ))
    };
    given.map_or_else(date, Path::to_owned)
}

/// The programs for the nodes, those for any processor last.
fn programs(transport: &Transport) -> Result<Vec<Program>> {
    if transport.binaries.is_empty() {
        let own = std::env::current_exe().context("finding this program's own file")?;
        return Ok(vec![Program::read(own)?]);
    }
    let mut programs: Vec<Program> = Vec::new();
    for given in &transport.binaries {
        let path = std::fs::canonicalize(given).map_err(|cause| {
            let given = given.display();
            Failed::Usage(format!(
                "{given}, given with --binary: {cause}; give the program for the nodes"
            ))
        })?;
        let program = Program::read(path)?;
        let mut others = programs.iter();
        if let Some(other) = others.find(|other| other.machine == program.machine) {
            let machine = program.machine.as_deref().unwrap_or("any processor");
            let [one, two] = [&other.path, &program.path].map(|path| path.display());
            let text = format!("{one} and {two}, given with --binary, are both for {machine}");
            return Err(Failed::Usage(text).into());
        }
        programs.push(program);
    }
    programs.sort_by_key(|program| program.machine.is_none());
    Ok(programs)
}

/// The directory on nodes.
fn scratch(transport: &Transport) -> Result<String> {
    match transport.scratch.starts_with('/') {
        true => Ok(transport.scratch.trim_end_matches('/').to_owned()),
        false => Err(Failed::Usage(format!(
            "{:?}, given with --scratch, is not an absolute path",
            transport.scratch
        ))
        .into()),
    }
}

/// Warns of a program that may not start elsewhere.
fn warn_of_linkage(binary: &Path) {
    // The dynamic linker is named right after the headers of an ELF file.
    let mut start = Vec::new();
    let read = File::open(binary).and_then(|file| file.take(4096).read_to_end(&mut start));
    if read.is_ok() && start.windows(4).any(|bytes| bytes == b"/ld-") {
        let path = binary.display();
        warn(&format!(
            "{path} is linked dynamically: it starts only on nodes whose C library is as new as this machine's; a release's program is static (or give one with --binary)"
        ));
    }
}

/// What would be done, for --dry-run.
fn shown(collection: &Collection, folder: &Path) -> Result<String> {
    let mut text = String::new();
    let path = |name: &NodeName, part: &str, ending: &str| {
        folder.join(part).join(format!("{name}.{ending}"))
    };
    match &collection.engine {
        Engine::Slurm { partition } => {
            let mut asked = Vec::new();
            for (name, node) in &collection.nodes {
                match &node.reason {
                    Some(reason) => text += &format!("# {name} is left out: {reason}\n"),
                    None => asked.push(name),
                }
            }
            // They differ in nothing but the node's name.
            if let Some((name, others)) = asked.split_first() {
                let log = path(name, "nodes", "log");
                let limit_s = collection.request.limit_s;
                let words =
                    slurm::submission(folder, &collection.id, partition, &[name], &log, limit_s);
                let script = slurm::script(
                    &collection.request,
                    folder,
                    &path(name, "arriving", "json.gz"),
                );
                text += &format!("{} <<'END'\n{script}END\n", words.join(" "));
                if !others.is_empty() {
                    let names: Vec<&str> = others.iter().map(|name| name.as_ref()).collect();
                    text += &format!("# likewise on {}\n", names.join(" "));
                }
            }
        }
        Engine::Ansible { .. } => {
            let names: Vec<&str> = collection.nodes.keys().map(AsRef::as_ref).collect();
            text += &format!("# hosts: {}\n", names.join(", "));
            text += &ansible::shown(
                &collection.request,
                &collection.id,
                &folder.join("arriving"),
            )?;
        }
    }
    Ok(text)
}

/// Says what became of nodes while they are measured.
#[derive(Default)]
struct Progress {
    counts: Option<[usize; 3]>,
    known: BTreeMap<NodeName, State>,
}

impl Progress {
    fn show(&mut self, collection: &Collection) {
        for (name, node) in &collection.nodes {
            let before = self.known.insert(name.clone(), node.state);
            let is_bad = matches!(node.state, State::Failed | State::Unreachable);
            if is_bad && before != Some(node.state) {
                note!("{name}: {}", node.reason.as_deref().unwrap_or_default());
            }
        }
        let counts =
            [State::Done, State::Running, State::Waiting].map(|state| collection.count(state));
        if self.counts.replace(counts) != Some(counts) {
            let [done, running, waiting] = counts;
            let all = collection.nodes.len();
            let now = jiff::Zoned::now().strftime("%H:%M:%S");
            note!("{now}  {done} of {all} done, {running} running, {waiting} waiting");
        }
    }
}

/// How many rows of the first documents have a number that can be judged, and how many could have
/// been measured; `None` without a document.
fn beyond_doubt(folder: &Folder) -> Option<(usize, usize)> {
    let nodes = folder.collection.nodes.iter();
    let done = nodes.filter(|(_, node)| node.state == State::Done);
    let documents = done
        .take(MAX_NAMES)
        .filter_map(|(name, _)| load_digest(&folder.document(name)).ok());
    let rows: Vec<DigestRow> = documents.flat_map(|document| document.rows).collect();
    let could = rows.iter().filter(|row| row.status != Status::Unsupported);
    let known = rows.iter().filter(|row| row.is_beyond_doubt());
    (!rows.is_empty()).then(|| (known.count(), could.count()))
}

/// Says what there is, what is missing and why; returns the exit code.
fn close(folder: &Folder, was_interrupted: bool) -> u8 {
    let collection = &folder.collection;
    let path = folder.path().display();
    let (done, all) = (collection.count(State::Done), collection.nodes.len());
    let color = match done == all {
        true => GREEN,
        false => YELLOW,
    };
    say!("{color}{done} of {all} nodes{RESET} gave a document: {path}");
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, node) in &collection.nodes {
        if let Some(reason) = &node.reason {
            by_reason.entry(reason).or_default().push(name.as_ref());
        }
    }
    for (reason, names) in by_reason {
        let names = syscost_report::sentence::listed(&names, MAX_NAMES);
        say!(
            "{}",
            wrapped_item(&format!("{RED}{names}{RESET}: {reason}"), "  ", "    ")
        );
    }
    if done < all {
        note!("to continue with the others: syscost fleet run --resume {path}");
    }
    if let Some((known, rows)) = beyond_doubt(folder).filter(|(known, rows)| 2 * known < *rows) {
        note!(
            "{YELLOW}only {known} of {rows} rows in them have a number beyond doubt{RESET}, and no others are judged: give more time (--budget), or fewer rows"
        );
    }
    if done > 0 {
        note!("which are not like the others: syscost fleet report {path}");
    }
    match (was_interrupted, done) {
        (true, _) => exit::INTERRUPTED,
        (false, 0) => exit::NOTHING,
        (false, done) if done == all => exit::DONE,
        (false, _) => exit::FAILURE,
    }
}
