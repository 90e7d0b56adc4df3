//! Small readers of `/proc` and `/sys` below any root folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use syscost_results::Known;
use syscost_sys::cpu::file_text;

/// A machine's files below a root folder.
pub(super) struct Tree<'a> {
    root: &'a Path,
}

impl<'a> Tree<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The whole file, trimmed; `None` if it cannot be read or is empty. What is not UTF-8 in it is
    /// replaced.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        file_text(&self.path(path)).filter(|text| !text.is_empty())
    }

    pub(super) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    pub(super) fn first_word<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.split_whitespace().next()?.parse().ok()
    }

    /// The number after a key at the start of a line, e.g. `MemTotal:`.
    pub(super) fn keyed(&self, path: &str, key: &str) -> Option<u64> {
        let text = self.text(path)?;
        let line = text
            .lines()
            .find(|line| line.split_whitespace().next() == Some(key))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// The value of `KEY=value`, in quotes of either kind or none (os-release(5)).
    pub(super) fn assignment(&self, path: &str, key: &str) -> Option<String> {
        let text = self.text(path)?;
        text.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name == key).then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        })
    }

    /// The word in brackets, as in `always [madvise] never`.
    pub(super) fn choice(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let (_, rest) = text.split_once('[')?;
        Some(rest.split_once(']')?.0.to_owned())
    }

    /// Every file of a folder and its text.
    pub(super) fn folder(&self, path: &str) -> BTreeMap<String, String> {
        let Ok(entries) = fs::read_dir(self.path(path)) else {
            return BTreeMap::new();
        };
        entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                Some((name, file_text(&entry.path())?))
            })
            .collect()
    }

    /// `some avg10=…` of a pressure file, in percent.
    pub(super) fn pressure(&self, path: &str) -> Option<f64> {
        let text = self.text(path)?;
        let word = text
            .split_whitespace()
            .find_map(|word| word.strip_prefix("avg10="))?;
        word.parse().ok()
    }

    pub(super) fn turbo(&self) -> Option<bool> {
        let boost = self
            .number::<u32>("sys/devices/system/cpu/cpufreq/boost")
            .map(|on| on == 1);
        let no_turbo = self.number::<u32>("sys/devices/system/cpu/intel_pstate/no_turbo");
        boost.or(no_turbo.map(|off| off == 0))
    }

    /// The CPU quota (in CPUs) and memory limit (in bytes) of our own control group and its
    /// ancestors: in the single tree of version 2 (cgroups(7)), or in a tree for each controller. That
    /// there is none is known only outside of a namespace, which hides ancestors.
    pub(super) fn cgroup_limits(&self) -> (Known<f64>, Known<u64>) {
        let membership = self.text("proc/self/cgroup").unwrap_or_default();
        let (mut quota, mut memory): (Option<f64>, Option<u64>) = (None, None);
        let namespace = fs::read_link(self.path("proc/self/ns/cgroup")).unwrap_or_default();
        let sees_all = namespace == Path::new(FIRST_GROUPS);
        let mut seen = Vec::new();
        for line in membership.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(own)) = (fields.next(), fields.next()) else {
                continue;
            };
            let tree = Path::new("sys/fs/cgroup").join(controllers);
            let of_version_2 = self.text(&tree.join("cgroup.controllers").to_string_lossy());
            let own = Path::new(own.trim_start_matches('/'));
            // A container may have only its own group mounted, without those above it.
            if sees_all && self.root.join(&tree).join(own).is_dir() {
                let words = of_version_2.as_deref().unwrap_or(controllers);
                seen.extend(words.split([' ', ',']).map(str::to_owned));
            }
            for group in own.ancestors().map(|group| tree.join(group)) {
                let file = |name: &str| self.text(&group.join(name).to_string_lossy());
                let micros = |name: &str| file(name)?.parse::<f64>().ok();
                let of_version_1 = || {
                    let [quota, period] = ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(micros);
                    Some(quota.filter(|none| *none > 0.0)? / period?)
                };
                let found = file("cpu.max").as_deref().and_then(parse_quota);
                let limits = [quota, found.or_else(of_version_1)];
                quota = limits.into_iter().flatten().min_by(f64::total_cmp);
                let bytes = |name: &str| file(name)?.parse().ok();
                let found = bytes("memory.max").or_else(|| bytes("memory.limit_in_bytes"));
                let limits = [memory, found.filter(|bytes| *bytes < NO_LIMIT)];
                memory = limits.into_iter().flatten().min();
            }
        }
        let is_seen = |controller: &str| seen.iter().any(|one| one == controller);
        (
            Known::told(quota.map(Some).or(is_seen("cpu").then_some(None))),
            Known::told(memory.map(Some).or(is_seen("memory").then_some(None))),
        )
    }
}

/// The machine's own namespace of control groups (`PROC_CGROUP_INIT_INO` of the kernel).
const FIRST_GROUPS: &str = "cgroup:[4026531835]";

/// At least this much means no limit: version 1 writes the largest number of whole pages, a little
/// less than 2^63.
const NO_LIMIT: u64 = 1 << 60;

/// Parses `quota period`, both in us, or `max period`.
fn parse_quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_in_cpus() {
        assert_eq!(parse_quota("150000 100000"), Some(1.5));
        assert_eq!(parse_quota("max 100000"), None);
    }

    #[test]
    fn a_small_tree_is_read() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("make the folder");
            fs::write(path, text).expect("write the file");
        };
        write("proc/meminfo", "MemTotal:       2048 kB\nSwapTotal: 0 kB\n");
        write("thp", "always [madvise] never\n");
        write(
            "proc/pressure/cpu",
            "some avg10=1.50 avg60=0.00 avg300=0.00 total=1\n",
        );
        write("proc/self/cgroup", "0::/a/b\n");
        write("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
        write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        write("sys/fs/cgroup/a/b/memory.max", "4096\n");
        let tree = Tree::new(root.path());
        assert_eq!(tree.keyed("proc/meminfo", "MemTotal:"), Some(2048));
        assert_eq!(tree.choice("thp").as_deref(), Some("madvise"));
        assert_eq!(tree.pressure("proc/pressure/cpu"), Some(1.5));
        let limits = (Known::Yes(0.5), Known::Yes(4096));
        assert_eq!(tree.cgroup_limits(), limits);
        write("proc/self/cgroup", "4:memory:/\n3:cpu,cpuacct:/c\n0::/\n");
        write(
            "sys/fs/cgroup/memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        );
        write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
        write("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "25000\n");
        write("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
        assert_eq!(tree.cgroup_limits(), (Known::Yes(0.25), Known::Unknown));
        write("proc/self/cgroup", "4:memory:/\n3:cpu,cpuacct:/\n0::/\n");
        assert_eq!(tree.cgroup_limits(), (Known::Unknown, Known::Unknown));
        let namespace = root.path().join("proc/self/ns/cgroup");
        fs::create_dir_all(namespace.parent().expect("has a parent")).expect("make the folder");
        std::os::unix::fs::symlink(FIRST_GROUPS, &namespace).expect("a link");
        assert_eq!(tree.cgroup_limits(), (Known::No, Known::No));
        // As the single tree of version 2 has it, whose root may not be limited.
        write("proc/self/cgroup", "0::/\n");
        assert_eq!(tree.cgroup_limits(), (Known::Unknown, Known::Unknown));
        write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io\n");
        assert_eq!(tree.cgroup_limits(), (Known::No, Known::Unknown));
        write("etc/os-release", "ID=x\nPRETTY_NAME='Some Linux'\n");
        let name = tree.assignment("etc/os-release", "PRETTY_NAME");
        assert_eq!(name.as_deref(), Some("Some Linux"));
        fs::write(root.path().join("cmdline"), b"quiet \xff a=b\n\0").expect("write the file");
        assert_eq!(tree.text("cmdline").as_deref(), Some("quiet \u{fffd} a=b"));
    }
}
