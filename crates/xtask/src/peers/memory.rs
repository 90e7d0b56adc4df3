//! Peers of the memory bandwidth rows. These rows name the widest vectors of the machine, so other
//! machines may lack them.

use super::read::{likwid, mbw, stream, sysbench_memory};
use super::{Cpus, Peer};

/// A kernel of likwid-bench, compared with the same kernel of ours.
const fn likwid_bench(row: &'static str, command: &'static str, differs: &'static str) -> Peer {
    Peer {
        row,
        name: "likwid-bench",
        command,
        placement: Cpus::One,
        invocations: 1,
        read: likwid,
        differs,
        options: &[],
        package: "likwid",
    }
}

/// One kernel of STREAM, with arrays as long as ours.
const fn own_stream(row: &'static str, command: &'static str, placement: Cpus) -> Peer {
    Peer {
        row,
        name: "xtask stream",
        command,
        placement,
        invocations: 1,
        read: stream,
        differs: STREAM,
        options: &[],
        package: "",
    }
}

/// The peers, in the order of their rows.
pub(super) const MEMORY: &[Peer] = &[
    likwid_bench(
        "memory.bandwidth{op=read,simd=avx512,size=24K,threads=1}",
        "likwid-bench -t load_avx512 -w S0:24kB:1",
        LIKWID,
    ),
    likwid_bench(
        "memory.bandwidth{op=write,simd=avx512,size=24K,threads=1}",
        "likwid-bench -t store_avx512 -w S0:24kB:1",
        LIKWID,
    ),
    likwid_bench(
        "memory.bandwidth{op=copy,simd=avx512,size=24K,threads=1}",
        "likwid-bench -t copy_avx512 -w S0:24kB:1",
        LIKWID,
    ),
    likwid_bench(
        "memory.bandwidth{op=triad,simd=avx512,size=24K,threads=1}",
        "likwid-bench -t stream_avx512 -w S0:24kB:1",
        LIKWID,
    ),
    likwid_bench(
        "memory.bandwidth{op=read,simd=avx512,size=384K,threads=1}",
        "likwid-bench -t load_avx512 -w S0:384kB:1",
        LIKWID,
    ),
    likwid_bench(
        "memory.bandwidth{op=copy,simd=avx512,size=384K,threads=1}",
        "likwid-bench -t copy_avx512 -w S0:384kB:1",
        LIKWID,
    ),
    likwid_bench(
        "memory.bandwidth{op=read,simd=avx512,size=12M,threads=1}",
        "likwid-bench -t load_avx512 -w S0:12MB:1",
        LIKWID,
    ),
    likwid_bench(
        "memory.bandwidth{op=read,simd=avx512,size=512M,threads=1}",
        "likwid-bench -t load_avx512 -w S0:512MB:1",
        LIKWID,
    ),
    likwid_bench(
        "memory.bandwidth{op=copy_nontemporal,simd=avx512,size=512M,threads=1}",
        "likwid-bench -t copy_mem_avx512 -w S0:512MB:1",
        LIKWID,
    ),
    likwid_bench(
        "memory.bandwidth{op=triad,simd=avx512,size=512M,threads=1}",
        "likwid-bench -t stream_avx512 -w S0:512MB:1",
        LIKWID,
    ),
    own_stream(
        "memory.bandwidth{op=copy,simd=avx512,size=512M,threads=1}",
        "\"$XTASK\" stream --kernel copy --mib 256",
        Cpus::One,
    ),
    own_stream(
        "memory.bandwidth{op=triad,simd=avx512,size=512M,threads=1}",
        "\"$XTASK\" stream --kernel triad --mib 170",
        Cpus::One,
    ),
    own_stream(
        "memory.bandwidth{op=triad,simd=avx512,size=512M,threads=2}",
        "\"$XTASK\" stream --kernel triad --mib 170 --threads 2",
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
        package: "mbw",
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
        package: "sysbench",
    },
];

const LIKWID: &str = "The same kernel by name, assembly of likwid's own, over as many bytes (its kB are 1000). It counts loads and stores, as \
     ours does. Its figure is a mean over a second or more, its pages have 4 KiB, ours are huge where there are any.";

const STREAM: &str = "STREAM written anew to its run rules, with arrays as long as ours rather than four times the last-level caches (which a machine \
     shared with strangers may have hundreds of MiB of). Plain loops that the compiler makes vectors of 128 bits of; its figure is the best of nine, \
     ours the median.";
