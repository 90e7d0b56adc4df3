//! Removes from a run what identifies its machine's owner, for pages and documents that strangers
//! will read.

mod mounts;
mod names;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::{COMMAND, EXECUTED, command_of};
use crate::directory::KEY;
use crate::run::{Config, NfsServer, Peer, Warning};
use crate::study::{Chart, Figure, Quantity, Ratio, Study, StudyMachine};
use crate::{ClaimId, Fact, Known, Machine, Measurement, Run};

use names::{Names, UNNAMED};

/// Code of the warning whose message names a machine.
const FAR_END: &str = "far_end";
/// Code of the warning whose message contains environment variables with their values.
const ENVIRONMENT: &str = "environment";

impl Run {
    /// Keeps what is known to identify nobody, and clears all else: host names, addresses, paths, the
    /// kernel's command line and build line, the environment, what a user wrote (labels, texts of own
    /// studies, commands), and the names of servers, users, volumes and images that directories are on.
    /// What is measured and what explains it stays: hardware, kernel release, settings, and every
    /// claim and count. Labels of directories stay too unless they are paths, since they are parts
    /// of rows' names. A field that is new does not compile until somebody says here what becomes
    /// of it.
    pub fn anonymize(&mut self) {
        Self::anonymize_together(std::slice::from_mut(self));
    }

    /// Anonymizes runs that are shown side by side: a directory whose label would identify someone
    /// gets the same new label in each. Returns the new names of renamed rows, by their former
    /// names.
    pub fn anonymize_together(runs: &mut [Run]) -> BTreeMap<String, String> {
        let names: Vec<Names> = runs.iter().map(names_in).collect();
        let labels = new_labels(runs, &names);
        let commands = new_commands(runs);
        let mut renamed = BTreeMap::new();
        for (run, names) in runs.iter_mut().zip(&names) {
            for row in &mut run.measurements {
                let command = command_of(row).and_then(|old| commands.get(old));
                let name = match command {
                    Some(new) => format!("{}{{{COMMAND}={new}}}", row.id),
                    None => relabeled(&row.name, &labels),
                };
                if let Some(new) = command {
                    anonymize_command(row, new);
                }
                if name != row.name {
                    renamed.insert(std::mem::replace(&mut row.name, name.clone()), name);
                }
            }
            if let Some(bill) = &mut run.bill {
                bill.command = commands.get(&bill.command).cloned().unwrap_or_default();
                // Which programs it started, and files.
                for text in bill.refuted.iter_mut().chain(&mut bill.unknown) {
                    UNNAMED.clone_into(text);
                }
            }
            anonymize(run, names, &labels);
        }
        renamed
    }
}

/// The names of the machine, its owner and its places.
fn names_in(run: &Run) -> Names {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut add = |name: &str| {
        names.insert(name.to_owned());
    };
    add(&run.machine.hostname);
    if let Some(peer) = &run.peer {
        add(&peer.machine.hostname);
        for name in [&peer.name, &peer.address] {
            add(name);
            add(Peer::host_of(name));
        }
    }
    if let Some(nfs) = &run.nfs {
        add(&nfs.name);
        add(&nfs.export);
        add(&NfsServer::place_of(&nfs.export));
    }
    run.directories
        .iter()
        .flat_map(mounts::names)
        .for_each(&mut add);
    run.config.program.iter().for_each(|program| add(program));
    let rows = run.measurements.iter();
    let of_rows = rows.flat_map(|row| {
        let claims = row.evidence.iter().map(|one| one.claim.id.as_str());
        claims.chain([row.title.as_str()])
    });
    let advice = run.warnings.iter().map(|warning| warning.advice.as_str());
    Names::new(names, of_rows.chain(advice))
}

/// New labels for the directories whose label is a path or names a machine.
fn new_labels(runs: &[Run], names: &[Names]) -> BTreeMap<String, String> {
    let directories = || runs.iter().flat_map(|run| &run.directories);
    let mut labels: BTreeMap<String, String> = BTreeMap::new();
    for (run, names) in runs.iter().zip(names) {
        for directory in &run.directories {
            let label = &directory.label;
            let is_revealing = label.contains('/') || names.clean_of_words(label) != *label;
            if !is_revealing || labels.contains_key(label) {
                continue;
            }
            let is_free = |new: &String| {
                directories().all(|other| other.label != *new)
                    && labels.values().all(|other| other != new)
            };
            let mut free = (1..).map(|number: u32| format!("directory-{number}"));
            if let Some(new) = free.find(is_free) {
                labels.insert(label.clone(), new);
            }
        }
    }
    labels
}

/// New names for the commands of a user, by their own.
fn new_commands(runs: &[Run]) -> BTreeMap<String, String> {
    let mut commands = BTreeMap::new();
    let rows = runs.iter().flat_map(|run| &run.measurements);
    let bills = runs.iter().filter_map(|run| run.bill.as_ref());
    let billed = bills.map(|bill| &*bill.command);
    for command in rows.filter_map(command_of).chain(billed) {
        let new = format!("command-{}", commands.len() + 1);
        commands.entry(command.to_owned()).or_insert(new);
    }
    commands
}

/// Gives a command this name, and removes what it or its user wrote: what it ends with, and how much it
/// prints, stays.
fn anonymize_command(row: &mut Measurement, new: &str) {
    row.reason = row.reason.take().map(|_| UNNAMED.to_owned());
    for evidence in &mut row.evidence {
        evidence.reason = evidence.reason.take().map(|_| UNNAMED.to_owned());
        if evidence.claim.id == ClaimId::of(EXECUTED) {
            let facts = [&mut evidence.expected, &mut evidence.observed];
            for fact in facts.into_iter().flatten() {
                let is_it = Some(fact.to_string()) == row.case.get(COMMAND).cloned();
                *fact = if is_it { new } else { UNNAMED }.into();
            }
        }
    }
    row.case.insert(COMMAND.to_owned(), new.to_owned());
}

/// The text (a row's name, or a text with parts of one) with the new labels.
fn relabeled(text: &str, labels: &BTreeMap<String, String>) -> String {
    let start = format!("{KEY}=");
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&start) {
        let (before, behind) = rest.split_at(at + start.len());
        out.push_str(before);
        let is_end = |letter: char| letter.is_whitespace() || "{},=*?[]'\"".contains(letter);
        let (label, behind) = behind.split_at(behind.find(is_end).unwrap_or(behind.len()));
        // The name of another parameter may end in these letters.
        let is_other =
            rest[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let new = labels.get(label).filter(|_| !is_other);
        out.push_str(new.map_or(label, String::as_str));
        rest = behind;
    }
    out + rest
}

fn anonymize(run: &mut Run, names: &Names, labels: &BTreeMap<String, String>) {
    let clean = |text: &mut String| *text = names.clean(&relabeled(text, labels));
    let Run {
        schema_version: _,
        tool: _,
        id: _,
        started: _,
        duration_s: _,
        complete: _,
        machine,
        peer,
        nfs,
        directories,
        studies,
        // Its command has another name, and so has no text of a user.
        bill: _,
        clock,
        core_ghz: _,
        frequency: _,
        noise: _,
        burst: _,
        config,
        warnings,
        measurements,
    } = run;
    for row in measurements {
        anonymize_row(row, labels, clean);
    }
    for Warning {
        code,
        message,
        advice,
    } in warnings
    {
        let text = relabeled(message, labels);
        *message = match code.as_str() {
            FAR_END => names.clean_of_words(&text),
            ENVIRONMENT => names.clean(&without_values(&text)),
            _ => names.clean(&text),
        };
        clean(advice);
    }
    for check in &mut clock.health {
        clean(&mut check.detail);
    }
    machine.anonymize();
    clean_facts(machine, names);
    if let Some(peer) = peer {
        let Peer {
            name,
            address,
            version: _,
            machine,
        } = &mut **peer;
        for name in [name, address] {
            UNNAMED.clone_into(name);
        }
        machine.anonymize();
        clean_facts(machine, names);
    }
    if let Some(nfs) = nfs {
        let NfsServer {
            name,
            export,
            read_bytes: _,
            write_bytes: _,
        } = &mut **nfs;
        for name in [name, export] {
            UNNAMED.clone_into(name);
        }
    }
    for directory in directories {
        mounts::anonymize(directory);
        if let Some(new) = labels.get(&directory.label) {
            directory.label.clone_from(new);
        }
    }
    studies.iter_mut().for_each(anonymize_study);
    let Config {
        profile: _,
        budget_s: _,
        patience_s: _,
        seed: _,
        cpus: _,
        selectors,
        min_rounds: _,
        max_rounds: _,
        samples_per_round: _,
        worker_start_ms: _,
        resumed: _,
        program,
        wrapper,
        environment,
        labels: given,
        congestion: _,
        drop_caches: _,
        real_time: _,
        thorough: _,
    } = config;
    selectors.iter_mut().for_each(clean);
    (*program, *wrapper) = (None, None);
    environment.clear();
    given.clear();
}

/// Cleans the facts that whoever built the kernel, the system or the machine wrote; the others are words of the
/// program.
fn clean_facts(machine: &mut Machine, names: &Names) {
    let clean = |text: &mut String| *text = names.clean_of_facts(text);
    let Machine {
        kernel,
        cpu_model,
        distribution,
        product,
        firmware,
        container,
        mitigations,
        ..
    } = machine;
    let known = [distribution, product, firmware].into_iter().flatten();
    [kernel, cpu_model].into_iter().chain(known).for_each(clean);
    if let Known::Yes(manager) = container {
        clean(manager);
    }
    for (mut name, mut state) in std::mem::take(mitigations) {
        clean(&mut name);
        clean(&mut state);
        mitigations.insert(name, state);
    }
}

/// Claims keep their ids, by which studies find them, unless these are words of a text that names
/// something.
fn anonymize_row(
    row: &mut Measurement,
    labels: &BTreeMap<String, String>,
    clean: impl Fn(&mut String),
) {
    if let Some(label) = row.case.get_mut(KEY)
        && let Some(new) = labels.get(label.as_str())
    {
        label.clone_from(new);
    }
    row.reason.iter_mut().for_each(&clean);
    for evidence in &mut row.evidence {
        let claim = &mut evidence.claim;
        let is_by_words = claim.id == ClaimId::of(&claim.sentence);
        clean(&mut claim.sentence);
        if is_by_words {
            claim.id = ClaimId::of(&claim.sentence);
        }
        clean(&mut evidence.source);
        evidence.reason.iter_mut().for_each(&clean);
        for fact in [&mut evidence.expected, &mut evidence.observed]
            .into_iter()
            .flatten()
        {
            match fact {
                Fact::Text(text) => clean(text),
                Fact::Number(_) => {}
            }
        }
    }
}

/// Keeps a user's own study as far as figures need it: its id and its quantities', which are parts
/// of rows' names, rows, units and figures, but no text.
fn anonymize_study(study: &mut Study) {
    let Study {
        id,
        title,
        source,
        about,
        cycles: _,
        flags,
        machines,
        quantities,
        ratios,
        doubts,
        not_here,
        questions,
        charts,
    } = study;
    title.clone_from(id);
    for text in [source, about, flags] {
        text.clear();
    }
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for (number, machine) in machines.iter_mut().enumerate() {
        let StudyMachine {
            id,
            name,
            clock_ghz: _,
            cycle_ns: _,
            note,
        } = machine;
        let new = format!("machine-{}", number + 1);
        *note = None;
        name.clone_from(&new);
        named.insert(std::mem::replace(id, new.clone()), new);
    }
    for quantity in quantities {
        anonymize_quantity(quantity, &named);
    }
    for Ratio {
        title,
        of,
        to,
        words,
    } in ratios
    {
        *title = format!("{of} by {to}");
        *words = None;
    }
    doubts.clear();
    not_here.clear();
    questions.clear();
    for (
        number,
        Chart {
            title,
            kind: _,
            quantities: _,
        },
    ) in charts.iter_mut().enumerate()
    {
        *title = format!("chart {}", number + 1);
    }
}

fn anonymize_quantity(quantity: &mut Quantity, named: &BTreeMap<String, String>) {
    let Quantity {
        id,
        title,
        table,
        unit: _,
        procedure,
        as_published: _,
        program,
        command,
        prints: _,
        ours: _,
        ours_scale: _,
        ours_is_named: _,
        published,
        claims,
        reasons,
    } = quantity;
    title.clone_from(id);
    for text in [table, procedure] {
        text.clear();
    }
    // That there is one is told: the row is its.
    program.iter_mut().for_each(|one| UNNAMED.clone_into(one));
    command
        .iter_mut()
        .for_each(|all| *all = vec![UNNAMED.to_owned()]);
    for Figure {
        machine,
        value: _,
        cycles: _,
        meant: _,
        words,
        runs: _,
        place,
        doubt,
    } in published
    {
        *machine = named.get(machine).cloned().unwrap_or_default();
        (*words, *doubt) = (None, None);
        place.clear();
    }
    claims.clear();
    reasons.clear();
}

/// `what was seen: NAME=value …` without the values, which may be paths and names of libraries.
fn without_values(message: &str) -> String {
    let Some((seen, variables)) = message.split_once(": ") else {
        return message.to_owned();
    };
    let is_of_a_name =
        |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let words = variables.split_whitespace();
    let names = words.filter_map(|word| Some(word.split_once('=')?.0));
    let names = names.filter(|name| name.bytes().all(is_of_a_name));
    format!("{seen}: {}", names.collect::<Vec<_>>().join(" "))
}
