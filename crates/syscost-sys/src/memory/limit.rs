//! How much memory this process may still take.

use std::fs;
use std::path::{Path, PathBuf};

/// At least this much means no limit: version 1 writes the largest multiple of a page where there is none.
const NO_LIMIT: u64 = 1 << 62;

/// Memory that this process may still take without swapping or being killed, in bytes: what the
/// machine has available, or what its control groups' limits leave. `None` where nothing is known.
pub fn available_bytes() -> Option<u64> {
    available_below(Path::new("/"))
}

/// Memory that the machine can give without swapping, in bytes, regardless of this process's limits:
/// MemAvailable of proc_meminfo(5). `None` where the kernel does not say.
pub fn machine_available_bytes() -> Option<u64> {
    machine_available_below(Path::new("/"))
}

/// The tightest limit on memory of this process's control groups and their ancestors, of either
/// version, in bytes. `None` without one.
pub fn group_limit_bytes() -> Option<u64> {
    group_limit_below(Path::new("/"))
}

fn available_below(root: &Path) -> Option<u64> {
    groups_below(root)
        .filter_map(|(folder, kind)| kind.left(&folder))
        .chain(machine_available_below(root))
        .min()
}

fn machine_available_below(root: &Path) -> Option<u64> {
    let meminfo = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

fn group_limit_below(root: &Path) -> Option<u64> {
    groups_below(root)
        .filter_map(|(folder, kind)| number_in(&folder.join(kind.files()[0])))
        .filter(|limit| *limit < NO_LIMIT)
        .min()
}

/// Folders of the groups that may limit this process's memory.
fn groups_below(root: &Path) -> impl Iterator<Item = (PathBuf, Kind)> {
    let membership = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let groups: Vec<_> = membership.lines().flat_map(groups_of).collect();
    let root = root.to_owned();
    groups
        .into_iter()
        .map(move |(folder, kind)| (root.join(folder), kind))
}

fn number_in(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The folders of a line of /proc/self/cgroup that may limit memory: the group's own and those of
/// all its ancestors.
fn groups_of(line: &str) -> Vec<(String, Kind)> {
    let Some((controllers, path)) = line
        .split_once(':')
        .and_then(|(_, rest)| rest.split_once(':'))
    else {
        return Vec::new();
    };
    let (base, kind) = match controllers {
        "" => ("sys/fs/cgroup", Kind::Unified),
        list if list.split(',').any(|name| name == "memory") => {
            ("sys/fs/cgroup/memory", Kind::Legacy)
        }
        _ => return Vec::new(),
    };
    Path::new(path)
        .ancestors()
        .map(|folder| (format!("{base}{}", folder.display()), kind))
        .collect()
}

/// The generation of control groups.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Unified,
    Legacy,
}

impl Kind {
    /// Its files of the limit and of the usage, and the field of memory.stat that counts the cache that
    /// is reclaimed first.
    fn files(self) -> [&'static str; 3] {
        match self {
            Kind::Unified => ["memory.max", "memory.current", "inactive_file"],
            Kind::Legacy => [
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            ],
        }
    }

    /// What the limit of this group leaves, if it has one. Its file cache is reclaimed before the
    /// limit takes effect.
    fn left(self, folder: &Path) -> Option<u64> {
        let [limit, used, cache] = self.files();
        let limit = number_in(&folder.join(limit))?;
        let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let cache = statistics
            .lines()
            .find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok())
            .unwrap_or(0);
        let used = number_in(&folder.join(used))
            .unwrap_or(0)
            .saturating_sub(cache);
        Some(limit.saturating_sub(used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("make the folder");
            fs::write(path, text).expect("write the file");
        }
        root
    }

    const MEMINFO: (&str, &str) = (
        "proc/meminfo",
        "MemTotal: 9000 kB\nMemAvailable:   4000 kB\n",
    );

    #[test]
    fn the_tightest_group_above_decides() {
        let root = tree(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/memory.max", "2000000\n"),
            ("sys/fs/cgroup/a/memory.current", "1900000\n"),
            (
                "sys/fs/cgroup/a/memory.stat",
                "anon 7\ninactive_file 400000\n",
            ),
        ]);
        assert_eq!(available_below(root.path()), Some(500_000));
        assert_eq!(group_limit_below(root.path()), Some(2_000_000));
        assert_eq!(machine_available_below(root.path()), Some(4000 << 10));
    }

    #[test]
    fn groups_of_the_first_generation_limit_too() {
        let root = tree(&[
            MEMINFO,
            ("proc/self/cgroup", "5:cpu,memory:/x\n2:pids:/x\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "3000\n"),
            ("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1000\n"),
        ]);
        assert_eq!(available_below(root.path()), Some(2_000));
    }

    #[test]
    fn without_limits_the_machine_decides() {
        let unlimited = tree(&[
            ("proc/self/cgroup", "5:memory:/x\n"),
            (
                "sys/fs/cgroup/memory/x/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
        ]);
        assert_eq!(group_limit_below(unlimited.path()), None);
        assert_eq!(available_below(tree(&[MEMINFO]).path()), Some(4000 << 10));
        assert_eq!(available_below(tree(&[]).path()), None);
    }
}
