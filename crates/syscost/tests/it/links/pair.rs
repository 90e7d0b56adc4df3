//! The real program at both ends of a link: `syscost serve` at the far end, `syscost run --peer` at
//! the near end.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::MutexGuard;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use syscost_net::Token;

use super::{Link, Running, Shape, Side};
use crate::common::{Json, Program};
use crate::tool::{Failure, turn};

/// The port of the far end.
const PORT: u16 = 7717;
/// Seconds that a run may take, and that it may take where rows were left out for lack of time:
/// beside other programs, and over a link that loses packets, a round takes far longer.
const BUDGETS: [&str; 2] = ["16", "60"];

/// Rows of a benchmark whose far end is another host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    /// The benchmark.
    pub(crate) id: &'static str,
    /// The parameters that select its rows.
    pub(crate) case: &'static str,
}

/// The round trip by ICMP.
pub(crate) const ICMP_ROUND_TRIP: Rows = Rows {
    id: "net.icmp.round_trip",
    case: "path=remote",
};
/// The round trip over a connection.
pub(crate) const TCP_ROUND_TRIP: Rows = Rows {
    id: "net.tcp.round_trip",
    case: "path=remote,size=64,wait=block",
};
/// The round trip of datagrams.
pub(crate) const UDP_ROUND_TRIP: Rows = Rows {
    id: "net.udp.round_trip",
    case: "path=remote,size=64,wait=block",
};
/// The bandwidth of one connection to the far end.
pub(crate) const TCP_BANDWIDTH: Rows = Rows {
    id: "net.tcp.bandwidth",
    case: "path=remote,streams=1,size=64K,direction=send,via=write",
};
/// The goodput of datagrams to the far end, at a rate that fills no queue.
pub(crate) const UDP_BANDWIDTH: Rows = Rows {
    id: "net.udp.bandwidth",
    case: "path=remote,rate=10000/s",
};
impl Rows {
    fn selector(self) -> String {
        format!("{}{{{}}}", self.id, self.case)
    }

    /// The run's rows of this kind; at least one.
    pub(crate) fn of(self, run: &Value) -> Vec<&Value> {
        let rows = crate::common::rows(run).iter();
        let rows: Vec<&Value> = rows.filter(|row| row["id"] == self.id).collect();
        assert!(!rows.is_empty(), "no row of {}", self.selector());
        rows
    }

    /// Their medians, which must exist.
    pub(crate) fn medians(self, run: &Value) -> Vec<f64> {
        self.numbers(run, |row| &row["estimate"]["median"])
    }

    /// A detail of each of them.
    pub(crate) fn details(self, run: &Value, name: &str) -> Vec<f64> {
        self.numbers(run, |row| &row["details"][name])
    }

    /// What was observed for a claim that each of them makes.
    pub(crate) fn observed(self, run: &Value, claim: &str) -> Vec<Value> {
        let found = self.of(run).into_iter().map(|row| {
            let evidence = row["evidence"].list();
            let found = evidence.iter().find(|one| one["claim"] == claim);
            let found = found.unwrap_or_else(|| panic!("it makes no such claim: {row}"));
            found["observed"].clone()
        });
        found.collect()
    }

    fn numbers(self, run: &Value, number: impl Fn(&Value) -> &Value) -> Vec<f64> {
        let found = self.of(run).into_iter().map(|row| {
            let found = number(row).as_f64();
            found.unwrap_or_else(|| panic!("it has no such number: {row}"))
        });
        found.collect()
    }
}

/// A link, the program, and its token, while no other test measures.
pub(crate) struct Pair {
    // Dropped before the link is removed.
    _turn: MutexGuard<'static, ()>,
    pub(crate) link: Link,
    program: Program,
}

/// How a run ended.
pub(crate) struct Ended {
    /// What the program returned.
    status: ExitStatus,
    /// What it printed, on both streams.
    said: String,
    /// The document, if it wrote one.
    document: Option<Value>,
}

impl Pair {
    /// Sets up both ends; an error if this machine cannot create links.
    pub(crate) fn new(shape: Shape) -> Result<Self, Failure> {
        let program = Program::new();
        let token = Token::generate().expect("random");
        token
            .write_new(&program.folder().join("token"))
            .expect("written");
        let link = Link::new(shape)?;
        Ok(Self {
            _turn: turn(),
            link,
            program,
        })
    }

    /// The address at which the far end listens.
    fn address(&self) -> SocketAddr {
        (self.link.address(Side::Far), PORT).into()
    }

    /// Starts the far end and waits until it listens.
    pub(crate) fn serve(&self) -> Running {
        let address = self.address().to_string();
        let mut command = self.command(Side::Far, &["serve", "--listen", &address]);
        command.args(self.token());
        let mut far = Running::start(command);
        // It prints its address.
        while !far.output().contains(&address) {
            assert!(far.is_alive(), "the far end has ended: {}", far.output());
            sleep(Duration::from_millis(10));
        }
        far
    }

    /// Runs these rows, which must succeed, with more time if there was too little for some.
    pub(crate) fn measure(&self, rows: &[Rows]) -> Value {
        let [short, long] = BUDGETS;
        let mut ended = self.run(short, rows);
        if ended.lacked_time() {
            println!("measured again: {short} s were too short");
            ended = self.run(long, rows);
        }
        assert!(ended.status.success(), "{}: {}", ended.status, ended.said);
        ended.document.expect("a document")
    }

    /// Runs these rows until the run ends.
    fn run(&self, budget: &str, rows: &[Rows]) -> Ended {
        let mut run = Running::start(self.near(rows, budget));
        let status = run.wait();
        self.ended(status, run.output())
    }

    /// Starts a run of these rows, calls `disturb` once payload flows, and waits until the run ends
    /// by itself.
    pub(crate) fn run_disturbed(&self, rows: Rows, disturb: impl FnOnce()) -> Ended {
        /// More bytes than any handshake has.
        const PAYLOAD: u64 = 100_000;
        let before = self.link.received_bytes(Side::Far);
        let mut near = Running::start(self.near(&[rows], BUDGETS[0]));
        while self.link.received_bytes(Side::Far) < before + PAYLOAD {
            assert!(near.is_alive(), "the run has ended: {}", near.output());
        }
        disturb();
        let status = near.wait();
        self.ended(status, near.output())
    }

    fn ended(&self, status: ExitStatus, said: String) -> Ended {
        let document = fs::read(self.document())
            .ok()
            .map(|bytes| serde_json::from_slice(&bytes).expect("a whole document"));
        Ended {
            status,
            said,
            document,
        }
    }

    /// The command of a run.
    fn near(&self, rows: &[Rows], budget: &str) -> Command {
        // The document of an earlier run must not be taken for this one's.
        let document = self.document();
        let _ = fs::remove_file(&document);
        let address = self.address().to_string();
        // bbr, the default on some systems, retransmits thousands of segments on a plain pair.
        let options = ["run", "--peer", &address, "--congestion", "cubic"];
        let mut command = self.command(Side::Near, &options);
        command
            .args(self.token())
            .args(["--profile", "quick", "--budget", budget, "--no-save", "-o"])
            .arg(document)
            .args(rows.iter().map(|rows| rows.selector()));
        command
    }

    fn command(&self, side: Side, arguments: &[&str]) -> Command {
        let mut command = self.link.command(side, env!("CARGO_BIN_EXE_syscost"));
        command.args(arguments);
        self.program.confine(&mut command);
        command
    }

    fn token(&self) -> [PathBuf; 2] {
        let file = self.program.folder().join("token");
        [Path::new("--token-file").to_owned(), file]
    }

    fn document(&self) -> PathBuf {
        self.program.folder().join("run.json")
    }
}

impl Ended {
    /// Whether there was no time for some row.
    fn lacked_time(&self) -> bool {
        let mut rows = self.document.iter().flat_map(crate::common::rows);
        rows.any(|row| row["status"] == "skipped")
    }

    /// Asserts that the run ended as it should when its far end is gone: by itself, with the reason
    /// why there is no number.
    pub(crate) fn assert_clear(&self) {
        let code = self.status.code();
        let is_decision = code.is_some_and(|code| (1..=4).contains(&code));
        assert!(is_decision, "{}: {}", self.status, self.said);
        let Some(document) = &self.document else {
            assert!(!self.said.trim().is_empty(), "no document and no message");
            return;
        };
        for row in crate::common::rows(document) {
            assert_ne!(row["status"], "ok", "{row}");
            let reason = row["reason"].as_str().unwrap_or_default();
            assert!(!reason.is_empty(), "{row}");
        }
    }
}
