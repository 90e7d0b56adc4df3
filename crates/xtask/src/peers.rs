//! Other tools that measure the same work, all from Debian.

/// A tool, and the row of ours that measures the same work.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Name of our row, which is a cost in nanoseconds.
    pub(crate) row: &'static str,
    /// What the peer is called in the table.
    pub(crate) name: &'static str,
    /// Its command.
    pub(crate) command: &'static [&'static str],
    /// How many invocations make one figure, their median: many short ones, so that an interruption spoils only one.
    pub(crate) invocations: usize,
    /// Reads nanoseconds per operation from its standard output.
    pub(crate) read: fn(&str) -> Option<f64>,
    /// What is not the same work, and what that makes of the ratio.
    pub(crate) differs: &'static str,
    /// The Debian package that has it.
    pub(crate) package: &'static str,
}

/// Every peer, in the order of our rows.
pub(crate) const PEERS: &[Peer] = &[
    Peer {
        row: "syscall.null{call=getppid}",
        name: "perf bench syscall basic",
        command: PERF_GETPPID,
        invocations: 15,
        read: perf_bench,
        differs: "perf calls getppid through the C library and chooses the call anew in every turn of its loop; ours is \
                  the bare instruction. perf's figure is the median over 15 processes of the mean over 20,000 calls, ours \
                  that over 6 processes of medians of short batches.",
        package: "linux-perf",
    },
    Peer {
        row: "syscall.null{call=getppid,through=libc}",
        name: "perf bench syscall basic",
        command: PERF_GETPPID,
        invocations: 15,
        read: perf_bench,
        differs: "Both call the C library's getppid; perf chooses the call anew in every turn of its loop. perf's figure \
                  is the median over 15 processes of the mean over 20,000 calls, ours that over 6 processes of medians \
                  of short batches.",
        package: "linux-perf",
    },
];

const PERF_GETPPID: &[&str] = &["perf", "bench", "syscall", "basic", "--loop", "20000"];

/// The line `0.105375 usecs/op` of `perf bench`.
fn perf_bench(output: &str) -> Option<f64> {
    let line = output
        .lines()
        .find_map(|line| line.trim().strip_suffix("usecs/op"))?;
    line.trim()
        .parse::<f64>()
        .ok()
        .map(|microseconds| microseconds * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use syscost_benches::CATALOGUE;
    use syscost_harness::Catalogue;

    #[test]
    fn perf_benchs_own_output_is_read() {
        let output = "# Running 'syscall/basic' benchmark:\n# Executed 2,000,000 getppid() calls\n     Total time: \
                      0.210 [sec]\n\n       0.105375 usecs/op\n       9,489,916 ops/sec\n";
        let nanoseconds = perf_bench(output).unwrap();
        assert!((nanoseconds - 105.375).abs() < 1e-9, "{nanoseconds}");
        assert_eq!(perf_bench("Total time: 0.210 [sec]\n"), None);
        assert_eq!(perf_bench("many usecs/op\n"), None);
    }

    #[test]
    fn every_peer_has_a_row_of_ours_and_is_listed_once() {
        let rows: Vec<String> = Catalogue::rows(CATALOGUE.benchmarks())
            .iter()
            .map(|row| row.name())
            .collect();
        let mut keys = HashSet::new();
        for peer in PEERS {
            assert!(rows.iter().any(|row| row == peer.row), "{}", peer.row);
            assert!(
                keys.insert((peer.row, peer.name)),
                "{} {}",
                peer.row,
                peer.name
            );
            assert!(
                peer.invocations > 0
                    && !peer.command.is_empty()
                    && !peer.package.is_empty()
                    && !peer.differs.is_empty()
            );
        }
    }
}
