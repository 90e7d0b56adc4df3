//! One transparent huge page at a time.

use std::cell::Cell;

use syscost_harness::prelude::*;

use super::minor_faults;
use super::state::{FRESH_BYTES, GIVEN_BACK, State, Walk};
use crate::memory::space::area::Area;

/// Maximum number of huge pages per batch.
pub(crate) const MAX_PAGES: usize = 32;

/// Huge pages that are given back as soon as all are used: as few as can be measured.
const RECYCLED: usize = 2;

/// Minimum share of faults that must yield a huge page: the kernel may have none available now and then.
const MIN_HUGE_SHARE: f64 = 0.9;

/// What is expected of faults that each yield a huge page of this length, or a small one now and
/// then.
pub(crate) fn expected(length: usize) -> [Expect; 2] {
    let bytes = length as f64;
    let gained = within(Counter::ResidentBytes, MIN_HUGE_SHARE * bytes, 1.01 * bytes);
    [minor_faults(1.0), gained]
}

/// What proves that a fault yields a huge page.
pub(super) fn proof() -> Proof {
    Proof::counted(expected(length()))
}

pub(super) fn recycled_bytes() -> usize {
    RECYCLED * length()
}

fn length() -> usize {
    Pages::Huge.bytes().unwrap_or(0)
}

/// Measures the first write of huge pages in this state.
pub(super) fn write(plan: Plan, state: State) -> Result<Outcome, Failure> {
    let length = Pages::Huge.bytes()?;
    // Allocated in huge pages once, so that it can be again.
    let recycled = Area::fill(RECYCLED * length, Pages::Huge)?;
    match state {
        State::Recycled => measure(plan, &recycled, length),
        State::Fresh => {
            drop(recycled);
            measure(plan, &Area::reserve(FRESH_BYTES, Pages::Huge)?, length)
        }
    }
}

/// Writes a byte of each piece of the memory that is as long as a huge page, `length` bytes, one
/// after the other, gives all back at the end of the memory, and counts the huge pages that it has
/// then.
pub(crate) fn measure<'p>(
    plan: Plan<'p>,
    area: &Area,
    length: usize,
) -> Result<Outcome<'p>, Failure> {
    let step = length / area.memory().pages().bytes()?;
    area.forget()?;
    let found = Cell::new(0);
    let count = || -> Result<(), Failure> {
        found.set(found.get() + huge_bytes(area.memory())? / length);
        Ok(())
    };
    let walk = Walk::new(area, &count)?;
    let written = Loop::batches(1, |pages| {
        for _ in 0..pages {
            let page = walk.next(step)?;
            area.write(page..page + 1);
            walk.touched(page + step);
        }
        Ok(())
    });
    let most = MAX_PAGES.min(area.pages() / step) as u64;
    let prepared = written.prepared(most, |pages| walk.next(pages as usize * step).map(drop));
    let mut outcome = plan.measure(prepared)?;
    count()?;
    walk.claim(
        &mut outcome,
        not_given(walk.touched_bytes(), huge_bytes(area.memory())?, length)?,
    )?;
    outcome.observe(&GIVEN_BACK, area.memory().bytes());
    let share = found.get() as f64 / outcome.operations() as f64;
    let verdict = judge(share);
    let reason = (verdict == Verdict::Unverified)
        .then_some("the kernel had no huge page at hand for the others");
    let claim = Claim::by_most("huge pages found per operation");
    outcome.claim_verdict(claim, 1.0, share, "smaps", verdict, reason);
    let per_page = length as f64 / Pages::Small.bytes()? as f64;
    outcome.detail("small_pages_per_fault", per_page);
    outcome.detail_times("small_page_ns", 1.0 / per_page);
    Ok(outcome)
}

fn judge(share: f64) -> Verdict {
    if share == 1.0 {
        Verdict::Confirmed
    } else if (MIN_HUGE_SHARE..1.0).contains(&share) {
        Verdict::Unverified
    } else {
        Verdict::Refuted
    }
}

/// How many of these touched bytes may be absent: where the kernel had no huge page at hand, it gave
/// a small one, or some, for the byte that was written.
fn not_given(touched: usize, huge: usize, length: usize) -> Result<usize, Failure> {
    let missing = touched.saturating_sub(huge) / length;
    Ok(missing * (length - Pages::Small.bytes()?))
}

/// How much of the memory is in huge pages, whatever was requested.
fn huge_bytes(memory: &Memory) -> Result<usize, Failure> {
    let resident = memory.resident()?;
    Ok(match memory.pages() {
        Pages::Small => resident.bytes - resident.in_pages_bytes,
        Pages::Huge | Pages::Gigantic => resident.in_pages_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_in_small_pages_was_not_given_back() {
        let (Ok(small), length) = (Pages::Small.bytes(), 2 << 20) else {
            return println!("skipped: no pages of a known size here");
        };
        // Seven were written, of which one came as a small page.
        let (touched, resident) = (7 * length, 6 * length + small);
        let lacking = not_given(touched, 6 * length, length).unwrap();
        assert_eq!(touched - lacking, resident);
        assert_eq!(not_given(touched, touched, length).unwrap(), 0);
    }

    #[test]
    fn a_few_missing_huge_pages_refute_nothing() {
        assert_eq!(judge(1.0), Verdict::Confirmed);
        assert_eq!(judge(0.99), Verdict::Unverified);
        for share in [0.0, 0.5, 1.1, f64::NAN] {
            assert_eq!(judge(share), Verdict::Refuted, "{share}");
        }
    }
}
