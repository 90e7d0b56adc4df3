//! Shifting the stack, so that no result depends on one layout of it.

use std::hint::black_box;
use std::mem::MaybeUninit;

/// The largest offset of [`with_stack_offset`], in bytes.
pub const MAX_STACK_OFFSET: usize = 4096;

/// Runs `f` with the stack about `bytes` lower than it would be, in steps of 16 (the ABI's
/// alignment). More than [`MAX_STACK_OFFSET`] counts as that.
pub fn with_stack_offset<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    let mut f = Some(f);
    let mut result = None;
    shift(bytes.min(MAX_STACK_OFFSET) / 16 * 16, &mut || {
        if let Some(f) = f.take() {
            result = Some(f());
        }
    });
    result.expect("shift calls its closure exactly once")
}

/// One frame for each bit of the offset.
fn shift(bytes: usize, f: &mut dyn FnMut()) {
    let largest = bytes.checked_ilog2().map_or(0, |bit| 1_usize << bit);
    let rest = bytes - largest;
    match largest {
        0 => f(),
        16 => padded::<16>(rest, f),
        32 => padded::<32>(rest, f),
        64 => padded::<64>(rest, f),
        128 => padded::<128>(rest, f),
        256 => padded::<256>(rest, f),
        512 => padded::<512>(rest, f),
        1024 => padded::<1024>(rest, f),
        2048 => padded::<2048>(rest, f),
        _ => padded::<4096>(rest, f),
    }
}

/// A frame with `N` bytes of room that the compiler cannot know to be unused; nothing is written to
/// it.
#[inline(never)]
fn padded<const N: usize>(rest: usize, f: &mut dyn FnMut()) {
    let mut room = MaybeUninit::<[u8; N]>::uninit();
    black_box(&mut room);
    shift(rest, f);
    black_box(&mut room);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn stack_address() -> usize {
        let local = 0_u8;
        std::ptr::from_ref(black_box(&local)).addr()
    }

    #[test]
    fn the_stack_goes_down_by_at_least_the_offset() {
        let unshifted = with_stack_offset(0, stack_address);
        for bytes in [16, 256, 1040, 2048, 4080, 4096, 100_000] {
            let down = unshifted - with_stack_offset(bytes, stack_address);
            let wanted = bytes.min(MAX_STACK_OFFSET);
            // Each frame needs a little itself (more in a debug build).
            assert!((wanted..wanted + 3000).contains(&down), "{bytes}: {down}");
        }
    }

    #[test]
    fn the_closures_value_comes_back() {
        let text = String::from("kept");
        assert_eq!(with_stack_offset(48, move || text), "kept");
    }
}
