//! A cluster of Slurm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use super::{Hosts, until};
use crate::common::{Ended, Ending};
use crate::tool::Failure;

/// A controller on the hub and a slurmd on each host.
pub(crate) struct Cluster {
    pub(crate) hosts: Hosts,
    count: u8,
}

impl Cluster {
    /// A cluster whose nodes `n1` and so on are idle; an error if this machine cannot have one.
    pub(crate) fn new(count: u8) -> Result<Self, Failure> {
        let programs = ["ip", "munged", "slurmctld", "slurmd", "sbatch"];
        let hosts = Hosts::with(&programs, count)?;
        let mut cluster = Self { hosts, count };
        cluster.configure();
        let conf = cluster.conf().display().to_string();
        let folder = cluster.hosts.folder().display().to_string();
        let munge = format!(
            "munged --foreground --force --key-file={folder}/key --socket={folder}/munge --pid-file={folder}/munge.pid \
             --log-file={folder}/munge.log --seed-file={folder}/seed"
        );
        cluster.hosts.start("hub", &munge);
        until("munged", || {
            fs::exists(format!("{folder}/munge")).is_ok_and(|there| there)
        });
        cluster
            .hosts
            .start("hub", &format!("slurmctld -D -f {conf}"));
        for node in 1..=count {
            cluster.start(&format!("n{node}"));
        }
        until("idle nodes", || {
            let idle = cluster.ask("sinfo --noheader --states=idle --format=%D");
            idle.out.trim() == count.to_string()
        });
        Ok(cluster)
    }

    fn configure(&self) {
        let folder = self.hosts.folder().display();
        // munged wants nobody else to be able to write there.
        fs::set_permissions(self.hosts.folder(), fs::Permissions::from_mode(0o711)).expect("ours");
        fs::write(self.hosts.folder().join("key"), [0x5c; 1024]).expect("written");
        fs::set_permissions(
            self.hosts.folder().join("key"),
            fs::Permissions::from_mode(0o400),
        )
        .expect("ours");
        for part in ["state", "spool", "shared"] {
            fs::create_dir(self.hosts.folder().join(part)).expect("made");
        }
        let hub = self.hosts.address(254);
        let mut conf = format!(
            "ClusterName=test
SlurmctldHost=hub({hub})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=5
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"
        );
        for node in 1..=self.count {
            let address = self.hosts.address(node);
            conf += &format!(
                "NodeName=n{node} NodeHostname=n{node} NodeAddr={address} CPUs=2 RealMemory=1000 State=UNKNOWN\n"
            );
        }
        fs::write(self.conf(), conf).expect("written");
        let cgroup = self.hosts.folder().join("cgroup.conf");
        // The other plugin does not start within `ip netns exec`.
        fs::write(cgroup, "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n").expect("written");
    }

    fn conf(&self) -> PathBuf {
        self.hosts.folder().join("slurm.conf")
    }

    /// A directory that all nodes see.
    pub(crate) fn shared(&self) -> PathBuf {
        self.hosts.folder().join("shared")
    }

    /// Starts a node's slurmd.
    pub(crate) fn start(&mut self, node: &str) {
        let conf = self.conf().display().to_string();
        fs::create_dir_all(self.hosts.folder().join("spool").join(node)).expect("made");
        self.hosts
            .start(node, &format!("slurmd -D -N {node} -f {conf}"));
    }

    /// A program on the hub, with its arguments, which are separated by spaces.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut words = line.split_whitespace();
        let mut command = self.hosts.command("hub", words.next().expect("a program"));
        command
            .args(words)
            .env("SLURM_CONF", self.conf())
            .current_dir(self.shared());
        command
    }

    /// What such a program prints.
    pub(crate) fn ask(&self, line: &str) -> Ended {
        self.command(line).ended()
    }

    /// syscost on the hub.
    pub(crate) fn syscost(&self, line: &str) -> Command {
        let mut command = self.command(&format!("{} {line}", env!("CARGO_BIN_EXE_syscost")));
        command.env("XDG_DATA_HOME", self.hosts.folder());
        command
    }
}
