//! Prices for the bill: single operations of the kernel, each after some data of the user's were read.
//!
//! ## Benchmarks
//! `bill.call` are system calls, `bill.fault` page faults, `bill.task` processes and threads. Which of them
//! make up the price of a call that a program makes, `basket` says.

pub mod basket;
mod call;
mod displaced;
mod fault;
mod task;

use syscost_harness::prelude::*;

const LISTED: Group = group! {
    bill: "prices for the bill",
    call,
    fault,
    task,
};

pub(crate) const GROUP: Group = Group {
    hidden: true,
    ..LISTED
};
