//! Claims that both tasks share a CPU, and lets one go elsewhere.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Reading it
//! It must be withheld: calls and switches are as claimed, but the partner is seen on another CPU.
//! ## Source
//! None: it is made up.

use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};

use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::partner::{Between, Partner};
use syscost_sys::topology::Relation;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "liar.elsewhere",
    title: "Claims one CPU, uses two",
    expect: &[
        switches(2.0),
        together(Sysno::READ, 2.0),
        together(Sysno::WRITE, 2.0),
    ],
    run,
    source: include_str!("elsewhere.rs"),
    ..Benchmark::DEFAULT
};

/// A placement of the partner on another CPU than the measuring task's.
pub(super) fn beside(b: &Bencher) -> Result<Placement, Unsupported> {
    Relation::ALL
        .into_iter()
        .filter(|relation| *relation != Relation::SameCpu)
        .map(Placement::At)
        .find(|placement| placement.cpus(b.cpu(), b.allowed()).is_ok())
        .ok_or(Unsupported::new("the lie needs two CPUs"))
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let elsewhere = beside(b)?.cpus(b.cpu(), b.allowed())?;
    b.together(Placement::At(Relation::SameCpu), |cpus| {
        let failed = |cause| Failure::of("make a pipe", cause);
        let (mut question, mut ask) = pipe().map_err(failed)?;
        let (mut answer, mut reply) = pipe().map_err(failed)?;
        let mut last = ask.try_clone().map_err(failed)?;
        let cpus_of_its_own = elsewhere.clone();
        let partner = Partner::start(Between::Threads, cpus, move || {
            cpu::pin_to(&cpus_of_its_own).map_err(|error| error.to_string())?;
            while pass(&mut question, &mut reply).map_err(|error| error.to_string())? {}
            Ok::<(), String>(())
        })?;
        Ok(Team::new(
            vec![partner],
            move |turns| {
                for _ in 0..turns {
                    ask.write_all(&[GO_ON])
                        .and_then(|()| answer.read_exact(&mut [0]))
                        .map_err(|cause| Failure::of("ask the partner", cause))?;
                }
                Ok(())
            },
            move || {
                last.write_all(&[OVER])
                    .map_err(|cause| Failure::of("end the partner", cause))
            },
        ))
    })
}

const GO_ON: u8 = b'.';
const OVER: u8 = b'!';

/// Takes a byte and gives one, if it was not the last.
fn pass(from: &mut PipeReader, to: &mut PipeWriter) -> io::Result<bool> {
    let mut byte = [OVER];
    from.read_exact(&mut byte)?;
    if byte == [OVER] {
        return Ok(false);
    }
    to.write_all(&byte)?;
    Ok(true)
}
