//! Claims to switch and spins.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: two tasks on two CPUs pass a word back and forth without ever sleeping, and
//! nothing is switched.
//! ## Source
//! None: it is made up.

use std::convert::Infallible;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};

use syscost_harness::prelude::*;
use syscost_sys::partner::{Between, Shared};

use super::elsewhere::beside;
use crate::switch::ping_pong::{Pair, Side, Wake, round_trips};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Claims to switch, spins",
    expect: &[switches(2.0)],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let placement = beside(&plan)?;
    plan.measure(Together::of(placement, |cpus| {
        let flags = Pair::make(|| Ok::<_, Failure>(AtomicBool::new(false)))?;
        round_trips(Between::Processes, cpus, Flags(Shared::new(flags)?))
    }))
}

/// The flags that each side polls until it is woken.
struct Flags(Shared<Pair<AtomicBool>>);

impl Wake for Flags {
    type Error = Infallible;

    fn wake(&self, side: Side) -> Result<(), Infallible> {
        self.0.of(side).store(true, Ordering::Release);
        Ok(())
    }

    fn sleep(&self, side: Side) -> Result<(), Infallible> {
        while !self.0.of(side).swap(false, Ordering::Acquire) {
            spin_loop();
        }
        Ok(())
    }
}
