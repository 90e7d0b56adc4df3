//! Peers of the memory bandwidth rows. These rows name the widest vectors of the machine, so other
//! machines may lack them.

use super::read::{likwid, mbw, stream, sysbench_memory};
use super::{Cpus, Peer};

/// A kernel of likwid-bench over a working set, compared with the same kernel of ours.
macro_rules! likwid_bench {
    ($op:literal, $size:literal, $kernel:literal, $set:literal) => {
        Peer {
            row: concat!(
                "memory.bandwidth{op=",
                $op,
                ",simd=avx512,size=",
                $size,
                ",threads=1}"
            ),
            name: "likwid-bench",
            command: concat!("likwid-bench -t ", $kernel, "_avx512 -w S0:", $set, ":1"),
            placement: Cpus::One,
            invocations: 1,
            read: likwid,
            differs: LIKWID,
            options: &[],
        }
    };
}

/// One kernel of STREAM, with arrays as long as ours.
const fn own_stream(row: &'static str, command: &'static str, placement: Cpus) -> Peer {
    Peer {
        row,
        name: "lab stream",
        command,
        placement,
        invocations: 1,
        read: stream,
        differs: STREAM,
        options: &[],
    }
}

/// The peers, in the order of their rows.
pub(super) const MEMORY: &[Peer] = &[
    likwid_bench!("read", "24K", "load", "24kB"),
    likwid_bench!("write", "24K", "store", "24kB"),
    likwid_bench!("copy", "24K", "copy", "24kB"),
    likwid_bench!("triad", "24K", "stream", "24kB"),
    likwid_bench!("read", "384K", "load", "384kB"),
    likwid_bench!("copy", "384K", "copy", "384kB"),
    likwid_bench!("read", "12M", "load", "12MB"),
    likwid_bench!("read", "512M", "load", "512MB"),
    likwid_bench!("copy_nontemporal", "512M", "copy_mem", "512MB"),
    likwid_bench!("triad", "512M", "stream", "512MB"),
    own_stream(
        "memory.bandwidth{op=copy,simd=avx512,size=512M,threads=1}",
        "\"$LAB\" stream --kernel copy --mib 256",
        Cpus::One,
    ),
    own_stream(
        "memory.bandwidth{op=triad,simd=avx512,size=512M,threads=1}",
        "\"$LAB\" stream --kernel triad --mib 170",
        Cpus::One,
    ),
    own_stream(
        "memory.bandwidth{op=triad,simd=avx512,size=512M,threads=2}",
        "\"$LAB\" stream --kernel triad --mib 170 --threads 2",
        Cpus::Two,
    ),
    Peer {
        row: "memory.bandwidth{op=memcpy,simd=none,size=512M,threads=1}",
        name: "mbw",
        command: "mbw -q -n 5 -t0 256",
        placement: Cpus::One,
        invocations: 1,
        read: mbw,
        differs: "mbw calls memcpy from one array of 256 MiB to another and counts what is copied once; its figure here is twice that, \
                  for what is read and what is written. Its arrays are in pages of 4 KiB, ours in huge ones where there are any.",
        options: &[],
    },
    Peer {
        row: "memory.bandwidth{op=read,simd=avx512,size=384K,threads=1}",
        name: "sysbench memory",
        command: "sysbench memory --memory-block-size=256K --memory-total-size=40G --memory-oper=read run",
        placement: Cpus::One,
        invocations: 1,
        read: sysbench_memory,
        differs: "sysbench adds up words of 8 bytes in a loop of C, so it measures that loop more than the cache. Its blocks are powers of two: 256 KiB.",
        options: &[],
    },
];

const LIKWID: &str = "The same kernel by name, assembly of likwid's own, over as many bytes (its kB are 1000). It counts loads and stores, as \
     ours does. Its figure is a mean over a second or more, its pages have 4 KiB, ours are huge where there are any.";

const STREAM: &str = "STREAM written anew to its run rules, with arrays as long as ours rather than four times the last-level caches (which a machine \
     shared with strangers may have hundreds of MiB of). Plain loops that the compiler makes vectors of 128 bits of; its figure is the best of nine, \
     ours the median.";
