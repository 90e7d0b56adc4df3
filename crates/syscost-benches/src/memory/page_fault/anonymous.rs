//! Pages of private memory that are written, read, or both.

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::memory::Pages;

use crate::memory::space::area::Area;

/// Pages of the longest batch.
const MOST: usize = 4096;

/// Pages of the batch whose result is looked at.
const LOOKED_AT: usize = 256;

/// The first write.
pub(super) fn write(b: &mut Bencher) -> Result<(), Failure> {
    let area = area()?;
    prepared(b, |_| area.forget(), |pages| area.write(0..pages))?;
    area.forget()?;
    area.write(0..LOOKED_AT);
    claim(b, &area, LOOKED_AT)
}

/// The first read.
pub(super) fn read(b: &mut Bencher) -> Result<(), Failure> {
    let area = area()?;
    prepared(b, |_| area.forget(), |pages| area.read(0..pages))?;
    area.forget()?;
    area.read(0..LOOKED_AT);
    claim(b, &area, 0)
}

/// The first write, after reads.
pub(super) fn write_after_read(b: &mut Bencher) -> Result<(), Failure> {
    let area = area()?;
    let zeros = |pages| {
        area.forget()?;
        area.read(0..pages);
        Ok(())
    };
    prepared(b, zeros, |pages| area.write(0..pages))?;
    zeros(LOOKED_AT)?;
    let before = area.look(LOOKED_AT)?.present as f64;
    let of_its_own = area.memory().resident()?.bytes as f64;
    let pages = LOOKED_AT as f64;
    b.claim(
        "pages mapped before 256 writes",
        pages,
        before,
        "pagemap",
        before == pages,
    );
    let claim_zeros = "bytes resident before 256 writes: it is the page of zeros";
    b.claim(claim_zeros, 0.0, of_its_own, "smaps", of_its_own == 0.0);
    area.write(0..LOOKED_AT);
    claim(b, &area, LOOKED_AT)
}

fn area() -> Result<Area, Failure> {
    Area::reserve(MOST * page_size(), Pages::Small)
}

fn prepared(
    b: &mut Bencher,
    mut prepare: impl FnMut(usize) -> Result<(), Failure>,
    touch: impl Fn(usize),
) -> Result<(), Failure> {
    b.prepared_batches(
        1,
        MOST as u64,
        |pages| prepare(pages as usize),
        |pages| {
            touch(pages as usize);
            Ok(())
        },
    )
}

/// Claims that after the first 256 pages were touched all are mapped, and so many are pages of this process's own.
fn claim(b: &mut Bencher, area: &Area, own: usize) -> Result<(), Failure> {
    let mapped = area.look(area.pages())?.present as f64;
    let touched = LOOKED_AT as f64;
    b.claim(
        "pages mapped after 256",
        touched,
        mapped,
        "pagemap",
        mapped == touched,
    );
    let resident = area.memory().resident()?;
    let expected = (own * page_size()) as f64;
    let mut bytes = |what: &str, seen: usize| {
        b.claim(
            what,
            expected,
            seen as f64,
            "smaps",
            seen as f64 == expected,
        );
    };
    bytes("bytes resident after 256", resident.bytes);
    bytes("of these in small pages", resident.in_pages_bytes);
    Ok(())
}
