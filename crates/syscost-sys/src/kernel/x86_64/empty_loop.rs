//! Loops that do nothing.

use super::super::{Code, LoopShape};
use super::function;
use crate::Unsupported;

/// A whole loop between `2:` and `3:`. For 0 turns it is skipped.
macro_rules! shape {
    ($name:ident: $text:literal, prepare [$($prepare:literal),*], turn [$($turn:literal),*],
     finish [$($finish:literal),*]) => {
        function! {
            $name: $text, operations 1, chains 1,
            inside [
                $($prepare,)*
                "test rbx, rbx",
                "jz 3f",
                ".p2align 6",
                "2:",
                $($turn,)*
                "3:",
                $($finish,)*
            ],
            procedures []
        }
    };
}

shape! { COUNT_DOWN: "dec r64; jnz", prepare ["mov r12, rbx"], turn ["dec rbx", "jnz 2b"], finish ["sub r12, rbx"] }
shape! { COUNT_UP: "inc r64; cmp r64, r64; jne", prepare [], turn ["inc r12", "cmp r12, rbx", "jne 2b"], finish [] }
shape! {
    NOP: "nop; dec r64; jnz",
    prepare ["mov r12, rbx"], turn ["nop", "dec rbx", "jnz 2b"], finish ["sub r12, rbx"]
}
shape! {
    MEMORY: "add m64, 1; mov r64, m64; cmp r64, m64; jb",
    prepare ["mov qword ptr [rsp], 0", "mov [rsp + 8], rbx"],
    turn ["add qword ptr [rsp], 1", "mov rax, [rsp]", "cmp rax, [rsp + 8]", "jb 2b"],
    finish ["mov r12, [rsp]"]
}

pub(in super::super) fn empty_loop(shape: LoopShape) -> Result<Code, Unsupported> {
    Ok(match shape {
        LoopShape::CountDown => COUNT_DOWN,
        LoopShape::CountUp => COUNT_UP,
        LoopShape::Nop => NOP,
        LoopShape::Memory => MEMORY,
    })
}
