//! Opens the sockets of a service, and serves each connection.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;

use syscost_sys::SystemError;

use super::STACK_BYTES;
use super::admission::{self, Admission};
use super::work::{Lane, Work};
use crate::service::{
    Account, IsOver, ServiceError, TcpSide, connections, datagram, http, listen_overflows, stream,
};
use crate::socket::{self, Tcp};
use crate::wire::{Cookie, Service};

/// Connections that may wait for the HTTP responder.
const HTTP_BACKLOG: u32 = 128;

/// Which connections a service accepts, and where.
pub(super) struct ServiceSockets {
    /// The session's own address.
    pub(super) local: SocketAddr,
    /// The client's.
    pub(super) peer: IpAddr,
    /// The cookie that connections must show.
    pub(super) cookie: Cookie,
    /// Ports to choose from.
    pub(super) ports: Option<RangeInclusive<u16>>,
}

/// A service that is ready to start.
pub(super) struct Job {
    /// Port on which clients connect to it.
    pub(super) port: u16,
    /// Number of concurrent connections.
    pub(super) lanes: u32,
    /// Serves until the service is over.
    pub(super) run: Run,
}

type Run = Box<dyn FnOnce(&Work) -> Result<Account, String> + Send>;

impl ServiceSockets {
    pub(super) fn open(&self, service: &Service) -> Result<Job, String> {
        match service.clone() {
            Service::StreamEcho { size, wait, tcp } => {
                self.streams(1, size, &tcp, move |socket, message, is_over| {
                    stream::echo(socket, message, wait, is_over)
                })
            }
            Service::StreamSink(all) => {
                let serve = move |socket: &OwnedFd, buffer: &mut [u8], is_over: IsOver<'_>| {
                    stream::sink(socket, buffer, all.content, is_over)
                };
                self.streams(all.streams, all.size, &all.tcp, serve)
            }
            Service::StreamSource(all) => {
                let serve = move |socket: &OwnedFd, buffer: &mut [u8], is_over: IsOver<'_>| {
                    stream::source(socket, buffer, all.content, is_over)
                };
                self.streams(all.streams, all.size, &all.tcp, serve)
            }
            Service::DatagramEcho { size, wait } => self
                .datagrams(size, move |socket, buffer, is_over| {
                    datagram::echo(socket, buffer, wait, is_over)
                }),
            Service::DatagramSink { size, content } => self
                .datagrams(size, move |socket, buffer, is_over| {
                    datagram::sink(socket, buffer, content, is_over)
                }),
            Service::Accept {
                close,
                first_byte,
                backlog,
            } => {
                let rule = connections::Accept {
                    close,
                    first_byte,
                    only_from: Some(self.peer),
                };
                self.bare(backlog, move |listener, is_over| {
                    connections::accept(listener, &rule, is_over)
                })
            }
            Service::Http { body, keep_alive } => {
                let response = http::Response::new(body as usize, keep_alive);
                let only_from = Some(self.peer);
                self.bare(HTTP_BACKLOG, move |listener, is_over| {
                    http::respond(listener, &response, only_from, is_over)
                })
            }
        }
    }

    /// A service on each of several streams, which must show the cookie.
    fn streams<F>(&self, streams: u32, size: u32, tcp: &Tcp, serve: F) -> Result<Job, String>
    where
        F: Fn(&OwnedFd, &mut [u8], IsOver<'_>) -> Result<Account, ServiceError>,
        F: Send + Sync + 'static,
    {
        let listener = self.bound(|address| socket::listen(address, streams, tcp))?;
        let (peer, cookie) = (self.peer, self.cookie);
        let port = port_of(listener.local_addr())?;
        let run = move |work: &Work| {
            let listener = Arc::new(OwnedFd::from(listener));
            work.watch(&listener);
            let account = each_stream(&listener, peer, cookie, work, |stream, lane| {
                let mut buffer = touched(size);
                let stream = Arc::new(OwnedFd::from(stream));
                work.watch(&stream);
                // The client waits for this: from here on, only the service runs.
                let account = admission::confirm(&stream, cookie).and_then(|()| {
                    work.count(lane, |is_over| serve(&stream, &mut buffer, is_over))
                });
                work.forget(&stream);
                let mut account = account?;
                account.tcp = TcpSide::of(&stream);
                Ok(account)
            });
            work.forget(&listener);
            account
        };
        Ok(Job {
            port,
            lanes: streams,
            run: Box::new(run),
        })
    }

    /// A service of datagrams, the first of which must show the cookie.
    fn datagrams<F>(&self, size: u32, serve: F) -> Result<Job, String>
    where
        F: Fn(&OwnedFd, &mut [u8], IsOver<'_>) -> Result<Account, ServiceError>,
        F: Send + 'static,
    {
        let socket = self.bound(socket::datagram)?;
        let (peer, cookie) = (self.peer, self.cookie);
        let port = port_of(socket.local_addr())?;
        let run = move |work: &Work| {
            let mut buffer = touched(size);
            let is_in = admission::datagram(&socket, peer, cookie, work);
            if !is_in.map_err(|cause| format!("waiting for its first datagram: {cause}"))? {
                return Ok(Account::default());
            }
            let socket = Arc::new(OwnedFd::from(socket));
            work.watch(&socket);
            let lane = &work.lanes[0];
            let account = work.count(lane, |is_over| serve(&socket, &mut buffer, is_over));
            work.forget(&socket);
            account
        };
        Ok(Job {
            port,
            lanes: 1,
            run: Box::new(run),
        })
    }

    /// A service that accepts connections without a cookie.
    fn bare<F>(&self, backlog: u32, serve: F) -> Result<Job, String>
    where
        F: FnOnce(&OwnedFd, IsOver<'_>) -> Result<Account, ServiceError>,
        F: Send + 'static,
    {
        let listener = self.bound(|address| socket::listen(address, backlog, &Tcp::nodelay()))?;
        let port = port_of(listener.local_addr())?;
        let run = move |work: &Work| {
            let listener = Arc::new(OwnedFd::from(listener));
            work.watch(&listener);
            let before = listen_overflows();
            let account = work.count(&work.lanes[0], |is_over| serve(&listener, is_over));
            work.forget(&listener);
            let mut account = account?;
            let after = listen_overflows();
            account.listen_overflows = after.zip(before).map(|(after, before)| after - before);
            Ok(account)
        };
        Ok(Job {
            port,
            lanes: 1,
            run: Box::new(run),
        })
    }

    /// Opens a socket at the session's own address, on the first free port.
    fn bound<T>(&self, open: impl Fn(SocketAddr) -> Result<T, SystemError>) -> Result<T, String> {
        let Some(ports) = self.ports.clone() else {
            return open(with_port(self.local, 0)).map_err(|error| error.to_string());
        };
        let (first, last) = (*ports.start(), *ports.end());
        for port in ports {
            match open(with_port(self.local, port)) {
                Err(error) if error.cause.kind() == io::ErrorKind::AddrInUse => {}
                opened => return opened.map_err(|error| error.to_string()),
            }
        }
        Err(format!("no port from {first} to {last} is free"))
    }
}

/// Accepts a stream for each lane and serves all of them; returns the sum of their accounts.
fn each_stream(
    listener: &OwnedFd,
    peer: IpAddr,
    cookie: Cookie,
    work: &Work,
    serve: impl Fn(TcpStream, &Lane) -> Result<Account, String> + Sync,
) -> Result<Account, String> {
    let listener = listener.try_clone().map(TcpListener::from);
    let admission = listener.and_then(|listener| Admission::new(listener, peer, cookie));
    let mut admission = admission.map_err(|cause| cause.to_string())?;
    let serve = &serve;
    thread::scope(|scope| {
        let mut lanes = Vec::new();
        for lane in &work.lanes {
            let stream = admission.next(work);
            let Some(stream) = stream.map_err(|cause| format!("accept: {cause}"))? else {
                break;
            };
            let builder = thread::Builder::new().name("stream".to_owned());
            let served = builder
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || serve(stream, lane));
            lanes.push(served.map_err(|cause| format!("no thread for a stream: {cause}"))?);
        }
        // No further connections are accepted.
        drop(admission);
        let mut sum = Account::default();
        for lane in lanes {
            let account = lane.join().map_err(|_| "it panicked".to_owned())??;
            sum.add(account);
        }
        Ok(sum)
    })
}

/// A buffer whose pages are mapped.
fn touched(size: u32) -> Vec<u8> {
    vec![1; size as usize]
}

fn port_of(address: io::Result<SocketAddr>) -> Result<u16, String> {
    address
        .map(|address| address.port())
        .map_err(|cause| format!("getsockname: {cause}"))
}

fn with_port(mut address: SocketAddr, port: u16) -> SocketAddr {
    address.set_port(port);
    address
}
