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

/// The length of a piece, which is at least a page.
pub(super) fn whole_pages(size: Bytes) -> Result<usize, Unsupported> {
    let page = page_size();
    match size.get() < page {
        true => Err(Unsupported::new(format!(
            "pages have {} KiB on this machine",
            page >> 10
        ))),
        false => Ok(size.get()),
    }
}

/// The number of pages that a row names by their bytes.
pub(super) fn in_pages(size: Bytes) -> f64 {
    (size.get() / page_size()) as f64
}

/// The failure for memory that could not be mapped. Machines with strict overcommit promise no more
/// memory than they have: that is not the operation's fault.
pub(crate) fn not_mapped(tried: &str, cause: Errno) -> Failure {
    match cause {
        Errno::NOMEM => Failure::Unsupported(format!("{tried}: {cause}")),
        _ => Failure::of(tried, cause),
    }
}

/// Pages that are resident before each operation, which the benchmark counts itself.
pub(super) const RESIDENT: &str = "pages that are resident before it";

/// Arguments of calls on mappings, as evidence names them: most calls have them in this order.
pub(super) const ADDRESS: Argument = Argument::at(0, "address");
pub(super) const LENGTH: Argument = Argument::at(1, "length");
pub(super) const PROTECTION: Argument = Argument::at(2, "protection");
pub(super) const ADVICE: Argument = Argument::at(2, "advice");

/// The allocator takes the first pages that are given back more cheaply than later ones, and many
/// are cold: twice as many may cost more than twice as much.
pub(super) const GIVING_BACK: Expect = within(Counter::TimeScaling, 1.5, 3.0);

/// Every operation gives back this much. In every fourth the process may gain or lose one of
/// its own, since batches are short.
pub(super) fn gives_back(Bytes(bytes): Bytes) -> Expect {
    let (bytes, own) = (bytes as f64, page_size() as f64 / 4.0);
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
        assert!(whole_pages(Bytes(1)).is_err());
        assert_eq!(whole_pages(Bytes::mib(64)), Ok(64 << 20));
    }
}
