//! Clusters of several hosts on this machine, each a network namespace with a host's name of its own: what Slurm or sshd needs to take
//! them for machines.
//!
//! Making one requires root, iproute2 and Debian's slurm-wlm and munge, or openssh-server and ansible-core. If something is missing,
//! tests print `skipped: why`, unless SYSCOST_REQUIRE_FLEET is set, as in CI.

pub(crate) mod ansible;
pub(crate) mod slurm;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tempfile::TempDir;

use crate::links::namespace::{Namespace, sweep};
use crate::tool::{Failure, require, turn, unless_required};

/// The variable that says that this machine can have clusters.
const GRANTED: &str = "SYSCOST_REQUIRE_FLEET";

/// How long anything in a cluster may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Clusters of this process so far.
static COUNT: AtomicU8 = AtomicU8::new(0);

/// Hosts that are connected with each other, and a hub that is connected with all of them. What runs on them ends with it.
pub(crate) struct Hosts {
    number: u8,
    folder: TempDir,
    namespaces: BTreeMap<String, Namespace>,
    daemons: Vec<Child>,
    _turn: MutexGuard<'static, ()>,
}

impl Hosts {
    /// Makes `count` hosts, called `n1` and so on, for a cluster that needs these programs; an error if this machine cannot
    /// have it.
    fn with(programs: &[&str], count: u8) -> Result<Self, Failure> {
        let mut programs = programs.iter();
        let hosts = programs.try_for_each(|program| require(program));
        unless_required(hosts.and_then(|()| Self::new(count)), GRANTED)
    }

    fn new(count: u8) -> Result<Self, Failure> {
        sweep();
        let mut hosts = Self {
            number: COUNT.fetch_add(1, Ordering::Relaxed),
            folder: tempfile::tempdir().expect("a temporary folder"),
            namespaces: BTreeMap::new(),
            daemons: Vec::new(),
            _turn: turn(),
        };
        hosts.add("hub")?;
        let address = format!("{}/24", hosts.address(254));
        hosts.ip("hub", "link add br0 type bridge")?;
        hosts.ip("hub", &format!("addr add {address} dev br0"))?;
        hosts.ip("hub", "link set br0 up")?;
        let hub = hosts.on("hub").name().to_owned();
        for index in 1..=count {
            let host = format!("n{index}");
            hosts.add(&host)?;
            let device = format!("link add eth0 type veth peer name v{index} netns {hub}");
            hosts.ip(&host, &device)?;
            hosts.ip("hub", &format!("link set v{index} master br0 up"))?;
            let address = format!("addr add {}/24 dev eth0", hosts.address(index));
            hosts.ip(&host, &address)?;
            hosts.ip(&host, "link set eth0 up")?;
        }
        Ok(hosts)
    }

    fn add(&mut self, host: &str) -> Result<(), Failure> {
        let namespace = Namespace::new(&format!("fleet-{}-{host}", self.number))?;
        self.namespaces.insert(host.to_owned(), namespace);
        Ok(())
    }

    fn on(&self, host: &str) -> &Namespace {
        &self.namespaces[host]
    }

    fn ip(&self, host: &str, words: &str) -> Result<String, Failure> {
        self.on(host).ip(&words.split(' ').collect::<Vec<_>>())
    }

    /// Where the cluster keeps its files, and tests theirs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The address of a host; the hub's number is 254.
    fn address(&self, host: u8) -> String {
        format!("10.95.{}.{host}", self.number)
    }

    /// Starts a program on a host, under the host's name.
    fn start(&mut self, host: &str, script: &str) {
        let script = format!("hostname {host} && exec {script}");
        let child = self
            .command(host, "unshare")
            .args(["--uts", "sh", "-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("ip starts");
        self.daemons.push(child);
    }

    /// A program on a host or the hub, in the process that is started.
    pub(crate) fn command(&self, host: &str, program: &str) -> Command {
        self.on(host).command(program)
    }

    /// Ends everything on a host at once, as a power failure does.
    pub(crate) fn kill(&self, host: &str) {
        self.on(host).kill();
    }

    /// The command lines of what runs on a host.
    pub(crate) fn running(&self, host: &str) -> Vec<String> {
        let line = |process: Pid| fs::read(format!("/proc/{}/cmdline", process.as_raw_nonzero()));
        let lines = self.on(host).processes().into_iter().flat_map(line);
        lines
            .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
            .collect()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.namespaces.clear();
        for daemon in &mut self.daemons {
            let _ = daemon.wait();
        }
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < PATIENCE,
            "{what}: not within {PATIENCE:?}"
        );
        sleep(Duration::from_millis(100));
    }
}
