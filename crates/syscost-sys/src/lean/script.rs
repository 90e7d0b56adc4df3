//! The calls that a lean process makes, and the file of its program.

use super::code::{self, ANSWER, BEGINS, CHILD, CHILD_ID, CHILDREN, COMMAND, ENDS, FORKS, READ};
use super::code::{
    REQUIRED, SCRATCH, START, STARTED, TEXTS, TOUCHED, TURN, WAIT, WRITTEN, ZEROS, ZEROS_BYTES,
};
use super::{DATA, REPLY_WORDS};
use crate::elf::{self, ALIGNMENT, Access, BASE, Segment};
use crate::raw::Sysno;
use crate::{Unsupported, os};

/// Where its instructions are, what is never written, constants that are written once, and its
/// heap.
const TEXT: u64 = BASE + ALIGNMENT;
const FIXED: u64 = TEXT + ALIGNMENT;
const CONSTANTS: u64 = FIXED + ALIGNMENT;
const HEAP: u64 = 0xc0_0000;

/// Where texts are that have a place of their own.
const APART: u64 = 0x2000_0000;

/// Lengths of constants and heap, in bytes.
const CONSTANTS_BYTES: u64 = 0x2000;
const HEAP_BYTES: u64 = 0x2_1000;

/// Distance of what is written once at the start: a page, or part of a larger one.
const PAGE: u64 = 0x1000;

/// A system call of a [`Script`].
#[derive(Debug, Clone, Copy)]
pub struct ScriptCall {
    number: Sysno,
    arguments: [u64; 6],
    flags: u64,
}

impl ScriptCall {
    /// This call with these arguments, and zeros for the others.
    pub fn new<const N: usize>(number: Sysno, given: [u64; N]) -> Self {
        let mut arguments = [0; 6];
        arguments[..N].copy_from_slice(&given);
        Self {
            number,
            arguments,
            flags: 0,
        }
    }

    /// Has the task lead a process group of its own; no audit counts that.
    pub fn leaving_the_group() -> [Self; 3] {
        [
            Self::new(Sysno::PRCTL, os::UNCOUNTED),
            Self::new(Sysno::SETPGID, [0, 0]),
            Self::new(Sysno::PRCTL, os::COUNTED),
        ]
    }

    /// The call returns twice: in the child, whose calls follow, with 0.
    #[must_use]
    pub fn forking(self) -> Self {
        self.with(FORKS)
    }

    /// Its first argument is the id of the last child.
    #[must_use]
    pub fn of_child(self) -> Self {
        self.with(CHILD_ID)
    }

    /// It writes 32 bits to [`Script::ANSWER`], which are noted above its result.
    #[must_use]
    pub fn answering(self) -> Self {
        self.with(ANSWER)
    }

    /// The counter is read right before it.
    #[must_use]
    pub fn stamped_before(self) -> Self {
        self.with(BEGINS)
    }

    /// The counter is read right after it.
    #[must_use]
    pub fn stamped_after(self) -> Self {
        self.with(ENDS)
    }

    /// Its result is not noted: one that fails ends the process that makes it, with status 1.
    #[must_use]
    pub fn required(self) -> Self {
        self.with(REQUIRED)
    }

    fn with(self, flag: u64) -> Self {
        Self {
            flags: self.flags | flag,
            ..self
        }
    }

    /// How many words it leaves in the log.
    fn words(&self) -> usize {
        let has = |flag: u64| usize::from(self.flags & flag != 0);
        1 - has(REQUIRED) + has(BEGINS) + has(ENDS)
    }
}

/// The calls of an iteration, and those of the child that one of them makes.
#[derive(Debug, Clone)]
pub struct Script {
    iteration: Vec<ScriptCall>,
    child: Vec<ScriptCall>,
    texts: Vec<u8>,
    apart: Vec<u8>,
    is_launching: bool,
}

impl Script {
    /// Where a call can write 32 bits.
    pub const ANSWER: u64 = DATA + code::ANSWERED as u64;

    /// Where the kernel can write the id of a child, in its memory.
    pub const CHILD_ID: u64 = DATA + SCRATCH as u64;

    /// Where an iteration can map the stack of a child that shares the memory: nothing else is
    /// there.
    pub const STACK: u64 = 0x1000_0000;

    /// Where the stack of a child that shares the memory can begin without being mapped first: at
    /// the end of the heap's pages that are written at the start, aligned as the ABIs require.
    pub const CHILD_STACK: u64 = HEAP + 2 * PAGE - 64;

    /// A script of no calls.
    pub fn new() -> Self {
        Self {
            iteration: Vec::new(),
            child: Vec::new(),
            texts: Vec::new(),
            apart: Vec::new(),
            is_launching: false,
        }
    }

    /// Puts bytes into the program's memory, and returns their address: paths and lists of
    /// addresses for the calls.
    pub fn place(&mut self, bytes: &[u8]) -> u64 {
        let at = self.texts.len().next_multiple_of(8);
        self.texts.resize(at, 0);
        self.texts.extend(bytes);
        DATA + (TEXTS + at) as u64
    }

    /// Puts bytes into a part of the program's file of their own, as long as they may be, and returns their
    /// address.
    pub fn place_apart(&mut self, bytes: &[u8]) -> u64 {
        let at = self.apart.len().next_multiple_of(8);
        self.apart.resize(at, 0);
        self.apart.extend(bytes);
        APART + at as u64
    }

    /// Puts strings there, each ended by a zero byte, and a list of their addresses that a zero ends; returns the
    /// list's address.
    pub fn place_list<S: AsRef<[u8]>>(&mut self, strings: impl IntoIterator<Item = S>) -> u64 {
        let mut place = |string: S| self.place_apart(&[string.as_ref(), b"\0"].concat());
        let mut list: Vec<u64> = strings.into_iter().map(&mut place).collect();
        list.push(0);
        let bytes: Vec<u8> = list.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.place_apart(&bytes)
    }

    /// The texts that have a place of their own.
    pub(super) fn apart(&self) -> &[u8] {
        &self.apart
    }

    /// Puts words into the program's memory, as [`Script::place`].
    pub fn place_words(&mut self, words: &[u64]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.place(&bytes)
    }

    /// The same in a process that only starts others: an audit counts none of its calls, it is in a process group of
    /// its own, with its children, and these have none of its descriptors but standard input, output and error.
    #[must_use]
    pub fn launching(self) -> Self {
        Self {
            is_launching: true,
            ..self
        }
    }

    /// The calls of each iteration.
    #[must_use]
    pub fn iteration(self, calls: impl Into<Vec<ScriptCall>>) -> Self {
        Self {
            iteration: calls.into(),
            ..self
        }
    }

    /// The calls of a child, the last of which must end it.
    #[must_use]
    pub fn child(self, calls: impl Into<Vec<ScriptCall>>) -> Self {
        Self {
            child: calls.into(),
            ..self
        }
    }

    /// How many words an iteration leaves in the log.
    pub(super) fn words(&self) -> usize {
        self.iteration.iter().map(ScriptCall::words).sum()
    }

    /// The program's data, without the zeros, in a process that keeps these descriptors: those of its commands, of its
    /// replies, and a third one.
    pub(super) fn data(&self, kept: [i32; 3]) -> Result<Vec<u8>, Unsupported> {
        let [commands, replies, _] = kept;
        let mut data = vec![0; ZEROS];
        let reply = [
            replies as u64,
            DATA + STARTED as u64,
            8 * REPLY_WORDS as u64,
        ];
        let children = [os::OF_CHILDREN as u64, DATA + CHILDREN as u64];
        let wait = [
            ScriptCall::new(Sysno::GETRUSAGE, children),
            ScriptCall::new(Sysno::WRITE, reply),
            ScriptCall::new(Sysno::READ, [commands as u64, DATA + COMMAND as u64, 16]),
        ];
        let heap = ScriptCall::new(Sysno::MMAP, os::private_pages_at(HEAP, HEAP_BYTES));
        let mut start = vec![heap];
        if self.is_launching {
            start.push(ScriptCall::new(Sysno::PRCTL, os::UNCOUNTED));
            start.push(ScriptCall::new(Sysno::SETPGID, [0, 0]));
            let close = |descriptor| ScriptCall::new(Sysno::FCNTL, os::close_on_exec(descriptor));
            start.extend(kept.map(close));
        }
        let lists = [
            (TURN, &*self.iteration),
            (CHILD, &self.child),
            (WAIT, &wait),
            (START, &start),
        ];
        for (at, calls) in lists {
            assert!(
                calls.len() <= code::MAX_CALLS,
                "a list is longer than its place"
            );
            let mut words = Vec::new();
            for call in calls {
                let absent = || Unsupported::new(format!("there is no {} here", call.number));
                words.push(u64::from(call.number.number().ok_or_else(absent)?));
                words.extend(call.arguments);
                words.push(call.flags);
            }
            // What ends the list.
            words.push(u64::MAX);
            for (place, word) in data[at..].chunks_exact_mut(8).zip(words) {
                place.copy_from_slice(&word.to_le_bytes());
            }
        }
        let all_data = ZEROS as u64 + ZEROS_BYTES;
        let written = [
            (CONSTANTS, CONSTANTS_BYTES),
            (DATA, all_data),
            (HEAP, 2 * PAGE),
        ];
        let pages = written.into_iter().flat_map(|(from, bytes)| {
            // The last byte of each, which holds nothing.
            (from..from + bytes)
                .step_by(PAGE as usize)
                .map(|page| page + PAGE - 1)
        });
        let by_child = [DATA, DATA + PAGE, DATA + (ZEROS as u64) + 3 * PAGE, HEAP];
        let by_child = by_child.map(|page| page + PAGE - 1);
        let mut put = |at: usize, addresses: &mut dyn Iterator<Item = u64>| {
            for (place, address) in data[at..].chunks_exact_mut(8).zip(addresses) {
                place.copy_from_slice(&address.to_le_bytes());
            }
        };
        put(TOUCHED, &mut pages.into_iter());
        put(WRITTEN, &mut by_child.into_iter());
        put(READ, &mut [BASE, FIXED].into_iter());
        let end = TEXTS + self.texts.len();
        if end >= PAGE as usize {
            return Err(Unsupported::new("the texts do not fit into a page"));
        }
        data[TEXTS..end].copy_from_slice(&self.texts);
        Ok(data)
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

/// The file of the program with this data, and these texts in a place of their own, if there are any.
pub(super) fn image(data: &[u8], apart: &[u8]) -> Result<Vec<u8>, Unsupported> {
    let segment = |access, address, bytes, zeros| Segment {
        access,
        address,
        bytes,
        zeros,
    };
    let constants = [0; CONSTANTS_BYTES as usize];
    let number = if apart.is_empty() { 5 } else { 6 };
    let segments = [
        segment(Access::Read, BASE + elf::headers(number), b"headers", 0),
        segment(Access::ReadAndExecute, TEXT, code::get(), 0),
        segment(Access::Read, FIXED, b"constants that nothing changes", 0),
        segment(Access::ReadAndWrite, CONSTANTS, &constants, 0),
        segment(Access::ReadAndWrite, DATA, data, ZEROS_BYTES),
        segment(Access::Read, APART, apart, 0),
    ];
    Ok(elf::executable(TEXT, &segments[..usize::from(number)]))
}
