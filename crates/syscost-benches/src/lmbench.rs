//! lmbench's programs, and the benchmarks that measure the same here, so that they can be found by
//! lmbench's names.

/// A program of lmbench 3.0-a9.
pub struct Program {
    /// Its name, which benchmarks that measure the same have as a tag.
    pub name: &'static str,
    /// How the quantities differ; for a program that no benchmark covers, the reason.
    pub note: &'static str,
}

const fn program(name: &'static str, note: &'static str) -> Program {
    Program { name, note }
}

/// Every program, by its name. Only the tags of benchmarks say which ones cover it.
pub const LMBENCH: &[Program] = &[
    program(
        "bw_file_rd",
        "Warm, cold and direct reads are separate rows, and what was read is not added up. `fs.read` is the time of one read at random.",
    ),
    program(
        "bw_mem",
        "`copy` counts the bytes that are loaded and those that are stored, as STREAM does: halve it to compare with bytes copied.",
    ),
    program(
        "bw_mmap_rd",
        "The time of a page, with the faults of the mapping; words are added up in both.",
    ),
    program(
        "bw_pipe",
        "By the size of the messages, and by where both tasks run.",
    ),
    program(
        "bw_tcp",
        "Bytes that the far end received, while the stream is in its steady state.",
    ),
    program(
        "bw_unix",
        "By the size of the messages, and by where both tasks run.",
    ),
    program(
        "cache",
        "`memory.cache_size` and `memory.cache_latency` are computed from the curve of `memory.latency`.",
    ),
    program(
        "disk",
        "Not covered: it reads a raw device. The group `fs` measures files, with `cache=direct` past the page cache.",
    ),
    program(
        "enough",
        "Not covered: how long a batch must be is found anew for each row.",
    ),
    program(
        "flushdisk",
        "Not covered: it measures nothing. Files are taken out of the page cache one by one here.",
    ),
    program(
        "hello",
        "Not covered: it is the program that `lat_proc exec` executes.",
    ),
    program(
        "lat_cmd",
        "Not covered: it times whatever command it is given. `task.exec` is what starting a program costs.",
    ),
    program(
        "lat_connect",
        "`step=connect` is the whole life of a connection, its end included.",
    ),
    program(
        "lat_ctx",
        "`switch.ring` is the same ring with a working set; the work itself is measured in alternating batches and subtracted. \
         `switch.pipe` is the round trip, two switches, with nothing subtracted; the detail `switch_ns` is half of it.",
    ),
    program(
        "lat_dram_page",
        "Not covered: pages of memory chips are not distinguished from caches and TLBs here.",
    ),
    program(
        "lat_fcntl",
        "`sync.file_lock` has the lock that is handed over; `fs.lock` is that of one task, by file system.",
    ),
    program("lat_fifo", "`via=fifo`; a round trip in both."),
    program(
        "lat_fs",
        "The time of an operation in place of files per second; `fs.metadata` has one row for each call.",
    ),
    program(
        "lat_http",
        "A request and its answer over one connection or a new one, against a server of this program.",
    ),
    program(
        "lat_mem_rd",
        "In random order as well, which no prefetcher follows; in small and huge pages.",
    ),
    program(
        "lat_mmap",
        "Mapping and unmapping are separate rows, of anonymous memory, touched or not.",
    ),
    program(
        "lat_ops",
        "The rows of latency; each is measured, none computed from others.",
    ),
    program(
        "lat_pagefault",
        "`kind=file_warm` comes nearest: a page of a file that is in the page cache.",
    ),
    program("lat_pipe", "A round trip in both."),
    program(
        "lat_pmake",
        "Not covered: it is a load of many processes. `task.exec` is one, `scale` has operations on many CPUs.",
    ),
    program(
        "lat_proc",
        "`procedure` is `call.integer`; `fork`, `exec` and `shell` are rows of `task`, whose program writes one byte and is linked statically.",
    ),
    program(
        "lat_rand",
        "Not covered: random number generators of the C library are no primitive of the machine.",
    ),
    program(
        "lat_rpc",
        "`fs.nfs{op=null}`: the procedure that does nothing, of an NFS server over TCP.",
    ),
    program(
        "lat_select",
        "One descriptor of all is ready, and whether it is the first or the last is part of the row's name.",
    ),
    program(
        "lat_sem",
        "A round trip of two tasks; `switch.sysv_semaphore` has the same kind of semaphore.",
    ),
    program(
        "lat_sig",
        "`install`, `catch` and `prot` are separate rows.",
    ),
    program(
        "lat_syscall",
        "A row for each call; `null` is `getppid` in both. `read` and `write` are of one byte.",
    ),
    program(
        "lat_tcp",
        "A round trip in both; of one byte or more, over loopback or to another machine.",
    ),
    program(
        "lat_udp",
        "A round trip in both; of one byte or more, over loopback or to another machine.",
    ),
    program("lat_unix", "A round trip in both; `via=unix_stream`."),
    program(
        "lat_unix_connect",
        "From making the socket to the end of the connection.",
    ),
    program(
        "lat_usleep",
        "By how much the sleep is too long: the time that was asked for is taken off.",
    ),
    program(
        "line",
        "`memory.line_size` is computed from the rows of `memory.line`.",
    ),
    program(
        "lmdd",
        "`fs.write` is the time of one block that is written over; reading is `fs.read_bandwidth`.",
    ),
    program("lmhttp", "Not covered: it is the server of `lat_http`."),
    program("loop_o", "A row for each shape of the loop."),
    program(
        "memsize",
        "Not covered: the size of the memory is in the machine section of the document.",
    ),
    program("mhz", "By two chains of instructions, which must agree."),
    program(
        "msleep",
        "Not covered: it measures nothing, but sleeps between others.",
    ),
    program(
        "par_mem",
        "The time of one load with that number of chains at once; its inverse, relative to one chain, is the parallelism.",
    ),
    program(
        "par_ops",
        "The rows of throughput, from independent chains.",
    ),
    program(
        "rhttp",
        "Not covered: it repeats `lat_http` for several servers.",
    ),
    program(
        "stream",
        "The same four kernels and the same way of counting bytes.",
    ),
    program(
        "timing_o",
        "The pair of readings around a sample is in each run: `clock.read_ns`.",
    ),
    program(
        "tlb",
        "`memory.tlb_reach` and `memory.tlb_miss` are computed from the curve of `memory.tlb`.",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::CATALOGUE;

    #[test]
    fn every_program_is_covered_or_says_why_not() {
        for program in LMBENCH {
            let covered = CATALOGUE.tagged(program.name).next().is_some();
            let says_not = program.note.starts_with("Not covered: ");
            assert!(covered != says_not, "{}: {}", program.name, program.note);
            assert!(program.note.ends_with('.'), "{}", program.name);
        }
        let sorted = LMBENCH.is_sorted_by(|one, next| one.name < next.name);
        assert!(sorted, "by name, each once");
    }

    /// A benchmark that cites one of lmbench's programs as its source is found by that name.
    #[test]
    fn tags_that_look_like_lmbench_are_its_programs() {
        let known = |tag: &str| LMBENCH.iter().any(|program| program.name == tag);
        for benchmark in CATALOGUE.benchmarks() {
            for tag in benchmark.tags() {
                let is_one = ["lat_", "bw_", "par_"]
                    .iter()
                    .any(|start| tag.starts_with(start));
                assert!(!is_one || known(tag), "{}: {tag}", benchmark.id);
            }
        }
    }

    /// Programs whose names have capitals, and the abbreviations in them.
    const CAPITALS: [&str; 7] = [
        "STREAM",
        "TCP_RR",
        "TCP_CC",
        "TCP_STREAM",
        "TCP_SENDFILE",
        "UDP_RR",
        "UDP_STREAM",
    ];

    #[test]
    fn tags_are_words_in_lower_case_or_programs_as_they_are_spelled() {
        for benchmark in CATALOGUE.benchmarks().chain(crate::PROCEDURES) {
            assert!(!benchmark.tags.is_empty(), "{} has no tag", benchmark.id);
            let mut before = BTreeSet::new();
            for tag in benchmark.tags() {
                let is_plain =
                    |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-/.".contains(c);
                let is_word = |word: &str| {
                    !word.is_empty() && (CAPITALS.contains(&word) || word.chars().all(is_plain))
                };
                assert!(tag.split(' ').all(is_word), "{}: {tag:?}", benchmark.id);
                assert!(before.insert(tag), "{}: {tag} twice", benchmark.id);
            }
        }
    }
}
