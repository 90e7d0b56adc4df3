//! Peers of the file-system rows, on the file system of the user's cache directory, like the rows.

use super::read::{fio_bandwidth, fio_latency, fio_rate, ioping};
use super::{Cpus, Peer};

/// A command in a separate directory next to the one in which our rows are measured.
macro_rules! in_a_folder {
    ($command:literal) => {
        concat!(
            "cache=${XDG_CACHE_HOME:-$HOME/.cache}; mkdir -p $cache; d=$(mktemp -d $cache/syscost-peer-XXXXXX); \
             trap 'rm -rf \"$d\"' EXIT; ",
            $command
        )
    };
}

/// The peers, in the order of their rows.
pub(super) const FS: &[Peer] = &[
    Peer {
        row: "fs.read{dir=default,access=random,cache=direct,size=4K}",
        name: "fio --ioengine=psync --direct=1 --rw=randread",
        command: in_a_folder!(
            "fio --name=peer --directory=$d --size=8M --bs=4k --rw=randread --ioengine=psync --direct=1 --time_based \
             --runtime=1 --output-format=json"
        ),
        placement: Cpus::One,
        invocations: 3,
        read: fio_latency,
        differs: "Both make one pread of 4 KiB after the other at random positions of a file of 8 MiB with O_DIRECT. fio's \
                  figure is the median over 3 processes of the median of a second of reads, by clock_gettime around \
                  each; ours is by the processor's counter, and the clock's own cost is taken off.",
        options: &[],
    },
    Peer {
        row: "fs.read{dir=default,access=random,cache=direct,size=4K}",
        name: "ioping -D",
        command: in_a_folder!("ioping -D -B -q -c 5000 -i 0 -s 4k -S 8m $d"),
        placement: Cpus::One,
        invocations: 3,
        read: ioping,
        differs: "Both make one pread of 4 KiB after the other at random positions of a file of 8 MiB with O_DIRECT. ioping's \
                  figure is the median over 3 processes of means over 5000 reads, slow ones included; ours is a median of \
                  single reads.",
        options: &[],
    },
    Peer {
        row: "fs.read_bandwidth{dir=default,access=sequential,cache=cold,size=1M}",
        name: "fio --ioengine=psync --rw=read",
        command: in_a_folder!(
            "fio --name=peer --directory=$d --size=32M --bs=1m --rw=read --ioengine=psync --invalidate=1 --loops=20 \
             --output-format=json"
        ),
        placement: Cpus::One,
        invocations: 3,
        read: fio_bandwidth,
        differs: "Both read a file in order by pread of 1 MiB, whose pages were given up before. fio gives them up before each \
                  of 20 passes without looking whether they are gone, and its figure is a mean with the waits between the \
                  passes; ours makes sure by cachestat and mincore, untimed.",
        options: &[],
    },
    Peer {
        row: "fs.contention{dir=default,file=own,processes=8}",
        name: "fio --numjobs=8 --direct=1 --rw=randread",
        command: in_a_folder!(
            "fio --name=peer --directory=$d --size=4M --bs=4k --rw=randread --ioengine=psync --direct=1 --numjobs=8 \
             --group_reporting --time_based --runtime=2 --output-format=json"
        ),
        placement: Cpus::All,
        invocations: 3,
        read: fio_rate,
        differs: "Both have 8 processes, each of which makes one direct pread of 4 KiB after the other in a file of its own. \
                  fio's figure is the sum of each process's mean rate, over the time that each of them ran; ours counts \
                  windows in which all of them read.",
        options: &[],
    },
];
