//! Code written at run time. Its arguments are the number of iterations
//! (`x0`) and the kernel's memory (`x1`); it returns a result in `x0`.

use super::super::written::Does;
use super::super::{Fetch, Filler, Jumps, Path};

/// Bytes of an instruction that does nothing.
pub(in super::super) const NOP_BYTES: usize = size_of::<u32>();

/// Instructions of an iteration that count it: `subs` and `b.eq`, before `b`.
pub(in super::super) const COUNTING: usize = 2;

const NOP: u32 = 0xD503_201F; // nop
const TRAP: u32 = 0xD420_0000; // brk 0
const RET: u32 = 0xD65F_03C0; // ret
const SUBS_X0: u32 = 0xF100_0400; // subs x0, x0, 1
const ADD_X9: u32 = 0x9100_0529; // add x9, x9, 1
const MOV_X9_0: u32 = 0xD280_0009; // mov x9, 0
const MOV_X0_X9: u32 = 0xAA09_03E0; // mov x0, x9

/// `b` over this many instructions, at most 2^25 in either direction.
fn branch(by: i32) -> u32 {
    0x1400_0000 | by.cast_unsigned() & 0x3FF_FFFF
}

/// A conditional branch over this many instructions, at most 2^18 in either direction.
fn conditional(branch: u32, by: i32) -> u32 {
    branch | (by.cast_unsigned() & 0x7_FFFF) << 5
}

/// `prepare`, then as many iterations of `body` as `x0` requests, then `finish`.
fn repeated(prepare: &[u32], body: &[u32], finish: &[u32]) -> Vec<u8> {
    let mut code = prepare.to_vec();
    let length = body.len() as i32;
    // A conditional branch may not reach across the body, so each one only skips a branch that does.
    code.push(conditional(0xB500_0000, 2)); // cbnz x0 to the body
    code.push(branch(length + 4)); // to `finish`: over itself, the body and the three instructions that end an iteration
    code.extend(body);
    code.push(SUBS_X0);
    code.push(conditional(0x5400_0000, 2)); // b.eq to `finish`
    code.push(branch(-length - 2)); // to the body
    code.extend(finish);
    code.push(RET);
    code.into_iter().flat_map(u32::to_le_bytes).collect()
}

pub(in super::super) fn jumps(path: Path, blocks: usize) -> Vec<u8> {
    let mut block = vec![ADD_X9];
    let rest = match path {
        Path::Jumps => {
            block.push(branch(3)); // to the next block
            TRAP
        }
        Path::Straight => NOP,
    };
    block.resize(Jumps::SPACING / size_of::<u32>(), rest);
    repeated(&[MOV_X9_0], &block.repeat(blocks), &[MOV_X0_X9])
}

pub(in super::super) fn fetch(filler: Filler, blocks: usize) -> Vec<u8> {
    // x9 sums the numbers of the blocks; these seven registers count the additions within them.
    let registers = 1..=7_u32;
    let zero = registers.clone().map(|register| 0xD280_0000 | register); // mov xN, 0
    let prepare: Vec<u32> = zero.chain([MOV_X9_0]).collect();
    let sum = registers
        .clone()
        .map(|register| 0x8B00_0129 | register << 16); // add x9, x9, xN
    let finish: Vec<u32> = sum.chain([MOV_X0_X9]).collect();
    let room = (Fetch::BLOCK - Fetch::HEAD) / size_of::<u32>();
    let rest: Vec<u32> = match filler {
        Filler::Nop => vec![NOP; room],
        Filler::Add => registers
            .map(|register| 0x9100_0400 | register << 5 | register) // add xN, xN, 1
            .cycle()
            .take(room)
            .collect(),
    };
    let mut body = Vec::with_capacity(blocks * Fetch::BLOCK / size_of::<u32>());
    for number in 1..=blocks as u32 {
        body.push(0x9100_0129 | (number & 0xFFF) << 10); // add x9, x9, its low twelve bits
        body.push(0x9140_0129 | (number >> 12) << 10); // add x9, x9, the others, lsl 12
        body.extend(&rest);
    }
    repeated(&prepare, &body, &finish)
}

pub(in super::super) fn window(fillers: usize, steps: usize) -> Vec<u8> {
    let prepare = [
        0xF940_0029, // ldr x9, [x1]
        0xF940_042A, // ldr x10, [x1, 8]
    ];
    let finish = [
        0xF900_0029, // str x9, [x1]
        0xF900_042A, // str x10, [x1, 8]
        0xF940_0520, // ldr x0, [x9, 8]
        0xF940_054B, // ldr x11, [x10, 8]
        0x8B0B_0000, // add x0, x0, x11
    ];
    let mut step = vec![0xF940_0129]; // ldr x9, [x9]
    step.extend(std::iter::repeat_n(NOP, fillers));
    step.push(0xF940_014A); // ldr x10, [x10]
    step.extend(std::iter::repeat_n(NOP, fillers));
    repeated(&prepare, &step.repeat(steps), &finish)
}

/// The length and the effect of the first of these instructions, which must be one of those above.
pub(in super::super) fn decode(code: &[u8]) -> Option<(usize, Does)> {
    let word = |at: usize| {
        let bytes = code.get(at..at + size_of::<u32>())?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    // add x9, x9, some number, alone or with one that is shifted.
    let adds_to_x9 = |word: u32, add: u32| word & 0xFFC0_03FF == add;
    let first = word(0)?;
    let second = word(4).unwrap_or(TRAP);
    if adds_to_x9(first, 0x9100_0129) && adds_to_x9(second, 0x9140_0129) {
        return Some((Fetch::HEAD, Does::AddsNumber));
    }
    let does = match first {
        NOP => Does::Nothing,
        // x9 and the others are added to themselves.
        add if add & 0xFFFF_FC00 == 0x9100_0400 && add >> 5 & 31 == add & 31 => Does::AddsOne,
        0xF940_0129 | 0xF940_014A => Does::Loads,
        // `b`, by a signed 26-bit offset.
        jump if jump & 0xFC00_0000 == 0x1400_0000 => {
            Does::Jumps(4 * ((jump << 6).cast_signed() >> 6) as isize)
        }
        // `cbnz x0` to the body: there is an iteration.
        jump if jump == conditional(0xB500_0000, 2) => Does::Jumps(8),
        // `b.eq` to `finish`: there is another iteration.
        end if end == conditional(0x5400_0000, 2) => Does::Else,
        SUBS_X0 | 0xF940_0029 | 0xF940_042A => Does::Else,
        // mov xN, 0
        zero if zero & !0x1F == 0xD280_0000 => Does::Else,
        _ => return None,
    };
    Some((size_of::<u32>(), does))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_as_many_instructions_as_asked_after_each_load() {
        for (fillers, steps) in [(0, 1), (1, 4), (64, 4), (4096, 2)] {
            let code = window(fillers, steps);
            let words: Vec<u32> = code
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect();
            // Two loads of addresses and two branches come before the loop.
            let mut rest = &words[4..];
            for load in [0xF940_0129, 0xF940_014A].repeat(steps) {
                assert_eq!(rest[0], load);
                let (between, after) = rest[1..].split_at(fillers);
                assert!(between.iter().all(|word| *word == NOP), "{fillers}");
                rest = after;
            }
            assert_eq!(rest[0], SUBS_X0, "{fillers} {steps}");
        }
    }
}
