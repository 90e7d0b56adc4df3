//! A flow of datagrams: its sender and its receiver.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use syscost_harness::peer::PeerAccess;
use syscost_harness::prelude::*;
use syscost_net::service::{ServiceError, datagram};
use syscost_net::{Content, Service, Session, socket};
use syscost_sys::audit::uncounted;
use syscost_sys::partner::Shared;

use crate::net::connection_cpus::ConnectionCpus;
use crate::net::far_end::{PATIENCE, Route};
use crate::net::interface::InterfaceCounters;
use crate::net::transfer::{Transfer, Transferred};
use crate::net::windows::Usage;
use crate::net::workers::{IsOver, Tally, Until, Workers, again};

/// Maximum number of farewells to a receiver that may be late, and the pause before each.
const FAREWELLS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(1);

/// The parameters of a flow.
#[derive(Debug, Clone)]
pub(super) struct FlowSpec {
    pub(super) route: Route,
    /// Bytes of a datagram.
    pub(super) size: usize,
    /// Datagrams per second; as many as possible if `None`.
    pub(super) rate: Option<u32>,
    pub(super) places: ConnectionCpus,
    pub(super) content: Content,
}

/// The result of a flow.
pub(super) struct Delivered {
    pub(super) transferred: Transferred,
    /// This end's socket.
    pub(super) near: UdpSocket,
    /// What was done during the measurement, if there was one.
    pub(super) usage: Option<Usage>,
}

impl Deref for Delivered {
    type Target = Transferred;

    fn deref(&self) -> &Transferred {
        &self.transferred
    }
}

/// A running flow.
pub(super) struct Flow {
    pub(super) transfer: Transfer,
    near: UdpSocket,
}

impl Flow {
    /// Starts the flow, which continues as long as `until` says.
    pub(super) fn start(spec: &FlowSpec, until: Until) -> Result<Self, Failure> {
        match &spec.route {
            Route::Loopback(..) => Self::here(spec, until),
            Route::Remote(given) => Self::there(given, spec, until),
        }
    }

    fn here(spec: &FlowSpec, until: Until) -> Result<Self, Failure> {
        let tried = |what: &'static str| move |cause: io::Error| Failure::of(what, cause);
        let own = spec.route.address();
        let interface = InterfaceCounters::begin(own, own);
        let near = socket::datagram(SocketAddr::new(own, 0))?;
        let far = socket::datagram(SocketAddr::new(own, 0))?;
        let address = |socket: &UdpSocket| socket.local_addr().map_err(tried("getsockname"));
        near.connect(address(&far)?).map_err(tried("connect"))?;
        far.connect(address(&near)?).map_err(tried("connect"))?;
        let mut workers = Workers::new()?;
        let has_ended = Shared::new(AtomicBool::new(false))?;
        let (size, content) = (spec.size, spec.content);
        let ended = has_ended.clone();
        let receive =
            move |far: &mut UdpSocket, is_over: IsOver<'_>| -> Result<Tally, ServiceError> {
                let account = datagram::sink(&*far, &mut vec![0; size], content, is_over);
                ended.store(true, Ordering::Release);
                Ok(account?.into())
            };
        let meter = Workers::meter()?;
        workers.add(&spec.places.far, Until::OtherEnd, meter, far, receive)?;
        let end = again(&near)?;
        let goodbye = move |near: &UdpSocket| say_goodbye(near, &has_ended);
        send(&mut workers, spec, until, end, goodbye)?;
        let transfer = Transfer::new(workers, None, interface, false);
        Ok(Self { transfer, near })
    }

    fn there(given: &PeerAccess, spec: &FlowSpec, until: Until) -> Result<Self, Failure> {
        let mut session = Session::connect(given.address, &given.token, PATIENCE)?;
        let service = Service::DatagramSink {
            size: spec.size as u32,
            content: spec.content,
        };
        let own = session.local();
        let own = own.map_err(|cause| Failure::of("getsockname", cause))?;
        let interface = InterfaceCounters::begin(own.ip(), given.address.ip());
        let opened = session.open(&service)?;
        let near = opened.datagram()?;
        let mut workers = Workers::new()?;
        // The session ends the receiver.
        send(&mut workers, spec, until, again(&near)?, |_| {})?;
        let transfer = Transfer::new(workers, Some(session), interface, false);
        Ok(Self { transfer, near })
    }

    /// Lets the flow run for a window, and until something has arrived.
    pub(super) fn warm_up(&mut self, window: Duration) -> Result<(), Failure> {
        let begun = Instant::now();
        while self.transfer.window(window)? == 0.0 {
            if begun.elapsed() > PATIENCE {
                let seconds = PATIENCE.as_secs();
                return Err(Failure::Failed(format!(
                    "no datagram has arrived for {seconds} s; does a firewall drop UDP, or the path fragments of such datagrams?"
                )));
            }
        }
        self.transfer.begin_usage()
    }

    /// Ends the flow and returns its result.
    pub(super) fn finish(mut self) -> Result<Delivered, Failure> {
        let usage = self.transfer.usage()?;
        let mut transferred = self.transfer.finish(true)?;
        transferred.interface.end();
        Ok(Delivered {
            transferred,
            near: self.near,
            usage,
        })
    }
}

/// Adds the worker that sends, and calls `goodbye` in the end.
fn send(
    workers: &mut Workers,
    spec: &FlowSpec,
    until: Until,
    near: UdpSocket,
    goodbye: impl FnOnce(&UdpSocket) + Send + 'static,
) -> Result<(), Failure> {
    let (size, content, rate) = (spec.size, spec.content, spec.rate);
    let work = move |near: &mut UdpSocket, is_over: IsOver<'_>| -> Result<Tally, ServiceError> {
        let mut tally = Tally::default();
        if !is_over(&syscost_net::Account::default()) {
            tally = datagram::source(&*near, &mut vec![0; size], content, rate, is_over)?.into();
        }
        // How many farewells it takes depends on when the receiver gets its CPU.
        uncounted(|| goodbye(near));
        Ok(tally)
    };
    workers.add(&spec.places.near, until, Workers::meter()?, near, work)
}

/// Sends farewells until the receiver has ended. Datagrams still in its queue come first, and a
/// full queue drops the farewell as well.
fn say_goodbye(near: &UdpSocket, has_ended: &AtomicBool) {
    for _ in 0..FAREWELLS {
        thread::sleep(PAUSE);
        if has_ended.load(Ordering::Acquire) {
            return;
        }
        // Refused if the receiver has just ended.
        let _ = near.send(&[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::far_end::Family;
    use syscost_sys::cpu;

    fn flow(messages: u64, content: Content) -> Delivered {
        let allowed = cpu::allowed().unwrap();
        let spec = FlowSpec {
            route: Route::Loopback(Placement::Free, Family::Ipv4),
            size: 100,
            rate: Some(20_000),
            places: ConnectionCpus::here(Placement::Free, 1, allowed[0], &allowed)
                .unwrap()
                .remove(0),
            content,
        };
        let flow = Flow::start(&spec, Until::Messages(messages)).unwrap();
        flow.finish().unwrap()
    }

    #[test]
    fn what_arrives_is_what_was_sent() {
        for content in [Content::Whole, Content::Sparse] {
            let delivered = flow(50, content);
            let order = delivered.received.order.unwrap();
            assert_eq!(delivered.sent.messages, 50);
            // A busy machine may lose some.
            assert!(order.distinct <= 50 && order.duplicated == 0, "{order:?}");
            assert_eq!(delivered.received.wrong, 0);
        }
    }

    #[test]
    fn a_flow_of_nothing_ends_too() {
        let delivered = flow(0, Content::Sparse);
        assert_eq!(
            (delivered.sent.messages, delivered.received.messages),
            (0, 0)
        );
    }
}
