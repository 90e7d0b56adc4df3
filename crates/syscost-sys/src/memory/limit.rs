//! How much memory this process may still take.

use std::fs;
use std::path::Path;

/// Memory that this process may still take without swapping or being killed, in bytes: what the machine has available, or what the limits
/// of its control groups leave of it. `None` where nothing is told.
pub fn available_bytes() -> Option<u64> {
    available_below(Path::new("/"))
}

fn available_below(root: &Path) -> Option<u64> {
    let text = |path: &str| fs::read_to_string(root.join(path)).ok();
    let machine = text("proc/meminfo").and_then(|meminfo| {
        let line = meminfo
            .lines()
            .find_map(|line| line.strip_prefix("MemAvailable:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib << 10)
    });
    let membership = text("proc/self/cgroup").unwrap_or_default();
    let groups = membership.lines().flat_map(groups_of);
    groups
        .filter_map(|(folder, kind)| kind.left(&root.join(folder)))
        .chain(machine)
        .min()
}

/// The folders of a line of /proc/self/cgroup that may limit memory: the group's own and all above it.
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
    /// What the limit of this group leaves, if it has one. Its file cache gives way before the limit bites.
    fn left(self, folder: &Path) -> Option<u64> {
        let (limit, used, cache) = match self {
            Kind::Unified => ("memory.max", "memory.current", "inactive_file"),
            Kind::Legacy => (
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            ),
        };
        let number = |file: &str| -> Option<u64> {
            let text = fs::read_to_string(folder.join(file)).ok()?;
            text.trim().parse().ok()
        };
        let limit = number(limit)?;
        let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let cache = statistics
            .lines()
            .find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok())
            .unwrap_or(0);
        let used = number(used).unwrap_or(0).saturating_sub(cache);
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
    fn without_limits_the_machine_decides_and_without_that_nobody() {
        assert_eq!(available_below(tree(&[MEMINFO]).path()), Some(4000 << 10));
        assert_eq!(available_below(tree(&[]).path()), None);
    }
}
