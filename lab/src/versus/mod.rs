//! `cargo lab versus [ROW…]`: compares rows of ours with other tools that measure the same work.

mod compare;
mod invoke;
mod page;
mod peers;
mod read;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use syscost_harness::machine;
use syscost_results::Unit;
use syscost_results::row_name;
use syscost_sys::cpu;

use self::compare::{Block, Comparison, compare};
use self::invoke::{cpus, is_installed, ours, theirs, version};
use self::peers::{Peer, peers};
use crate::columns::{columns, line};
use crate::program::{Given, Program};
use xtask::workspace;

/// The page that `--write` updates, relative to the root.
const PAGE: &str = "docs/versus.md";
/// Number of cells of the page's lines that the terminal shows.
const SHOWN: usize = 11;
/// Resamples that give the interval of a ratio.
const RESAMPLES: usize = 10_000;

/// Arguments of `versus`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Rows, benchmarks or groups to compare; every row that has a peer if none is given
    #[arg(value_name = "ROW")]
    rows: Vec<String>,
    /// Blocks of ours, the peer's, the peer's, ours
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..))]
    blocks: u32,
    /// CPU for what runs on one (the last one allowed if not given)
    #[arg(long)]
    cpu: Option<u32>,
    #[command(flatten)]
    program: Given,
    /// Put the result into docs/versus.md
    #[arg(long)]
    write: bool,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (present, missing): (Vec<&Peer>, Vec<&Peer>) = chosen(&arguments.rows)?
        .into_iter()
        .partition(|peer| is_installed(peer.program()) && is_installed("taskset"));
    let mut failures: Vec<String> = missing
        .iter()
        .map(|peer| {
            let why = format!(
                "not installed; apt-get install {} util-linux",
                peer.package()
            );
            failure(peer, &why)
        })
        .collect();
    if !present.is_empty() {
        failures.extend(compare_all(&present, arguments)?);
    }
    for failure in &failures {
        eprintln!("{failure}");
    }
    ensure!(
        failures.is_empty(),
        "{} of {} comparisons could not be made",
        failures.len(),
        present.len() + missing.len()
    );
    Ok(())
}

/// Compares, prints and writes; returns the peers that could not be compared, with the reasons.
fn compare_all(present: &[&Peer], arguments: &Arguments) -> Result<Vec<String>> {
    let allowed = cpu::allowed()?;
    let cpu = match arguments.cpu {
        Some(cpu) => cpu,
        None => *allowed.last().context("this process may use no CPU")?,
    };
    let program = arguments.program.get()?;
    let machine = machine::capture();
    let load = machine
        .load1
        .map_or_else(String::new, |load| format!(", load average {load:.1}"));
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    println!(
        "{}, {}, CPU {cpu}, {date}{load}",
        machine.cpu_model, machine.kernel
    );
    let mut table = vec![line([
        "row",
        "peer",
        "CPUs",
        "ours",
        "± 95 %",
        "its runs",
        "peer's",
        "its runs",
        "ratio",
        "95 % interval",
        "blocks",
    ])];
    let mut lines = Vec::new();
    let mut compared = Vec::new();
    let mut failures = Vec::new();
    for &peer in present {
        let result = cpus(peer.set.cpus, cpu, &allowed)
            .and_then(|cpus| compare_one(&program, peer, &cpus, arguments.blocks));
        match result {
            Ok((comparison, unit)) => {
                let version = version(peer.package());
                let line = page::line(peer, &version, unit, &comparison, &date, &machine);
                let shown = line[..SHOWN].iter().map(|cell| cell.replace('`', ""));
                table.push(shown.collect());
                lines.push(line);
                compared.push(peer);
            }
            Err(error) => failures.push(failure(peer, &format!("{error:#}"))),
        }
    }
    print!("{}", columns(&table));
    for peer in compared {
        println!("{} against {}: {}", peer.row, peer.name, peer.set.differs);
    }
    if arguments.write {
        let path = workspace::root().join(PAGE);
        let old = if path.exists() {
            workspace::read(&path)?
        } else {
            String::new()
        };
        workspace::write(&path, &page::updated(&old, &lines, peers()))?;
        println!("{PAGE} is updated");
    }
    Ok(failures)
}

/// A peer that could not be compared, and why.
fn failure(peer: &Peer, why: &str) -> String {
    format!("no comparison of {} with {}: {why}", peer.row, peer.name)
}

fn compare_one(
    program: &Program,
    peer: &Peer,
    cpus: &[u32],
    blocks: u32,
) -> Result<(Comparison, Unit)> {
    let mut measured = Vec::new();
    let mut unit = Unit::Nanoseconds;
    for number in 1..=blocks {
        eprintln!(
            "{} against {}: block {number} of {blocks}",
            peer.row, peer.name
        );
        let first = ours(program, peer, cpus)?;
        let peers = [theirs(peer, cpus)?, theirs(peer, cpus)?];
        let last = ours(program, peer, cpus)?;
        unit = first.unit;
        measured.push(Block {
            ours: [first.median, last.median],
            half_widths: [first.half_width, last.half_width],
            peer: peers,
        });
    }
    let comparison =
        compare(&measured, RESAMPLES).context("two blocks are the fewest that can be compared")?;
    Ok((comparison, unit))
}

/// The peers of these rows, benchmarks or groups.
fn chosen(rows: &[String]) -> Result<Vec<&'static Peer>> {
    let names = |peer: &Peer, row: &String| {
        let group = peer.row.split('.').next();
        peer.row == *row || row_name::id(&peer.row) == row || group == Some(row)
    };
    let mut known: Vec<&Peer> = peers().iter().collect();
    if let Some(unknown) = rows
        .iter()
        .find(|row| !known.iter().any(|peer| names(peer, row)))
    {
        let known: Vec<&str> = known.iter().map(|peer| &*peer.row).collect();
        bail!("`{unknown}` has no peer; these have: {}", known.join(", "));
    }
    known.retain(|peer| rows.is_empty() || rows.iter().any(|row| names(peer, row)));
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_ids_and_groups_name_peers_and_other_names_list_those_that_do() {
        let count = |row: &str| chosen(&[row.to_owned()]).map(|peers| peers.len()).ok();
        let with = |start: &str| {
            peers()
                .iter()
                .filter(|peer| peer.row.starts_with(start))
                .count()
        };
        assert_eq!(count("syscall.null{call=getppid}"), Some(1));
        assert_eq!(count("syscall.null"), Some(with("syscall.null{")));
        assert_eq!(count("syscall"), Some(with("syscall.")));
        assert_eq!(chosen(&[]).unwrap().len(), peers().len());
        let error = chosen(&["op.add".to_owned()]).unwrap_err().to_string();
        assert!(
            error.contains("`op.add` has no peer") && error.contains(&peers()[0].row),
            "{error}"
        );
    }
}
