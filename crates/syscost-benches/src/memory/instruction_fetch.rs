//! How many bytes of code a core executes per second, going straight through it.
//!
//! ## Measures
//! Bytes of instructions executed per second, of code without a branch except the one from its end to its beginning, gone through again and
//! again. `size` is how long it is: 16 KiB lie in a first-level instruction cache, 512 KiB in a second-level cache, 16 MiB beyond it on most
//! machines. It consists of instructions that do nothing (`op=nop`, 8 bytes each on x86-64, 4 on aarch64) or of additions to seven registers in
//! turn (`op=add`, 4 bytes each). Each KiB adds its own number to a register. The code is written when the benchmark starts, into small pages
//! (`page_bytes`), as most programs have theirs.
//! ## Does not measure
//! Branches (`op.branch_targets`), the latency of a single line of code that is far away, or code that shares the second-level cache with data.
//! ## Reading it
//! Near code is bound by instructions, not by bytes: a core as wide as six gets through at most 48 bytes a cycle of `nop` and 24 of `add`, and a cache
//! of decoded instructions may hold all of it. Farther away the caches decide, together with what is fetched ahead: where both `op` give the same
//! bytes, that is the bound. It may be far below what `memory.bandwidth` reads from there, and large programs with few loops pay it. Of 16 MiB
//! each page also needs a translation that no near TLB holds.
//! ## Source
//! The measurements of instruction fetch in processor reviews; part of no published experiment here.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Fetch, Filler, Turn, Work};
use syscost_sys::memory::Pages;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.instruction_fetch",
    title: "Instruction-fetch bandwidth",
    tags: &[
        "instruction cache",
        "icache",
        "l1i",
        "front end",
        "frontend",
        "decode",
        "code size",
    ],
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    cases: Cases::Here(cases),
    support: |_| Fetch::write(Filler::Nop, Fetch::BLOCK).map(drop),
    run,
    source: include_str!("instruction_fetch.rs"),
    ..Benchmark::DEFAULT
};

/// The parameter that says how long the code is.
const SIZE: &str = "size";

/// How long, by name.
const SIZES: [(&str, usize); 3] = [("16K", 16 << 10), ("512K", 512 << 10), ("16M", 16 << 20)];

/// Turns beforehand: a cache that takes what another one drops has the code only then.
const LAPS: u64 = 3;

fn cases() -> Vec<Case> {
    let case = |filler: Filler, bytes| Case::new([("op", filler.name()), (SIZE, bytes)]);
    Filler::ALL
        .into_iter()
        .flat_map(|filler| SIZES.map(|(bytes, _)| case(filler, bytes)))
        .collect()
}

/// What the code of a case consists of, and how long it is in bytes.
fn code(case: &Case) -> Result<(Filler, usize), Unsupported> {
    let filler = Filler::ALL
        .into_iter()
        .find(|filler| filler.name() == case.get("op"));
    let size = SIZES.into_iter().find(|(name, _)| *name == case.get(SIZE));
    filler
        .zip(size.map(|(_, bytes)| bytes))
        .ok_or_else(|| Unsupported::new(format!("there is no code of {}", case.suffix())))
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (filler, bytes) = code(b.case())?;
    let fetch = Fetch::write(filler, bytes)?;
    let page = Pages::Small.bytes()?;
    b.claim_resident(fetch.memory())?;
    b.detail("page_bytes", page as f64);
    // What makes it go round takes less than a page beside the blocks.
    let expected = (bytes + 1).next_multiple_of(page);
    let used = fetch.memory().bytes();
    b.claim_equal("bytes of the code's pages", expected, used, "benchmark");
    let expected = LAPS * Fetch::sum(filler, (bytes / Fetch::BLOCK) as u64);
    let what = format!("numbers and additions of all blocks, added up in {LAPS} turns");
    b.claim_equal(&what, expected, fetch.run(LAPS), "kernel");
    let turn = fetch.turn()?;
    let (what, of_it, others) = match filler {
        Filler::Nop => ("instructions that do nothing", turn.nops, turn.additions),
        Filler::Add => ("additions of one", turn.additions, turn.nops),
    };
    let heads = bytes / Fetch::BLOCK;
    let fillers = (bytes - heads * Fetch::HEAD) / filler.instruction_bytes();
    let source = "the code's bytes";
    let claim = "bytes of the instructions of a turn";
    b.claim_equal(claim, bytes, turn.bytes, source);
    b.claim_equal(&format!("of them {what}"), fillers, of_it, source);
    b.claim_equal("additions of a block's number", heads, turn.numbers, source);
    let others = others + turn.jumps + turn.loads;
    b.claim_equal("others among them", 0, others, source);
    let claim = "others beside them";
    b.claim_equal(claim, Turn::COUNTING, turn.others, source);
    b.rate(Fetch::BLOCK as u64);
    b.kernel(&fetch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_the_code_it_names() {
        let cases = cases();
        assert_eq!(cases.len(), Filler::ALL.len() * SIZES.len());
        for case in &cases {
            let (filler, bytes) = code(case).unwrap();
            assert_eq!(filler.name(), case.get("op"));
            assert!(bytes.is_multiple_of(Fetch::BLOCK) && bytes <= Fetch::MOST);
        }
        assert_eq!(code(&cases[1]), Ok((Filler::Nop, 512 << 10)));
        assert!(code(&Case::new([("op", "nop"), (SIZE, "17K")])).is_err());
    }
}
