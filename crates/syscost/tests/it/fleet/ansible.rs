//! Hosts that Ansible reaches.

use std::fs;
use std::process::Command;

use super::{Hosts, until};
use crate::tool::{Failure, run};

/// An sshd on each host, and an inventory.
pub(crate) struct Reached {
    pub(crate) hosts: Hosts,
}

impl Reached {
    /// Hosts `n1` and so on, and one more in the inventory that does not exist; an error if this machine cannot have
    /// them.
    pub(crate) fn new(count: u8) -> Result<Self, Failure> {
        let programs = ["ip", "sshd", "ssh", "ssh-keygen", "ansible-playbook"];
        let hosts = Hosts::with(&programs, count)?;
        let mut reached = Self { hosts };
        let folder = reached.hosts.folder().display().to_string();
        // sshd separates its privileges there.
        fs::create_dir_all("/run/sshd").expect("made");
        let key = |name: &str| {
            run(&[
                "ssh-keygen",
                "-q",
                "-t",
                "ed25519",
                "-N",
                "",
                "-f",
                &format!("{folder}/{name}"),
            ])
        };
        key("id").expect("a key");
        let mut inventory = String::new();
        let mut known = String::new();
        for node in 1..=count + 1 {
            let address = reached.hosts.address(node);
            inventory += &format!("n{node} ansible_host={address} ansible_port=2222\n");
            if node > count {
                continue;
            }
            key(&format!("host{node}")).expect("a key");
            let public =
                fs::read_to_string(format!("{folder}/host{node}.pub")).expect("its public half");
            known += &format!("[{address}]:2222 {public}");
            let conf = format!("{folder}/sshd{node}");
            let text = format!(
                "Port 2222\nListenAddress {address}\nHostKey {folder}/host{node}\nPidFile none\nAuthorizedKeysFile {folder}/id.pub\n\
                 PasswordAuthentication no\nPermitRootLogin prohibit-password\nStrictModes no\nUsePAM no\nSubsystem sftp internal-sftp\n\
                 SetEnv PATH={folder}/n{node}:/usr/sbin:/usr/bin:/bin\n"
            );
            fs::write(&conf, text).expect("written");
            let sshd = run(&["sh", "-c", "command -v sshd"])
                .unwrap_or_else(|_| "/usr/sbin/sshd".to_owned());
            reached.hosts.start(
                &format!("n{node}"),
                &format!("{} -D -f {conf}", sshd.trim()),
            );
        }
        inventory += &format!(
            "[all:vars]\nansible_user=root\nansible_ssh_private_key_file={folder}/id\nansible_python_interpreter=/usr/bin/python3\n\
             ansible_ssh_common_args=-o UserKnownHostsFile={folder}/known -o ControlMaster=no -o ConnectTimeout=5\n"
        );
        fs::write(format!("{folder}/known"), known).expect("written");
        fs::write(format!("{folder}/inventory"), inventory).expect("written");
        for node in 1..=count {
            until("sshd", || {
                let address = reached.hosts.address(node);
                let script = format!("exec 3<>/dev/tcp/{address}/2222");
                let mut command = reached.hosts.command("hub", "bash");
                command
                    .args(["-c", &script])
                    .stderr(std::process::Stdio::null());
                command.status().is_ok_and(|status| status.success())
            });
        }
        Ok(reached)
    }

    /// syscost on the hub, with these arguments, which are separated by spaces.
    pub(crate) fn syscost(&self, line: &str) -> Command {
        let folder = self.hosts.folder();
        let mut command = self.hosts.command("hub", env!("CARGO_BIN_EXE_syscost"));
        command
            .args(line.split_whitespace())
            .current_dir(folder)
            .env("XDG_DATA_HOME", folder);
        // Ansible keeps files of its own there.
        command
            .env("ANSIBLE_HOME", folder.join("home"))
            .env("ANSIBLE_LOCAL_TEMP", folder.join("home"));
        command
    }
}
