//! Clusters of several hosts on this machine, each a network namespace with a host's name of its own: what Slurm or sshd needs to take
//! them for machines.
//!
//! Making one requires root, iproute2 and Debian's slurm-wlm and munge, or openssh-server and ansible-core. If something is missing,
//! tests print `skipped: why`, unless SYSCOST_REQUIRE_FLEET is set, as in CI.

pub(crate) mod ansible;
pub(crate) mod slurm;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::tool::{Failure, require, run, unless_skipped};

/// The variable that says that this machine can have clusters.
const GRANTED: &str = "SYSCOST_REQUIRE_FLEET";

/// The prefix of namespaces' names, before the id of the process that made them.
const PREFIX: &str = "syscost-fleet";

/// How long anything in a cluster may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Clusters of this process so far.
static COUNT: AtomicU8 = AtomicU8::new(0);

/// Held by the test that has a cluster: two would disturb each other.
static TURN: Mutex<()> = Mutex::new(());

/// Hosts that are connected with each other, and a hub that is connected with all of them. What runs on them ends with it.
pub(crate) struct Hosts {
    number: u8,
    folder: TempDir,
    names: Vec<String>,
    daemons: Vec<Child>,
    _turn: MutexGuard<'static, ()>,
}

impl Hosts {
    /// Makes `count` hosts, called `n1` and so on, for a cluster that needs these programs; prints `skipped: why` and returns
    /// `None` if this machine cannot have it.
    fn with(programs: &[&str], count: u8) -> Option<Self> {
        let mut programs = programs.iter();
        let hosts = programs.try_for_each(|program| require(program));
        unless_skipped(hosts.and_then(|()| Self::new(count)), GRANTED)
    }

    fn new(count: u8) -> Result<Self, Failure> {
        sweep();
        let mut hosts = Self {
            number: COUNT.fetch_add(1, Ordering::Relaxed),
            folder: tempfile::tempdir().expect("a temporary folder"),
            names: Vec::new(),
            daemons: Vec::new(),
            _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner),
        };
        let hub = hosts.add("hub")?;
        let address = format!("{}/24", hosts.address(254));
        ip(&hub, "link add br0 type bridge")?;
        ip(&hub, &format!("addr add {address} dev br0"))?;
        ip(&hub, "link set br0 up")?;
        for index in 1..=count {
            let name = hosts.add(&format!("n{index}"))?;
            run(&words(&format!(
                "ip link add eth0 netns {name} type veth peer name v{index} netns {hub}"
            )))?;
            ip(&hub, &format!("link set v{index} master br0 up"))?;
            ip(
                &name,
                &format!("addr add {}/24 dev eth0", hosts.address(index)),
            )?;
            ip(&name, "link set eth0 up")?;
        }
        Ok(hosts)
    }

    fn add(&mut self, label: &str) -> Result<String, Failure> {
        let name = format!("{PREFIX}-{}-{}-{label}", std::process::id(), self.number);
        run(&["ip", "netns", "add", &name])?;
        // Deleted on drop from here on.
        self.names.push(name.clone());
        ip(&name, "link set lo up")?;
        Ok(name)
    }

    /// Where the cluster keeps its files, and tests theirs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The address of a host; the hub's number is 254.
    fn address(&self, host: u8) -> String {
        format!("10.95.{}.{host}", self.number)
    }

    /// The namespace of a host, by its name.
    fn namespace(&self, host: &str) -> &str {
        let ending = format!("-{host}");
        let mut names = self.names.iter();
        names
            .find(|name| name.ends_with(&ending))
            .expect("it was made")
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
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.namespace(host), program]);
        command
    }

    /// What runs on a host.
    fn processes(&self, host: &str) -> Vec<Pid> {
        processes(self.namespace(host))
    }

    /// Ends everything on a host at once, as a power failure does.
    pub(crate) fn kill(&self, host: &str) {
        for process in self.processes(host) {
            let _ = kill_process(process, Signal::KILL);
        }
    }

    /// The command lines of what runs on a host.
    pub(crate) fn running(&self, host: &str) -> Vec<String> {
        let line = |process: &Pid| fs::read(format!("/proc/{}/cmdline", process.as_raw_nonzero()));
        let lines = self
            .processes(host)
            .iter()
            .flat_map(line)
            .collect::<Vec<_>>();
        lines
            .iter()
            .map(|line| String::from_utf8_lossy(line).replace('\0', " "))
            .collect()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            remove(name);
        }
        for daemon in &mut self.daemons {
            let _ = daemon.wait();
        }
    }
}

/// Ends what runs in a namespace, and removes it.
fn remove(name: &str) {
    for process in processes(name) {
        let _ = kill_process(process, Signal::KILL);
    }
    let _ = run(&["ip", "netns", "del", name]);
}

/// Removes the namespaces of tests that were killed.
fn sweep() {
    let listed = run(&["ip", "netns", "list"]).unwrap_or_default();
    let names = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| name.starts_with(PREFIX)) {
        let owner = name[PREFIX.len()..].split('-').nth(1);
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            remove(name);
        }
    }
}

fn processes(namespace: &str) -> Vec<Pid> {
    let listed = run(&["ip", "netns", "pids", namespace]).unwrap_or_default();
    listed
        .lines()
        .filter_map(|line| Pid::from_raw(line.trim().parse().ok()?))
        .collect()
}

fn ip(namespace: &str, rest: &str) -> Result<String, Failure> {
    run(&[&["ip", "-n", namespace], &words(rest)[..]].concat())
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
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
