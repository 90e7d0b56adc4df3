//! A session with an authenticated client.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::net::sockopt;
use serde::Serialize;

use super::task::Task;
use super::{Log, PULSE, Server};
use crate::service::Account;
use crate::socket::ready_within;
use crate::token::{Nonces, Role};
use crate::wire::{self, Core, Finish, MAX_LINE, Refused, Reply, Request, Service, Welcome};

/// Time limit for a client to read an answer.
const WRITE_PATIENCE: Duration = Duration::from_secs(5);

/// A client that has silently disappeared is noticed after a minute: keepalive probes begin after
/// this idle time,
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);

/// are repeated after this time,
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// this many times.
const KEEPALIVE_COUNT: u32 = 3;

/// An authenticated client.
#[derive(Debug)]
pub(super) struct Client {
    stream: TcpStream,
    address: SocketAddr,
    nonces: Nonces,
}

/// Why a session has ended.
enum End {
    Left,
    /// The client is sent away with this reason.
    Dismissed(String),
    Broken(io::Error),
}

impl From<io::Error> for End {
    fn from(cause: io::Error) -> Self {
        End::Broken(cause)
    }
}

impl Client {
    pub(super) fn new(stream: TcpStream, address: SocketAddr, nonces: Nonces) -> Self {
        Self {
            stream,
            address,
            nonces,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same client once more, to be refused if its session cannot begin.
    pub(super) fn again(&self) -> io::Result<Self> {
        Ok(Self {
            stream: self.stream.try_clone()?,
            ..*self
        })
    }

    pub(super) fn refuse(mut self, why: &str) {
        // The send buffer has room for it, unless the client does not read.
        let _ = self.stream.write(&wire::encode(&Refused::new(why)));
    }

    pub(super) fn serve(self, server: &Server, number: u64, log: Log<'_>) {
        let (begun, address) = (Instant::now(), self.address);
        log(&format!("session {number} of {address} begins"));
        let end = match self.begin(server, number, log) {
            Ok(session) => session.go_on(),
            Err(cause) => End::Broken(cause),
        };
        let why = match end {
            End::Left => "the client disconnected".to_owned(),
            End::Dismissed(why) => why,
            End::Broken(cause) => cause.to_string(),
        };
        let seconds = begun.elapsed().as_secs_f64();
        log(&format!(
            "session {number} ended after {seconds:.1} s: {why}"
        ));
    }

    fn begin<'s>(self, server: &'s Server, number: u64, log: Log<'s>) -> io::Result<Session<'s>> {
        let stream = self.stream;
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(WRITE_PATIENCE))?;
        sockopt::set_socket_keepalive(&stream, true)?;
        sockopt::set_tcp_keepidle(&stream, KEEPALIVE_IDLE)?;
        sockopt::set_tcp_keepintvl(&stream, KEEPALIVE_INTERVAL)?;
        sockopt::set_tcp_keepcnt(&stream, KEEPALIVE_COUNT)?;
        let mut session = Session {
            deadline: Instant::now() + server.limits.session,
            local: stream.local_addr()?,
            peer: self.address,
            stream,
            server,
            number,
            log,
            buffer: Vec::new(),
        };
        session.say(&Welcome {
            proof: server.token.prove(Role::Server, &self.nonces),
            facts: server.facts.clone(),
        })?;
        Ok(session)
    }
}

struct Session<'s> {
    server: &'s Server,
    number: u64,
    log: Log<'s>,
    stream: TcpStream,
    local: SocketAddr,
    peer: SocketAddr,
    deadline: Instant,
    buffer: Vec<u8>,
}

/// What a session has open.
enum Open<'scope> {
    Nothing,
    Task(Task<'scope>),
    /// A service that ended before the client asked for it, and why.
    Failed(String),
}

impl Session<'_> {
    /// Serves the client's requests until it or this server ends the session.
    fn go_on(mut self) -> End {
        let end = thread::scope(|scope| {
            let mut open = Open::Nothing;
            loop {
                let answered = self
                    .request(&mut open)
                    .and_then(|request| self.answer(request, &mut open, scope));
                if let Err(end) = answered {
                    // An open service ends with the session.
                    return end;
                }
            }
        });
        if let End::Dismissed(why) = &end {
            let _ = self.say(&Refused::new(why.as_str()));
        }
        end
    }

    fn answer<'scope>(
        &mut self,
        request: Request,
        open: &mut Open<'scope>,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<(), End> {
        let reply = match request {
            Request::Open(service) => self.open(service, open, scope),
            Request::Read(_) => match open {
                Open::Task(task) => Reply::Reading(task.reading()),
                Open::Nothing => nothing_open(),
                Open::Failed(why) => Reply::Failed(why.clone()),
            },
            Request::Look(_) => match open {
                Open::Task(task) => self.look(task),
                Open::Nothing => nothing_open(),
                Open::Failed(why) => Reply::Failed(why.clone()),
            },
            Request::Finish(Finish { sent }) => match std::mem::replace(open, Open::Nothing) {
                Open::Task(task) => self.end(task, sent),
                Open::Nothing => nothing_open(),
                Open::Failed(why) => Reply::Failed(why),
            },
        };
        Ok(self.say(&reply)?)
    }

    fn open<'scope>(
        &self,
        service: Service,
        open: &mut Open<'scope>,
        scope: &'scope Scope<'scope, '_>,
    ) -> Reply {
        if matches!(open, Open::Task(_)) {
            return Reply::Failed("another service is open in this session".to_owned());
        }
        let peer = self.peer.ip().to_canonical();
        match Task::begin(scope, service, self.local, peer, &self.server.limits) {
            Ok(task) => {
                let opening = task.opening;
                *open = Open::Task(task);
                Reply::Opened(opening)
            }
            Err(why) => {
                *open = Open::Nothing;
                Reply::Failed(why)
            }
        }
    }

    /// Looks at the core of the task that serves.
    fn look(&self, task: &Task<'_>) -> Reply {
        let Some(judge) = &self.server.judge else {
            return Reply::Failed("this server does not look at cores".to_owned());
        };
        let looked = task.cpu().and_then(|cpu| {
            let is_exclusive = judge.look_at(cpu)?;
            Ok(Core { cpu, is_exclusive })
        });
        match looked {
            Ok(core) => Reply::Core(core),
            Err(reason) => Reply::Failed(reason.to_string()),
        }
    }

    /// Ends a service; replies with its account, or why it failed.
    fn end(&self, task: Task<'_>, sent: Option<u64>) -> Reply {
        let service = task.service().clone();
        let ended = task.end(sent);
        self.note(&service, &ended);
        match ended {
            Ok(account) => Reply::Account(Box::new(account)),
            Err(why) => Reply::Failed(why),
        }
    }

    fn note(&self, service: &Service, ended: &Result<Account, String>) {
        let what = String::from_utf8_lossy(&wire::encode(service))
            .trim_end()
            .to_owned();
        let outcome = match ended {
            Ok(account) => format!(
                "{} messages, {} bytes in {:.3} s",
                account.messages,
                account.bytes,
                account.elapsed_ns as f64 / 1e9
            ),
            Err(why) => format!("failed: {why}"),
        };
        (self.log)(&format!("session {}: {what}: {outcome}", self.number));
    }

    /// Waits for the client's next request.
    fn request(&mut self, open: &mut Open<'_>) -> Result<Request, End> {
        let strange = |error: wire::WireError| End::Dismissed(error.to_string());
        loop {
            if let Some((line, rest)) = wire::split(&self.buffer, MAX_LINE).map_err(strange)? {
                let request = wire::decode(line).map_err(strange);
                self.buffer = rest.to_vec();
                return request;
            }
            self.check_time(open)?;
            if !ready_within(&self.stream, PollFlags::IN, PULSE).map_err(io::Error::from)? {
                continue;
            }
            let mut bytes = [0; 1024];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(End::Left),
                Ok(count) => self.buffer.extend_from_slice(&bytes[..count]),
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(End::Broken(cause)),
            }
        }
    }

    /// Ends the session or its service if it has reached its time limit.
    fn check_time(&self, open: &mut Open<'_>) -> Result<(), End> {
        let limits = &self.server.limits;
        if self.server.is_ending.load(Ordering::Relaxed) {
            return Err(End::Dismissed("the server ends".to_owned()));
        }
        if Instant::now() >= self.deadline {
            let seconds = limits.session.as_secs_f64();
            return Err(End::Dismissed(format!(
                "the limit of {seconds} s per session is reached"
            )));
        }
        if let Open::Task(task) = open
            && task.is_overdue()
        {
            let seconds = limits.service.as_secs_f64();
            let why = format!("the limit of {seconds} s per service is reached");
            self.note(task.service(), &Err(why.clone()));
            *open = Open::Failed(why);
        }
        Ok(())
    }

    fn say(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.stream.write_all(&wire::encode(message))
    }
}

fn nothing_open() -> Reply {
    Reply::Failed("no service is open in this session".to_owned())
}
