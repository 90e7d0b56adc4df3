//! Atomic operations; `rsi` points to the cell, on a line of its own.

use super::super::shell::cell;
use super::super::{Atomic, Code};
use crate::Unsupported;

cell! { LOAD: prepare [], body ["mov rax, [rsi]"], after ["add r12, rax"], finish [] }
cell! {
    STORE: prepare ["mov qword ptr [rsi], 0", "mov r8d, 1"],
    body ["mov [rsi], r8"], after ["inc r8"], finish ["mov r12, [rsi]"]
}
cell! {
    EXCHANGE: prepare ["mov qword ptr [rsi], 0", "mov r8d, 1"],
    body ["mov rax, r8", "xchg [rsi], rax"], after ["inc r8"], finish ["mov r12, [rsi]"]
}
cell! {
    FETCH_ADD: prepare ["mov qword ptr [rsi], 0"],
    body ["mov eax, 1", "lock xadd [rsi], rax"], after [], finish ["mov r12, [rsi]"]
}
cell! {
    COMPARE_EXCHANGE: prepare ["mov qword ptr [rsi], 0", "xor eax, eax"],
    body ["lea rcx, [rax + 1]", "lock cmpxchg [rsi], rcx", "mov rax, rcx"], after [], finish ["mov r12, [rsi]"]
}
cell! {
    COMPARE_EXCHANGE_FAILURE: prepare ["mov r8, -1", "xor ecx, ecx"],
    body ["mov rax, r8", "lock cmpxchg [rsi], rcx"], after ["add r12, rax"], finish []
}
cell! { FENCE: prepare [], body ["mfence"], after ["inc r12"], finish [] }
cell! {
    FENCE_BY_LOCK: prepare ["mov dword ptr [rsp], 1"],
    body ["lock or dword ptr [rsp], 0"], after ["mov eax, [rsp]", "add r12, rax"], finish []
}

pub(in super::super) fn atomic(atomic: Atomic) -> Result<Code, Unsupported> {
    Ok(match atomic {
        Atomic::Load => LOAD,
        Atomic::Store => STORE,
        Atomic::StoreSequential | Atomic::Exchange => EXCHANGE,
        Atomic::FetchAdd => FETCH_ADD,
        Atomic::CompareExchange => COMPARE_EXCHANGE,
        Atomic::CompareExchangeFailure => COMPARE_EXCHANGE_FAILURE,
        Atomic::Fence => FENCE,
        Atomic::FenceByLock => FENCE_BY_LOCK,
    })
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) const fn instructions(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Load => "mov r64, m",
        Atomic::Store => "mov m, r64",
        Atomic::StoreSequential | Atomic::Exchange => "mov r64, r64; xchg m, r64",
        Atomic::FetchAdd => "mov r32, n; lock xadd m, r64",
        Atomic::CompareExchange => "lea r64, m; lock cmpxchg m, r64; mov r64, r64",
        Atomic::CompareExchangeFailure => "mov r64, r64; lock cmpxchg m, r64",
        Atomic::Fence => "mfence",
        Atomic::FenceByLock => "lock or m, n",
    }
}
