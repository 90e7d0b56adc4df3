//! Programs that set up a test bed, and whether a failure is due to this machine or a defect of the
//! tests.

use std::io;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why there is no test bed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A program is not installed.
    #[error("no {program} here; apt-get install {package}")]
    Missing {
        /// Its name.
        program: String,
        /// The Debian package that contains it.
        package: &'static str,
    },
    /// The kernel lacks a feature, or this process lacks a privilege.
    #[error("{tried}: {cause}")]
    Refused {
        /// What was attempted.
        tried: String,
        /// What the system said.
        cause: String,
    },
    /// Anything else: a defect of the tests.
    #[error("{tried}: {cause}")]
    Broken {
        /// What was attempted.
        tried: String,
        /// What the system said.
        cause: String,
    },
}

/// Messages of programs if a privilege or a kernel feature is missing.
const REFUSALS: [&str; 12] = [
    "Operation not permitted",
    "Permission denied",
    "Operation not supported",
    "Protocol not supported",
    "Unknown device type",
    "qdisc kind is unknown",
    "No such device",
    "No such file or directory",
    "Read-only file system",
    "unknown filesystem type",
    "failed to setup loop device",
    "cannot find an unused loop device",
];

impl Failure {
    /// The failure for this error message of a program.
    fn of(tried: String, cause: &str) -> Self {
        let cause = cause.trim().to_owned();
        match REFUSALS.iter().any(|refusal| cause.contains(refusal)) {
            true => Self::Refused { tried, cause },
            false => Self::Broken { tried, cause },
        }
    }

    /// The failure for this error of a system call.
    pub(crate) fn of_call(tried: &str, cause: io::Error) -> Self {
        Self::of(tried.to_owned(), &cause.to_string())
    }
}

/// Waits until no other test of this process makes links, disks or clusters, or measures on them:
/// two at once would disturb each other.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result.
///
/// # Panics
/// If this machine should have provided it: the tests are wrong, a program is missing although
/// SYSCOST_REQUIRE_TOOLS or the variable `granted` is set, or this machine refuses what the latter
/// says it allows.
pub(crate) fn unless_required<T>(made: Result<T, Failure>, granted: &str) -> Result<T, Failure> {
    let is_set = |name| std::env::var_os(name).is_some();
    made.inspect_err(|failure| {
        let is_fatal = match failure {
            Failure::Missing { .. } => is_set("SYSCOST_REQUIRE_TOOLS") || is_set(granted),
            Failure::Refused { .. } => is_set(granted),
            Failure::Broken { .. } => true,
        };
        assert!(!is_fatal, "{failure}");
    })
}

/// The output of a program with these arguments, which must succeed.
pub(crate) fn run(words: &[&str]) -> Result<String, Failure> {
    let tried = words.join(" ");
    let output = Command::new(words[0])
        .args(&words[1..])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => missing(words[0]),
            _ => Failure::of_call(&tried, cause),
        })?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(Failure::of(tried, &String::from_utf8_lossy(&output.stderr))),
    }
}

/// Whether a program is installed.
pub(crate) fn is_installed(program: &str) -> bool {
    let is_in = |folder: std::path::PathBuf| folder.join(program).is_file();
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(is_in))
}

/// An error unless a program is installed.
pub(crate) fn require(program: &str) -> Result<(), Failure> {
    match is_installed(program) {
        true => Ok(()),
        false => Err(missing(program)),
    }
}

/// The failure for a missing program.
fn missing(program: &str) -> Failure {
    let package = match program {
        "ip" | "tc" => "iproute2",
        "nft" => "nftables",
        "iptables" | "ip6tables" => "iptables",
        "ping" => "iputils-ping",
        "mount" | "umount" => "mount",
        "munged" => "munge",
        "slurmctld" | "slurmd" | "sbatch" => "slurm-wlm",
        "sshd" => "openssh-server",
        "ssh" | "ssh-keygen" => "openssh-client",
        "ansible-playbook" => "ansible-core",
        "mkfs.ext4" => "e2fsprogs",
        "mkfs.xfs" => "xfsprogs",
        "mkfs.btrfs" => "btrfs-progs",
        other => panic!("no test runs {other}"),
    };
    Failure::Missing {
        program: program.to_owned(),
        package,
    }
}

#[test]
fn a_missing_privilege_is_no_defect_but_a_wrong_argument_is() {
    let tried = || "ip netns add x".to_owned();
    let refused = Failure::of(
        tried(),
        "mount --make-shared failed: Operation not permitted",
    );
    assert!(matches!(refused, Failure::Refused { .. }), "{refused}");
    let broken = Failure::of(tried(), "Object \"nets\" is unknown, try \"ip help\".");
    assert!(matches!(broken, Failure::Broken { .. }), "{broken}");
}
