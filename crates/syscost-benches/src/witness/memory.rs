//! Of memory: the kind of its pages.

use syscost_harness::prelude::*;

static PAGES: Witness = Witness::of("pages that hold all of the memory", "smaps");

/// Minimum share of the memory in huge pages that has them, where the kernel may split some at any time.
pub(crate) const MIN_UNSPLIT: f64 = 0.95;

/// Proof by all of the memory's being in such pages.
pub(crate) fn in_pages(pages: Pages) -> Proof {
    PAGES.expects(pages.name())
}

/// Claims that all of this memory is resident, and tells in what pages.
///
/// # Errors
/// When the kernel does not report it.
pub(crate) fn look_at_pages(b: &mut Bencher, memory: &Memory) -> Result<(), Failure> {
    let by_pages = memory.resident_by_pages()?;
    let resident: usize = by_pages.iter().map(|(_, bytes)| bytes).sum();
    let what = "resident bytes of the memory";
    b.claim_equal(what, memory.bytes(), resident, "smaps");
    let (seen, doubt) = held(by_pages);
    b.observe_unless(&PAGES, seen, doubt);
    Ok(())
}

/// What pages hold memory of which these bytes are in each kind, and what else than the row may
/// have caused that.
fn held(by_pages: [(Pages, usize); 3]) -> (String, Option<&'static str>) {
    let all: usize = by_pages.iter().map(|(_, bytes)| bytes).sum();
    let largest = by_pages.into_iter().max_by_key(|(_, bytes)| *bytes);
    match largest {
        Some((pages, bytes)) if bytes == all && all > 0 => (pages.name().to_owned(), None),
        Some((Pages::Huge, bytes)) if bytes as f64 >= MIN_UNSPLIT * all as f64 => {
            let split = "the kernel has split some of these pages since";
            (format!("mostly {}", Pages::Huge.name()), Some(split))
        }
        Some(_) | None => ("of several kinds, or none".to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_of(bytes: [usize; 3]) -> (String, bool) {
        let [small, huge, gigantic] = bytes;
        let (pages, doubt) = held([
            (Pages::Small, small),
            (Pages::Huge, huge),
            (Pages::Gigantic, gigantic),
        ]);
        (pages, doubt.is_some())
    }

    #[test]
    fn small_pages_are_not_huge_ones_nor_are_some_of_both() {
        let name = |pages: Pages| (pages.name().to_owned(), false);
        assert_eq!(held_of([1 << 20, 0, 0]), name(Pages::Small));
        assert_eq!(held_of([0, 2 << 20, 0]), name(Pages::Huge));
        for lie in [[2 << 20, 2 << 20, 0], [0, 0, 0], [96, 4, 0]] {
            let (seen, is_doubted) = held_of(lie);
            assert!(!is_doubted && Pages::ALL.iter().all(|pages| seen != pages.name()));
        }
        assert!(held_of([4, 96, 0]).1, "a few may have been split");
    }
}
