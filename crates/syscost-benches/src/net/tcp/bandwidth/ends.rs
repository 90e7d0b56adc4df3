//! Both ends of streams: sockets, and the tasks that send and receive.

use std::net::{Shutdown, TcpStream};

use syscost_harness::peer::PeerAccess;
use syscost_harness::prelude::*;
use syscost_net::service::{Account, ServiceError};
use syscost_net::{Service, Session, socket};
use syscost_sys::partner::Shared;
use syscost_sys::tcp::TcpInfo;

use super::sender::{Consumed, Sender};
use super::streams::Streams;
use super::{Direction, StreamSpec};
use crate::net::far_end::{self, PATIENCE, Route};
use crate::net::interface::InterfaceCounters;
use crate::net::transfer::Transfer;
use crate::net::workers::{IsOver, Meter, Tally, Until, Workers, again};

impl Streams {
    /// Connects and starts the streams; each continues as long as `until` says.
    pub(in crate::net) fn start(spec: &StreamSpec, until: Until) -> Result<Self, Failure> {
        match &spec.route {
            Route::Loopback(..) => Self::here(spec, until),
            Route::Remote(given) => Self::there(given, spec, until),
        }
    }

    fn here(spec: &StreamSpec, until: Until) -> Result<Self, Failure> {
        let streams = spec.places.len() as u32;
        let own = spec.route.address();
        let interface = InterfaceCounters::begin(own, own);
        let (listener, address) = far_end::listen(own, streams, &spec.tcp)?;
        let mut pairs = Vec::new();
        for _ in &spec.places {
            let near = socket::connect(address, &spec.tcp, PATIENCE)?;
            let far = listener.accept();
            let (far, _) = far.map_err(|cause| Failure::of("accept a connection", cause))?;
            pairs.push((near, far));
        }
        let mut workers = Workers::new()?;
        let meters = pairs.iter().map(|_| Workers::meter());
        let meters: Vec<_> = meters.collect::<Result<_, _>>()?;
        for is_near in [false, true] {
            let receives = is_near == (spec.direction == Direction::Receive);
            for (((near, far), places), meter) in pairs.iter().zip(&spec.places).zip(&meters) {
                let (end, cpus) = match is_near {
                    true => (again(near)?, &places.near),
                    false => (again(far)?, &places.far),
                };
                let meter = meter.clone();
                if receives {
                    receive(&mut workers, cpus, Until::OtherEnd, meter, end, spec)?;
                } else {
                    let consumed = Box::new(move || meter.bytes());
                    send(&mut workers, cpus, until, end, spec, consumed)?;
                }
            }
        }
        let (near, far) = pairs.into_iter().unzip();
        let receives = spec.direction == Direction::Receive;
        Ok(Self {
            transfer: Transfer::new(workers, None, interface, receives),
            near,
            far,
            rates: Vec::new(),
        })
    }

    fn there(given: &PeerAccess, spec: &StreamSpec, until: Until) -> Result<Self, Failure> {
        let mut session = Session::connect(given.address, &given.token, PATIENCE)?;
        let own = session.local();
        let own = own.map_err(|cause| Failure::of("getsockname", cause))?;
        let interface = InterfaceCounters::begin(own.ip(), given.address.ip());
        let opened = session.open(&service(spec))?;
        let mut workers = Workers::new()?;
        let mut near = Vec::new();
        for places in &spec.places {
            let socket = opened.stream(&spec.tcp)?;
            let end = again(&socket)?;
            match spec.direction {
                Direction::Send => {
                    let sender = again(&socket)?;
                    // Without TCP_INFO everything counts as received: the far end has separate memory.
                    let acked =
                        move || TcpInfo::of(&sender).map_or(u64::MAX / 2, |info| info.bytes_acked);
                    let consumed = Box::new(acked);
                    send(&mut workers, &places.near, until, end, spec, consumed)?;
                }
                Direction::Receive => {
                    let until = match until {
                        Until::Stopped | Until::OtherEnd => Until::OtherEnd,
                        Until::Messages(_) => until,
                    };
                    let meter = Workers::meter()?;
                    receive(&mut workers, &places.near, until, meter, end, spec)?;
                }
            }
            near.push(socket);
        }
        let receives = spec.direction == Direction::Receive;
        Ok(Self {
            transfer: Transfer::new(workers, Some(session), interface, receives),
            near,
            far: Vec::new(),
            rates: Vec::new(),
        })
    }
}

/// The service that the far end provides.
fn service(spec: &StreamSpec) -> Service {
    let (size, streams) = (spec.size as u32, spec.places.len() as u32);
    let (content, tcp) = (spec.content, spec.tcp.clone());
    match spec.direction {
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

/// Adds a worker that sends.
fn send(
    workers: &mut Workers,
    cpus: &[u32],
    until: Until,
    end: TcpStream,
    spec: &StreamSpec,
    consumed: Consumed,
) -> Result<(), Failure> {
    let sender = Sender::new(end, spec.method, spec.size, spec.content, consumed)?;
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
    spec: &StreamSpec,
) -> Result<(), Failure> {
    let (size, content, sink) = (spec.size, spec.content, spec.sink);
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
