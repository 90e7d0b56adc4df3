//! The C library's allocator.

use crate::{Unsupported, os};

/// From now on malloc gives each block of this many bytes or more a mapping of its own, and takes
/// smaller ones from its heap, which keeps what is freed. Without this the GNU C library raises the
/// threshold by itself, as it sees large blocks freed.
///
/// # Errors
/// `Unsupported` where the C library has no such setting, or refuses this one.
pub fn map_blocks_from(bytes: usize) -> Result<(), Unsupported> {
    os::map_blocks_from(bytes)
        .map_err(|cause| Unsupported::new(format!("mallopt of {bytes} bytes: {cause}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_beyond_all_blocks_is_refused() {
        or_skip!(map_blocks_from(1 << 20));
        assert!(map_blocks_from(1 << 40).is_err());
    }
}
