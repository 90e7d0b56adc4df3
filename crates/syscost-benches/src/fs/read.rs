//! Reading a file.
//!
//! ## Measures
//! One pread of 4 KiB of a file whose pages are all in the page cache: the system call, finding the page, copying it.
//! ## Does not measure
//! The device.
//! ## Reading it
//! Compare with `syscall.read_zero`.
//! ## Source
//! lmbench `bw_file_rd`.

use std::os::unix::fs::FileExt;

use syscost_harness::prelude::*;
use syscost_sys::files;

use super::in_each_directory;
use super::space::Space;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.read",
    title: "File read",
    cases: Cases::Here(cases),
    expect: &[calls(Sysno::PREAD64)],
    run,
    source: include_str!("read.rs"),
    ..Benchmark::DEFAULT
};

fn cases() -> Vec<Case> {
    in_each_directory(&[Case::new([
        ("access", "random"),
        ("cache", "warm"),
        ("size", "4K"),
    ])])
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    const BYTES: u64 = 4 << 20;
    let space = Space::of(b.case())?;
    let seed = b.random().u64(..);
    let written = space.file("read", BYTES, seed)?;
    let file = written.open()?;
    let size = b.case().number("size");
    let mut buffer = vec![0; size as usize];
    let mut offsets: Vec<u64> = (0..BYTES / size).map(|block| block * size).collect();
    b.random().shuffle(&mut offsets);
    for offset in &offsets {
        file.read_exact_at(&mut buffer, *offset)
            .map_err(|cause| Failure::of("pread", cause))?;
        written.check(&buffer, *offset)?;
    }
    let pages = BYTES / rustix::param::page_size() as u64;
    let resident = files::resident_pages(&file)?;
    b.claim_equal("pages in the page cache", pages, resident, "mincore");
    let mut next = 0;
    b.try_iter(|| {
        let offset = offsets[next];
        next = (next + 1) % offsets.len();
        file.read_exact_at(&mut buffer, offset)
    })
}
