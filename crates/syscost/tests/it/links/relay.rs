//! A delay: two TUN devices in two namespaces, and a thread that forwards each packet from one to
//! the other after the delay.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::ioctl::{Updater, ioctl, opcode};
use rustix::process::setpriority_process;
use rustix::thread::gettid;

use super::namespace::enter;
use crate::tool::Failure;

/// Maximum number of packets in transit in one direction; more are dropped, as by a router.
const MAX_QUEUED: usize = 8192;
/// How long before a packet is due the relay stops sleeping: on an idle CPU of a guest, a sleep may
/// end up to 100 us late.
const SPIN: Duration = Duration::from_micros(150);
/// Maximum length of a packet that a device delivers.
const MAX_PACKET: usize = 65_536;
/// The ioctl that attaches an open file to a device: `TUNSETIFF` of linux/if_tun.h.
const TUNSETIFF: rustix::ioctl::Opcode = opcode::write::<i32>(b'T', 202);
/// `IFF_TUN`: packets, no Ethernet frames.
const IFF_TUN: u16 = 0x0001;
/// `IFF_NO_PI`: nothing before the packet.
const IFF_NO_PI: u16 = 0x1000;

/// The thread between the two devices, which exist as long as it runs.
#[derive(Debug)]
pub(super) struct Relay {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Creates a device with this name in each of the namespaces and forwards packets after
    /// `delay`, in both directions.
    pub(super) fn new(
        namespaces: [PathBuf; 2],
        device: &str,
        delay: Duration,
    ) -> Result<Self, Failure> {
        let failed = |cause: io::Error| Failure::of_call("a TUN device (/dev/net/tun)", cause);
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
        let stopped = stop.try_clone().map_err(failed)?;
        let (sender, receiver) = mpsc::channel();
        let device = device.to_owned();
        let thread = thread::spawn(move || {
            let opened = open_both(&namespaces, &device);
            let (devices, answer) = match opened {
                Ok(devices) => (Some(devices), Ok(())),
                Err(error) => (None, Err(error)),
            };
            sender.send(answer).expect("the link waits for its devices");
            if let Some(devices) = devices {
                // With the highest priority. Without the privilege the delay is slightly longer,
                // which its tests notice.
                let _ = setpriority_process(Some(gettid()), -20);
                relay(devices, delay, &stopped);
            }
        });
        // Also dropped on an error, which joins the thread.
        let relay = Self {
            stop,
            thread: Some(thread),
        };
        let answer = receiver.recv().expect("the relay opens its devices");
        answer.map_err(failed)?;
        Ok(relay)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        rustix::io::write(&self.stop, &1u64.to_ne_bytes()).expect("the relay can be stopped");
        let ended = self.thread.take().map(JoinHandle::join);
        if matches!(ended, Some(Err(_))) && !thread::panicking() {
            panic!("the relay ended with a panic");
        }
    }
}

/// Opens a device with this name in each namespace. The calling thread stays in the last one.
fn open_both(namespaces: &[PathBuf; 2], device: &str) -> io::Result<[File; 2]> {
    Ok([open(&namespaces[0], device)?, open(&namespaces[1], device)?])
}

/// Opens a TUN device with this name in a namespace, which the calling thread enters.
fn open(namespace: &Path, device: &str) -> io::Result<File> {
    enter(namespace)?;
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(nonblocking.cast_signed())
        .open("/dev/net/tun")?;
    attach(&file, device)?;
    Ok(file)
}

/// `struct ifreq` as TUNSETIFF reads it and writes it back: 40 bytes at most.
#[repr(C)]
struct Request {
    name: [u8; 16],
    flags: u16,
    padding: [u8; 22],
}

/// Creates the device that this open file represents.
#[allow(unsafe_code)]
fn attach(file: &File, device: &str) -> io::Result<()> {
    let mut request = Request {
        name: [0; 16],
        flags: IFF_TUN | IFF_NO_PI,
        padding: [0; 22],
    };
    request.name[..device.len()].copy_from_slice(device.as_bytes());
    // SAFETY: TUNSETIFF reads and writes one `struct ifreq`, for which `Request` has the size and
    // the layout.
    unsafe {
        let update = Updater::<TUNSETIFF, Request>::new(&mut request);
        ioctl(file, update)?;
    }
    Ok(())
}

/// Packets received from one device, each with the time at which it leaves through the other.
type Queue = VecDeque<(Instant, Vec<u8>)>;

/// Forwards packets until `stop` is readable.
fn relay(devices: [File; 2], delay: Duration, stop: &OwnedFd) {
    let mut queues = [Queue::new(), Queue::new()];
    loop {
        let due = queues.iter().filter_map(Queue::front).map(|next| next.0);
        let wait = due.min().map(|due| until(due - SPIN));
        let mut polled = [
            PollFd::new(stop, PollFlags::IN),
            PollFd::new(&devices[0], PollFlags::IN),
            PollFd::new(&devices[1], PollFlags::IN),
        ];
        match poll(&mut polled, wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("waiting for packets: {error}"),
        }
        if !polled[0].revents().is_empty() {
            return;
        }
        for (from, queue) in queues.iter_mut().enumerate() {
            send_due(queue, &devices[1 - from]);
            if !polled[from + 1].revents().is_empty() {
                take_in(&devices[from], queue, delay);
            }
        }
    }
}

/// The remaining time, zero if it is over.
fn until(due: Instant) -> Timespec {
    let left = due.saturating_duration_since(Instant::now());
    Timespec::try_from(left).expect("a delay is short")
}

/// Sends the packets that are due.
fn send_due(queue: &mut Queue, mut device: &File) {
    while let Some((_, packet)) = queue.pop_front_if(|(due, _)| *due <= Instant::now()) {
        // A device that is down accepts nothing: the packet is lost, as on a cut cable.
        let _ = device.write(&packet);
    }
}

/// Receives the packets that a device has.
fn take_in(mut device: &File, queue: &mut Queue, delay: Duration) {
    let mut packet = [0; MAX_PACKET];
    loop {
        match device.read(&mut packet) {
            Ok(_) if queue.len() >= MAX_QUEUED => {}
            Ok(length) => queue.push_back((Instant::now() + delay, packet[..length].to_vec())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) => panic!("reading a packet: {error}"),
        }
    }
}
