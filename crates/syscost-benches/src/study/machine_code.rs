//! Shared: what the programs' compiler made of their timed loops, read from the executable. A loop
//! that is said to time one call must contain one call.

use std::collections::BTreeMap;
use std::ops::Range;
use syscost_sys::or_skip;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};

use super::program::EXECUTABLE;

/// The functions of an executable.
struct Functions {
    /// Address and size by name; several objects may have a function of the same name.
    by_name: BTreeMap<String, Vec<Range<u64>>>,
    /// Names by address.
    at: BTreeMap<u64, Vec<String>>,
    /// What is added to an address for its place in the file, by ranges of addresses.
    places: Vec<(Range<u64>, u64)>,
}

/// The little-endian number of this many bytes at a place in the file.
fn number(offset: u64, bytes: usize) -> u64 {
    let bytes = &EXECUTABLE[offset as usize..offset as usize + bytes];
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn text(offset: u64) -> String {
    let rest = &EXECUTABLE[offset as usize..];
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&rest[..end]).into_owned()
}

/// The functions, from the table of symbols; or why they cannot be read here.
fn functions() -> Result<Functions, &'static str> {
    const X86_64: u64 = 62;
    const LOADED: u64 = 1;
    const SYMBOLS: u64 = 2;
    const FUNCTION: u64 = 2;
    if EXECUTABLE.is_empty() {
        return Err("there was no C compiler when this was built");
    }
    if number(18, 2) != X86_64 {
        return Err("only instructions of x86-64 are decoded");
    }
    let segments = (0..number(56, 2)).map(|index| number(32, 8) + index * number(54, 2));
    let places = segments
        .filter(|segment| number(*segment, 4) == LOADED)
        .map(|segment| {
            let [offset, address, size] = [8, 16, 32].map(|field| number(segment + field, 8));
            (address..address + size, offset.wrapping_sub(address))
        });
    let mut functions = Functions {
        by_name: BTreeMap::new(),
        at: BTreeMap::new(),
        places: places.collect(),
    };
    let section = |index: u64| number(40, 8) + index * number(58, 2);
    let mut all_sections = (0..number(60, 2)).map(section);
    let symbols = all_sections.find(|section| number(section + 4, 4) == SYMBOLS);
    let symbols = symbols.ok_or("the executable has no symbols")?;
    let names = number(section(number(symbols + 40, 4)) + 24, 8);
    let [begin, size] = [24, 32].map(|field| number(symbols + field, 8));
    for symbol in (begin..begin + size).step_by(24) {
        if number(symbol + 4, 1) & 15 != FUNCTION {
            continue;
        }
        let name = text(names + number(symbol, 4));
        let [address, size] = [8, 16].map(|field| number(symbol + field, 8));
        let of_name = functions.by_name.entry(name.clone()).or_default();
        of_name.push(address..address + size);
        functions.at.entry(address).or_default().push(name);
    }
    Ok(functions)
}

impl Functions {
    /// The function of this name in this program: of several, the one nearest to its `main`.
    fn of(&self, program: &str, name: &str) -> Range<u64> {
        let main = &self.by_name[&program.replace('/', "_")][0];
        if name == "main" {
            return main.clone();
        }
        let of_name = self.by_name.get(name);
        let of_name = of_name.unwrap_or_else(|| panic!("{program} has no function {name}"));
        let nearest = of_name
            .iter()
            .min_by_key(|one| one.start.abs_diff(main.start));
        nearest.expect("it has one").clone()
    }

    fn instructions(&self, function: &Range<u64>) -> Vec<Instruction> {
        let mut places = self.places.iter();
        let (_, shift) = places
            .find(|(addresses, _)| addresses.contains(&function.start))
            .expect("it is loaded");
        let [start, end] =
            [function.start, function.end].map(|address| address.wrapping_add(*shift) as usize);
        let code = &EXECUTABLE[start..end];
        Decoder::with_ip(64, code, function.start, DecoderOptions::NONE)
            .into_iter()
            .collect()
    }

    /// What these instructions call, each by all names of the function that is called.
    fn calls(&self, instructions: &[Instruction]) -> Vec<Vec<String>> {
        let calls = instructions.iter();
        let calls = calls.filter(|one| one.mnemonic() == Mnemonic::Call);
        calls
            .map(|call| match call.op0_kind() {
                OpKind::NearBranch64 => {
                    let names = self.at.get(&call.near_branch_target());
                    names.cloned().unwrap_or_default()
                }
                _ => vec!["a pointer".to_owned()],
            })
            .collect()
    }

    /// What the loops of a function that contain no other loop call, each in order.
    fn loops(&self, function: &Range<u64>) -> Vec<Vec<Vec<String>>> {
        let instructions = self.instructions(function);
        let back = instructions.iter().filter(|one| {
            let is_jump =
                one.op0_kind() == OpKind::NearBranch64 && one.mnemonic() != Mnemonic::Call;
            is_jump && (function.start..=one.ip()).contains(&one.near_branch_target())
        });
        let all: Vec<Range<u64>> = back
            .map(|jump| jump.near_branch_target()..jump.next_ip())
            .collect();
        let is_innermost = |one: &&Range<u64>| {
            let mut others = all.iter().filter(|other| other != one);
            !others.any(|other| one.start <= other.start && other.end <= one.end)
        };
        let within = |one: &Range<u64>| {
            let of_loop = instructions.iter().filter(|code| one.contains(&code.ip()));
            self.calls(&of_loop.copied().collect::<Vec<_>>())
        };
        all.iter().filter(is_innermost).map(within).collect()
    }

    /// What a function calls between each reading of the counter and the next, in order.
    fn between_readings(&self, function: &Range<u64>) -> Vec<Vec<Vec<String>>> {
        let calls = self.calls(&self.instructions(function));
        let is_reading = |names: &Vec<String>| names.iter().any(|name| name == "counter");
        let parts: Vec<_> = calls.split(is_reading).map(<[_]>::to_vec).collect();
        // Before, between, after, between, after, ...
        parts.into_iter().skip(1).step_by(2).collect()
    }
}

/// Whether these calls are those named, in order.
fn are(calls: &[Vec<String>], named: &[&str]) -> bool {
    let is = |(call, name): (&Vec<String>, &&str)| call.iter().any(|one| one == name);
    calls.len() == named.len() && calls.iter().zip(named).all(is)
}

/// Asserts that each of these lists of calls is expected once, in any order.
fn assert_are(found: &[Vec<Vec<String>>], expected: &[&[&str]], whose: &str) {
    let mut left = expected.to_vec();
    for calls in found {
        let place = left.iter().position(|named| are(calls, named));
        let place = place.unwrap_or_else(|| panic!("{whose} calls {calls:?}, not {left:?}"));
        left.remove(place);
    }
    assert!(left.is_empty(), "{whose} lacks {left:?}");
}

#[test]
fn one_call_stands_between_two_readings() {
    let functions = or_skip!(functions());
    let cases: &[(&str, &str, &[&[&str]])] = &[
        ("three_costs/clock_read", "pair_overhead", &[&[]]),
        ("three_costs/procedure_call", "pair_overhead", &[&[]]),
        (
            "three_costs/procedure_call",
            "main",
            &[
                &["none"],
                &["one"],
                &["two"],
                &["three"],
                &["four"],
                &["five"],
            ],
        ),
        ("three_costs/system_call", "pair_overhead", &[&[]]),
        (
            "three_costs/system_call",
            "main",
            &[&["getpid_cached"], &["syscall"], &["setuid"]],
        ),
        (
            "three_costs/task_create",
            "creation",
            &[&["fork", "_exit"], &["clone"]],
        ),
        (
            "three_costs/switch",
            "main",
            &[&["bare_life"], &["with_process"], &["with_thread"]],
        ),
    ];
    for (program, function, expected) in cases {
        let found = functions.between_readings(&functions.of(program, function));
        assert_are(&found, expected, &format!("{function} of {program}"));
    }
}

#[test]
fn a_timed_loop_contains_the_calls_that_it_names() {
    let functions = or_skip!(functions());
    let cases: &[(&str, &str, &[&[&str]])] = &[
        (
            "call_and_switch/function_call",
            "main",
            &[
                &[],
                &["none"],
                &["integer"],
                &["two_integers"],
                &["real"],
                &["eight_integers"],
                &["takes_record"],
                &["returns_record"],
            ],
        ),
        ("call_and_switch/system_call", "main", &[&[], &["syscall"]]),
        (
            "call_and_switch/thread_switch",
            "partner",
            &[&["sem_wait", "sem_post"]],
        ),
        ("switch_costs/loop", "main", &[&[]]),
        (
            "switch_costs/clock_inside",
            "main",
            &[&["now", "nothing", "now"], &["now", "now"]],
        ),
        ("switch_costs/function_call", "main", &[&[], &["nothing"]]),
        (
            "switch_costs/system_call",
            "main",
            &[&[], &["cached_getpid"], &["getpid"]],
        ),
        (
            "switch_costs/pipe_write_read",
            "main",
            &[&["write", "read", "failed"]],
        ),
        (
            "switch_costs/process_switch",
            "round_trips",
            &[&["give", "take"], &["close", "close", "close"]],
        ),
        (
            "switch_costs/process_switch",
            "answer",
            &[&["take", "give"]],
        ),
        ("switch_costs/thread_switch", "yielder", &[&["sched_yield"]]),
        ("switch_costs/yield_alone", "main", &[&["sched_yield"]]),
        ("whole_system/timing_overhead", "main", &[&["counter"]]),
        (
            "whole_system/procedure_call",
            "main",
            &[
                &[],
                &["none"],
                &["one"],
                &["two"],
                &["three"],
                &["four"],
                &["five"],
                &["six"],
                &["seven"],
            ],
        ),
        ("whole_system/system_call", "main", &[&["getpid"]]),
        (
            "whole_system/task_creation",
            "main",
            &[&["make_thread"], &["make_process"]],
        ),
        (
            "whole_system/switch",
            "between_threads",
            &[&["give", "take"]],
        ),
        (
            "whole_system/switch",
            "between_processes",
            &[&["give", "take"]],
        ),
        ("whole_system/switch", "answer", &[&["take", "give"]]),
        ("whole_system/memory_access", "main", &[&[], &[], &[]]),
        ("whole_system/memory_bandwidth", "reads", &[&[]]),
        ("whole_system/memory_bandwidth", "writes", &[&[]]),
        ("whole_system/page_fault", "main", &[&[]]),
    ];
    for (program, function, expected) in cases {
        let found = functions.loops(&functions.of(program, function));
        assert_are(&found, expected, &format!("{function} of {program}"));
    }
}

#[test]
fn a_call_too_many_is_seen() {
    let calls = |names: &[&str]| -> Vec<Vec<String>> {
        names.iter().map(|name| vec![(*name).to_owned()]).collect()
    };
    assert!(are(&calls(&["none"]), &["none"]));
    assert!(!are(&calls(&["call_mut", "none"]), &["none"]) && !are(&calls(&["none"]), &[]));
}
