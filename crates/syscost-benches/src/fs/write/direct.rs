//! Past the page cache.

use std::cell::RefCell;

use rustix::fs::OFlags;
use syscost_harness::prelude::*;
use syscost_sys::counters::IoReader;
use syscost_sys::files;

use crate::fs::overwrite::{Blocks, Overwriter};
use crate::fs::space::Space;
use crate::fs::tail::time_tail;
use crate::fs::waits::{self, MAX_SLEEPS, Waits};

const IO: &str = "/proc/thread-self/io";

pub(super) fn measure(b: &mut Bencher, space: &Space, blocks: Blocks) -> Result<(), Failure> {
    opened(b, space, blocks, OFlags::DIRECT)
}

fn opened(b: &mut Bencher, space: &Space, blocks: Blocks, flags: OFlags) -> Result<(), Failure> {
    let writer = Overwriter::new(b, space, blocks, flags)?;
    match files::direct_alignment(writer.file())? {
        None => return Err(Failure::Unsupported(format!(
            "{} has no direct I/O: it serves O_DIRECT by the page cache",
            space.filesystem().kind
        ))),
        Some(alignment) if !blocks.block.is_multiple_of(alignment.offset as u64) => {
            let wanted = alignment.offset;
            let reason = format!("direct I/O is of multiples of {wanted} bytes on this device");
            return Err(Failure::Unsupported(reason));
        }
        Some(_) => {}
    }
    files::drop_cache(writer.file())?;
    b.expect(MAX_SLEEPS);
    let io = IoReader::of_thread().and_then(|io| Ok((io.read()?.write_bytes, io)));
    let waits = Waits::begin(writer.file());
    let writer = RefCell::new(writer);
    let mut prepare = || {
        waits.after(writer.borrow().written());
        writer.borrow_mut().stage_whole();
        waits.before();
        Ok(())
    };
    let mut write = || writer.borrow_mut().write();
    b.single(&mut prepare, &mut write)?;
    time_tail(b, &mut prepare, &mut write)?;
    prepare()?;
    let writer = writer.into_inner();
    let what = "bytes that this thread sent to storage per operation";
    match io.and_then(|(before, io)| Ok(io.read()?.write_bytes - before)) {
        Ok(sent) => {
            let sent = sent as f64 / writer.written() as f64;
            b.claim_within(what, Bound::Exactly(blocks.block as f64), sent, IO);
        }
        Err(reason) => b.claim_unverified(what, blocks.block, "", IO, &reason.to_string()),
    }
    let moved = waits.end(b);
    waits::claim_written(b, blocks.block, &moved);
    let is_direct = files::is_direct(writer.file())?;
    let what = "O_DIRECT of the file, as the kernel has it open";
    b.claim_equal(what, "set", if is_direct { "set" } else { "not set" }, "fcntl F_GETFL");
    let left = files::resident_pages(writer.file())?;
    b.claim_equal("pages of the file in the page cache", 0, left, "mincore");
    writer.claim_content(b, space)
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;

    use super::*;
    use crate::fs::overwrite::Access;
    use crate::fs::space::tests::on_disk;
    use crate::testing::{claims, findings};

    fn refuted(flags: OFlags) -> Option<Vec<String>> {
        let blocks = Blocks {
            file: 1 << 20,
            block: 4096,
            access: Access::Random,
        };
        let space = on_disk()?;
        let expect = [calls(Sysno::PWRITE64)];
        let found = findings(Pass::Evidence, &expect, |b| {
            opened(b, &space, blocks, flags)
        });
        let found = match found {
            Err(Failure::Unsupported(_)) => return None,
            found => found.expect("it can be written"),
        };
        let refuted = claims(&found, Verdict::Refuted);
        Some(refuted.into_iter().map(str::to_owned).collect())
    }

    #[test]
    fn writes_through_the_page_cache_are_no_direct_ones() {
        let Some(found) = refuted(OFlags::DIRECT) else {
            return println!("skipped: no direct I/O here");
        };
        assert_eq!(found, [""; 0]);
        let found = refuted(OFlags::empty()).expect("as before");
        assert!(found.iter().any(|claim| claim.contains("O_DIRECT")), "{found:?}");
        assert!(found.iter().any(|claim| claim.contains("page cache")), "{found:?}");
        let found = refuted(OFlags::SYNC).expect("as before");
        assert!(found.iter().any(|claim| claim.contains("page cache")), "{found:?}");
    }
}
