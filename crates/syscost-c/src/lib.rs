//! The C library: include/syscost.h describes what these functions do.
#![allow(unsafe_code)] // calls and is called by C

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_double, c_int, c_void};
use std::hint::black_box;
use std::io::{self, Write};
use std::ptr;
use std::sync::{Mutex, MutexGuard};

use syscost::prelude::*;

type Setup = unsafe extern "C" fn() -> *mut c_void;
type Op = unsafe extern "C" fn(*mut c_void) -> u64;
type Teardown = unsafe extern "C" fn(*mut c_void);

/// A function that is measured.
#[derive(Clone)]
struct Function {
    id: &'static str,
    expect: Vec<Expect>,
    setup: Option<Setup>,
    op: Op,
    teardown: Option<Teardown>,
}

/// The program's functions, of which none is ever removed: what C holds is their number, from one on.
static FUNCTIONS: Mutex<Vec<Function>> = Mutex::new(Vec::new());

/// What the program has asked for and does not exist.
static WRONG: Mutex<Option<String>> = Mutex::new(None);

thread_local! {
    /// What the operation has said to have failed by.
    static FAILED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What an operation is given, until its process has measured it.
struct State(*mut c_void, Option<Teardown>);

impl Drop for State {
    fn drop(&mut self) {
        if let Some(teardown) = self.1 {
            // SAFETY: it is given once what its own setup returned, as the header says.
            unsafe { teardown(self.0) }
        }
    }
}

/// A text of C, which may be missing.
///
/// # Safety
/// It is null, or ends.
unsafe fn text(text: *const c_char) -> String {
    match text.is_null() {
        true => String::new(),
        // SAFETY: the caller's.
        false => unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    }
}

fn functions() -> MutexGuard<'static, Vec<Function>> {
    FUNCTIONS.lock().expect("nothing panics with it")
}

fn wrong(what: String) {
    let mut wrong = WRONG.lock().expect("nothing panics with it");
    wrong.get_or_insert(what);
}

/// Adds a function.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscost_op(
    name: *const c_char,
    setup: Option<Setup>,
    op: Option<Op>,
    teardown: Option<Teardown>,
) -> *const c_void {
    // SAFETY: the caller's.
    let id: &str = unsafe { text(name) }.leak();
    let Some(op) = op else {
        wrong(format!("`{id}`: there is no operation"));
        return ptr::null();
    };
    let mut all = functions();
    all.push(Function {
        id,
        expect: Vec::new(),
        setup,
        op,
        teardown,
    });
    ptr::without_provenance(all.len())
}

/// Declares how often something happens.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscost_expect(
    function: *const c_void,
    what: *const c_char,
    low: c_double,
    high: c_double,
) {
    // SAFETY: the caller's.
    let what = unsafe { text(what) };
    let mut all = functions();
    let index = function.addr().checked_sub(1);
    let Some(known) = index.and_then(|index| all.get_mut(index)) else {
        return wrong(format!("{what}: expected of no function"));
    };
    match expectation(&what, low, high) {
        Ok(expect) => known.expect.push(expect),
        Err(error) => wrong(format!("`{}`: {error}", known.id)),
    }
}

/// Says that the operation has failed.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscost_fail(why: *const c_char) {
    // SAFETY: the caller's.
    let why = unsafe { text(why) };
    FAILED.set(Some(why));
}

/// Runs the program.
#[unsafe(no_mangle)]
pub extern "C" fn syscost_main() -> c_int {
    if let Some(wrong) = WRONG.lock().expect("nothing panics with it").take() {
        return syscost::usage_error(&wrong).into();
    }
    let entry = |function: &Function| {
        let benchmark = Benchmark {
            title: function.id,
            expect: function.expect.clone().leak(),
            measure,
            ..Benchmark::DEFAULT
        };
        benchmark.named(function.id, "//! A function of this program.")
    };
    let own = functions().iter().map(entry).collect();
    let code = syscost::main_with(own);
    // Rust's runtime does it where it begins the program.
    let _ = io::stdout().flush();
    code.into()
}

/// What is expected, by the words in which evidence is shown.
fn expectation(what: &str, low: f64, high: f64) -> Result<Expect, String> {
    let others = [
        Counter::OtherSyscalls,
        Counter::MinorFaults,
        Counter::MajorFaults,
        Counter::VoluntarySwitches,
        Counter::Allocations,
        Counter::CoreCycles,
    ];
    let calls = Sysno::ALL.iter().copied().map(Counter::Syscall);
    let mut counters = others.into_iter().chain(calls);
    let counter = counters
        .find(|counter| counter.claim().strip_suffix(" per operation") == Some(what))
        .ok_or_else(|| format!("nothing counts \"{what}\"; a run with -v shows what is counted"))?;
    match (low, high) {
        _ if low.is_nan() || low < 0.0 || high.is_nan() => {
            Err(format!("\"{what}\" from {low} to {high} times"))
        }
        _ if counter == Counter::CoreCycles => Ok(costs(counter, low)),
        _ if high < low => Err(format!("\"{what}\" from {low} to {high} times")),
        _ if low == high => Ok(exactly(counter, low)),
        (_, f64::INFINITY) => Ok(at_least(counter, low, "the program declares no limit")),
        (0.0, _) => Ok(at_most(counter, high)),
        _ => Ok(within(counter, low, high)),
    }
}

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let known = functions().iter().find(|one| one.id == plan.id()).cloned();
    let Some(Function {
        setup,
        op,
        teardown,
        ..
    }) = known
    else {
        return Err(Failure::Broken("is no function of this program".to_owned()));
    };
    let state = match setup {
        // SAFETY: of the program, for this use.
        Some(setup) => unsafe { setup() },
        None => ptr::null_mut(),
    };
    if setup.is_some() && state.is_null() {
        let why = FAILED
            .take()
            .unwrap_or_else(|| "it returned NULL".to_owned());
        return Err(Failure::Failed(format!("setup failed: {why}")));
    }
    let state = State(state, teardown);
    let data = state.0;
    plan.measure(Loop::batches(1, |n| {
        for _ in 0..n {
            // SAFETY: it is given what its own setup returned, which is not torn down yet.
            black_box(unsafe { op(data) });
        }
        match FAILED.take() {
            Some(why) => Err(Failure::Failed(format!("an operation failed: {why}"))),
            None => Ok(()),
        }
    }))
}
