//! Shared: pieces of address space on which faults and mappings are measured.
//!
//! - [`area`]: anonymous memory, page by page.
//! - [`islands`]: pieces of it, each a separate mapping.
//! - [`file`]: the pages of a mapped file, and the [`device`] they come from.
//! - [`pagemap`], [`maps`]: what the kernel says of pages and of addresses.
//! - [`no_huge`]: none of them transparent huge ones.

pub(crate) mod area;
pub(crate) mod file;
pub(crate) mod islands;
pub(crate) mod maps;
pub(crate) mod no_huge;
pub(crate) mod pagemap;

use rustix::io::Errno;
use rustix::param::page_size;
use syscost_harness::prelude::*;

/// The key of the parameter with the length of a piece.
pub(super) const SIZE: &str = "size";

/// The key of the parameter that says whether its pages are resident.
pub(super) const TOUCHED: &str = "touched";

/// Length of the case's pieces, in bytes.
pub(super) fn size(case: &Case) -> Result<usize, Failure> {
    let bytes = case.find_number(SIZE).filter(|bytes| *bytes > 0);
    let bytes = bytes.ok_or_else(|| case.unknown(SIZE))? as usize;
    let page = page_size();
    match bytes < page {
        true => Err(Failure::Unsupported(format!(
            "pages have {} KiB on this machine",
            page >> 10
        ))),
        false => Ok(bytes),
    }
}

/// The failure for memory that could not be mapped. Machines with strict overcommit promise no more
/// memory than they have: that is not the operation's fault.
pub(crate) fn not_mapped(tried: &str, cause: Errno) -> Failure {
    match cause {
        Errno::NOMEM => Failure::Unsupported(format!("{tried}: {cause}")),
        _ => Failure::of(tried, cause),
    }
}

/// Whether the case's pages are resident before the operation.
pub(super) fn is_touched(case: &Case) -> Result<bool, Failure> {
    case.is(TOUCHED, "yes", "no")
}

/// Pages that are resident before each operation, which the benchmark counts itself.
pub(super) const RESIDENT: &str = "pages that are resident before it";

/// Arguments of calls on mappings, as evidence names them: most calls have them in this order.
pub(super) const ADDRESS: Argument = argument(0, "address");
pub(super) const LENGTH: Argument = argument(1, "length");
pub(super) const PROTECTION: Argument = argument(2, "protection");
pub(super) const ADVICE: Argument = argument(2, "advice");

pub(super) const fn argument(position: usize, name: &'static str) -> Argument {
    Argument { position, name }
}

/// The allocator takes the first pages that are given back more cheaply than later ones, and many
/// are cold: twice as many may cost more than twice as much.
pub(super) const GIVING_BACK: Expect = within(Counter::TimeScaling, 1.5, 3.0);

/// Every operation gives back this many pages. In every fourth the process may gain or lose one of
/// its own, since batches are short.
pub(super) fn gives_back(pages: usize) -> Expect {
    let (bytes, own) = ((pages * page_size()) as f64, page_size() as f64 / 4.0);
    within(
        Counter::ResidentBytes,
        -1.01 * bytes - own,
        -0.99 * bytes + own,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_refused_is_no_failure() {
        let refused = not_mapped("mmap", Errno::NOMEM);
        assert!(matches!(refused, Failure::Unsupported(_)), "{refused:?}");
        assert_eq!(
            not_mapped("mmap", Errno::INVAL),
            Failure::of("mmap", Errno::INVAL)
        );
    }

    #[test]
    fn less_than_a_page_is_unsupported() {
        let case = Case::new([(SIZE, "1")]);
        assert!(matches!(size(&case), Err(Failure::Unsupported(_))));
        assert!(matches!(size(&Case::default()), Err(Failure::Broken(_))));
        assert_eq!(size(&Case::new([(SIZE, "64M")])), Ok(64 << 20));
    }
}
