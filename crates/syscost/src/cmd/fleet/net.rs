//! `syscost fleet net`: measures the network between every pair of nodes.

use std::fs;
use std::path::{PathBuf, absolute};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use rustix::fs::Mode;
use rustix::process::umask;
use syscost_fleet::engine::slurm;
use syscost_fleet::folder::{Request, checksum};
use syscost_fleet::net::{Net, NetFolder, Pair, Plan, ROWS, collect, nodes, script, turns};
use syscost_fleet::slow_links::{Figure, MIN_NODES, Slow};
use syscost_net::Token;
use syscost_report::units::quantity;
use syscost_results::Unit;

use super::collect::{SLACK_S, binary, output, scratch, warn_of_linkage};
use crate::cli::Format;
use crate::cli::fleet::NetArguments;
use crate::error::exit;
use crate::interrupt;
use crate::terminal::{BOLD, DIM, GREEN, RED, RESET, note, say, width, wrapped_item};

/// Width of a matrix's column.
const COLUMN: usize = 11;

/// Runs the command.
pub(super) fn run(arguments: &NetArguments) -> Result<u8> {
    // Among what is made is a token.
    umask(Mode::RWXG | Mode::RWXO);
    let partition = slurm::partition(arguments.partition.as_deref())?;
    let budget = arguments.budget;
    let mut words = ["run", "--quiet", "--no-save", "--no-samples"]
        .map(str::to_owned)
        .to_vec();
    words.push(format!("--budget={}", budget.as_secs_f64()));
    words.extend(ROWS.map(str::to_owned));
    let binary = binary(&arguments.transport)?;
    let request = Request {
        arguments: words,
        sha256: checksum(&binary)?,
        binary,
        scratch: scratch(&arguments.transport)?,
        limit_s: budget.as_secs() + SLACK_S,
    };
    let (mut net, seen) = nodes(&partition, arguments.nodes.as_deref())?;
    let path = output(arguments.output.as_deref(), "fleet-net");
    let folder = match arguments.dry_run {
        true => absolute(&path)?,
        false => path,
    };
    let made = match arguments.dry_run {
        true => None,
        false => Some(NetFolder::create(&folder)?),
    };
    let folder = made.as_ref().map_or(&*folder, NetFolder::path);
    let [program, token] = [slurm::PROGRAM, "token"].map(|name| folder.join(name));
    let plan = Plan {
        partition: &partition,
        request: &request,
        program: &program,
        token: &token,
        at_once: arguments.at_once.map_or(usize::MAX, |pairs| pairs as usize),
        wait: arguments.wait,
    };
    let every: Vec<usize> = (0..net.pairs.len()).collect();
    let Some(made) = made else {
        for (number, turn) in turns(&net, &every, plan.at_once).iter().enumerate() {
            for &index in turn {
                let pair = &net.pairs[index];
                let addresses = [&pair.a, &pair.b].map(|name| &*seen[name].address);
                let arriving = folder.join(format!("arriving/{},{}.json.gz", pair.a, pair.b));
                let text = script(&plan, pair, addresses, &arriving);
                super::super::print(&format!(
                    "# turn {}: {} and {}\n{text}\n",
                    number + 1,
                    pair.a,
                    pair.b
                ))?;
            }
        }
        return Ok(exit::DONE);
    };
    warn_of_linkage(&request.binary);
    for (name, reason) in &net.left_out {
        note!("{name} is left out: {reason}");
    }
    Token::generate()?.write_new(&token)?;
    let _removed = Removed([program.clone(), token.clone()]);
    fs::copy(&request.binary, &program)
        .with_context(|| format!("copying the program to {}", program.display()))?;
    let stop = interrupt::catch()?;
    let all = net.pairs.len();
    note!(
        "{} nodes, {all} pairs, in {} turns",
        net.nodes.len(),
        turns(&net, &every, plan.at_once).len()
    );
    collect(&made, &mut net, &seen, &plan, &stop, &mut |through, of| {
        note!(
            "{}  {through} of {of} pairs",
            jiff::Zoned::now().strftime("%H:%M:%S")
        );
    })?;
    match arguments.format {
        Format::Json => super::super::print_json(&net)?,
        Format::Table => super::super::print(&shown(&net))?,
    }
    let missing = net
        .pairs
        .iter()
        .filter(|pair| pair.reason.is_some())
        .count();
    say!(
        "{} of {all} pairs have all figures: {}",
        all - missing,
        made.path().display()
    );
    Ok(match (stop.load(Ordering::Relaxed), missing) {
        (true, _) => exit::INTERRUPTED,
        (false, 0) => exit::DONE,
        (false, missing) if missing == all => exit::NOTHING,
        (false, _) => exit::FAILURE,
    })
}

/// Files that are removed on drop: the program, which is a copy, and the token.
struct Removed([PathBuf; 2]);

impl Drop for Removed {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// What was found, for people.
fn shown(net: &Net) -> String {
    let mut text = String::new();
    let round_trip = |pair: &Pair, _: bool| pair.round_trip_ns;
    let goodput = |pair: &Pair, is_forth: bool| match is_forth {
        true => pair.forth_b_per_s,
        false => pair.back_b_per_s,
    };
    text += &matrix(
        net,
        "TCP round trip of 64 bytes",
        Unit::Nanoseconds,
        &round_trip,
    );
    text += &matrix(
        net,
        "TCP goodput, from the row's node to the column's",
        Unit::BytesPerSecond,
        &goodput,
    );
    for pair in &net.pairs {
        if let Some(reason) = &pair.reason {
            text += &wrapped_item(
                &format!("{} and {}: {reason}", pair.a, pair.b),
                "  ",
                "    ",
            );
            text.push('\n');
        }
    }
    let [round_trips, goodputs] = net.slow();
    text += &verdict(net, "round trips", "longer", round_trips);
    text += &verdict(net, "goodput", "lower", goodputs);
    text
}

/// A matrix of all pairs; or each node's median, where the terminal is too narrow for it.
fn matrix(
    net: &Net,
    title: &str,
    unit: Unit,
    figure: &dyn Fn(&Pair, bool) -> Option<Figure>,
) -> String {
    let between = |row: usize, column: usize| {
        let [row, column] = [row, column].map(|index| &net.nodes[index]);
        let found = net.pairs.iter().find_map(|pair| {
            match (
                &pair.a == row && &pair.b == column,
                &pair.b == row && &pair.a == column,
            ) {
                (true, _) => Some((pair, true)),
                (_, true) => Some((pair, false)),
                _ => None,
            }
        });
        found.and_then(|(pair, is_forth)| figure(pair, is_forth))
    };
    let mut text = format!("{BOLD}{title}{RESET}\n");
    let name_width = net
        .nodes
        .iter()
        .map(|node| node.as_ref().len())
        .max()
        .unwrap_or_default();
    let places = 0..net.nodes.len();
    let is_wide = name_width + COLUMN * net.nodes.len() <= width();
    if is_wide {
        let heads: String = net
            .nodes
            .iter()
            .map(|node| format!("{:>COLUMN$}", short(node.as_ref())))
            .collect();
        text += &format!("{:name_width$}{DIM}{heads}{RESET}\n", "");
    }
    for row in places.clone() {
        let figures = places.clone().map(|column| between(row, column));
        let cells: String = match is_wide {
            true => figures
                .map(|figure| {
                    format!(
                        "{:>COLUMN$}",
                        figure.map_or("–".to_owned(), |figure| quantity(unit, figure.median))
                    )
                })
                .collect(),
            false => {
                let known: Vec<f64> = figures.flatten().map(|figure| figure.median).collect();
                let median = syscost_results::stats::order::median(&known);
                let median = median.map_or("–".to_owned(), |median| quantity(unit, median));
                format!("{median:>COLUMN$} (median of {})", known.len())
            }
        };
        text += &format!("{:name_width$}{cells}\n", net.nodes[row]);
    }
    text.push('\n');
    text
}

/// The end of a name that is too long for a column, where names of nodes differ.
fn short(name: &str) -> &str {
    &name[name.len().saturating_sub(COLUMN - 1)..]
}

/// Names what is slow.
fn verdict(net: &Net, what: &str, worse: &str, slow: Option<Slow>) -> String {
    let Some(Slow { nodes, links }) = slow else {
        return format!(
            "{what}: too few pairs to tell slow links from slow nodes ({MIN_NODES} nodes are needed)\n"
        );
    };
    let mut text = String::new();
    for (node, factor) in &nodes {
        let node = &net.nodes[*node];
        text += &format!(
            "{RED}slow node {node}{RESET}: {what} {worse} by a factor of {factor:.2} on all of its links\n"
        );
    }
    for (a, b, factor) in &links {
        let [a, b] = [a, b].map(|index| &net.nodes[*index]);
        text += &format!(
            "{RED}slow link {a} to {b}{RESET}: {what} {worse} by a factor of {factor:.2} than its nodes' others\n"
        );
    }
    if nodes.is_empty() && links.is_empty() {
        text += &format!("{what}: {GREEN}no node and no link is slower than the others{RESET}\n");
    }
    text
}
