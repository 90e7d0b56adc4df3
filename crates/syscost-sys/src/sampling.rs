//! What a program's time in the kernel goes to, measured: every 50 us a sample says whether the program is in
//! the kernel, and for which call, fault or interrupt.
//!
//! Shares of the samples, times the CPU time that wait4(2) tells exactly of a run **without** samples, are
//! times. A sample lengthens a run, in a virtual machine whose timer is the hypervisor's by as much as 20 us,
//! but wherever it finds the program: shares are the same with fewer samples. Their error is that of a count:
//! of 100 samples a tenth.
//!
//! - **What runs with interrupts off** is seen where they are enabled again, as a sample is taken by a
//!   timer's interrupt; as one sample, however long it took. The way back from a call is known nevertheless
//!   on x86-64; on aarch64 it counts as the program's own time, as does that from a fault on both.
//! - **The end of a process**, where its memory is freed, is seen only where everything that runs on a CPU
//!   may be sampled ([`Profile::has_ends`]).
//! - **Other CPUs** that the program may use are interrupted as often, also while they are idle: better hold
//!   it on a few.
//!
//! ```no_run
//! use std::{process::Command, sync::Arc};
//! use syscost_sys::sampling::{self, PERIOD_NS, Symbols};
//!
//! let symbols = Arc::new(Symbols::of_kernel()?);
//! let profile = sampling::run(&mut Command::new("/bin/true"), PERIOD_NS, &symbols, || true)?.profile;
//! for (kind, of_kind) in &profile.by_kind {
//!     println!("{kind}: {} of {} samples", of_kind.samples, profile.samples());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod kind;
mod symbols;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::panic::resume_unwind;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use crate::os::{At, Held, LOOK_EVERY, Record, Samples};
use crate::process::{ChildEnd, kill_tree};
use crate::{SystemError, Unsupported, cpu, os};

pub use kind::Kind;
pub use symbols::Symbols;

/// A usual time from one sample to the next, in ns: a prime, with which no tick keeps step.
pub const PERIOD_NS: u64 = 50_021;

/// How often the records are taken: several times before a ring is full, which lasts for 100 ms.
const TAKE_EVERY: Duration = Duration::from_millis(20);

/// What stands for a function's name on the way back from a call, of which no sample knows it.
const WAY_BACK: &str = "(way back)";

/// Functions that are named of each kind.
const NAMED: usize = 5;

/// What the samples of a program say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// CPU time from one sample to the next, in ns.
    pub period_ns: u64,
    /// Samples outside of the kernel.
    pub user: u64,
    /// Those in the kernel.
    pub by_kind: BTreeMap<Kind, KindSamples>,
    /// Samples, also of other programs, that found no room and of which nothing is known.
    pub lost: u64,
    /// How often the kernel took no samples until the next tick, because there were too many.
    pub throttled: u64,
    /// Whether the ends of processes are among the samples. If not, whatever runs on a CPU may not be
    /// sampled, which takes CAP_PERFMON (root) or a perf_event_paranoid of at most 0; then they are missing
    /// from Linux 6.16 on.
    pub has_ends: bool,
}

/// The samples of a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindSamples {
    /// How many.
    pub samples: u64,
    /// The five functions of the kernel that most of them lie in, and how many: most first, equal ones by
    /// name.
    pub functions: Vec<(String, u64)>,
}

impl Profile {
    /// All samples.
    pub fn samples(&self) -> u64 {
        self.user + self.in_kernel()
    }

    /// Samples in the kernel.
    pub fn in_kernel(&self) -> u64 {
        self.by_kind.values().map(|of_kind| of_kind.samples).sum()
    }

    /// The part of the CPU time that is of this kind, from 0 to 1; `None` if there are no samples.
    pub fn share(&self, kind: &Kind) -> Option<f64> {
        let of_kind = self.by_kind.get(kind).map_or(0, |one| one.samples);
        let all = self.samples();
        (all > 0).then(|| of_kind as f64 / all as f64)
    }
}

/// A program that was sampled to its end.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// What the samples say.
    pub profile: Profile,
    /// How it ended.
    pub end: ExitStatus,
    /// CPU time that it and the children that it waited for took, in ns; the kernel tells whole microseconds.
    pub cpu_ns: u64,
}

/// Why a program was not sampled.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// Programs cannot be sampled here.
    #[error("programs cannot be sampled here: {0}")]
    Unavailable(#[from] Unsupported),
    /// The program could not be executed.
    #[error("cannot execute {program}: {cause}")]
    Start {
        /// The program, as the command names it.
        program: String,
        /// The system's answer.
        cause: io::Error,
    },
    /// This side failed; the program was killed.
    #[error("the sampling failed: {0}")]
    Failed(#[from] SystemError),
}

/// Runs a program to its end, and samples it and all that it starts, `period_ns` apart (see
/// [`Sampler::start`]).
///
/// The command is executed in a child forked from this thread, as by [`trace::run`](crate::trace::run()): no
/// pipe can be made by it (`Stdio::piped`). Processes that outlive it run on unsampled, and so does it if
/// this process dies.
///
/// `goes_on` is asked every 50 ms; once it returns false, the program and all that it started are killed, and
/// what was sampled is returned.
///
/// # Errors
/// [`SampleError`]: where samples are not permitted the program was not executed.
pub fn run(
    command: &mut Command,
    period_ns: u64,
    symbols: &Arc<Symbols>,
    goes_on: impl FnMut() -> bool,
) -> Result<Sampled, SampleError> {
    let (sampler, end) = watched(
        command,
        |child| Sampler::start(child, period_ns, symbols),
        goes_on,
    )?;
    Ok(Sampled {
        profile: sampler.finish(),
        end: end.status,
        cpu_ns: end.user_ns + end.system_ns,
    })
}

/// Runs a program to its end, as [`run`] does, and has the kernel count the system calls that it and all that it
/// starts make, from its first instruction on: a tracer sees each, and delays it. Nothing is sampled meanwhile,
/// since the counting is part of each call. Says how it ended, too.
///
/// # Errors
/// [`SampleError`]: it takes CAP_PERFMON, and a tracing file system that can be read (root).
pub fn count_calls(
    command: &mut Command,
    goes_on: impl FnMut() -> bool,
) -> Result<(u64, ExitStatus), SampleError> {
    let (counter, end) = watched(command, os::PerfCounter::of_program, goes_on)?;
    let failed = |cause| SystemError::new("read", "of a counter of system calls", cause);
    Ok((counter.read().map_err(failed)?, end.status))
}

/// Runs a program to its end with what watches it from its first instruction on.
fn watched<W>(
    command: &mut Command,
    watch: impl FnOnce(u32) -> Result<W, Unsupported>,
    mut goes_on: impl FnMut() -> bool,
) -> Result<(W, ChildEnd), SampleError> {
    let mut program = Held::start(command)?;
    let watching = watch(program.pid())?;
    program.release()?;
    let mut is_killed = false;
    let end = loop {
        if let Some(end) = program.end_within(LOOK_EVERY)? {
            break end;
        }
        if !is_killed && !goes_on() {
            is_killed = true;
            kill_tree(program.pid())?;
        }
    };
    match program.refusal() {
        Some(cause) => {
            let program = command.get_program().to_string_lossy().into_owned();
            Err(SampleError::Start { program, cause })
        }
        None => Ok((watching, end)),
    }
}

/// Takes samples of a program and all that it starts, in a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Sampler {
    stop: Stop,
    thread: JoinHandle<Profile>,
}

/// Ends the thread when it is dropped.
#[derive(Debug)]
struct Stop {
    is_over: Arc<AtomicBool>,
    thread: Thread,
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

impl Sampler {
    /// Samples a process that is to execute a program, on the CPUs that it may use now. It must be held until
    /// this returns: what it did or started before may be missing. Samples are `period_ns` apart, or farther
    /// if the kernel does not take as many.
    ///
    /// # Errors
    /// `Unsupported` naming perf_event_paranoid and the capability that is missing, or what else is in the
    /// way.
    pub fn start(
        child: u32,
        period_ns: u64,
        symbols: &Arc<Symbols>,
    ) -> Result<Sampler, Unsupported> {
        let cpus = cpu::of_process(child)?;
        let period_ns = period_ns.max(shortest_period_ns());
        let mut samples = Samples::of(child, &cpus, period_ns)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (is_over_too, symbols) = (Arc::clone(&is_over), Arc::clone(symbols));
        let collect = move || {
            let mut counts = Counts::of(&symbols);
            loop {
                // Before the last records are taken.
                let is_last = is_over_too.load(Ordering::Acquire);
                samples.take(|record| counts.add(record));
                if is_last {
                    return counts.profile(child, period_ns, samples.are_of_all());
                }
                thread::park_timeout(TAKE_EVERY);
            }
        };
        let thread = thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(collect)
            .map_err(|cause| SystemError::new("clone", "for the sampler's thread", cause))?;
        let stop = Stop {
            is_over,
            thread: thread.thread().clone(),
        };
        Ok(Sampler { stop, thread })
    }

    /// What the samples say that were taken so far: of all, if the program has ended.
    pub fn finish(self) -> Profile {
        let Sampler { stop, thread } = self;
        drop(stop);
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// The shortest period at which the kernel takes all samples; with fewer ones it takes none for a while.
fn shortest_period_ns() -> u64 {
    let most = os::kernel_setting("perf_event_max_sample_rate").parse::<u64>();
    // A quarter less than it takes, as a tick is not always as long.
    most.map_or(0, |most| 1_250_000_000 / most.max(1))
}

/// A function of the kernel, and what a program was in it for; `None` outside of the kernel.
type Place<'a> = Option<(Kind, &'a str)>;

/// Samples that were taken so far, of any process.
struct Counts<'a> {
    symbols: &'a Symbols,
    /// By process.
    samples: HashMap<(u32, Place<'a>), u64>,
    /// Whom each process has started. Records of several CPUs come in any order, so that only in the end it
    /// is known which processes are of the program.
    started: HashMap<u32, Vec<u32>>,
    lost: u64,
    throttled: u64,
}

impl<'a> Counts<'a> {
    fn of(symbols: &'a Symbols) -> Counts<'a> {
        Counts {
            symbols,
            samples: HashMap::new(),
            started: HashMap::new(),
            lost: 0,
            throttled: 0,
        }
    }

    fn add(&mut self, record: Record<'_>) {
        match record {
            Record::Sample { process, at } => {
                let place = match at {
                    At::Program => None,
                    At::WayBack => Some((Kind::Entry, WAY_BACK)),
                    At::Kernel(stack) => {
                        Some(self.symbols.classify(stack.addresses(), stack.link()))
                    }
                };
                *self.samples.entry((process, place)).or_default() += 1;
            }
            // A thread.
            Record::Started { process, by } if process == by => {}
            Record::Started { process, by } => self.started.entry(by).or_default().push(process),
            Record::Lost(records) => self.lost += records,
            Record::Throttled => self.throttled += 1,
        }
    }

    /// Of this process and all that it has started.
    fn profile(self, first: u32, period_ns: u64, has_ends: bool) -> Profile {
        let (mut processes, mut new) = (HashSet::new(), vec![first]);
        while let Some(process) = new.pop() {
            if processes.insert(process) {
                new.extend(self.started.get(&process).into_iter().flatten());
            }
        }
        let mut user = 0;
        let mut by_function: BTreeMap<(Kind, &str), u64> = BTreeMap::new();
        for ((process, place), samples) in self.samples {
            match place {
                _ if !processes.contains(&process) => {}
                Some(place) => *by_function.entry(place).or_default() += samples,
                None => user += samples,
            }
        }
        let mut by_kind: BTreeMap<Kind, KindSamples> = BTreeMap::new();
        for ((kind, function), samples) in by_function {
            let of_kind = by_kind.entry(kind).or_default();
            of_kind.samples += samples;
            of_kind.functions.push((function.to_owned(), samples));
        }
        for of_kind in by_kind.values_mut() {
            // Equal ones stay in the order of their names.
            of_kind
                .functions
                .sort_by_key(|(_, samples)| Reverse(*samples));
            of_kind.functions.truncate(NAMED);
        }
        Profile {
            period_ns,
            user,
            by_kind,
            lost: self.lost,
            throttled: self.throttled,
            has_ends,
        }
    }
}

#[cfg(test)]
mod tests;
