//! Both ends of streams: sockets, and the tasks that send and receive.

use std::net::{Shutdown, TcpStream};

use syscost_harness::peer::PeerAccess;
use syscost_harness::prelude::*;
use syscost_net::service::{Account, ServiceError};
use syscost_net::{Service, Session, socket};
use syscost_sys::partner::Shared;
use syscost_sys::tcp::TcpInfo;

use super::sender::{Consumed, Sender};
use super::{Direction, Setting};
use crate::net::far_end::{self, PATIENCE, Route};
use crate::net::interface::Way;
use crate::net::workers::{IsOver, Meter, Tally, Until, Workers};

/// Both ends of the streams.
pub(super) struct Ends {
    /// The workers of the far end first, if it is on this machine, then those of this end.
    pub(super) workers: Workers,
    /// The far end, if it is on another machine.
    pub(super) session: Option<Session>,
    /// This end's sockets.
    pub(super) near: Vec<TcpStream>,
    /// The far end's sockets, if they are on this machine.
    pub(super) far: Vec<TcpStream>,
    /// What carries the bytes.
    pub(super) way: Way,
}

impl Ends {
    /// Connects and starts both ends; each continues as long as `until` says.
    pub(super) fn start(setting: &Setting, until: Until) -> Result<Self, Failure> {
        match &setting.route {
            Route::Loopback(..) => Self::here(setting, until),
            Route::Remote(given) => Self::there(given, setting, until),
        }
    }

    fn here(setting: &Setting, until: Until) -> Result<Self, Failure> {
        let streams = setting.places.len() as u32;
        let own = setting.route.address();
        let way = Way::begin(own, own).named(setting.family);
        let (listener, address) = far_end::listen(own, streams, &setting.tcp)?;
        let mut pairs = Vec::new();
        for _ in &setting.places {
            let near = socket::connect(address, &setting.tcp, PATIENCE)?;
            let far = listener.accept();
            let (far, _) = far.map_err(|cause| Failure::of("accept a connection", cause))?;
            pairs.push((near, far));
        }
        let mut workers = Workers::new()?;
        let meters = pairs.iter().map(|_| Workers::meter());
        let meters: Vec<_> = meters.collect::<Result<_, _>>()?;
        for is_near in [false, true] {
            let receives = is_near == (setting.direction == Direction::Receive);
            for (((near, far), places), meter) in pairs.iter().zip(&setting.places).zip(&meters) {
                let (end, cpus) = match is_near {
                    true => (again(near)?, &places.near),
                    false => (again(far)?, &places.far),
                };
                let meter = meter.clone();
                if receives {
                    receive(&mut workers, cpus, Until::OtherEnd, meter, end, setting)?;
                } else {
                    let consumed = Box::new(move || meter.bytes());
                    send(&mut workers, cpus, until, end, setting, consumed)?;
                }
            }
        }
        let (near, far) = pairs.into_iter().unzip();
        Ok(Self {
            workers,
            session: None,
            near,
            far,
            way,
        })
    }

    fn there(given: &PeerAccess, setting: &Setting, until: Until) -> Result<Self, Failure> {
        let mut session = Session::connect(given.address, &given.token, PATIENCE)?;
        let own = session.local();
        let own = own.map_err(|cause| Failure::of("getsockname", cause))?;
        let way = Way::begin(own.ip(), given.address.ip()).named(setting.family);
        let opened = session.open(&service(setting))?;
        let mut workers = Workers::new()?;
        let mut near = Vec::new();
        for places in &setting.places {
            let socket = opened.stream(&setting.tcp)?;
            let end = again(&socket)?;
            match setting.direction {
                Direction::Send => {
                    let sender = again(&socket)?;
                    // Without TCP_INFO everything counts as received: the far end has separate memory.
                    let acked =
                        move || TcpInfo::of(&sender).map_or(u64::MAX / 2, |info| info.bytes_acked);
                    let consumed = Box::new(acked);
                    send(&mut workers, &places.near, until, end, setting, consumed)?;
                }
                Direction::Receive => {
                    let until = match until {
                        Until::Stopped | Until::OtherEnd => Until::OtherEnd,
                        Until::Messages(_) => until,
                    };
                    let meter = Workers::meter()?;
                    receive(&mut workers, &places.near, until, meter, end, setting)?;
                }
            }
            near.push(socket);
        }
        Ok(Self {
            workers,
            session: Some(session),
            near,
            far: Vec::new(),
            way,
        })
    }
}

/// The service that the far end provides.
fn service(setting: &Setting) -> Service {
    let (size, streams) = (setting.size as u32, setting.places.len() as u32);
    let (content, tcp) = (setting.content, setting.tcp.clone());
    match setting.direction {
        Direction::Send => Service::StreamSink {
            size,
            streams,
            content,
            tcp,
        },
        Direction::Receive => Service::StreamSource {
            size,
            streams,
            content,
            tcp,
        },
    }
}

/// Another handle to the same socket.
fn again(socket: &TcpStream) -> Result<TcpStream, Failure> {
    socket
        .try_clone()
        .map_err(|cause| Failure::of("duplicate a socket", cause))
}

/// Adds a worker that sends.
fn send(
    workers: &mut Workers,
    cpus: &[u32],
    until: Until,
    end: TcpStream,
    setting: &Setting,
    consumed: Consumed,
) -> Result<(), Failure> {
    let sender = Sender::new(end, setting.method, setting.size, setting.content, consumed)?;
    let work = |sender: &mut Sender, is_over: IsOver<'_>| sender.send(is_over);
    workers.add(cpus, until, Workers::meter()?, sender, work)
}

/// Adds a worker that receives. In the end it closes its direction as well, which acknowledges the
/// last bytes immediately.
fn receive(
    workers: &mut Workers,
    cpus: &[u32],
    until: Until,
    meter: Shared<Meter>,
    end: TcpStream,
    setting: &Setting,
) -> Result<(), Failure> {
    let (size, content, sink) = (setting.size, setting.content, setting.sink);
    let work = move |end: &mut TcpStream, is_over: IsOver<'_>| -> Result<Tally, ServiceError> {
        let mut account = Account::default();
        if !is_over(&account) {
            account = sink(end, &mut vec![0; size], content, is_over)?;
        }
        // It fails if the other end has left already.
        let _ = end.shutdown(Shutdown::Both);
        Ok(account.into())
    };
    workers.add(cpus, until, meter, end, work)
}
