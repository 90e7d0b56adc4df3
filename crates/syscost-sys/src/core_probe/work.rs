//! What may run before a probe: by what a core of our own shows it must not matter.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

/// Work before a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// None: one probe follows the other.
    Nothing,
    /// A hundred short system calls.
    SystemCalls,
    /// Twenty look-ups of a file.
    FileLookups,
    /// A walk through 8 MiB, a line of each page.
    Walk,
    /// Five thousand dependent additions and multiplications of floating-point numbers.
    Float,
    /// Sleep, of 50 us.
    Sleep,
}

/// Bytes of the walk: more than common second-level caches hold.
const WALK_BYTES: usize = 8 << 20;

impl Work {
    /// All kinds.
    pub const ALL: [Work; 6] = [
        Work::Nothing,
        Work::SystemCalls,
        Work::FileLookups,
        Work::Walk,
        Work::Float,
        Work::Sleep,
    ];

    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Work::Nothing => "nothing",
            Work::SystemCalls => "system calls",
            Work::FileLookups => "file look-ups",
            Work::Walk => "a walk of 8 MiB",
            Work::Float => "floating point",
            Work::Sleep => "a sleep",
        }
    }
}

/// Does work.
pub struct Worker {
    memory: Vec<u8>,
}

impl Default for Worker {
    fn default() -> Self {
        Self {
            memory: vec![1; WALK_BYTES],
        }
    }
}

impl Worker {
    /// Does this once: some 10 to 100 us.
    pub fn work(&mut self, work: Work) {
        match work {
            Work::Nothing => {}
            Work::SystemCalls => (0..100).for_each(|_| {
                black_box(rustix::process::getppid());
            }),
            Work::FileLookups => (0..20).for_each(|_| {
                let _ = black_box(rustix::fs::stat("/dev/null"));
            }),
            Work::Walk => {
                let walked = self.memory.iter_mut().step_by(4096);
                walked.for_each(|byte| *byte = byte.wrapping_add(1));
            }
            Work::Float => {
                let product = (0..5000).fold(1.0, |x: f64, _| black_box(x * 1.000_000_1 + 0.5));
                black_box(product);
            }
            Work::Sleep => thread::sleep(Duration::from_micros(50)),
        }
    }
}
