//! Overwriting a block of a file.
//!
//! ## Measures
//! One pwrite of a block that has content already, in the order of the file (`sequential`, from the
//! start again at its end) or in random order.
//!
//! - `buffered`: into the page cache, where all pages of the file are present and dirty, so that the
//!   kernel copies the block and does nothing else. Nothing is written back meanwhile.
//! - `direct`: with O_DIRECT. It returns when the device reports that it has the block; nothing of it
//!   is left in the page cache.
//! ## Does not measure
//! Growing a file, and finding blocks for it (`fs.fallocate`). The first write to a clean page.
//! Making sure that the block survives a power failure: a device may keep it in a cache of its own
//! (`fs.sync`).
//! ## Interpretation
//! `buffered` depends on the core and on memory, and the detail `bandwidth_bytes_per_s` is that of
//! a copy. `direct` waits for the device: at most `cpu_ns` of it is work of the core, `run_delay_ns`
//! was spent waiting for a core, and the rest for the device, which was busy for
//! `device_busy_percent` of the time and received `device_written_bytes` per operation, from
//! all programs. A block smaller than the device's own is read, modified and written by the device.
//! ## Source
//! fio `rw=write` and `rw=randwrite` with `ioengine=psync`, `overwrite=1` and `direct=0` or `1`;
//! lmbench `lmdd`.

mod buffered;
mod direct;

use syscost_harness::prelude::*;

use super::access::Access;
use super::named::claim_size;
use super::overwrite::Blocks;
use super::read::{CACHE, DIRECT};
use super::space::Space;
use super::waits;
use super::{SIZE, in_each_directory};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.write",
    title: "File overwrite, sequential and random",
    tags: &[
        "sequential write",
        "random write",
        "write in place",
        "pwrite",
        "buffered write",
        "direct i/o",
        "o_direct",
        "page cache",
        "iops",
        "lmdd",
        "fio",
    ],
    cases: Cases::Here(cases),
    expect: &[calls(Sysno::PWRITE64)],
    disregards_neighbours: is_direct,
    full: |case| ["512", "64K"].contains(&case.get(SIZE)),
    // With large blocks the order hardly matters.
    careful: |case| case.get(Access::KEY) == Access::Random.name() && case.number(SIZE) > 64 << 10,
    support: |case, here| match is_direct(case) {
        true => waits::needs_device(case, here),
        false => Ok(()),
    },
    run,
    source: include_str!("write.rs"),
    ..Benchmark::DEFAULT
};

fn cases(here: &Here) -> Vec<Case> {
    const BUFFERED: &[&str] = &["4K", "64K", "1M"];
    const PAST_CACHE: &[&str] = &["512", "4K", "64K", "1M"];
    let mut cases = Vec::new();
    for (cache, sizes) in [("buffered", BUFFERED), (DIRECT, PAST_CACHE)] {
        for access in Access::ALL {
            let of = |size: &&'static str| {
                Case::new([access.parameter(), (CACHE, cache), (SIZE, *size)])
            };
            cases.extend(sizes.iter().map(of));
        }
    }
    in_each_directory(here, &cases)
}

fn is_direct(case: &Case) -> bool {
    case.get(CACHE) == DIRECT
}

/// Size of the file, in bytes: a minimum number of blocks, and no more than is written within a moment.
fn file_bytes(block: u64) -> u64 {
    (1024 * block).clamp(1 << 20, (4 << 20).max(8 * block))
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let block = b.case().number(SIZE);
    let blocks = Blocks {
        file: file_bytes(block),
        block,
        access: Access::of(b.case())?,
    };
    blocks.expect(b);
    claim_size(b, block, "length of each pwrite64");
    let space = Space::of(b)?;
    match b.case().get(CACHE) {
        "buffered" => buffered::measure(b, &space, blocks),
        DIRECT => direct::measure(b, &space, blocks),
        _ => Err(b.case().unknown(CACHE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_blocks_enough_for_a_random_order() {
        for block in [512, 4 << 10, 64 << 10, 1 << 20] {
            let bytes = file_bytes(block);
            assert!(bytes / block >= 8 && bytes.is_multiple_of(block), "{block}");
            assert!(bytes <= 8 << 20, "{block}");
        }
    }
}
