//! Calls one after another over one connection, and what is known of them from sources other than the
//! client.

use std::time::Instant;

use syscost_harness::prelude::*;
use syscost_net::nfs::Export;
use syscost_net::service::TcpSide;
use syscost_nfs::{Client, FILE, Folder, NfsError, Procedure, Traffic};
use syscost_sys::files::stamp;
use syscost_sys::memory::map_blocks_from;

use crate::net::interface::InterfaceCounters;
use crate::witness::files::MOVED;

const TCP_INFO: &str = "TCP_INFO";

/// Maximum bytes of an answer besides its content: record marks, verifiers, attributes.
const MAX_HEAD: f64 = 300.0;

/// Bytes of a segment on Ethernet: the receiving call may wake up for each.
const SEGMENT: f64 = 1448.0;

/// Blocks of memory below this many bytes come from a heap that keeps them, so that a reply's
/// buffer costs neither calls nor page faults.
const MAX_BLOCK: usize = 16 << 20;

static PROCEDURE: Witness = Witness::of("NFS procedure of every call", SOURCE);

const SOURCE: &str = "bytes of the connection";

/// Proof of a procedure by its number, and by the calls of one round trip: a record is sent in one
/// call, and of a reply the record mark is received first, which holds the length of the rest.
pub(super) fn proof(call: Call) -> Proof {
    let counted = [together(Sysno::SENDTO, 1.0), together(Sysno::RECVFROM, 2.0)];
    PROCEDURE
        .expects(call.in_protocol())
        .and(Proof::counted(counted))
}

/// Measures calls to the server of this export, of which each READ asks for this many bytes.
pub(super) fn measure<'p>(
    mut plan: Plan<'p>,
    export: &Export,
    call: Call,
    bytes: u32,
) -> Result<Outcome<'p>, Failure> {
    map_blocks_from(MAX_BLOCK)?;
    announce(&mut plan, export, call, bytes)?;
    let segments = (f64::from(bytes) / SEGMENT).ceil();
    plan.expect(at_most(Counter::Switches, 2.3 + segments));
    let pages = f64::from(bytes / 4096);
    plan.expect(at_most(Counter::MinorFaults, 0.01 * pages.max(1.0)));
    let (seed, is_whole, clock) = (plan.random().u64(..), !plan.is_timed(), *plan.clock());
    let (mut outcome, caller) = plan
        .measure(Together::of(Placement::SAME, |_| {
            let laps = Laps::new(clock);
            let caller = Caller::open(export, (call, bytes), seed, is_whole, laps)?;
            Ok(Team::new(Vec::new(), caller))
        }))?
        .split();
    caller.claim(&mut outcome, export)?;
    Ok(outcome)
}

/// Announces how long a call takes, which depends on the path.
fn announce(plan: &mut Plan, export: &Export, call: Call, bytes: u32) -> Result<(), Failure> {
    if plan.is_timed() {
        return Ok(());
    }
    let laps = Laps::new(*plan.clock());
    let mut caller = Caller::open(export, (call, bytes), 0, false, laps)?;
    // During the first call the connection's windows are still small.
    caller.iterate()?;
    let begun = Instant::now();
    caller.iterate()?;
    let takes = begun.elapsed();
    caller.end()?;
    plan.takes_about(takes.as_nanos() as f64);
    Ok(())
}

/// The measuring side.
struct Caller {
    call: Call,
    /// Bytes of content in an answer.
    bytes: u32,
    client: Client,
    subject: Option<Subject>,
    laps: Laps,
    interface: InterfaceCounters,
    iterations: u64,
    before: Watched,
    after: Option<Watched>,
    /// What the server lists in the folder at the end.
    names: Vec<String>,
}

/// The state of the connection at a moment.
#[derive(Debug, Clone)]
struct Watched {
    /// According to the bytes themselves.
    traffic: Traffic,
    /// According to the kernel.
    kernel: Option<TcpSide>,
}

impl Watched {
    fn now(client: &Client) -> Self {
        Self {
            traffic: client.traffic(),
            kernel: TcpSide::of(client.socket()),
        }
    }
}

impl Caller {
    fn open(
        export: &Export,
        (call, bytes): (Call, u32),
        seed: u64,
        is_whole: bool,
        laps: Laps,
    ) -> Result<Self, Failure> {
        let mut client = Client::mount(export).map_err(failed)?;
        let most = client.limits().map_err(failed)?.read;
        if bytes > most {
            return Err(Failure::Unsupported(format!(
                "this server returns at most {most} bytes in a READ"
            )));
        }
        let interface = InterfaceCounters::of(client.socket())?;
        let make = |bytes| Subject::make(&mut client, bytes, seed, is_whole);
        let subject = call.file_bytes().map(make).transpose().map_err(failed)?;
        Ok(Self {
            call,
            bytes,
            before: Watched::now(&client),
            client,
            subject,
            laps,
            interface,
            iterations: 0,
            after: None,
            names: Vec::new(),
        })
    }

    #[inline(always)]
    fn iterate(&mut self) -> Result<(), Failure> {
        self.iterations += 1;
        let client = &mut self.client;
        match (self.call, &mut self.subject) {
            (Call::Null, _) => client.null().map_err(failed),
            (Call::Getattr, Some(subject)) => subject.getattr(client),
            (Call::Lookup, Some(subject)) => subject.lookup(client),
            (Call::Read, Some(subject)) => subject.read(client, self.bytes),
            (Call::Getattr | Call::Lookup | Call::Read, None) => {
                Err(Failure::Broken("has no file to ask for".into()))
            }
        }
    }

    /// Claims what passed over the connection, according to its bytes and the kernel.
    fn claim(&self, b: &mut Bencher, export: &Export) -> Result<(), Failure> {
        let Some(after) = &self.after else {
            return Err(Failure::Broken("has a team that never ended".into()));
        };
        let (before, iterations) = (&self.before, self.iterations as f64);
        let since = |of: fn(&Traffic) -> u64| of(&after.traffic) - of(&before.traffic);
        let made = match after.traffic.procedure == Some(self.call.procedure()) {
            true => since(|traffic| traffic.calls).min(after.traffic.in_a_row),
            false => 0,
        };
        let of_other = format!(
            "{made} of {iterations} calls of {}",
            self.call.in_protocol()
        );
        match made as f64 == iterations {
            true => b.observe(&PROCEDURE, self.call.in_protocol()),
            false => b.observe(&PROCEDURE, of_other),
        }
        let matched = since(|traffic| traffic.matched) as f64;
        let what = "replies with the number (xid) of the call before them";
        b.claim_equal(what, iterations, matched, SOURCE);
        let (sent, received) = (
            since(|traffic| traffic.sent),
            since(|traffic| traffic.received),
        );
        self.claim_kernel(b, after, sent, received);
        let content = f64::from(self.bytes);
        if content > 0.0 {
            let bound = Bound::Within(content, content + MAX_HEAD);
            let what = "bytes received per READ, its size and its head";
            b.claim_within(what, bound, received as f64 / iterations, SOURCE);
            b.observe(&MOVED, u64::from(self.bytes));
            let what = match b.is_timed() {
                true => "READs whose ends are as written",
                false => "READs whose every byte is as written",
            };
            let checked = self.subject.as_ref().map_or(0, |subject| subject.checked);
            b.claim_equal(what, iterations, checked as f64, "position stamps");
        }
        if self.subject.is_some() {
            let listed = self.names.join(" ");
            let what = "names in the folder that was made";
            b.claim_equal(what, FILE.to_owned(), listed, "READDIR");
        }
        let named = super::server(export)?.to_string();
        let reached = self.client.socket().peer_addr();
        let reached = reached.map_or_else(|error| error.to_string(), |is| is.to_string());
        b.claim_equal("address of the server", named, reached, "getpeername");
        self.interface.claim(b, sent, received);
        Ok(())
    }

    /// Claims that the kernel counted the bytes that the client sent and received.
    fn claim_kernel(&self, b: &mut Bencher, after: &Watched, sent: u64, received: u64) {
        let Some((before, after)) = self.before.kernel.as_ref().zip(after.kernel.as_ref()) else {
            let reason = "this kernel has no TCP_INFO";
            b.claim_unobserved("bytes acknowledged", sent as f64, TCP_INFO, reason);
            return;
        };
        let risen = |of: fn(&TcpSide) -> u64| of(after).saturating_sub(of(before)) as f64;
        let (acknowledged, came) = (
            risen(|side| side.bytes_acked),
            risen(|side| side.bytes_received),
        );
        b.claim_equal("bytes acknowledged", sent as f64, acknowledged, TCP_INFO);
        b.claim_equal("bytes received", received as f64, came, TCP_INFO);
        b.detail("retransmits_count", after.retransmits as f64);
        b.detail("segment_bytes", f64::from(after.mss));
    }
}

impl Driver for Caller {
    const MAX_ITERATIONS: u64 = Laps::MAX_ITERATIONS;

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.laps.begin();
        for _ in 0..iterations {
            self.iterate()?;
            self.laps.note();
        }
        Ok(())
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        Some(&mut self.laps)
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.after = Some(Watched::now(&self.client));
        self.interface.end();
        if let Some(subject) = &self.subject {
            self.names = subject.names(&mut self.client).map_err(failed)?;
            subject.folder.remove(&mut self.client).map_err(failed)?;
        }
        Ok(())
    }
}

impl Drop for Caller {
    /// After a failure; what cannot be removed now is left to the sweep at the end of the run.
    fn drop(&mut self) {
        if let (None, Some(subject)) = (&self.after, &self.subject) {
            let _ = subject.folder.remove(&mut self.client);
        }
    }
}

/// The program of NFS (RFC 1813).
const NFS: u32 = 100_003;

/// Bytes of the file that is read.
const FILE_BYTES: usize = 1 << 20;

/// Bytes of the file of which only attributes or the name are requested.
const PLAIN_BYTES: usize = 4 << 10;

/// A procedure that is called.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fs) enum Call {
    Null,
    Getattr,
    Lookup,
    Read,
}

impl Call {
    fn in_protocol(self) -> String {
        self.name().to_uppercase()
    }

    const fn procedure(self) -> Procedure {
        let number = match self {
            Call::Null => 0,
            Call::Getattr => 1,
            Call::Lookup => 3,
            Call::Read => 6,
        };
        Procedure {
            program: NFS,
            number,
        }
    }

    /// Size of the file that it needs, in bytes; `None` if it needs none.
    const fn file_bytes(self) -> Option<usize> {
        match self {
            Call::Null => None,
            Call::Getattr | Call::Lookup => Some(PLAIN_BYTES),
            Call::Read => Some(FILE_BYTES),
        }
    }
}

/// A stamped file on the server.
#[derive(Debug)]
struct Subject {
    folder: Folder,
    bytes: usize,
    seed: u64,
    id: u64,
    /// Where the next READ begins.
    offset: usize,
    /// READs whose content was compared.
    checked: u64,
    /// Whether all content is compared, or only its ends.
    is_whole: bool,
}

impl Subject {
    fn make(
        client: &mut Client,
        bytes: usize,
        seed: u64,
        is_whole: bool,
    ) -> Result<Self, NfsError> {
        let mut content = vec![0; bytes];
        stamp::fill(&mut content, 0, seed);
        let folder = Folder::make(client, &content)?;
        let id = client.getattr(folder.file())?.id;
        Ok(Self {
            folder,
            bytes,
            seed,
            id,
            offset: 0,
            checked: 0,
            is_whole,
        })
    }

    #[inline]
    fn getattr(&self, client: &mut Client) -> Result<(), Failure> {
        let is = client.getattr(self.folder.file()).map_err(failed)?;
        match is.id == self.id && is.bytes == self.bytes as u64 {
            true => Ok(()),
            false => Err(Failure::Refuted(format!(
                "GETATTR reports file {} with {} bytes, not file {} with {}",
                is.id, is.bytes, self.id, self.bytes
            ))),
        }
    }

    #[inline]
    fn lookup(&self, client: &mut Client) -> Result<(), Failure> {
        let found = client.lookup(self.folder.handle(), FILE).map_err(failed)?;
        match found == *self.folder.file() {
            true => Ok(()),
            false => Err(Failure::Refuted(
                "LOOKUP found another file than the one that was made".into(),
            )),
        }
    }

    #[inline]
    fn read(&mut self, client: &mut Client, bytes: u32) -> Result<(), Failure> {
        let (offset, size) = (self.offset, bytes as usize);
        let slice = client
            .read(self.folder.file(), offset as u64, bytes)
            .map_err(failed)?;
        if slice.bytes.len() != size {
            let got = slice.bytes.len();
            let what = format!("a READ of {size} bytes returned {got}");
            return Err(Failure::Refuted(what));
        }
        super::check(&slice.bytes, offset as u64, self.seed, self.is_whole)?;
        self.checked += 1;
        self.offset = (offset + size) % self.bytes;
        Ok(())
    }

    fn names(&self, client: &mut Client) -> Result<Vec<String>, NfsError> {
        client.names(self.folder.handle())
    }
}

/// The failure of a row: a server that refuses, or is gone, costs one row.
fn failed(error: NfsError) -> Failure {
    Failure::Failed(error.to_string())
}
