//! Making code (or data) cold: out of every cache of the machine, so that the next access goes to memory.
#![allow(unsafe_code)] // cache instructions have no safe form

/// Writes every cache line that holds a byte of `memory` back to memory and drops it from all
/// caches, those of instructions included, and waits until that is done. What the memory holds does
/// not change.
pub fn evict(memory: &[u8]) {
    machine::evict(memory);
}

/// The start of each line of `line` bytes that holds a byte of `memory`.
fn lines(memory: &[u8], line: usize) -> impl Iterator<Item = usize> {
    let start = memory.as_ptr().addr();
    let first = start - start % line;
    (first..start + memory.len())
        .step_by(line)
        .filter(|_| !memory.is_empty())
}

#[cfg(target_arch = "x86_64")]
mod machine {
    use std::arch::asm;

    /// No longer than any line there is: flushing a line twice does no harm.
    const LINE: usize = 64;

    pub(super) fn evict(memory: &[u8]) {
        // Every x86-64 processor has `clflush` (it came with SSE2). It is ordered by `mfence`; it
        // drops lines from the instruction caches too (Intel SDM, volume 2).
        for line in super::lines(memory, LINE) {
            // SAFETY: the line holds a byte of memory that is borrowed, and flushing changes no value.
            unsafe { asm!("clflush [{}]", in(reg) line, options(nostack, preserves_flags)) };
        }
        // SAFETY: a fence and a serialising instruction.
        unsafe { asm!("mfence", "lfence", options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod machine {
    use std::arch::asm;

    pub(super) fn evict(memory: &[u8]) {
        let types: usize;
        // SAFETY: reads the cache type register, which Linux opens to programs (or emulates).
        unsafe {
            asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags))
        };
        // The shortest line of a data cache and of an instruction cache, as powers of two of 4-byte words.
        let data_line = 4 << (types >> 16 & 0xf);
        let code_line = 4 << (types & 0xf);
        for line in super::lines(memory, data_line) {
            // SAFETY: the line holds a byte of memory that is borrowed, and cleaning changes no value.
            unsafe { asm!("dc civac, {}", in(reg) line, options(nostack, preserves_flags)) };
        }
        // SAFETY: a barrier.
        unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
        for line in super::lines(memory, code_line) {
            // SAFETY: as above, for instruction caches.
            unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) };
        }
        // SAFETY: barriers.
        unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_holds_a_byte_is_met_once() {
        let memory = [0_u8; 300];
        for (from, length) in [(0, 0), (0, 1), (7, 64), (63, 130), (1, 299)] {
            let part = &memory[from..from + length];
            let met: Vec<usize> = lines(part, 64).collect();
            let holding: Vec<usize> = {
                let mut starts: Vec<usize> = part
                    .iter()
                    .map(|byte| std::ptr::from_ref(byte).addr() / 64 * 64)
                    .collect();
                starts.dedup();
                starts
            };
            assert_eq!(met, holding, "{length} bytes from {from}");
        }
    }

    #[test]
    fn evicted_memory_keeps_its_value() {
        let memory: Vec<u8> = (0..1000).map(|index| index as u8).collect();
        evict(&memory);
        let mut numbered = memory.iter().enumerate();
        assert!(numbered.all(|(index, &byte)| byte == index as u8));
    }
}
