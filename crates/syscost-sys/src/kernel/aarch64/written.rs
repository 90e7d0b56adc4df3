//! Code written at run time. Its first argument, `x0`, is the number of turns, `x1` the kernel's memory; `x0` is what it returns.

use super::super::{Jumps, Path};
use crate::Unsupported;

const NOP: u32 = 0xD503_201F;
const TRAP: u32 = 0xD420_0000; // brk 0
const RET: u32 = 0xD65F_03C0;
const SUBS_X0: u32 = 0xF100_0400; // subs x0, x0, 1
const ADD_X9: u32 = 0x9100_0529; // add x9, x9, 1
const MOV_X9_0: u32 = 0xD280_0009;
const MOV_X0_X9: u32 = 0xAA09_03E0;
/// `b` over three instructions, itself included.
const B_3: u32 = 0x1400_0003;

/// A conditional branch by so many instructions, at most 2^18 of them either way.
fn conditional(branch: u32, by: i32) -> u32 {
    branch | (by.cast_unsigned() & 0x7_FFFF) << 5
}

/// `prepare`, then as many turns of `body` as `x0` says, then `finish`.
fn repeated(prepare: &[u32], body: &[u32], finish: &[u32]) -> Vec<u8> {
    let mut code = prepare.to_vec();
    // cbz x0 to `finish`: over itself, the body and the two instructions that end a turn.
    code.push(conditional(0xB400_0000, body.len() as i32 + 3));
    code.extend(body);
    code.push(SUBS_X0);
    code.push(conditional(0x5400_0001, -(body.len() as i32) - 1)); // b.ne
    code.extend(finish);
    code.push(RET);
    code.into_iter().flat_map(u32::to_le_bytes).collect()
}

pub(in super::super) fn jumps(path: Path, blocks: usize) -> Result<Vec<u8>, Unsupported> {
    let mut block = vec![ADD_X9];
    let rest = match path {
        Path::Jumps => {
            block.push(B_3);
            TRAP
        }
        Path::Straight => NOP,
    };
    block.resize(Jumps::SPACING / size_of::<u32>(), rest);
    Ok(repeated(&[MOV_X9_0], &block.repeat(blocks), &[MOV_X0_X9]))
}

pub(in super::super) fn window(fillers: usize, steps: usize) -> Result<Vec<u8>, Unsupported> {
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
    Ok(repeated(&prepare, &step.repeat(steps), &finish))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_as_many_instructions_as_asked_after_each_load() {
        for (fillers, steps) in [(0, 1), (1, 4), (64, 4), (4096, 2)] {
            let code = window(fillers, steps).unwrap();
            let words: Vec<u32> = code
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect();
            // Two loads of addresses and the branch come before the loop.
            let mut rest = &words[3..];
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
