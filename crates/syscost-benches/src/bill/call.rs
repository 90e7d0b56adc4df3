//! One system call as a program makes it: of another object each time, with the caches as its own work left
//! them.
//!
//! ## Measures
//! One call, timed individually, after `displaced` bytes of the user's own data were read. What each call
//! finds is its state. Names are a thousand in one directory, taken in turn, all in the kernel's caches; a
//! missing one is known to be missing. Reads are of a file of 32 MiB in the page cache, the next part each
//! time. New files are made in a directory without others, and none is removed meanwhile; removed ones have
//! just been made, with a page. Mappings are of 128 KiB; those removed have each page touched. Sockets are
//! pairs within this process. Files are in the run's first directory.
//! ## Does not measure
//! What a call waits for: devices, other tasks.
//! ## Interpretation
//! `displaced=0` is a loop's price, which programs seldom pay. How long a program computes between two calls
//! tells which of the others applies.
//! ## Source
//! The weights of calls in bills of common programs.

mod memory;
mod names;
mod other;
mod reading;
mod sockets;

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;

use rustix::io::Errno;
use syscost_harness::prelude::*;

use super::displaced;
use crate::fs::space::Space;
use crate::witness::descriptors::kind_of;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A system call of a program",
    tags: "bill, cold cache",
    ..Benchmark::of::<BillCall>()
};

/// Every call, by area.
const AREAS: [&[Kind]; 5] = [
    names::KINDS,
    reading::KINDS,
    memory::KINDS,
    sockets::KINDS,
    other::KINDS,
];

static RETURNED: Witness = Witness::of("what each call returned", "its result");
static OBJECT: Witness = Witness::of("what the call is made on", "fstat, getsockopt, fcntl");

/// A call in one state of what it is made on.
pub(super) struct Kind {
    name: &'static str,
    call: Sysno,
    returns: Returns,
    /// The kind of object that its descriptor refers to, if that makes the difference, and what is seen of it
    /// after.
    on: &'static str,
    /// Arguments that make it this call, by position and name.
    given: &'static [(usize, &'static str, ArgumentValue)],
    measure: fn(Bench<'_>) -> Result<Outcome<'_>, Failure>,
}

/// What a call must return.
#[derive(Clone, Copy)]
enum Returns {
    /// A descriptor, an address, a state: something.
    Something,
    Number(u64),
    /// One of these errors.
    Error(&'static [Errno]),
}

impl Kind {
    const fn of(
        name: &'static str,
        call: Sysno,
        measure: fn(Bench<'_>) -> Result<Outcome<'_>, Failure>,
    ) -> Self {
        Self {
            name,
            call,
            returns: Returns::Something,
            on: "",
            given: &[],
            measure,
        }
    }

    const fn returning(self, returns: Returns) -> Self {
        Self { returns, ..self }
    }

    const fn on(self, on: &'static str) -> Self {
        Self { on, ..self }
    }

    const fn given(self, given: &'static [(usize, &'static str, ArgumentValue)]) -> Self {
        Self { given, ..self }
    }
}

impl Returns {
    fn text(self) -> String {
        match self {
            Returns::Something => "something".to_owned(),
            Returns::Number(number) => number.to_string(),
            Returns::Error(errors) => {
                let errors = errors.iter().map(Errno::to_string);
                errors.collect::<Vec<_>>().join(" or ")
            }
        }
    }

    fn holds(self, answer: Result<u64, Errno>) -> bool {
        match (self, answer) {
            (Returns::Something, Ok(_)) => true,
            (Returns::Number(wanted), Ok(number)) => wanted == number,
            (Returns::Error(errors), Err(error)) => errors.contains(&error),
            (Returns::Something | Returns::Number(_), Err(_)) | (Returns::Error(_), Ok(_)) => false,
        }
    }
}

/// A kind of call.
#[derive(Clone, Copy)]
struct Call(&'static Kind);

fn all() -> impl Iterator<Item = Call> + Clone {
    AREAS.into_iter().flatten().map(Call)
}

impl Value for Call {
    const MEANING: &'static str = "The call, with what tells its states apart.";

    fn text(&self) -> Cow<'static, str> {
        self.0.name.into()
    }

    fn read(text: &str) -> Option<Self> {
        all().find(|call| call.0.name == text)
    }
}

#[derive(Params, Clone)]
struct BillCall {
    call: Call,
    /// Bytes of other data that are read before each call.
    displaced: Bytes,
}

impl Measured for BillCall {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(BillCall {
            call: all(),
            displaced: displaced::SIZES
        })
    }

    fn proofs(&self) -> BillCallProofs<Proof> {
        let kind = self.call.0;
        let counted = Proof::counted([calls(kind.call), MAX_SLEEPS])
            .and(RETURNED.expects(kind.returns.text()))
            .and(OBJECT.expects(kind.on));
        let given = kind.given.iter().map(|(position, name, given)| {
            Proof::argument(kind.call, Argument::at(*position, name), *given)
        });
        BillCallProofs {
            call: given.fold(counted, Proof::and),
            displaced: displaced::proof(self.displaced),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let kind = self.call.0;
        (kind.measure)(Bench {
            plan,
            kind,
            displaced: self.displaced,
            on: String::new(),
            after: Rc::default(),
        })
    }
}

/// Maximum number of sleeps per call: a change of a file system may have to wait for a lock, or its journal.
const MAX_SLEEPS: Expect = at_most(Counter::VoluntarySwitches, 1.0);

/// Where a call is set up and measured.
struct Bench<'p> {
    plan: Plan<'p>,
    kind: &'static Kind,
    displaced: Bytes,
    on: String,
    /// What is seen of the object after calls, if that makes the difference.
    after: Rc<Cell<&'static str>>,
}

impl<'p> Bench<'p> {
    /// A folder of its own in the run's first directory.
    fn space(&mut self) -> Result<Space, Failure> {
        space(&mut self.plan)
    }

    /// Shows on what kind of object the call is made, as its first argument.
    fn on(mut self, object: impl AsFd) -> Self {
        let number = object.as_fd().as_raw_fd() as u64;
        let given = ArgumentValue::Always(number);
        let descriptor = Argument::at(0, "descriptor");
        self.plan.expect_argument(self.kind.call, descriptor, given);
        self.made_on(object)
    }

    /// Shows on what kind of object the call is made, whatever its number.
    fn made_on(mut self, object: impl AsFd) -> Self {
        self.on = match kind_of(object.as_fd()) {
            // Followed by its path.
            Ok(kind) if kind.starts_with("RegularFile") => "file".to_owned(),
            Ok(kind) if kind.starts_with("Directory") => "directory".to_owned(),
            Ok(kind) => kind,
            Err(reason) => reason.to_string(),
        };
        self
    }

    /// Measures the call: `operate` makes it and nothing else, after `prepare`, whose calls do not count.
    fn measure<T: Answer>(
        self,
        mut prepare: impl FnMut() -> Result<(), Failure>,
        mut operate: impl FnMut() -> Result<T, Errno>,
    ) -> Result<Outcome<'p>, Failure> {
        let kind = self.kind;
        let answer = Cell::new(None);
        let judge = || match answer.get() {
            Some(given) if !kind.returns.holds(given) => {
                let wanted = kind.returns.text();
                Err(Failure::of(kind.name, format!("{given:?}, not {wanted}")))
            }
            Some(_) | None => Ok(()),
        };
        let prepare = || {
            judge()?;
            prepare()
        };
        let operate = || {
            answer.set(Some(operate().map(Answer::number)));
            Ok(())
        };
        let mut outcome = displaced::measure(self.plan, self.displaced, prepare, operate)?;
        judge()?;
        // As it must be, or there would be no outcome.
        outcome.observe(&RETURNED, kind.returns.text());
        outcome.observe(&OBJECT, self.on + self.after.get());
        Ok(outcome)
    }
}

/// What calls return, as a number.
trait Answer {
    fn number(self) -> u64;
}

impl Answer for () {
    fn number(self) -> u64 {
        0
    }
}

impl Answer for u64 {
    fn number(self) -> u64 {
        self
    }
}

impl Answer for usize {
    fn number(self) -> u64 {
        self as u64
    }
}

/// Nothing has to be prepared.
fn nothing() -> Result<(), Failure> {
    Ok(())
}

/// A folder of its own in the run's first directory.
pub(super) fn space(b: &mut Bencher) -> Result<Space, Failure> {
    let directory = b.targets().directories.first();
    let label = directory.map(|directory| directory.label.clone());
    let space = Space::in_directory(b, &label.unwrap_or_default())?;
    b.note("file system", space.filesystem().kind.clone(), "statfs");
    Ok(space)
}

/// A file of this many bytes in the page cache, not synced, open for reading and writing.
pub(super) fn file(space: &Space, bytes: usize) -> Result<File, Failure> {
    /// Bytes of a write: the largest pieces in which the page cache keeps it.
    const PART: usize = 64 << 10;
    space.room_for(bytes as u64)?;
    let mut file = space.folder().create("file")?;
    let part = vec![1; PART.min(bytes)];
    for _ in 0..bytes / part.len().max(1) {
        std::io::Write::write_all(&mut file, &part).tried("write a file")?;
    }
    Ok(file)
}
