//! A process as small as a program usually can be, which makes system calls and times them.
//!
//! What a fork costs depends on the mappings and the memory of the process that forks, and this
//! program has many: tables of constants that were relocated, a heap, shared libraries. So a
//! program of our own makes children in its place. It has what a C program that does nothing has
//! when it is linked statically (glibc 2.36, as /proc/self/smaps shows it): three mappings of its
//! file, and five that it writes, for constants, data, zeros, a heap and the stack, with fourteen
//! pages of 4 KiB. In each iteration it writes to three of these; a child of its own touches nine
//! pages, as one of that program does in the C library's fork (getrusage): its stack, the code, two
//! of the file's other mappings, four of data, and the one where the kernel puts its id.
//!
//! It reads how many iterations to make from a pipe, makes the calls of its [`Script`] that often,
//! and writes what they returned, and readings of the processor's counter, to another pipe.

mod code;
mod script;

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::stdio;

use crate::clock::Clock;
use crate::counters::{SchedStat, TaskId, add_served};
use crate::partner::{Between, Partner, PartnerError};
use crate::tiny::TinyProgram;
use crate::{SystemError, Unsupported, arch, os};

use code::{BYTES, CHILDREN, LOG, SCRATCH, STARTED, ZEROS, ZEROS_BYTES};
pub use script::{Script, ScriptCall};

/// Where its data is, followed by zeros.
const DATA: u64 = 0x80_0000;

/// Maximum number of iterations at once, warm-up included.
pub const MAX_ITERATIONS: u64 = 96;

/// Maximum number of words that an iteration leaves in the log.
const MAX_WORDS: usize = 5;

/// Length of what it writes when it is done: the readings at the beginning and the end, the last
/// answer, how long its children ran, and the log. A pipe takes it at once.
const REPLY_WORDS: usize = (ZEROS + 4096 - STARTED) / 8;

const _: () = assert!(LOG + 8 * MAX_WORDS * MAX_ITERATIONS as usize <= ZEROS + 4096);

/// The process.
#[derive(Debug)]
pub struct Lean {
    partner: Partner,
    commands: PipeWriter,
    replies: PipeReader,
    words: usize,
    reply: Vec<u64>,
    schedule: Option<SchedStat>,
    /// How long it and its children have run that ended, in ns.
    ran_ns: u64,
}

/// What iterations left.
#[derive(Debug)]
pub struct Done<'a> {
    /// How long the iterations took that came after the warm-up, in ticks of the processor's
    /// counter.
    pub ticks: u64,
    words: usize,
    log: &'a [u64],
}

impl Done<'_> {
    /// What the calls of each iteration left, warm-up included: a word for each that is
    /// not required, between the readings before and after it where there are any.
    pub fn iterations(&self) -> impl Iterator<Item = &[u64]> {
        self.log.chunks_exact(self.words)
    }
}

impl Lean {
    /// Whether what it reads are ticks of this clock: it reads the processor's counter.
    pub fn reads(clock: &Clock) -> bool {
        arch::COUNTER == clock.source()
    }

    /// Starts one that may use these CPUs and makes the calls of this script.
    ///
    /// # Errors
    /// `Unsupported` where the kernel does not execute a program in memory.
    pub fn start(script: &Script, cpus: &[u32]) -> Result<Self, Unsupported> {
        Self::start_with(script, cpus, None)
    }

    /// As [`Lean::start`], with these files as its standard input, output and error, and its children's.
    ///
    /// # Errors
    /// As there.
    pub fn start_with(
        script: &Script,
        cpus: &[u32],
        files: Option<[File; 3]>,
    ) -> Result<Self, Unsupported> {
        let failed = |what: &'static str| {
            move |cause: io::Error| SystemError::new(what, "for a lean process", cause)
        };
        let (their_commands, commands) = pipe().map_err(failed("pipe"))?;
        let (replies, their_replies) = pipe().map_err(failed("pipe"))?;
        // It never reads the end of the commands, after which it would have to do something: calls
        // that an audit counts, or not, as it happens. It is killed with this process.
        let held = commands.try_clone().map_err(failed("fcntl"))?;
        let kept = [
            their_commands.as_raw_fd(),
            their_replies.as_raw_fd(),
            held.as_raw_fd(),
        ];
        let data = script.data(kept)?;
        let program = TinyProgram::holding(&script::image(&data, script.apart())?)?;
        let execute = move || -> Result<(), String> {
            if let Some([input, output, error]) = &files {
                let taken = stdio::dup2_stdin(input)
                    .and_then(|()| stdio::dup2_stdout(output))
                    .and_then(|()| stdio::dup2_stderr(error));
                taken.map_err(|cause| format!("dup2: {cause}"))?;
                os::heed_signals();
            }
            let kept = [their_commands.as_fd(), their_replies.as_fd(), held.as_fd()];
            Err(format!("execve: {}", os::execute(program.path(), &kept)))
        };
        let refused = |error: PartnerError| Unsupported::new(error.to_string());
        let partner = Partner::start(Between::Processes, cpus, execute).map_err(refused)?;
        let words = script.words();
        assert!(
            (1..=MAX_WORDS).contains(&words),
            "{words} words in each iteration"
        );
        let mut lean = Self {
            schedule: SchedStat::of(partner.task()).ok(),
            ran_ns: 0,
            partner,
            commands,
            replies,
            words,
            reply: vec![0; REPLY_WORDS],
        };
        // It says when it is there.
        match lean.listen() {
            Ok(()) => Ok(lean),
            Err(cause) => match lean.partner.join() {
                Err(error) => Err(refused(error)),
                Ok(()) => Err(SystemError::new("read", "from a lean process", cause).into()),
            },
        }
    }

    /// Its task.
    pub fn task(&self) -> TaskId {
        self.partner.task()
    }

    /// Has it make `warm_up` iterations, and then `iterations` that it times: at most
    /// [`MAX_ITERATIONS`] together.
    pub fn make(&mut self, warm_up: u64, iterations: u64) -> io::Result<Done<'_>> {
        self.begin(warm_up, iterations)?;
        self.done(warm_up, iterations)
    }

    /// Has it begin to make these iterations. Its descriptor can be read once they are made.
    pub fn begin(&mut self, warm_up: u64, iterations: u64) -> io::Result<()> {
        assert!(warm_up + iterations <= MAX_ITERATIONS);
        let mut command = [0; 16];
        command[..8].copy_from_slice(&warm_up.to_ne_bytes());
        command[8..].copy_from_slice(&iterations.to_ne_bytes());
        self.commands.write_all(&command)
    }

    /// Waits until it has made the iterations that it began.
    pub fn done(&mut self, warm_up: u64, iterations: u64) -> io::Result<Done<'_>> {
        self.listen()?;
        let (header, log) = self.reply.split_at((LOG - STARTED) / 8);
        Ok(Done {
            ticks: header[1].wrapping_sub(header[0]),
            words: self.words,
            log: &log[..self.words * (warm_up + iterations) as usize],
        })
    }

    /// Waits for its next reply.
    fn listen(&mut self) -> io::Result<()> {
        let mut bytes = [0; 8 * REPLY_WORDS];
        // A pipe takes and gives this much at once.
        self.replies.read_exact(&mut bytes)?;
        for (word, bytes) in self.reply.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        self.count();
        Ok(())
    }

    /// Counts how long it and its children ran since it was last asked, as time of this process' family.
    fn count(&mut self) {
        let times = (CHILDREN - STARTED) / 8;
        let children_ns = os::run_ns([0, 1, 2, 3].map(|word| self.reply[times + word]));
        let read = self.schedule.as_ref().and_then(|one| one.read().ok());
        let own_ns = read.map_or(0, |now| now.run_ns);
        let before = std::mem::replace(&mut self.ran_ns, own_ns + children_ns);
        add_served(self.ran_ns.saturating_sub(before));
    }
}

impl AsFd for Lean {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.replies.as_fd()
    }
}

const _: () = assert!(SCRATCH > ZEROS && SCRATCH < ZEROS + ZEROS_BYTES as usize && BYTES == 64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::FamilyRun;
    use crate::cpu;
    use crate::raw::Sysno;

    /// The signal that announces a child's end, on every architecture of Linux but a few.
    const SIGCHLD: u64 = 17;

    fn started(script: &Script) -> Result<Lean, String> {
        let cpus = cpu::allowed().map_err(|reason| reason.to_string())?;
        Lean::start(script, &cpus[..1]).map_err(|reason| reason.to_string())
    }

    fn forks(status: u64) -> Script {
        let wait = ScriptCall::new(Sysno::WAIT4, [0, Script::ANSWER, 0, 0]);
        Script::new()
            .iteration([
                ScriptCall::new(Sysno::CLONE, [SIGCHLD]).forking(),
                wait.of_child().answering(),
            ])
            .child([ScriptCall::new(Sysno::EXIT_GROUP, [status])])
    }

    #[test]
    fn each_iteration_makes_a_child_and_waits_for_it() {
        let mut lean = or_skip!(started(&forks(0)));
        let mut seen = Vec::new();
        for (warm_up, iterations) in [(0, 1), (3, 5), (2, MAX_ITERATIONS - 2)] {
            let done = lean.make(warm_up, iterations).unwrap();
            assert!(done.ticks > 0);
            let ids: Vec<u64> = done.iterations().map(|iteration| iteration[0]).collect();
            assert_eq!(ids.len() as u64, warm_up + iterations);
            assert!(
                done.iterations()
                    .all(|iteration| iteration[0] as i64 > 1 && iteration[1] == iteration[0])
            );
            seen.extend(ids);
        }
        let own = u64::from(lean.task().process);
        assert!(!seen.contains(&own));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(
            seen.len() as u64,
            1 + 8 + MAX_ITERATIONS,
            "all of them differ"
        );
    }

    #[test]
    fn it_and_its_children_are_of_the_family_of_whoever_asks_it() {
        let mut lean = or_skip!(started(&forks(0)));
        let before = FamilyRun::read().unwrap();
        let ticks = lean.make(0, MAX_ITERATIONS).unwrap().ticks;
        let after = FamilyRun::read().unwrap();
        assert!(ticks > 0 && after.had_others_since(&before));
        // A fork takes tens of microseconds, half of them in the child.
        assert!(after.ns - before.ns > 10_000 * MAX_ITERATIONS);
    }

    #[test]
    fn a_childs_status_is_above_its_id() {
        let mut lean = or_skip!(started(&forks(3)));
        let done = lean.make(0, 1).unwrap();
        let iteration = done.iterations().next().unwrap();
        assert_eq!(
            iteration[1],
            iteration[0] | 3 << 40,
            "an exit's status is its second byte"
        );
    }

    #[test]
    fn a_call_that_is_stamped_takes_part_of_the_time() {
        let pid = ScriptCall::new(Sysno::GETPPID, []);
        let pid = pid.stamped_before().stamped_after();
        let mut lean = or_skip!(started(&Script::new().iteration([pid])));
        let done = lean.make(1, 2).unwrap();
        let parts: u64 = done
            .iterations()
            .skip(1)
            .map(|iteration| iteration[2] - iteration[0])
            .sum();
        assert!(
            parts > 0 && parts <= done.ticks,
            "{parts} of {}",
            done.ticks
        );
        let parent = u64::from(std::process::id());
        assert!(done.iterations().all(|iteration| iteration[1] == parent));
    }

    #[test]
    fn readings_can_stand_around_several_calls() {
        let calls = [
            ScriptCall::new(Sysno::GETPID, [])
                .required()
                .stamped_before(),
            ScriptCall::new(Sysno::GETPPID, []),
            ScriptCall::new(Sysno::GETPID, [])
                .required()
                .stamped_after(),
        ];
        let mut lean = or_skip!(started(&Script::new().iteration(calls)));
        let done = lean.make(0, 2).unwrap();
        let parent = u64::from(std::process::id());
        for iteration in done.iterations() {
            assert!(matches!(iteration, [from, id, to] if from < to && *id == parent));
        }
    }

    #[test]
    fn a_child_that_shares_the_memory_has_its_parent_wait() {
        // CLONE_VM, CLONE_VFORK and CLONE_CHILD_SETTID: the child leaves its id when it first runs.
        let flags = 0x100 | 0x4000 | 0x0100_0000 | SIGCHLD;
        let create = ScriptCall::new(Sysno::CLONE, [flags, 0, 0, Script::ANSWER, Script::ANSWER]);
        let wait = ScriptCall::new(Sysno::WAIT4, [0]).of_child();
        let script = Script::new()
            .iteration([create.forking().answering(), wait])
            .child([ScriptCall::new(Sysno::EXIT_GROUP, [0])]);
        let mut lean = or_skip!(started(&script));
        let done = lean.make(0, MAX_ITERATIONS).unwrap();
        assert!(done.iterations().all(|iteration| iteration[0]
            == iteration[1] | iteration[1] << 32
            && iteration[1] as i64 > 1));
    }

    #[test]
    fn a_required_call_that_fails_ends_its_process() {
        let refused = ScriptCall::new(Sysno::CLOSE, [u64::MAX]).required();
        let noted = ScriptCall::new(Sysno::GETPID, []);
        let mut lean = or_skip!(started(&Script::new().iteration([noted, refused])));
        assert!(lean.make(0, 1).is_err());
        let script = forks(0).child([refused, ScriptCall::new(Sysno::EXIT_GROUP, [0])]);
        let mut lean = or_skip!(started(&script));
        let done = lean.make(0, 1).unwrap();
        let iteration = done.iterations().next().unwrap();
        assert_eq!(
            iteration[1],
            iteration[0] | 1 << 40,
            "the child's status is 1"
        );
    }

    #[test]
    fn a_text_is_where_its_address_says() {
        let mut script = Script::new();
        let path = script.place(c"/dev/null".to_bytes_with_nul());
        let other = script.place(b"x");
        assert_eq!(other, path + 16);
        let open = ScriptCall::new(Sysno::OPENAT, [0, path, 0]);
        let mut lean = or_skip!(started(&script.iteration([open])));
        let done = lean.make(0, 1).unwrap();
        assert!((done.iterations().next().unwrap()[0] as i64) > 2);
    }

    #[test]
    fn one_that_was_killed_does_not_answer() {
        let mut lean = or_skip!(started(&forks(0)));
        os::kill_process(lean.task().process).unwrap();
        assert!(lean.make(0, 1).is_err());
    }
}
