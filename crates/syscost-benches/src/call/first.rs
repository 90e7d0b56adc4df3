//! The first call of a procedure, against a warm one.
//!
//! ## Measures
//! One call and return, timed individually, of a procedure in a page of this program's own file
//! that is mapped once more. `first`: the page is not in the process's page table and its code is
//! in no cache, as in a process that has just started: one page fault, which needs no disk, then
//! the fetch from memory. `evicted`: the page is mapped, but its code is in no cache. In both the
//! core does not know where the call will lead: one of sixteen mappings is chosen at random, since
//! a core that predicts the target would fetch the code before the clock starts. `warm`: the
//! procedure was called just before. The timer's own cost, measured in the same way around nothing,
//! is subtracted.
//! ## Does not measure
//! Reading the code from disk, and resolving a symbol by the dynamic linker, which a program's very
//! first call of a library's procedure may pay in addition.
//! ## Interpretation
//! `first` is mostly a page fault, some hundreds of warm calls; `evicted` a memory latency and a
//! misprediction. A `warm` call is shorter than the timer around it, so its figure is rough, and
//! "below resolution" is a legitimate result: `call.indirect` has the cost of one among many. This
//! is why an experiment that times its calls one by one finds the first one the most expensive.
//! ## Source
//! The three-costs experiment, which found its call without arguments more expensive than some with
//! more, since it was the first call in the code.
#![allow(unsafe_code)] // mapping code and calling it

use std::cell::Cell;
use std::ffi::c_void;
use std::fs::{self, File};
use std::hint::black_box;
use std::mem::transmute;
use std::{ptr, slice};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::cold_code::evict;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "First function call, cold code",
    tags: "procedure call, cold start, cold cache, instruction cache miss, code page fault",
    // Since 2: nothing runs between making the code cold and the call, and no prediction of it is left.
    revision: 2,
    expect: &[exactly(Counter::Reported(ANSWERS), 1.0)],
    ..Benchmark::of::<CallFirst>()
};

const ANSWERS: &str = "correct return values of the called procedure";

/// Minimum core cycles of a page fault: entering the kernel and returning alone take about as many.
const FAULT: f64 = 200.0;

/// Minimum core cycles of a fetch from memory; a second-level cache and a misprediction together take less.
const FETCH: f64 = 60.0;

/// Mappings among which a cold call chooses.
const MAPPINGS: usize = 16;

static ELSEWHERE: Witness = Witness::of(
    "share of the calls that lead to another mapping than the one before",
    "the addresses",
);

/// What is ready for the call.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    Evicted,
    Warm,
}

#[derive(Params, Clone)]
struct CallFirst {
    state: State,
}

impl Measured for CallFirst {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(CallFirst { state: State::ALL })
    }

    fn proofs(&self) -> CallFirstProofs<Proof> {
        CallFirstProofs {
            state: match self.state {
                State::First => Proof::counted([
                    exactly(Counter::MinorFaults, 1.0),
                    costs(Counter::CoreCycles, FAULT),
                ]),
                State::Evicted => Proof::counted([costs(Counter::CoreCycles, FETCH)])
                    .and(ELSEWHERE.within(Bound::AtLeast(0.3))),
                State::Warm => ELSEWHERE.expects(0.0),
            },
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let mappings = (0..MAPPINGS)
            .map(|_| Code::map())
            .collect::<Result<Vec<_>, _>>()?;
        let mut random = plan.random().clone();
        let (chosen, before) = (Cell::new(&mappings[0]), Cell::new(&mappings[0]));
        let answers = Cell::new(0_u64);
        let (mut moves, mut choices) = (0_u64, 0_u64);
        let prepare = || {
            if self.state != State::Warm {
                chosen.set(&mappings[random.usize(..MAPPINGS)]);
            }
            let code = chosen.get();
            choices += 1;
            moves += u64::from(!ptr::eq(code, before.replace(code)));
            code.call(1);
            match self.state {
                State::First => return code.unmap(),
                State::Evicted => code.evict(),
                State::Warm => {}
            }
            Ok(())
        };
        let mut outcome = plan.measure(Single::of(prepare, || {
            let answer = chosen.get().call(black_box(41));
            answers.set(answers.get() + u64::from(answer == !41));
            Ok(())
        }))?;
        outcome.observe(&ELSEWHERE, moves as f64 / choices.max(1) as f64);
        outcome.report(ANSWERS, answers.get() as f64);
        Ok(outcome)
    }
}

/// The procedure that is called. It refers to no memory and calls nothing, even without
/// optimisation, so that a copy of it runs at any address.
#[inline(never)]
extern "C" fn complement(number: u64) -> u64 {
    !number
}

/// Pages mapped: the one in which the procedure begins, and the next, should it end there.
const PAGES: usize = 2;

/// Bytes that hold the procedure: compared before the second mapping is called, and evicted.
const PROCEDURE_BYTES: usize = 16;

/// Where in this program's file the code at `address` is, by /proc/self/maps.
fn file_position(address: usize) -> Result<u64, Failure> {
    const MAPS: &str = "/proc/self/maps";
    let maps =
        fs::read_to_string(MAPS).map_err(|cause| Failure::of(&format!("read {MAPS}"), cause))?;
    maps.lines()
        .find_map(|line| position_in(line, address as u64))
        .ok_or_else(|| Failure::Unsupported(format!("{MAPS} does not name this program's code")))
}

/// Parses one line: `start-end permissions offset device inode path`.
fn position_in(line: &str, address: u64) -> Option<u64> {
    let mut fields = line.split_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let offset = fields.nth(1)?;
    let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
    let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
    (start..end)
        .contains(&address)
        .then_some(hexadecimal(offset)? + (address - start))
}

/// The page of this program's file that holds [`complement`], mapped a second time.
struct Code {
    page: *mut c_void,
    procedure: extern "C" fn(u64) -> u64,
}

impl Code {
    fn map() -> Result<Self, Failure> {
        const EXE: &str = "/proc/self/exe";
        let original = complement as *const u8;
        let within = original.addr() % page_size();
        let offset = file_position(original.addr())? - within as u64;
        let file = File::open(EXE).map_err(|cause| Failure::of(&format!("open {EXE}"), cause))?;
        let access = ProtFlags::READ | ProtFlags::EXEC;
        let length = PAGES * page_size();
        // SAFETY: a fresh private mapping, which nothing else refers to, of a file that is being executed.
        let page = unsafe {
            mmap(
                ptr::null_mut(),
                length,
                access,
                MapFlags::PRIVATE,
                &file,
                offset,
            )
        }
        .map_err(|cause| Failure::of(&format!("map {EXE} as code"), cause))?;
        let copy = page.wrapping_byte_add(within);
        // SAFETY: its bytes are compared with those of `complement` before it is called; they refer
        // to no address.
        let procedure = unsafe { transmute::<*mut c_void, extern "C" fn(u64) -> u64>(copy) };
        let code = Self { page, procedure };
        // SAFETY: code is readable, and what follows the procedure in its page or the next is code too.
        let bytes = unsafe { slice::from_raw_parts(original, PROCEDURE_BYTES) };
        if code.bytes() == bytes {
            Ok(code)
        } else {
            Err(Failure::Broken(
                "finds other code in the program's file than in its memory".into(),
            ))
        }
    }

    /// Calls the procedure, which returns the complement of `number`.
    #[inline(always)]
    fn call(&self, number: u64) -> u64 {
        (self.procedure)(number)
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable, nothing writes to it, and the procedure begins in the
        // first of its pages.
        unsafe { slice::from_raw_parts(self.procedure as *const u8, PROCEDURE_BYTES) }
    }

    fn evict(&self) {
        evict(self.bytes());
    }

    /// Evicts the procedure, and removes its page from the page table; it stays in the page cache.
    fn unmap(&self) -> Result<(), Failure> {
        self.evict();
        // SAFETY: a private file mapping that was never written: its pages come back from the file
        // as they were.
        unsafe { madvise(self.page, PAGES * page_size(), Advice::LinuxDontNeed) }
            .tried("madvise(MADV_DONTNEED) of a page of code")
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `map`; `self` held the only pointers into it.
        let _ = unsafe { munmap(self.page, PAGES * page_size()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_maps_gives_the_position_in_its_file() {
        let line = "5500a000-5500c000 r-xp 00003000 08:01 4711                       /opt/a b/tool";
        assert_eq!(position_in(line, 0x5500_b010), Some(0x4010));
        assert_eq!(
            position_in(line, 0x5500_c000),
            None,
            "the end is not part of the mapping"
        );
    }

    #[test]
    fn the_procedure_answers_from_its_second_mapping_in_every_state() {
        let code = Code::map().expect("this program's own file can be mapped");
        assert_ne!(code.procedure as *const (), complement as *const ());
        assert_eq!(code.call(41), !41);
        code.unmap().expect("unmapped");
        assert_eq!(code.call(1), !1);
    }
}
