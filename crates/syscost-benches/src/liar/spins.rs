//! Claims to switch and spins.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Reading it
//! It must be withheld: two tasks on two CPUs pass a word to and fro without ever sleeping, and nothing is switched.
//! ## Source
//! None: it is made up.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

use syscost_harness::prelude::*;
use syscost_sys::partner::{Between, Partner, Shared};

use super::elsewhere::beside;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "liar.spins",
    title: "Claims to switch, spins",
    expect: &[switches(2.0)],
    run,
    source: include_str!("spins.rs"),
    ..Benchmark::DEFAULT
};

/// Instead of a turn's number: there are no more.
const OVER: u64 = u64::MAX;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    b.together(beside(b)?, |cpus| {
        let failed = |error: &dyn std::fmt::Display| Failure::Failed(error.to_string());
        let asked = Shared::new(AtomicU64::new(0)).map_err(|error| failed(&error))?;
        let answered = Shared::new(AtomicU64::new(0)).map_err(|error| failed(&error))?;
        let (question, answer) = (asked.clone(), answered.clone());
        let partner = Partner::start(Between::Processes, cpus, move || {
            loop {
                match question.load(Ordering::Acquire) {
                    OVER => return Ok::<(), Failure>(()),
                    turn => answer.store(turn, Ordering::Release),
                }
                spin_loop();
            }
        })
        .map_err(|error| failed(&error))?;
        let (end, mut turn) = (asked.clone(), 0);
        Ok(Team::new(
            vec![partner],
            move |turns| {
                for _ in 0..turns {
                    turn += 1;
                    asked.store(turn, Ordering::Release);
                    while answered.load(Ordering::Acquire) != turn {
                        spin_loop();
                    }
                }
                Ok(())
            },
            move || {
                end.store(OVER, Ordering::Release);
                Ok(())
            },
        ))
    })
}
