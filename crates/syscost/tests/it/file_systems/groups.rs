//! Control groups for a single test, with a limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::tool::Failure;

/// The variable that says that this machine allows control groups to be created.
pub(crate) const GRANTED: &str = "SYSCOST_REQUIRE_CGROUPS";

/// Where control groups are mounted.
const ROOT: &str = "/sys/fs/cgroup";

/// A limit in terms of both versions of control groups: controller, file and text.
pub(crate) struct Limit {
    version_1: (&'static str, &'static str, String),
    version_2: (&'static str, &'static str, String),
}

impl Limit {
    /// Of memory, including the page cache.
    pub(crate) fn memory(bytes: u64) -> Self {
        Self {
            version_1: ("memory", "memory.limit_in_bytes", bytes.to_string()),
            version_2: ("memory", "memory.max", bytes.to_string()),
        }
    }

    /// Of reads per second from a block device.
    pub(crate) fn reads_per_second(device: (u32, u32), reads: u32) -> Self {
        let (major, minor) = device;
        Self {
            version_1: (
                "blkio",
                "blkio.throttle.read_iops_device",
                format!("{major}:{minor} {reads}"),
            ),
            version_2: ("io", "io.max", format!("{major}:{minor} riops={reads}")),
        }
    }
}

/// A control group, removed on drop.
pub(crate) struct Group(PathBuf);

impl Group {
    /// Creates a control group with this limit.
    pub(crate) fn new(limit: &Limit) -> Result<Group, Failure> {
        let (controller, file, text) = &limit.version_1;
        let own = Path::new(ROOT).join(controller);
        if own.is_dir() {
            return Self::made(&own, file, text);
        }
        let (controller, file, text) = &limit.version_2;
        let enabled = Path::new(ROOT).join("cgroup.subtree_control");
        let enabled = fs::read_to_string(enabled).unwrap_or_default();
        match enabled
            .split_ascii_whitespace()
            .any(|one| one == *controller)
        {
            true => Self::made(Path::new(ROOT), file, text),
            false => Err(Failure::Refused {
                tried: format!("control group with {file}"),
                cause: format!("no controller {controller} of either version in {ROOT}"),
            }),
        }
    }

    fn made(parent: &Path, file: &str, text: &str) -> Result<Group, Failure> {
        let folder = parent.join(format!("syscost-test-{}", std::process::id()));
        fs::create_dir(&folder).map_err(|cause| Failure::of_call("control group", cause))?;
        let group = Group(folder);
        fs::write(group.0.join(file), text).map_err(|cause| Failure::of_call(file, cause))?;
        Ok(group)
    }

    /// The command, to be run in this group.
    pub(crate) fn within(&self, command: &Command) -> Command {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""])
            .arg(&self.0)
            .arg(command.get_program())
            .args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It is empty once its last process has been waited for.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            sleep(Duration::from_millis(10));
        }
    }
}
