//! Writes into the page cache.

use rustix::fs::OFlags;
use syscost_harness::prelude::*;
use syscost_results::Verdict;
use syscost_sys::files::{self, stamp};

use crate::fs::overwrite::{Blocks, Overwriter};
use crate::fs::space::Space;
use crate::fs::waits::{Charged, unwritten_pages};

/// Maximum share of the written bytes whose pages may become dirty again without casting doubt on
/// the claim that all of them were dirty.
const MAX_DIRTIED: f64 = 0.01;

/// Up to this share the kernel may have written the file back meanwhile: it does so now and then,
/// not before every other write.
const MAX_WRITTEN_BACK: f64 = 0.5;

const WRITTEN_BACK: &str = "the kernel may have written pages back meanwhile";

const DIRTIED: &str = "share of the written bytes whose pages became dirty anew";

pub(super) fn measure(b: &mut Bencher, space: &Space, blocks: Blocks) -> Result<(), Failure> {
    opened(b, space, blocks, OFlags::empty())
}

fn opened(b: &mut Bencher, space: &Space, blocks: Blocks, flags: OFlags) -> Result<(), Failure> {
    let mut writer = Overwriter::new(b, space, blocks, flags)?;
    // A single stamp makes a block different; in the evidence pass, each of its bytes shows where it
    // belongs.
    let staged = match b.is_timed() {
        true => stamp::BYTES,
        false => blocks.block as usize,
    };
    for _ in 0..writer.blocks() {
        writer.stage(staged);
        writer.write()?;
    }
    // A block that random order leaves out has pages, too.
    let all = Bound::AtLeast(writer.pages() as f64);
    let resident = files::resident_pages(writer.file())? as f64;
    b.claim_within(
        "pages of the file in the page cache",
        all,
        resident,
        "mincore",
    );
    let has_device = !space.filesystem().is_in_memory();
    if has_device {
        let what = "pages of the file that are dirty before the operations";
        match unwritten_pages(writer.file()) {
            Ok(dirty) => b.claim_within(what, all, dirty as f64, "cachestat"),
            Err(reason) => {
                let reason = reason.to_string();
                b.claim_unverified(what, all.fact(), "", "cachestat", &reason);
            }
        }
    }
    let charged = Charged::begin();
    let before = writer.written();
    b.try_iter(|| {
        writer.stage(staged);
        writer.write()
    })?;
    if has_device {
        let bytes = (writer.written() - before) * blocks.block;
        let dirtied = charged.bytes();
        claim_dirtied(b, dirtied.map(|dirtied| dirtied as f64 / bytes as f64));
    }
    b.detail_per_second("bandwidth_bytes_per_s", blocks.block as f64);
    writer.claim_content(b, space)
}

/// Claims that few pages became dirty: a write to a clean page makes it dirty, and that is counted.
/// Pages are clean where each write goes to the device as well.
fn claim_dirtied(b: &mut Bencher, share: Result<f64, Unsupported>) {
    let expected = Bound::AtMost(MAX_DIRTIED).fact();
    match share {
        Err(reason) => {
            b.claim_unverified(DIRTIED, expected, "", Charged::SOURCE, &reason.to_string())
        }
        Ok(share) => {
            let verdict = match share {
                ..=MAX_DIRTIED => Verdict::Confirmed,
                ..=MAX_WRITTEN_BACK => Verdict::Unverified,
                _ => Verdict::Refuted,
            };
            let reason = (verdict == Verdict::Unverified).then_some(WRITTEN_BACK);
            b.claim_verdict(DIRTIED, expected, share, Charged::SOURCE, verdict, reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::access::Access;
    use crate::fs::space::tests::{on_disk, refuted};

    /// The claims that are refuted if the file is opened like this.
    fn refuted_of(space: &Space, flags: OFlags) -> Vec<String> {
        let blocks = Blocks {
            file: 1 << 20,
            block: 4096,
            access: Access::Sequential,
        };
        let expect = [calls(Sysno::PWRITE64)];
        let found = refuted(&expect, |b| opened(b, space, blocks, flags));
        found.expect("it can be written")
    }

    #[test]
    fn writes_that_go_to_the_device_are_no_buffered_ones() {
        let Some(space) = on_disk() else {
            return println!("skipped: no disk");
        };
        assert_eq!(refuted_of(&space, OFlags::empty()), [""; 0]);
        let space = on_disk().expect("there was one");
        let found = refuted_of(&space, OFlags::SYNC);
        assert!(found.contains(&DIRTIED.to_owned()), "{found:?}");
    }
}
