//! Samples of programs by perf's CPU clock: a ring of records for each CPU.

use std::io;
use std::os::fd::OwnedFd;

use perf_event_open_sys::bindings;

use super::perf::{attributes, open, refusal};
use super::ring::{Bytes, Ring, rings};
use crate::Unsupported;

/// The number of no task: whatever runs on a CPU.
const WHATEVER_RUNS: u32 = u32::MAX;

/// The registers that a sample has, as bits, and whose they are.
///
/// On x86-64 the user's: what the way back from a call leaves in rcx (PERF_REG_X86_CX) is the address at which the
/// program goes on (PERF_REG_X86_IP), and no register of aarch64 tells that. On aarch64 those of the sampled
/// instruction: a function that calls none leaves its caller in the link register (PERF_REG_ARM64_LR) alone,
/// where x86-64 has it on the stack.
const REGISTERS: (u64, u32) = if cfg!(target_arch = "x86_64") {
    (1 << 2 | 1 << 8, bindings::PERF_SAMPLE_REGS_USER)
} else {
    (1 << 30, bindings::PERF_SAMPLE_REGS_INTR)
};

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    Sample {
        process: u32,
        at: At<'a>,
    },
    /// A process or a thread of one.
    Started {
        process: u32,
        by: u32,
    },
    /// This number of records found the ring full.
    Lost(u64),
    /// The kernel takes no samples until the next tick, because there were too many.
    Throttled,
}

/// Where a sample found a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At<'a> {
    Program,
    /// At the first instruction after a system call: interrupts were off until then.
    WayBack,
    Kernel(Stack<'a>),
}

/// Addresses in the kernel, as the record has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stack<'a> {
    words: &'a [u8],
    link: Option<u64>,
}

impl Stack<'_> {
    /// The sampled instruction, and those to which its callers return, from the inside out.
    pub(crate) fn addresses(self) -> impl DoubleEndedIterator<Item = u64> {
        let words = longs(self.words);
        // Some are no addresses, but say of what kind those are that follow.
        words.filter(|word| *word < bindings::PERF_CONTEXT_MAX)
    }

    /// What the link register holds: the instruction to which the sampled function returns, or to which one
    /// that it called has returned.
    pub(crate) fn link(self) -> Option<u64> {
        self.link
    }
}

fn longs(bytes: &[u8]) -> impl DoubleEndedIterator<Item = u64> {
    let words = bytes.chunks_exact(8);
    words.filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)))
}

/// An address of the kernel without the signature that pointer authentication leaves in it, where at most 48 bits
/// are the address, as of functions everywhere; `None` for one of a program, which bit 55 tells.
fn kernel_address(link: u64) -> Option<u64> {
    (link >> 55 & 1 == 1).then_some(link | 0xffff << 48)
}

/// The samples of some CPUs.
pub(crate) struct Samples {
    rings: Vec<Ring>,
    /// Whether they are of whatever runs there, not only of a program.
    are_of_all: bool,
}

impl Samples {
    /// Takes samples that are this far apart, on these CPUs: of whatever runs there from now on or, where
    /// this is not allowed, of the program that this process is to execute, and of all that it starts.
    pub(crate) fn of(child: u32, cpus: &[u32], period_ns: u64) -> Result<Samples, Unsupported> {
        let samples = |are_of_all| {
            // A kernel that is locked down gives no registers of its own.
            let rings = rings(cpus, |cpu| {
                event(child, are_of_all, cpu, period_ns, true)
                    .or_else(|_| event(child, are_of_all, cpu, period_ns, false))
            });
            rings.map(|rings| Samples { rings, are_of_all })
        };
        samples(true)
            .or_else(|_| samples(false))
            .map_err(|cause| refusal("cpu-clock", 1, &cause))
    }

    pub(crate) fn are_of_all(&self) -> bool {
        self.are_of_all
    }

    /// Takes all records; those of a CPU in their order.
    pub(crate) fn take(&mut self, mut to: impl FnMut(Record<'_>)) {
        for ring in &mut self.rings {
            ring.take(|bytes| {
                if let Some(record) = parse(bytes) {
                    to(record);
                }
            });
        }
    }
}

fn event(
    child: u32,
    is_of_all: bool,
    cpu: u32,
    period_ns: u64,
    has_registers: bool,
) -> io::Result<OwnedFd> {
    let clock = u64::from(bindings::PERF_COUNT_SW_CPU_CLOCK);
    let mut wanted = attributes(bindings::PERF_TYPE_SOFTWARE, clock, false);
    wanted.__bindgen_anon_1.sample_period = period_ns;
    wanted.sample_type = u64::from(bindings::PERF_SAMPLE_TID | bindings::PERF_SAMPLE_CALLCHAIN);
    let (registers, whose) = REGISTERS;
    if has_registers {
        wanted.sample_type |= u64::from(whose);
        match whose {
            bindings::PERF_SAMPLE_REGS_USER => wanted.sample_regs_user = registers,
            _ => wanted.sample_regs_intr = registers,
        }
    }
    wanted.set_exclude_callchain_user(1);
    wanted.set_exclude_idle(1);
    wanted.set_task(1);
    if is_of_all {
        wanted.set_disabled(0);
        return open(wanted, WHATEVER_RUNS, cpu.cast_signed());
    }
    wanted.set_inherit(1);
    wanted.set_enable_on_exec(1);
    open(wanted, child, cpu.cast_signed())
}

/// What a record says; `None` for one that says nothing here.
fn parse(bytes: Bytes<'_>) -> Option<Record<'_>> {
    Some(match bytes.kind()? {
        bindings::PERF_RECORD_SAMPLE => {
            // The task, the number of addresses, these, of what kind the registers are (0: there are none), these.
            let (words, registers) = bytes
                .after(24)?
                .split_at_checked((bytes.long(16)? as usize).saturating_mul(8))?;
            let is_kernel = bytes.misc()? & bindings::PERF_RECORD_MISC_CPUMODE_MASK
                == bindings::PERF_RECORD_MISC_KERNEL;
            let mut registers = longs(registers);
            let registers = match registers.next() {
                Some(1..) => [registers.next(), registers.next()],
                _ => [None; 2],
            };
            let at = match registers {
                [link, _] if is_kernel => At::Kernel(Stack {
                    words,
                    link: link
                        .filter(|_| cfg!(target_arch = "aarch64"))
                        .and_then(kernel_address),
                }),
                [Some(left), Some(goes_on)] if left == goes_on => At::WayBack,
                _ => At::Program,
            };
            Record::Sample {
                process: bytes.word(8)?,
                at,
            }
        }
        bindings::PERF_RECORD_FORK => Record::Started {
            process: bytes.word(8)?,
            by: bytes.word(12)?,
        },
        bindings::PERF_RECORD_LOST => Record::Lost(bytes.long(16)?),
        bindings::PERF_RECORD_THROTTLE => Record::Throttled,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_address_is_one_of_the_kernel() {
        let address = 0xffff_8000_0801_2340;
        assert_eq!(kernel_address(address), Some(address));
        assert_eq!(kernel_address(0x3ca1_8000_0801_2340), Some(address));
        assert_eq!(kernel_address(0x0000_aaaa_0801_2340), None);
    }

    #[test]
    fn records_are_samples_and_what_was_lost() {
        let record = |kind: u32, mode: u32, words: &[u64]| {
            let mut bytes = kind.to_ne_bytes().to_vec();
            bytes.extend((mode as u16).to_ne_bytes());
            bytes.extend((8 + 8 * words.len() as u16).to_ne_bytes());
            bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
            bytes
        };
        let (kernel, user) = (
            bindings::PERF_RECORD_MISC_KERNEL,
            bindings::PERF_RECORD_MISC_USER,
        );
        let sample = bindings::PERF_RECORD_SAMPLE;
        let task = u64::from_ne_bytes(
            [7_u32, 8]
                .map(u32::to_ne_bytes)
                .concat()
                .try_into()
                .unwrap(),
        );
        let (inner, outer) = (0xffff_ffff_8100_0010, 0xffff_ffff_8100_0020);
        let of_kernel = [
            task,
            3,
            bindings::PERF_CONTEXT_KERNEL,
            inner,
            outer,
            2,
            5,
            5,
        ];
        let bytes = record(sample, kernel, &of_kernel);
        let Some(Record::Sample {
            process: 7,
            at: At::Kernel(stack),
        }) = parse(Bytes(&bytes))
        else {
            panic!("{:?}", parse(Bytes(&bytes)));
        };
        assert!(stack.addresses().eq([inner, outer]));
        let at = |at| Some(Record::Sample { process: 7, at });
        let (lost, started) = (bindings::PERF_RECORD_LOST, bindings::PERF_RECORD_FORK);
        for (bytes, expected) in [
            (record(sample, user, &[task, 0, 2, 4, 5]), at(At::Program)),
            (record(sample, user, &[task, 0, 2, 5, 5]), at(At::WayBack)),
            (record(sample, user, &[task, 0]), at(At::Program)),
            (record(sample, kernel, &[task, 1]), None),
            (
                record(started, 0, &[task, task, 1]),
                Some(Record::Started { process: 7, by: 8 }),
            ),
            (record(lost, 0, &[1, 7]), Some(Record::Lost(7))),
            (record(lost, 0, &[1]), None),
            (
                record(bindings::PERF_RECORD_THROTTLE, 0, &[1, 2, 3]),
                Some(Record::Throttled),
            ),
            (
                record(bindings::PERF_RECORD_UNTHROTTLE, 0, &[1, 2, 3]),
                None,
            ),
        ] {
            assert_eq!(parse(Bytes(&bytes)), expected);
        }
    }
}
