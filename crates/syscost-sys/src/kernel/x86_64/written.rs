//! Code written at run time. Its arguments are the number of iterations
//! (`rdi`) and the kernel's memory (`rsi`); it returns a result in `rax`.

use super::super::written::Does;
use super::super::{Fetch, Filler, Jumps, Path};

const NOP: u8 = 0x90; // nop
const TRAP: u8 = 0xCC; // int3
const RET: u8 = 0xC3; // ret
const TEST_RDI: [u8; 3] = [0x48, 0x85, 0xFF]; // test rdi, rdi
const DEC_RDI: [u8; 3] = [0x48, 0xFF, 0xCF]; // dec rdi
const INC_RAX: [u8; 3] = [0x48, 0xFF, 0xC0]; // inc rax
/// `jmp` over eight bytes.
const JMP_8: [u8; 5] = [0xE9, 8, 0, 0, 0];
/// Thirteen bytes in two instructions that do nothing.
const NOP_13: [u8; 13] = [0x66, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0, 0x0F, 0x1F, 0x40, 0];
/// Bytes of the no-op that fills blocks after their heads.
pub(in super::super) const NOP_BYTES: usize = NOP_8.len();
/// One no-op of eight bytes. A core may hold a shorter one in one entry together with the instruction
/// before it: a Zen 4 with 320 entries seemed to hold 640 no-ops of four bytes and 730 of one, but
/// 320 of these.
const NOP_8: [u8; 8] = [0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0];
/// `add` of one to `rcx`, `rdx`, `rsi` and `r8` to `r11`, four bytes each.
const ADD_1: [[u8; 4]; 7] = [
    [0x48, 0x83, 0xC1, 1],
    [0x48, 0x83, 0xC2, 1],
    [0x48, 0x83, 0xC6, 1],
    [0x49, 0x83, 0xC0, 1],
    [0x49, 0x83, 0xC1, 1],
    [0x49, 0x83, 0xC2, 1],
    [0x49, 0x83, 0xC3, 1],
];
/// Instructions of an iteration that count it: `dec`, before `jnz`.
pub(in super::super) const COUNTING: usize = 1;
/// One no-op, which fills a block's head.
const FILLER: [u8; 2] = [0x66, NOP];

/// `prepare`, then as many iterations of `body` as `rdi` requests, then `finish`.
fn repeated(prepare: &[u8], body: &[u8], finish: &[u8]) -> Vec<u8> {
    let mut code = prepare.to_vec();
    code.extend(TEST_RDI);
    code.extend([0x0F, 0x84]); // jz to `finish`
    let skip = code.len();
    code.extend([0; 4]);
    code.resize(code.len().next_multiple_of(64), NOP);
    let top = code.len();
    code.extend(body);
    code.extend(DEC_RDI);
    code.extend([0x0F, 0x85]); // jnz to `body`
    let back = top as i32 - (code.len() as i32 + 4);
    code.extend(back.to_le_bytes());
    let over = (code.len() - skip - 4) as i32;
    code[skip..skip + 4].copy_from_slice(&over.to_le_bytes());
    code.extend(finish);
    code.push(RET);
    code
}

pub(in super::super) fn jumps(path: Path, blocks: usize) -> Vec<u8> {
    let mut block = INC_RAX.to_vec();
    match path {
        Path::Jumps => block.extend(JMP_8),
        Path::Straight => block.extend(NOP_13),
    }
    block.resize(Jumps::SPACING, TRAP);
    // xor eax, eax
    repeated(&[0x31, 0xC0], &block.repeat(blocks), &[])
}

pub(in super::super) fn fetch(filler: Filler, blocks: usize) -> Vec<u8> {
    let prepare = [
        0x31, 0xC0, // xor eax, eax
        0x31, 0xC9, // xor ecx, ecx
        0x31, 0xD2, // xor edx, edx
        0x31, 0xF6, // xor esi, esi
        0x45, 0x31, 0xC0, // xor r8d, r8d
        0x45, 0x31, 0xC9, // xor r9d, r9d
        0x45, 0x31, 0xD2, // xor r10d, r10d
        0x45, 0x31, 0xDB, // xor r11d, r11d
    ];
    let finish = [
        0x48, 0x01, 0xC8, // add rax, rcx
        0x48, 0x01, 0xD0, // add rax, rdx
        0x48, 0x01, 0xF0, // add rax, rsi
        0x4C, 0x01, 0xC0, // add rax, r8
        0x4C, 0x01, 0xC8, // add rax, r9
        0x4C, 0x01, 0xD0, // add rax, r10
        0x4C, 0x01, 0xD8, // add rax, r11
    ];
    let room = Fetch::BLOCK - Fetch::HEAD;
    let rest: Vec<u8> = match filler {
        Filler::Nop => NOP_8.repeat(room / NOP_8.len()),
        Filler::Add => ADD_1.concat().into_iter().cycle().take(room).collect(),
    };
    let mut body = Vec::with_capacity(blocks * Fetch::BLOCK);
    for number in 1..=blocks as u32 {
        body.extend([0x48, 0x05]); // add rax, `number`
        body.extend(number.to_le_bytes());
        body.extend(FILLER);
        body.extend(&rest);
    }
    repeated(&prepare, &body, &finish)
}

pub(in super::super) fn window(fillers: usize, steps: usize) -> Vec<u8> {
    let prepare = [
        0x48, 0x8B, 0x06, // mov rax, [rsi]
        0x48, 0x8B, 0x4E, 8, // mov rcx, [rsi + 8]
    ];
    let finish = [
        0x48, 0x89, 0x06, // mov [rsi], rax
        0x48, 0x89, 0x4E, 8, // mov [rsi + 8], rcx
        0x48, 0x8B, 0x40, 8, // mov rax, [rax + 8]
        0x48, 0x03, 0x41, 8, // add rax, [rcx + 8]
    ];
    let between = NOP_8.repeat(fillers);
    let mut step = vec![0x48, 0x8B, 0x00]; // mov rax, [rax]
    step.extend(&between);
    step.extend([0x48, 0x8B, 0x09]); // mov rcx, [rcx]
    step.extend(&between);
    repeated(&prepare, &step.repeat(steps), &finish)
}

/// The length and the effect of the first of these instructions, which must be one of those above.
pub(in super::super) fn decode(code: &[u8]) -> Option<(usize, Does)> {
    let number = |at: usize| {
        let bytes = code.get(at..at + 4)?;
        Some(i32::from_le_bytes(bytes.try_into().ok()?) as isize)
    };
    Some(match *code {
        [NOP, ..] => (1, Does::Nothing),
        [0x66, NOP, ..] => (2, Does::Nothing),
        [0x0F, 0x1F, 0x40, ..] => (4, Does::Nothing),
        [0x0F, 0x1F, 0x84, ..] => (8, Does::Nothing),
        [0x66, 0x0F, 0x1F, 0x84, ..] => (9, Does::Nothing),
        [0x48, 0xFF, 0xC0, ..] => (3, Does::AddsOne),
        [0x48 | 0x49, 0x83, 0xC0..=0xC7, 1, ..] => (4, Does::AddsOne),
        // Together with the instruction that fills a block's head.
        [0x48, 0x05, _, _, _, _, 0x66, NOP, ..] => (Fetch::HEAD, Does::AddsNumber),
        [0x48, 0x8B, 0x00 | 0x09, ..] => (3, Does::Loads),
        [0xE9, ..] => (5, Does::Jumps(5 + number(1)?)),
        // `jnz` back to the next iteration. A forward jump is `jz` to `finish`, which is not part
        // of an iteration.
        [0x0F, 0x85, ..] if number(2)? < 0 => (6, Does::Jumps(6 + number(2)?)),
        [0x0F, 0x84 | 0x85, ..] => (6, Does::Else),
        // `test` and `dec` of the number of iterations.
        [0x48, 0x85, 0xFF, ..] | [0x48, 0xFF, 0xCF, ..] => (3, Does::Else),
        // The prologue: `xor` of registers, and loading the two addresses of a window.
        [0x31, 0xC0..=0xFF, ..] => (2, Does::Else),
        [0x45, 0x31, 0xC0..=0xFF, ..] | [0x48, 0x8B, 0x06, ..] => (3, Does::Else),
        [0x48, 0x8B, 0x4E, 8, ..] => (4, Does::Else),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_as_many_instructions_as_asked_after_each_load() {
        for (fillers, steps) in [(0, 1), (1, 4), (64, 4), (4096, 2)] {
            let code = window(fillers, steps);
            // The prologue is shorter than a line.
            let mut rest = &code[64..];
            for load in [[0x48, 0x8B, 0x00], [0x48, 0x8B, 0x09]].repeat(steps) {
                rest = rest.strip_prefix(&load).expect("a load");
                for number in 0..fillers {
                    let after = rest.strip_prefix(&[0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0]);
                    rest = after.unwrap_or_else(|| panic!("{number} of {fillers}"));
                }
            }
            assert!(rest.starts_with(&DEC_RDI), "{fillers} {steps}");
        }
    }
}
