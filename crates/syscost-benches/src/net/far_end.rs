//! Shared: the far end of a connection: a partner on this machine, or `syscost serve` on another.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::ops::Deref;
use std::time::{Duration, Instant};

use syscost_harness::peer::PeerAccess;
use syscost_harness::prelude::*;
use syscost_net::client::Opened;
use syscost_net::socket::Tcp;
use syscost_net::wire::Core;
use syscost_net::{Account, Service, Session, Wait};
use syscost_sys::process;

/// Round trips that it takes to begin a session.
const EXCHANGES_OF_A_SESSION: u32 = 3;

/// A message up to this size, in bytes, takes no longer than a line of a session; the time of a
/// larger one depends on the path's bandwidth as well.
const FEW_BYTES: usize = 1024;

/// Where the far end is.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// A partner on this machine.
    Loopback,
    /// `syscost serve`, on whatever machine it runs.
    Remote,
}

impl Path {
    pub(crate) fn each(here: &Testbed) -> Vec<Self> {
        let remote = here.targets.peer().map(|_| Self::Remote);
        [Self::Loopback].into_iter().chain(remote).collect()
    }

    /// How many of the two ends are tasks of this machine.
    pub(crate) fn own_ends(self) -> f64 {
        match self {
            Self::Loopback => 2.0,
            Self::Remote => 1.0,
        }
    }

    /// The families by which its far end can be reached, the usual one first.
    pub(crate) fn families(self, here: &Testbed) -> Vec<Family> {
        match self {
            Self::Loopback => Family::ALL.to_vec(),
            Self::Remote => Destination::remote(here)
                .map(|to| to.family)
                .into_iter()
                .collect(),
        }
    }

    /// Where a row on this path has its partner: on one of these CPUs, if it has one.
    pub(crate) fn cpus(self, places: &[Placement]) -> Vec<Option<Placement>> {
        match self {
            Self::Loopback => places.iter().copied().map(Some).collect(),
            Self::Remote => vec![None],
        }
    }
}

/// The Internet protocol.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    pub(crate) fn of_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(_) => Family::Ipv4,
            IpAddr::V6(_) => Family::Ipv6,
        }
    }

    pub(crate) fn loopback(self) -> IpAddr {
        match self {
            Family::Ipv4 => Ipv4Addr::LOCALHOST.into(),
            Family::Ipv6 => Ipv6Addr::LOCALHOST.into(),
        }
    }
}

/// The far end that a row's parameters name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Destination {
    pub(crate) path: Path,
    pub(crate) family: Family,
    /// Where a partner runs; on the measuring task's CPU if the row does not say.
    pub(crate) cpus: Option<Placement>,
}

impl Destination {
    pub(crate) fn new(path: Path, family: Family, cpus: Option<Placement>) -> Self {
        Self { path, family, cpus }
    }

    pub(crate) fn remote(here: &Testbed) -> Option<Self> {
        let given = here.targets.peer().ok()?;
        let family = Family::of_address(given.address.ip());
        Some(Self::new(Path::Remote, family, None))
    }

    pub(crate) fn placement(self) -> Placement {
        self.cpus.unwrap_or(Placement::SAME)
    }

    /// How it is reached; fails if no far end was given.
    fn route(self, targets: &Targets) -> Result<Route, Failure> {
        Ok(match self.path {
            Path::Loopback => Route::Loopback(self.placement(), self.family),
            Path::Remote => Route::Remote(targets.peer()?),
        })
    }

    /// Whether it can be reached; the error says why it cannot.
    pub(crate) fn support(self, here: &Testbed) -> Result<(), Unsupported> {
        match self.path {
            Path::Loopback => usable(self.family.loopback()),
            Path::Remote => here.targets.peer().map(drop),
        }
    }

    /// Whether it is the far end that was given, or a partner by IPv4.
    pub(crate) fn is_usual(self) -> bool {
        self.path == Path::Remote || self.family == Family::Ipv4
    }
}

/// A row that is measured between this end and a far end; see [`Measured`] for all of it and for `By`.
pub(crate) trait Networked<By = ()>: Params {
    /// The rows that there are here, in order.
    fn rows(here: &Testbed) -> Vec<Case<Self>>;

    fn destination(&self) -> Destination;

    /// The shortest profile that measures it when nothing is selected by name.
    fn profile(&self) -> Profile {
        Profile::Standard
    }

    /// Whether this machine can do it, if its far end can be reached.
    fn support(&self) -> Result<(), Unsupported> {
        Ok(())
    }

    /// What proves each of its parameters.
    fn proofs(&self) -> Self::Proofs<Proof>;

    fn measure(self, route: Route, plan: Plan<'_>) -> Result<Outcome<'_>, Failure>;
}

/// Such a row as any other.
#[derive(Clone)]
pub(crate) struct OverNetwork<R>(pub(crate) R);

impl<R: Params> Params for OverNetwork<R> {
    const MEANINGS: &'static [(&'static str, &'static str)] = R::MEANINGS;
    type Proofs<P> = R::Proofs<P>;

    fn read<'t>(text_of: impl Fn(&str) -> &'t str) -> Option<Self> {
        R::read(text_of).map(Self)
    }

    fn in_order<P>(proofs: R::Proofs<P>) -> Vec<P> {
        R::in_order(proofs)
    }
}

impl<R: Networked<By>, By> Measured<By> for OverNetwork<R> {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let rows = R::rows(here).into_iter();
        rows.map(|case| case.map(OverNetwork)).collect()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        self.0.profile()
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
        self.0.destination().support(here)?;
        self.0.support()
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        self.0.proofs()
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let route = self.0.destination().route(plan.targets())?;
        self.0.measure(route, plan)
    }
}

/// Where the far end is, with what it takes to reach it.
#[derive(Debug, Clone)]
pub(crate) enum Route {
    /// Through the kernel of this machine, to a partner there.
    Loopback(Placement, Family),
    /// To `syscost serve`, on whatever machine it runs.
    Remote(PeerAccess),
}

impl Route {
    pub(crate) fn placement(&self) -> Placement {
        match self {
            Self::Loopback(placement, _) => *placement,
            Self::Remote(_) => Placement::SAME,
        }
    }

    /// Whether the far end is a partner.
    pub(crate) fn is_loopback(&self) -> bool {
        matches!(self, Self::Loopback(..))
    }

    /// The address of the far end, without a port.
    pub(crate) fn address(&self) -> IpAddr {
        match self {
            Self::Loopback(_, family) => family.loopback(),
            Self::Remote(given) => given.address.ip(),
        }
    }

    /// Announces how long an exchange of this many bytes takes, if that may be long.
    pub(crate) fn announce(&self, plan: &mut Plan, size: usize) -> Result<(), Failure> {
        if let (Self::Remote(given), false) = (self, plan.is_timed()) {
            let begun = Instant::now();
            let session = Session::connect(given.address, &given.token, process::patience())?;
            let round_trip = begun.elapsed() / EXCHANGES_OF_A_SESSION;
            let takes = match size > FEW_BYTES {
                true => exchange(session, size)?,
                false => round_trip,
            };
            plan.takes_about(takes.as_nanos() as f64);
        }
        Ok(())
    }
}

/// How long a message of this many bytes takes there and back once the connection has adapted to the path.
fn exchange(mut session: Session, size: usize) -> Result<Duration, Failure> {
    let tcp = Tcp::nodelay();
    let service = Service::StreamEcho {
        size: size as u32,
        wait: Wait::Block,
        tcp: tcp.clone(),
    };
    let mut stream = session.open(&service)?.stream(&tcp)?;
    let mut message = vec![1; size];
    let mut takes = Duration::ZERO;
    for _ in 0..2 {
        let begun = Instant::now();
        stream
            .set_read_timeout(Some(process::patience()))
            .and_then(|()| stream.write_all(&message))
            .and_then(|()| stream.read_exact(&mut message))
            .tried("exchange a message")?;
        takes = begun.elapsed();
    }
    Ok(takes)
}

/// Whether messages can be sent to this address of this machine.
pub(crate) fn usable(address: IpAddr) -> Result<(), Unsupported> {
    // An address of lo may be bound while lo is down; nothing can be sent to it.
    let socket = UdpSocket::bind(SocketAddr::new(address, 0));
    match socket.and_then(|socket| socket.connect(socket.local_addr()?)) {
        Ok(()) => Ok(()),
        Err(error) => Err(Unsupported::new(format!(
            "{address} cannot be used: {error}; is the interface lo up, and has it this address?"
        ))),
    }
}

/// The far end, which serves and is ended by the near end.
pub(crate) enum FarEnd {
    /// A process of this machine.
    Partner(Responder<Account>),
    /// A session with `syscost serve`, which has a service open.
    Peer(Box<Session>),
}

impl FarEnd {
    /// A partner on these CPUs, which serves with what it was `given` until it is stopped or the
    /// near end has closed, and accounts for it. If it fails, `wake_waiters` notifies the near end
    /// where the kernel does not.
    pub(crate) fn partner<N: Send + 'static>(
        cpus: &[u32],
        given: N,
        serve: impl FnOnce(&mut N, &Stop) -> Result<Account, Failure> + Send + 'static,
        wake_waiters: fn(&mut N),
    ) -> Result<Self, Failure> {
        let prepare = move || Ok(given);
        let responder = Responder::start(Between::Processes, cpus, prepare, serve, wake_waiters)?;
        Ok(Self::Partner(responder))
    }

    /// A dedicated session in which this service is open.
    pub(crate) fn peer(given: &PeerAccess, service: &Service) -> Result<(Self, Opened), Failure> {
        let (session, opened) = session_with(given, service)?;
        Ok((Self::Peer(Box::new(session)), opened))
    }

    /// Its task, if that is on this machine.
    pub(crate) fn task(&self) -> Option<TaskId> {
        match self {
            Self::Partner(responder) => Some(responder.task()),
            Self::Peer(_) => None,
        }
    }

    /// Its account, once the near end has ended its service.
    pub(crate) fn account(self) -> Result<FarAccount, Failure> {
        let team = self.driven_by(|_| Ok(()));
        team.perform([]).map(|(_, account)| account)
    }

    /// The team of the far end and the near end. It returns both, the far end as its account.
    /// [`Driver::end`] has to end the service: it closes the connection, or makes a last one.
    pub(crate) fn driven_by<'t, L: Driver + 't>(self, near: L) -> Team<'t, (L, FarAccount)> {
        let far = |is_partner| {
            move |account| FarAccount {
                account,
                is_partner,
            }
        };
        match self {
            Self::Partner(responder) => responder
                .driven_by(near)
                .map(move |(near, account)| (near, far(true)(account))),
            Self::Peer(session) => {
                let near = WithFarEnd {
                    near,
                    session,
                    is_blind: false,
                    cpu: None,
                    account: Account::default(),
                };
                Team::new(Vec::new(), near)
                    .map(move |WithFarEnd { near, account, .. }| (near, far(false)(account)))
            }
        }
    }
}

/// A session with a server in which this service is open.
pub(crate) fn session_with(
    given: &PeerAccess,
    service: &Service,
) -> Result<(Session, Opened), Failure> {
    let mut session = Session::connect(given.address, &given.token, process::patience())?;
    let opened = session.open(service)?;
    Ok((session, opened))
}

/// The account of a far end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FarAccount {
    account: Account,
    /// Whether it is that of a task that this program started.
    pub(crate) is_partner: bool,
}

impl Deref for FarAccount {
    type Target = Account;

    fn deref(&self) -> &Account {
        &self.account
    }
}

/// A near end whose far end is on another machine.
struct WithFarEnd<L> {
    near: L,
    session: Box<Session>,
    /// Whether the far end cannot look at its cores.
    is_blind: bool,
    /// The CPU of the serving task at the last look.
    cpu: Option<u32>,
    account: Account,
}

impl<L: Driver> Driver for WithFarEnd<L> {
    const MAX_ITERATIONS: u64 = L::MAX_ITERATIONS;
    const IS_PREPARED: bool = L::IS_PREPARED;

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.near.run(iterations)
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        self.near.prepare()
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.near.check()
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        self.near.laps()
    }

    fn far_core_is_exclusive(&mut self) -> Result<Option<bool>, Failure> {
        if self.is_blind {
            return Ok(None);
        }
        let Some(Core { cpu, is_exclusive }) = self.session.look()? else {
            self.is_blind = true;
            return Ok(None);
        };
        // If it has moved, the core that it was on has not been checked.
        let has_moved = self.cpu.replace(cpu).is_some_and(|before| before != cpu);
        Ok(Some(is_exclusive && !has_moved))
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.near.end()?;
        self.account = self.session.finish(None)?;
        Ok(())
    }
}

/// A listening socket of this machine, on a port of the kernel's choice, and its address.
pub(crate) fn listen(
    address: IpAddr,
    backlog: u32,
    tcp: &syscost_net::socket::Tcp,
) -> Result<(TcpListener, SocketAddr), Failure> {
    let listener = syscost_net::socket::listen(SocketAddr::new(address, 0), backlog, tcp)?;
    let address = listener.local_addr().tried("ask for a socket's address")?;
    Ok((listener, address))
}
