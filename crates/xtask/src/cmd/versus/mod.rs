//! `cargo xtask versus [ROW…]`: rows of ours against other tools that measure the same work.

mod compare;
mod page;

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use syscost_harness::machine;
use syscost_results::stats::bootstrap::Bootstrap;
use syscost_results::stats::order;
use syscost_sys::cpu;

use self::compare::{Block, compare};
use crate::columns::{columns, line};
use crate::peers::{PEERS, Peer};
use crate::program::{Program, measured};
use crate::workspace;

/// The page `--write` updates, from the root.
const PAGE: &str = "docs/versus.md";

/// Arguments of `versus`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Rows, benchmarks or groups to compare; every row that has a peer if none is given
    #[arg(value_name = "ROW")]
    rows: Vec<String>,
    /// Blocks of ours, the peer's, the peer's, ours
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..))]
    blocks: u32,
    /// CPU for both (the last one allowed if not given)
    #[arg(long)]
    cpu: Option<u32>,
    /// Put the result into docs/versus.md
    #[arg(long)]
    write: bool,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let chosen = chosen(&arguments.rows)?;
    let (present, missing): (Vec<&Peer>, Vec<&Peer>) = chosen
        .into_iter()
        .partition(|peer| is_installed(peer.command[0]) && is_installed("taskset"));
    for peer in &missing {
        eprintln!(
            "skipped {}: no {}; apt-get install {} util-linux",
            peer.row, peer.name, peer.package
        );
    }
    if !present.is_empty() {
        let cpu = match arguments.cpu {
            Some(cpu) => cpu,
            None => *cpu::allowed()?
                .last()
                .context("this process may use no CPU")?,
        };
        compare_all(&present, arguments, cpu)?;
    }
    ensure!(
        missing.is_empty(),
        "{} of the peers are not installed",
        missing.len()
    );
    Ok(())
}

fn compare_all(peers: &[&Peer], arguments: &Arguments, cpu: u32) -> Result<()> {
    let program = Program::build()?;
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
        "ours",
        "peer's",
        "ratio",
        "95 % interval",
        "blocks",
    ])];
    let mut lines = Vec::new();
    for peer in peers {
        let blocks: Vec<Block> = (1..=arguments.blocks)
            .map(|number| {
                eprintln!("{}: block {number} of {}", peer.row, arguments.blocks);
                block(&program, peer, cpu)
            })
            .collect::<Result<_>>()?;
        let comparison = compare(&blocks, &Bootstrap::default())
            .context("two blocks are the fewest that can be compared")?;
        let line = page::line(peer, &version(peer.package), &comparison, &date, &machine);
        table.push(line[..7].iter().map(|cell| cell.replace('`', "")).collect());
        lines.push(line);
    }
    print!("{}", columns(&table));
    for peer in peers {
        println!("{}: {}", peer.name, peer.differs);
    }
    if arguments.write {
        let path = workspace::root().join(PAGE);
        let old = if path.exists() {
            workspace::read(&path)?
        } else {
            String::new()
        };
        workspace::write(&path, &page::updated(&old, &lines, PEERS))?;
        println!("{PAGE} is updated");
    }
    Ok(())
}

/// The peers of these rows, benchmarks or groups.
fn chosen(rows: &[String]) -> Result<Vec<&'static Peer>> {
    let names = |peer: &Peer, row: &String| {
        let id = peer.row.split('{').next();
        peer.row == row || id == Some(row) || peer.row.split('.').next() == Some(row)
    };
    if let Some(unknown) = rows
        .iter()
        .find(|row| !PEERS.iter().any(|peer| names(peer, row)))
    {
        let known: Vec<&str> = PEERS.iter().map(|peer| peer.row).collect();
        bail!("`{unknown}` has no peer; these have: {}", known.join(", "));
    }
    Ok(PEERS
        .iter()
        .filter(|peer| rows.is_empty() || rows.iter().any(|row| names(peer, row)))
        .collect())
}

fn block(program: &Program, peer: &Peer, cpu: u32) -> Result<Block> {
    let first = ours(program, peer.row, cpu)?;
    let peers = [theirs(peer, cpu)?, theirs(peer, cpu)?];
    Ok(Block {
        ours: [first, ours(program, peer.row, cpu)?],
        peer: peers,
    })
}

/// Our median, in ns.
fn ours(program: &Program, row: &str, cpu: u32) -> Result<f64> {
    let run = program.quick_run(&[row], Some(cpu))?;
    measured(&run, row)?
        .estimate
        .median
        .with_context(|| format!("{row} has no median"))
}

/// The peer's figure, in ns.
fn theirs(peer: &Peer, cpu: u32) -> Result<f64> {
    let figures: Vec<f64> = (0..peer.invocations)
        .map(|_| invocation(peer, cpu))
        .collect::<Result<_>>()?;
    order::median(&figures).with_context(|| format!("{} is never invoked", peer.name))
}

/// The figure of one invocation of the peer, in ns.
fn invocation(peer: &Peer, cpu: u32) -> Result<f64> {
    let command = peer.command.join(" ");
    let output = Command::new("taskset")
        .args(["-c", &cpu.to_string()])
        .args(peer.command)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {command}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{command}` ended with {}: {}",
            output.status,
            errors.trim()
        );
    }
    (peer.read)(&text)
        .filter(|nanoseconds| *nanoseconds > 0.0)
        .with_context(|| format!("`{command}` printed no figure that could be read:\n{text}"))
}

/// Whether a program is on the search path.
fn is_installed(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| {
        env::split_paths(&path).any(|folder| Path::new(&folder).join(program).is_file())
    })
}

/// The version of a Debian package; empty where nobody knows it.
fn version(package: &str) -> String {
    Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Version}", package])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_ids_and_groups_name_peers_and_others_are_told_which_do() {
        let count = |row: &str| chosen(&[row.to_owned()]).map(|peers| peers.len()).ok();
        let with = |start: &str| {
            PEERS
                .iter()
                .filter(|peer| peer.row.starts_with(start))
                .count()
        };
        assert_eq!(count("syscall.null{call=getppid}"), Some(1));
        assert_eq!(count("syscall.null"), Some(with("syscall.null{")));
        assert_eq!(count("syscall"), Some(with("syscall.")));
        assert_eq!(chosen(&[]).unwrap().len(), PEERS.len());
        let error = chosen(&["op.add".to_owned()]).unwrap_err().to_string();
        assert!(
            error.contains("`op.add` has no peer") && error.contains(PEERS[0].row),
            "{error}"
        );
    }

    #[test]
    fn a_program_that_nobody_has_is_missing() {
        assert!(is_installed("ls"));
        assert!(!is_installed("no-program-is-called-this"));
    }
}
