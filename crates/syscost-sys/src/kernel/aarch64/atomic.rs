//! Atomic operations; `x1` points to the cell, on a line of its own.
//!
//! Read-modify-write operations are single instructions where the processor has the Large System Extensions
//! (from Armv8.1), else loops of exclusive loads and stores.

use super::super::shell::cell;
use super::super::{Atomic, Code};
use crate::Unsupported;

cell! { LOAD: prepare [], body ["ldar x3, [x1]"], after ["add x20, x20, x3"], finish [] }
cell! {
    STORE: prepare ["str xzr, [x1]", "mov x3, 1"], body ["str x3, [x1]"], after ["add x3, x3, 1"],
    finish ["ldr x20, [x1]"]
}
cell! {
    STORE_SEQUENTIAL: prepare ["str xzr, [x1]", "mov x3, 1"], body ["stlr x3, [x1]"], after ["add x3, x3, 1"],
    finish ["ldr x20, [x1]"]
}
cell! {
    EXCHANGE: prepare [".arch_extension lse", "str xzr, [x1]", "mov x3, 1"], body ["swpal x3, x4, [x1]"],
    after ["add x3, x3, 1"], finish ["ldr x20, [x1]"]
}
cell! {
    FETCH_ADD: prepare [".arch_extension lse", "str xzr, [x1]", "mov x3, 1"], body ["ldaddal x3, x4, [x1]"],
    after [], finish ["ldr x20, [x1]"]
}
cell! {
    COMPARE_EXCHANGE: prepare [".arch_extension lse", "str xzr, [x1]", "mov x3, xzr"],
    body ["add x4, x3, 1", "casal x3, x4, [x1]", "mov x3, x4"], after [], finish ["ldr x20, [x1]"]
}
cell! {
    COMPARE_EXCHANGE_FAILURE: prepare [".arch_extension lse", "mov x5, -1"],
    body ["mov x3, x5", "casal x3, xzr, [x1]"], after ["add x20, x20, x3"], finish []
}
cell! {
    EXCHANGE_LOOP: prepare ["str xzr, [x1]", "mov x3, 1"],
    body ["4:", "ldaxr x4, [x1]", "stlxr w5, x3, [x1]", "cbnz w5, 4b"],
    after ["add x3, x3, 1"], finish ["ldr x20, [x1]"]
}
cell! {
    FETCH_ADD_LOOP: prepare ["str xzr, [x1]"],
    body ["4:", "ldaxr x3, [x1]", "add x4, x3, 1", "stlxr w5, x4, [x1]", "cbnz w5, 4b"],
    after [], finish ["ldr x20, [x1]"]
}
cell! {
    COMPARE_EXCHANGE_LOOP: prepare ["str xzr, [x1]", "mov x3, xzr"],
    body [
        "add x4, x3, 1", "4:", "ldaxr x6, [x1]", "cmp x6, x3", "b.ne 5f", "stlxr w5, x4, [x1]", "cbnz w5, 4b",
        "5:", "mov x3, x4"
    ],
    after [], finish ["ldr x20, [x1]"]
}
cell! {
    COMPARE_EXCHANGE_FAILURE_LOOP: prepare ["mov x3, -1"],
    body ["4:", "ldaxr x6, [x1]", "cmp x6, x3", "b.ne 5f", "stlxr w5, xzr, [x1]", "cbnz w5, 4b", "5:"],
    after ["add x20, x20, x6"], finish ["clrex"]
}
cell! { FENCE: prepare [], body ["dmb ish"], after ["add x20, x20, 1"], finish [] }

pub(in super::super) fn atomic(atomic: Atomic) -> Result<Code, Unsupported> {
    let lse = std::arch::is_aarch64_feature_detected!("lse");
    Ok(match atomic {
        Atomic::Load => LOAD,
        Atomic::Store => STORE,
        Atomic::StoreSequential => STORE_SEQUENTIAL,
        Atomic::FetchAdd if lse => FETCH_ADD,
        Atomic::FetchAdd => FETCH_ADD_LOOP,
        Atomic::Exchange if lse => EXCHANGE,
        Atomic::Exchange => EXCHANGE_LOOP,
        Atomic::CompareExchange if lse => COMPARE_EXCHANGE,
        Atomic::CompareExchange => COMPARE_EXCHANGE_LOOP,
        Atomic::CompareExchangeFailure if lse => COMPARE_EXCHANGE_FAILURE,
        Atomic::CompareExchangeFailure => COMPARE_EXCHANGE_FAILURE_LOOP,
        Atomic::Fence => FENCE,
        Atomic::FenceByLock => {
            return Err(Unsupported::new(
                "a fence by a locked operation is of x86-64",
            ));
        }
    })
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) fn instructions(atomic: Atomic) -> &'static str {
    let lse = std::arch::is_aarch64_feature_detected!("lse");
    match atomic {
        Atomic::Load => "ldar x, m",
        Atomic::Store => "str x, m",
        Atomic::StoreSequential => "stlr x, m",
        Atomic::Exchange if lse => "swpal x, x, m",
        Atomic::Exchange => "ldaxr x, m; stlxr w, x, m; cbnz w",
        Atomic::FetchAdd if lse => "ldaddal x, x, m",
        Atomic::FetchAdd => "ldaxr x, m; add x, x, n; stlxr w, x, m; cbnz w",
        Atomic::CompareExchange if lse => "add x, x, n; casal x, x, m; mov x, x",
        Atomic::CompareExchange => {
            "add x, x, n; ldaxr x, m; cmp x, x; b.ne; stlxr w, x, m; cbnz w; mov x, x"
        }
        Atomic::CompareExchangeFailure if lse => "mov x, x; casal x, xzr, m",
        Atomic::CompareExchangeFailure => "ldaxr x, m; cmp x, x; b.ne; stlxr w, xzr, m; cbnz w",
        Atomic::Fence => "dmb ish",
        Atomic::FenceByLock => "none",
    }
}
