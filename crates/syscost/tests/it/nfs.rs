//! `syscost run --nfs` with a server in this process: what it measures, what it leaves behind, and
//! how it treats servers that are missing, refuse, stop or stay silent.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::nfs::NfsServer;
use crate::common::{Ended, Ending, Json, Program, row, rows};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::json;

/// Time after which a hang is detected: no test waits as long otherwise.
const LONG: Duration = Duration::from_secs(120);

const MEASURED: [&str; 6] = [
    "fs.nfs{op=connect}",
    "fs.nfs{op=null}",
    "fs.nfs{op=getattr}",
    "fs.nfs{op=lookup}",
    "fs.nfs{op=read,size=4K}",
    "fs.nfs{op=read,size=1M}",
];

fn command(program: &Program, selector: &str, export: &str, budget: &str) -> Command {
    program.command(&format!(
        "run {selector} --nfs {export} --profile quick --budget {budget} --no-save --format json"
    ))
}

fn run(program: &Program, export: &str) -> Ended {
    command(program, "fs.nfs", export, "12").ended()
}

/// The output of a run that must not hang.
fn ended(mut child: Child) -> Ended {
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > LONG {
            child.kill().expect("it is there");
            panic!("the run hangs");
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("a child").into()
}

#[test]
#[ignore = "machine suite"]
fn the_ladder_is_measured_and_nothing_is_left() {
    let program = Program::new();
    let server = NfsServer::start();
    let export = server.export().to_string();
    let output = run(&program, &export);
    let run = output.json();
    let located = format!("nfs://{0}:{1}/", server.address, server.address.port());
    assert_eq!(run["nfs"]["name"], json!(export));
    assert_eq!(run["nfs"]["export"], json!(located));
    assert_eq!(run["nfs"]["read_bytes"], json!(1 << 20));
    for name in MEASURED {
        let row = row(&run, name);
        // A busy machine may not get to all of them.
        if row["status"] == "skipped" {
            continue;
        }
        assert_eq!(row["status"], "ok", "{name}: {}", row["reason"]);
        for evidence in row["evidence"].list() {
            assert_ne!(evidence["verdict"], "Refuted", "{name}: {evidence}");
        }
    }
    let measured = rows(&run).iter().filter(|row| row["status"] == "ok");
    assert!(measured.count() > 0);
    assert_eq!(server.names(), ["data"]);
}

#[test]
fn without_a_server_the_rows_say_how_to_give_one() {
    let program = Program::new();
    let output = program.run("run fs.nfs{op=null} --profile quick --no-save --format json");
    let run = output.json();
    let row = row(&run, "fs.nfs{op=null}");
    assert_eq!(row["status"], "unsupported");
    let reason = row["reason"].text();
    assert!(reason.contains("--nfs nfs://HOST/EXPORT"), "{reason}");
}

#[test]
fn servers_that_are_no_use_are_reported_before_anything_is_measured() {
    let program = Program::new();
    let server = NfsServer::start();
    // A port that this test holds and on which nothing listens.
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let unserved = taken.local_addr().expect("an address");
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mute = silent.local_addr().expect("an address");
    let nonesuch = format!("nfs://{}/nonesuch", server.address);
    for (export, words) in [
        (format!("nfs://{unserved}/"), "cannot be reached"),
        (nonesuch, "refuses (mounting): MNT3ERR_NOENT for /nonesuch"),
        (
            format!("nfs://{mute}/"),
            "did not answer within 5 s (mounting)",
        ),
        ("nfs://host.invalid/".to_owned(), "resolving host.invalid"),
        ("db1:/srv".to_owned(), "expected nfs://HOST"),
    ] {
        let output = run(&program, &export);
        let messages = output.err;
        assert!(output.code != Some(0), "{export}");
        assert!(messages.contains(words), "{export}: {messages}");
        assert!(output.out.is_empty(), "{export}");
    }
}

/// A server that announces a large answer to the first call and sends a byte of it at a time.
fn dripping() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.expect("a client");
            thread::spawn(move || {
                let mut written = client.write_all(&[0x80, 0x10, 0, 0]);
                while written.is_ok() {
                    thread::sleep(Duration::from_millis(300));
                    written = client.write_all(&[0]);
                }
            });
        }
    });
    address
}

#[test]
#[ignore = "machine suite"]
fn a_server_that_drips_neither_holds_a_run_nor_hides_an_interrupt() {
    let program = Program::new();
    let export = format!("nfs://{}/", dripping());
    let begin = || {
        let mut command = command(&program, "fs.nfs{op=null}", &export, "3");
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary starts")
    };
    let output = ended(begin());
    let messages = output.err;
    assert_eq!(output.code, Some(1), "{messages}");
    assert!(messages.contains("answer"), "{messages}");

    let child = begin();
    let process = Pid::from_raw(child.id() as i32).expect("a process");
    // Until the signal is caught it ends the program, which is not what is tried here.
    let mask = format!("/proc/{}/status", child.id());
    let begun = Instant::now();
    let catches = |status: &String| {
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap_or("0").trim(), 16).unwrap_or(0);
        caught & (1 << (Signal::INT.as_raw() - 1)) != 0
    };
    while !std::fs::read_to_string(&mask).is_ok_and(|status| catches(&status)) {
        assert!(begun.elapsed() < LONG, "it never catches the signal");
        thread::sleep(Duration::from_millis(1));
    }
    kill_process(process, Signal::INT).expect("it is there");
    let output = ended(child);
    let messages = output.err;
    assert_eq!(output.code, Some(130), "{messages}");
}

#[test]
#[ignore = "machine suite"]
fn a_server_that_stops_in_the_middle_costs_rows_and_no_hang() {
    let program = Program::new();
    let mut server = NfsServer::start();
    let export = server.export().to_string();
    let child = command(&program, "fs.nfs{op=getattr}", &export, "6")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    wait_for_folder(&server);
    server.stop();
    let output = ended(child);
    let run = output.json();
    let row = row(&run, "fs.nfs{op=getattr}");
    assert_eq!(row["status"], "failed", "{row}");
    let reason = row["reason"].text();
    let names = reason.contains(&server.address.to_string());
    let endings = ["is gone (GETATTR)", "cannot be reached", "is gone ("];
    assert!(
        names && endings.iter().any(|words| reason.contains(words)),
        "{reason}"
    );
}

#[test]
#[ignore = "machine suite"]
fn what_a_killed_run_leaves_the_next_one_removes() {
    let program = Program::new();
    let server = NfsServer::start();
    let export = server.export().to_string();
    let mut command = command(&program, "fs.nfs{op=read,size=4K}", &export, "6");
    // In its own process group, so that no other process is killed; workers die with their
    // coordinator.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    wait_for_folder(&server);
    let group = Pid::from_raw(child.id() as i32).expect("a process");
    kill_process_group(group, Signal::KILL).expect("it is there");
    child.wait().expect("a child");
    // It may have been between two rows.
    let left = server.names();
    let output = run(&program, &export);
    output.json();
    assert_eq!(server.names(), ["data"], "{left:?} was left");
}

/// Waits until a row has created its directory in the export.
fn wait_for_folder(server: &NfsServer) {
    let begun = Instant::now();
    while server.names().len() < 2 {
        assert!(begun.elapsed() < LONG, "no row makes its folder");
        thread::sleep(Duration::from_millis(1));
    }
}
