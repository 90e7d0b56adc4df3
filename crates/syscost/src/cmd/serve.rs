//! `syscost serve`: serves as the far end of another machine's network measurements.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use syscost_harness::clock::RunClock;
use syscost_harness::cores::known::Known;
use syscost_harness::cores::{Cores, Heard};
use syscost_harness::machine;
use syscost_net::address::DEFAULT_PORT;
use syscost_net::token::exposure;
use syscost_net::{Judge, Limits, Server, Token};
use syscost_results::Machine;
use syscost_store::Store;
use syscost_sys::clock::Clock;
use syscost_sys::cpu;

use crate::cli::ServeArguments;
use crate::error::{exit, unless_broken_pipe};
use crate::peer::Facts;
use crate::terminal::say;
use crate::{interrupt, terminal};

/// Duration of the noise probe before the server starts.
const LISTEN: Duration = Duration::from_millis(200);

/// Runs the command.
pub(crate) fn run(arguments: &ServeArguments) -> Result<u8> {
    let (token, is_new) = token(arguments.token_file.as_deref())?;
    let facts = Facts {
        version: crate::VERSION.to_owned(),
        machine: machine::capture(),
    };
    let judge = judge(&facts.machine);
    let stop = interrupt::catch()?;
    let limits = Limits {
        data_ports: arguments.data_ports.clone(),
        once: arguments.once,
        ..Limits::default()
    };
    let addresses = addresses(arguments)?;
    let facts = serde_json::to_value(&facts)?;
    let server = Server::bind(&addresses, token.clone(), limits, facts)?;
    let server = match judge {
        Some(judge) => server.with_judge(judge),
        None => server,
    };
    let mut text: String = server
        .addresses()
        .iter()
        .map(|address| format!("listening on {address}\n"))
        .collect();
    if is_new {
        text.push_str(&format!("token {}\n", token.reveal()));
    }
    // Serves even if the output cannot be read: the token may come from a file.
    unless_broken_pipe(super::print(&text))?;
    server.run(&stop, &|line| say!("{} {line}", now()));
    say!("{} ended", now());
    Ok(exit::DONE)
}

/// Returns what judges cores for clients, so that a client knows in which of its operations the far
/// end was disturbed; `None` if cores cannot be probed here. Finds first what they show while they
/// are ours.
fn judge(machine: &Machine) -> Option<Judge> {
    let cpus = cpu::allowed().ok()?;
    let clock = RunClock::choose(&cpus).calibrate();
    let (cores, _) = hear(&cpus, machine, &clock, LISTEN);
    let probe = cores.probe(clock);
    Some(Judge::new(move |cpu| cores.is_exclusive(cpu, &probe)))
}

/// Listens to these CPUs: what probes show on each core while it is ours alone, now and in earlier runs.
pub(super) fn hear(
    cpus: &[u32],
    machine: &Machine,
    clock: &Clock,
    time: Duration,
) -> (Cores, Vec<Heard>) {
    let file = Store::of_user().known_cores();
    let known = Known::new(&file, machine, crate::VERSION, clock.grain_ticks());
    Cores::hear(cpus, clock, time, Some(&known))
}

/// Returns the token of the file, or a new one, and whether to print it.
fn token(file: Option<&Path>) -> Result<(Token, bool)> {
    let Some(path) = file else {
        return Ok((Token::generate()?, true));
    };
    match Token::read(path) {
        Err(error) if error.is_missing() => {
            let token = Token::generate()?;
            token.write_new(path)?;
            say!("wrote a new token to {}", path.display());
            Ok((token, false))
        }
        read => {
            let token = read?;
            if let Some(warning) = exposure(path) {
                say!("{}warning:{} {warning}", terminal::YELLOW, terminal::RESET);
            }
            Ok((token, false))
        }
    }
}

/// The addresses to listen on.
fn addresses(arguments: &ServeArguments) -> Result<Vec<SocketAddr>> {
    if arguments.listen.is_empty() {
        let own = [[127, 0, 0, 1].into(), [0, 0, 0, 0, 0, 0, 0, 1].into()];
        let own = own.map(|ip| SocketAddr::new(ip, DEFAULT_PORT));
        // A machine without IPv6 has only the IPv4 address.
        let exists = |address: &SocketAddr| {
            address.is_ipv4() || TcpListener::bind((address.ip(), 0)).is_ok()
        };
        return Ok(own.into_iter().filter(exists).collect());
    }
    let mut found = Vec::new();
    for endpoint in &arguments.listen {
        let addresses = endpoint
            .look_up()
            .with_context(|| format!("resolving {endpoint}"))?;
        found.extend(addresses);
    }
    Ok(found)
}

/// The current time for the log, to the second.
fn now() -> impl std::fmt::Display {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}
