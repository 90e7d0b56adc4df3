//! Loops that do nothing.

use super::super::shell::empty_loop;

empty_loop! { COUNT_DOWN: "dec r64; jnz", prepare ["mov r12, rbx"], iteration ["dec rbx", "jnz 2b"], finish ["sub r12, rbx"] }
empty_loop! { COUNT_UP: "inc r64; cmp r64, r64; jne", prepare [], iteration ["inc r12", "cmp r12, rbx", "jne 2b"], finish [] }
empty_loop! {
    NOP: "nop; dec r64; jnz",
    prepare ["mov r12, rbx"], iteration ["nop", "dec rbx", "jnz 2b"], finish ["sub r12, rbx"]
}
empty_loop! {
    MEMORY: "add m64, 1; mov r64, m64; cmp r64, m64; jb",
    prepare ["mov qword ptr [rsp], 0", "mov [rsp + 8], rbx"],
    iteration ["add qword ptr [rsp], 1", "mov rax, [rsp]", "cmp rax, [rsp + 8]", "jb 2b"],
    finish ["mov r12, [rsp]"]
}
