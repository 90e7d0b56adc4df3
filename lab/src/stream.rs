//! `cargo lab stream`: the STREAM benchmark, reimplemented from its published run rules, for
//! `versus` to compare with.
//!
//! The rules (McCalpin, "STREAM: Sustainable Memory Bandwidth in High Performance Computers", run
//! rules): three arrays of 8-byte floating point numbers, each at least four times as large as all
//! last-level caches together; copy, scale, add and triad in turn, ten times; the best time of
//! each, without the first round; bytes as counted by the program, two arrays for copy and scale,
//! three for add and triad, nothing for write-allocate reads.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

/// Number of rounds, the first of which is ignored.
const ROUNDS: usize = 10;

const SCALAR: f64 = 3.0;

/// Arguments of `stream`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only report this kernel
    #[arg(long, value_enum)]
    kernel: Option<Kernel>,
    /// Size of each array in MiB
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..))]
    mib: u64,
    /// How many threads share the arrays
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    threads: u64,
}

/// STREAM's four kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kernel {
    Copy,
    Scale,
    Add,
    Triad,
}

impl Kernel {
    const ALL: [Kernel; 4] = [Kernel::Copy, Kernel::Scale, Kernel::Add, Kernel::Triad];

    fn name(self) -> &'static str {
        match self {
            Kernel::Copy => "Copy",
            Kernel::Scale => "Scale",
            Kernel::Add => "Add",
            Kernel::Triad => "Triad",
        }
    }

    /// The number of arrays that it accesses.
    fn arrays(self) -> u64 {
        match self {
            Kernel::Copy | Kernel::Scale => 2,
            Kernel::Add | Kernel::Triad => 3,
        }
    }
}

/// A thread's part of the three arrays.
struct Part {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Part {
    /// Initialized by the thread that will use it.
    fn new(length: usize) -> Self {
        Self {
            a: vec![1.0; length],
            b: vec![2.0; length],
            c: vec![0.5; length],
        }
    }

    #[inline(never)]
    fn run(&mut self, kernel: Kernel) {
        let (a, b, c) = (&mut self.a[..], &mut self.b[..], &mut self.c[..]);
        match kernel {
            Kernel::Copy => c.iter_mut().zip(a).for_each(|(c, a)| *c = *a),
            Kernel::Scale => b.iter_mut().zip(c).for_each(|(b, c)| *b = SCALAR * *c),
            Kernel::Add => {
                let both = a.iter().zip(b);
                c.iter_mut().zip(both).for_each(|(c, (a, b))| *c = *a + *b);
            }
            Kernel::Triad => {
                let both = b.iter().zip(c);
                a.iter_mut()
                    .zip(both)
                    .for_each(|(a, (b, c))| *a = *b + SCALAR * *c);
            }
        }
        black_box(self);
    }

    /// Whether the arrays contain the expected result of this many rounds.
    fn is_right(&self) -> bool {
        let (mut a, mut b, mut c): (f64, f64, f64) = (1.0, 2.0, 0.5);
        for _ in 0..ROUNDS {
            c = a;
            b = SCALAR * c;
            c = a + b;
            a = b + SCALAR * c;
        }
        let all = |array: &[f64], value: f64| array.iter().all(|word| *word == value);
        all(&self.a, a) && all(&self.b, b) && all(&self.c, c)
    }
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let length = ((arguments.mib << 20) / 8 / arguments.threads) as usize;
    let threads = arguments.threads as usize;
    let barrier = Barrier::new(threads);
    let seconds: Vec<([f64; 4], bool)> = thread::scope(|scope| {
        let work = || {
            let mut part = Part::new(length);
            let mut best = [f64::INFINITY; 4];
            for round in 0..ROUNDS {
                for (kernel, best) in Kernel::ALL.into_iter().zip(&mut best) {
                    barrier.wait();
                    let begun = Instant::now();
                    part.run(kernel);
                    barrier.wait();
                    if round > 0 {
                        *best = best.min(begun.elapsed().as_secs_f64());
                    }
                }
            }
            (best, part.is_right())
        };
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        started
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect()
    });
    ensure!(
        seconds.len() == threads && seconds.iter().all(|(_, is_right)| *is_right),
        "the arrays do not hold what they must"
    );
    for (index, kernel) in Kernel::ALL.into_iter().enumerate() {
        if arguments.kernel.is_none_or(|only| only == kernel) {
            let slowest = seconds
                .iter()
                .map(|(best, _)| best[index])
                .fold(0.0, f64::max);
            let bytes = kernel.arrays() * (length * 8 * threads) as u64;
            println!(
                "{}: {:.1} MB/s",
                kernel.name(),
                bytes as f64 / slowest / 1e6
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_hold_what_the_rounds_left() {
        let mut part = Part::new(1000);
        for _ in 0..ROUNDS {
            Kernel::ALL.into_iter().for_each(|kernel| part.run(kernel));
        }
        assert!(part.is_right());
        part.b[999] += 1.0;
        assert!(!part.is_right());
    }

    #[test]
    fn small_arrays_on_two_threads_are_run() {
        let arguments = Arguments {
            kernel: None,
            mib: 1,
            threads: 2,
        };
        run(&arguments).expect("the arrays are right");
    }
}
