//! Smoke and honesty of the whole catalogue, really measured: every benchmark runs here or says why
//! not, proves its claims, and has numbers that a machine of our time can have.

use std::collections::BTreeMap;
use std::fs;

use glob::Pattern;
use serde_json::Value;

use crate::common::{Json, Program, rows};

/// Maximum share of the rows that may need a second try: other tests alone do not disturb more.
const MAX_SECOND_TRIES: f64 = 0.05;

/// The time for all rows, in seconds, then for those that are measured again, since it did not suffice
/// or something disturbed them. Together less than the machine suite gives a test.
const BUDGETS_S: [u32; 4] = [200, 150, 150, 150];

/// Maximum share of the rows that may still be withheld. Withholding is for numbers whose evidence
/// does not hold, which depends on the machine: how soon another CPU wakes, what else fills its
/// caches, whether a curve has a step. A wrong claim would affect more rows, or every machine.
const MAX_WITHHELD: f64 = 0.005;

/// A row without a number, although the machine supports it.
#[derive(Debug)]
struct Trouble {
    name: String,
    status: String,
    reason: String,
}

impl Trouble {
    /// Whether there was no time for it.
    fn is_late(&self) -> bool {
        self.status == "skipped" && !self.reason.contains("which has no number")
    }

    /// Whether it, or a row from which it would be computed, is withheld because of evidence.
    fn is_withheld(&self) -> bool {
        self.status == "withheld"
            || self.status == "skipped" && self.reason.contains("which has no number")
    }
}

/// Rows that may be unsupported, on which machines, and with which reason. What is unsupported and
/// not here is a defect, of syscost or of the machine that its tests are to run on.
struct Lack {
    rows: &'static str,
    reason: &'static str,
    on: fn(&Value) -> bool,
}

const fn lack(rows: &'static str, reason: &'static str, on: fn(&Value) -> bool) -> Lack {
    Lack { rows, reason, on }
}

fn any(_: &Value) -> bool {
    true
}

fn is_virtual(machine: &Value) -> bool {
    machine["hypervisor"]
        .as_str()
        .is_some_and(|name| name != "none")
}

fn has_few_cpus(machine: &Value) -> bool {
    machine["cpus_allowed"].as_u64() < Some(4)
}

/// Whether this processor says so of itself.
fn has_flag(name: &str) -> bool {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut flags = text.lines().filter(|line| line.starts_with("flags"));
    flags.any(|line| line.split_ascii_whitespace().any(|flag| flag == name))
}

const MAY_LACK: &[Lack] = &[
    // A guest has no real-time clock that could wake it.
    lack(
        "timing.clock_read{source=*_alarm}",
        "no such clock",
        is_virtual,
    ),
    // How many levels there are is the processor's matter.
    lack("memory.cache_*{level=4}", "level 4 was not found", any),
    lack("memory.tlb_*{level=2}", "level 2 was not found", any),
    lack("memory.bandwidth{*simd=neon,*}", "of aarch64", |machine| {
        machine["arch"] == "x86_64"
    }),
    lack("*avx2*", "no AVX2", |_| !has_flag("avx2")),
    lack("*avx512*", "no AVX-512", |_| !has_flag("avx512f")),
    lack("op.*bits=512*", "no AVX-512", |_| !has_flag("avx512f")),
    // Beside other work there may be time for few rounds, which may not show what is computed from them.
    lack("*", " rounds only", any),
    // Nor need what others disturb follow the law of which a row is a constant.
    lack("net.model{*}", "are not a fixed time plus", any),
    lack("fs.contention_law{*}", "follow no law", any),
    lack("scale.law{*}", "follow no law", any),
    // Where neighbours use the memory a hit in a line that is on its way waits nearly as long as a miss, and
    // a clock whose readings cost twice as much needs longer batches than some operations can make.
    lack("memory.line_size", "costs nearly the same", any),
    lack(
        "memory.munmap{*touched=no}",
        "too short for this clock",
        any,
    ),
    lack("memory.numa*", "one memory node", |machine| {
        machine["numa_nodes"].as_u64() <= Some(1)
    }),
    lack("scale.law{*}", "needs at least 4", has_few_cpus),
    // What has to be asked for or given.
    lack("switch.wakeup{*class=fifo*}", "--real-time", any),
    lack("fs.nfs{*}", "no NFS server was given", any),
    lack("fs.nfs_mount{*}", "is not on an NFS mount", any),
    lack("fs.remote{*}", "needs a remote directory", any),
    // Limits and kinds of file systems as distributions have them.
    lack(
        "ipc.*{via=*_queue,*size=16K}",
        "is larger than /proc/sys",
        any,
    ),
    lack("fs.copy{*via=reflink*}", "refuses ioctl FICLONE", any),
];

/// What a number of a row is read in.
#[derive(Debug, Clone, Copy)]
enum In {
    /// The row's own unit, which is nanoseconds or bytes per second.
    Unit,
    /// Cycles of the core.
    Cycles,
}

/// Between which bounds a row's number is on any machine of our time: wide enough for a slow one that
/// is shared, and too narrow for a loop that does nothing or a unit that is mistaken.
const SANE: &[(&str, In, f64, f64)] = &[
    // One dependent addition a cycle is what a cycle is for; several independent ones fit into it.
    (
        "op.integer{op=add,type=i64,shape=latency}",
        In::Cycles,
        0.9,
        1.3,
    ),
    (
        "op.integer{op=add,type=i64,shape=throughput}",
        In::Cycles,
        0.1,
        1.1,
    ),
    // Three to five stages in all designs; the sum of one to three digits' steps for a division.
    (
        "op.integer{op=multiply,type=i64,shape=latency}",
        In::Cycles,
        2.5,
        7.0,
    ),
    (
        "op.integer{op=divide,type=i64,shape=latency}",
        In::Cycles,
        4.0,
        110.0,
    ),
    // From the first-level cache: three cycles at 1 GHz, five at 6 GHz, some more by an address's mode.
    (
        "memory.latency{pages=4K,access=random,size=4K}",
        In::Cycles,
        3.0,
        8.0,
    ),
    // From memory: a row of DRAM is opened in some 15 ns; far sockets answer within half a microsecond.
    (
        "memory.latency{pages=4K,access=random,size=128M}",
        In::Unit,
        20.0,
        2e3,
    ),
    (
        "memory.bandwidth{op=memcpy,simd=none,size=512M,threads=1}",
        In::Unit,
        5e8,
        5e11,
    ),
    // A call and a return; stores that the return waits for add to it.
    ("call.integer{arguments=0}", In::Cycles, 1.0, 40.0),
    // The entry alone takes 20 ns where nothing is mitigated, microseconds where a guest's exits help.
    ("syscall.null{call=getppid}", In::Unit, 20.0, 1e4),
    // Without entering the kernel, or, where the vDSO cannot be used, with it.
    ("timing.clock_read{source=monotonic}", In::Unit, 4.0, 1e4),
    (
        "memory.page_fault{kind=anonymous_write,state=fresh}",
        In::Unit,
        50.0,
        1e5,
    ),
    // Two switches, four system calls.
    (
        "switch.pipe{between=processes,cpus=same}",
        In::Unit,
        300.0,
        1e5,
    ),
    (
        "ipc.round_trip{via=pipe,between=processes,cpus=same,size=64}",
        In::Unit,
        500.0,
        2e5,
    ),
    ("task.fork{until=reaped}", In::Unit, 1e4, 5e7),
];

/// Rows of which each takes longer than the one before, on any machine.
const LADDERS: &[&[&str]] = &[
    // Memory is slower the more of it is used.
    &[
        "memory.latency{pages=4K,access=random,size=4K}",
        "memory.latency{pages=4K,access=random,size=960K}",
        "memory.latency{pages=4K,access=random,size=128M}",
    ],
    // Each contains the one before.
    &[
        "op.integer{op=add,type=i64,shape=latency}",
        "call.integer{arguments=0}",
        "syscall.null{call=getppid}",
        "switch.pipe{between=processes,cpus=same}",
        "task.fork{until=reaped}",
        "task.exec{via=fork}",
    ],
];

/// The number of a row, if it has one that is read like this.
fn number(row: &Value, read_in: In) -> Option<f64> {
    match read_in {
        _ if row["status"] != "ok" => None,
        In::Unit => row["estimate"]["median"].as_f64(),
        In::Cycles => row["core_cycles"].as_f64(),
    }
}

/// What is wrong with the numbers and with the reasons of rows, by name.
fn nonsense(machine: &Value, measured: &BTreeMap<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, row) in measured
        .iter()
        .filter(|(_, row)| row["status"] == "unsupported")
    {
        let reason = row["reason"].as_str().unwrap_or_default();
        let may_lack = MAY_LACK.iter().any(|lack| {
            let rows = Pattern::new(lack.rows).expect("a pattern");
            rows.matches(name) && reason.contains(lack.reason) && (lack.on)(machine)
        });
        if !may_lack {
            found.push(format!("{name} should have a number here: {reason}"));
        }
    }
    let of = |name: &str, read_in| {
        let row = measured.get(name);
        let row = row.unwrap_or_else(|| panic!("no row {name}"));
        number(row, read_in)
    };
    let mut judged = 0;
    for &(name, read_in, low, high) in SANE {
        let Some(number) = of(name, read_in) else {
            println!("skipped: {name} has no number in {read_in:?}");
            continue;
        };
        judged += 1;
        if !(low..=high).contains(&number) {
            found.push(format!(
                "{name} is {number} {read_in:?}, beyond {low} to {high}"
            ));
        }
    }
    for ladder in LADDERS {
        let of = |name: &&'static str| Some((*name, of(name, In::Unit)?));
        let steps: Vec<(&str, f64)> = ladder.iter().filter_map(of).collect();
        for pair in steps.windows(2).filter(|pair| pair[0].1 >= pair[1].1) {
            found.push(format!("{:?} is not below {:?}", pair[0], pair[1]));
        }
    }
    // Cycles are unknown where no frequency is steady enough; times never are.
    let times = SANE
        .iter()
        .filter(|(_, read_in, ..)| matches!(read_in, In::Unit));
    if judged < times.count() {
        found.push(format!("only {judged} numbers could be looked at"));
    }
    found
}

#[test]
fn nonsense_is_found() {
    let machine = serde_json::json!({"arch": "x86_64", "cpus_allowed": 2});
    let row = |median: f64, cycles: f64| serde_json::json!({"status": "ok", "estimate": {"median": median}, "core_cycles": cycles});
    let names = LADDERS
        .iter()
        .copied()
        .flatten()
        .chain(SANE.iter().map(|(name, ..)| name));
    let mut measured: BTreeMap<String, Value> = names
        .map(|name| ((*name).to_owned(), row(0.0, 0.0)))
        .collect();
    // Every bound, and every step of every ladder, is broken by zeros.
    let steps: usize = LADDERS.iter().map(|ladder| ladder.len() - 1).sum();
    assert_eq!(nonsense(&machine, &measured).len(), SANE.len() + steps);
    for (name, reason, is_nonsense) in [
        (
            "scale.law{of=syscall}",
            "needs at least 4 numbers of copies",
            false,
        ),
        ("scale.law{of=syscall}", "io_uring is refused", true),
        (
            "syscall.null{call=getppid}",
            "needs at least 4 numbers of copies",
            true,
        ),
    ] {
        let unsupported = serde_json::json!({"status": "unsupported", "reason": reason});
        measured.insert(name.to_owned(), unsupported);
        let found = nonsense(&machine, &measured);
        let is_found = found
            .iter()
            .any(|one| one.starts_with(&format!("{name} should")));
        assert_eq!(is_found, is_nonsense, "{found:?}");
    }
}

/// Measures these rows, adds them to those measured, and returns the machine and the ones in trouble.
fn troubles(
    program: &Program,
    selectors: &str,
    budget_s: u32,
    measured: &mut BTreeMap<String, Value>,
) -> (Value, Vec<Trouble>) {
    let run = program.measure(&format!(
        "run --profile quick --budget {budget_s} --format json --no-samples {selectors}"
    ));
    let mut troubles = Vec::new();
    for row in rows(&run) {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let (name, reason, status) = (text("name"), text("reason"), text("status"));
        match &*status {
            "ok" | "below_resolution" | "above_range" => {
                let evidence = row["evidence"].list();
                assert!(!evidence.is_empty(), "{name} claims nothing");
            }
            "unsupported" => println!("skipped: {name}: {reason}"),
            _ => troubles.push(Trouble {
                name: name.clone(),
                status,
                reason,
            }),
        }
        measured.insert(name, row.clone());
    }
    (run["machine"].clone(), troubles)
}

#[test]
#[ignore = "machine suite"]
fn every_benchmark_runs_or_says_why_not() {
    let program = Program::new();
    let mut measured = BTreeMap::new();
    // Every row, not only those of the quick profile.
    let (machine, mut left) = troubles(&program, "*", BUDGETS_S[0], &mut measured);
    let rows = measured.len() as f64;
    let disturbed: Vec<&Trouble> = left.iter().filter(|row| !row.is_late()).collect();
    assert!(
        disturbed.len() as f64 <= MAX_SECOND_TRIES * rows,
        "{} rows: {disturbed:#?}",
        disturbed.len()
    );
    // What others do at the same time disturbs what several tasks do together, but not every time.
    for &budget_s in &BUDGETS_S[1..] {
        if left.is_empty() {
            break;
        }
        println!("measured again: {left:#?}");
        let names: Vec<&str> = left.iter().map(|row| &*row.name).collect();
        left = troubles(&program, &names.join(" "), budget_s, &mut measured).1;
    }
    println!("no number: {left:#?}");
    assert!(left.iter().all(Trouble::is_withheld), "{left:#?}");
    assert!(left.len() as f64 <= MAX_WITHHELD * rows, "{left:#?}");
    let nonsense = nonsense(&machine, &measured);
    assert!(nonsense.is_empty(), "{nonsense:#?}");
}

#[test]
#[ignore = "machine suite"]
fn known_costs_are_met_and_lies_are_caught() {
    let report = Program::new().run("selftest --format json");
    let report = report.json();
    for negative in report["liars"].list() {
        // Some cannot lie on a machine with one CPU, or without room for a file.
        assert_ne!(negative["outcome"], "fail", "{negative}");
    }
    for source in report["interference"].list() {
        assert_ne!(source["outcome"], "fail", "{source}");
    }
    for positive in report["truths"].list() {
        // A debug build runs the same assembly; the bound is wide only because the machine may be
        // shared with other tests. If no frequency is steady enough, the cycles are unknown.
        match positive["bias_percent"].as_f64() {
            Some(bias) => assert!(bias.abs() < 10.0, "{positive}"),
            None => println!("skipped: {}: {}", positive["name"], positive["reason"]),
        }
    }
}
