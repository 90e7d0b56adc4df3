//! Loads of what was stored just before; the value goes through `rsi`'s memory and `rax`.

use super::super::shell::kernel;

/// A chain of additions of `r8` to `rax`. The upper halves show which store a loaded value comes from.
macro_rules! chain {
    ($name:ident: [$($body:literal),*]) => {
        kernel! {
            $name: 64 times 1, chains 1,
            prepare [
                "mov rax, 0x200000000", "mov [rsi], rax", "mov dword ptr [rsi + 64], 0",
                "mov rax, 0x100000000", "mov ecx, 3", "mov r8d, 1"
            ],
            body [$($body),*, "add rax, r8"],
            after ["mov r12, rax"],
            finish ["mov ecx, [rsi + 64]", "shl rcx, 40", "add r12, rcx"]
        }
    };
}

chain! { SAME: ["mov [rsi], rax", "mov rax, [rsi]"] }
chain! { NARROWER: ["mov [rsi], rax", "mov eax, [rsi]"] }
chain! { WIDER: ["mov [rsi], eax", "mov rax, [rsi]"] }
chain! {
    HALVES: ["mov [rsi], eax", "mov [rsi + 4], ecx", "mov rax, [rsi]"]
}
chain! {
    ACROSS_LINES: ["mov [rsi + 60], rax", "mov rax, [rsi + 60]"]
}
