//! Loops that do nothing.

use super::super::LoopShape;
use super::super::shell::empty_loop;

empty_loop! { COUNT_DOWN: prepare ["mov r12, rbx"], iteration ["dec rbx", "jnz 2b"], finish ["sub r12, rbx"] }
empty_loop! { COUNT_UP: prepare [], iteration ["inc r12", "cmp r12, rbx", "jne 2b"], finish [] }
empty_loop! {
    NOP: prepare ["mov r12, rbx"], iteration ["nop", "dec rbx", "jnz 2b"], finish ["sub r12, rbx"]
}
empty_loop! {
    MEMORY: prepare ["mov qword ptr [rsp], 0", "mov [rsp + 8], rbx"],
    iteration ["add qword ptr [rsp], 1", "mov rax, [rsp]", "cmp rax, [rsp + 8]", "jb 2b"],
    finish ["mov r12, [rsp]"]
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) const fn instructions(shape: LoopShape) -> &'static str {
    match shape {
        LoopShape::CountDown => "dec r64; jnz",
        LoopShape::CountUp => "inc r64; cmp r64, r64; jne",
        LoopShape::Nop => "nop; dec r64; jnz",
        LoopShape::Memory => "add m, n; mov r64, m; cmp r64, m; jb",
    }
}
