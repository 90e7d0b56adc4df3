//! The tracer: what each stop of each task means.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;

use super::Shared;
use super::faults::Moved;
use super::object::{self, Status};
use super::ptrace::{self, AtCall, Event};
use crate::os::audit::NATIVE_ARCH;
use crate::raw::Sysno;
use crate::trace::{Arguments, Bytes, Call, Outcome, Shape, Tally, by_number, size_class};

/// A call that a task has entered.
struct Entered {
    call: Call,
    shape: Option<&'static Shape>,
    arguments: Arguments,
    /// The address of the instruction after it.
    from: u64,
    /// Not if it was entered before the trace, and is the execve by which the program was started.
    is_counted: bool,
}

/// Where a task is.
#[derive(Default)]
enum At {
    #[default]
    Program,
    Call(Entered),
    /// It left a call in such a way that the kernel may make it again, unless a handler runs.
    Broken(Entered, Outcome),
}

#[derive(Default)]
struct Task {
    /// Its process.
    group: u32,
    at: At,
    /// Faults that it had before the trace.
    faults_before: u64,
    /// Whether the next stop is the one by which it is attached to, which wakes it.
    is_woken: bool,
}

impl Task {
    fn faults_since(&self, id: u32) -> u64 {
        faults_of(self.group, id).saturating_sub(self.faults_before)
    }
}

pub(super) struct Tracer<'a> {
    pub(super) tally: Tally,
    tasks: HashMap<u32, Task>,
    shapes: Vec<Option<&'static Shape>>,
    /// The end of each process's heap, once it has told.
    heaps: HashMap<u32, u64>,
    first: u32,
    /// Whether the program runs, not yet what starts it.
    is_started: bool,
    /// Processes that were killed at the end.
    killed: HashSet<u32>,
    /// The child that wakes this thread; 0 while there is none.
    bell: u32,
    shared: &'a Shared,
    moved: Option<Sender<Moved>>,
}

/// What every tracer asks for.
const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT;
/// What brings in the processes that one starts.
const WITH_CHILDREN: i32 = libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK;

impl<'a> Tracer<'a> {
    pub(super) fn new(first: u32, shared: &'a Shared, moved: Option<Sender<Moved>>) -> Tracer<'a> {
        Tracer {
            tally: Tally::default(),
            tasks: HashMap::new(),
            shapes: by_number(),
            heaps: HashMap::new(),
            first,
            is_started: false,
            killed: HashSet::new(),
            bell: 0,
            shared,
            moved,
        }
    }

    /// Takes a child that is about to execute the program.
    pub(super) fn take_child(&mut self) -> io::Result<()> {
        ptrace::seize(
            self.first,
            OPTIONS | WITH_CHILDREN | libc::PTRACE_O_EXITKILL,
        )?;
        let (group, first) = (self.first, self.first);
        self.tasks.insert(
            first,
            Task {
                group,
                ..Task::default()
            },
        );
        Ok(())
    }

    /// Takes all threads of a running process; new ones come by themselves.
    pub(super) fn take_running(&mut self, follows_children: bool) -> io::Result<()> {
        let options = OPTIONS | if follows_children { WITH_CHILDREN } else { 0 };
        self.is_started = true;
        loop {
            let mut are_new = false;
            for entry in fs::read_dir(format!("/proc/{}/task", self.first))? {
                let Some(task) = entry?.file_name().to_str().and_then(|id| id.parse().ok()) else {
                    continue;
                };
                if self.tasks.contains_key(&task) {
                    continue;
                }
                match ptrace::seize(task, options) {
                    Ok(()) => {}
                    // One that ended, or that a traced one has just started.
                    Err(_) if !self.tasks.is_empty() => continue,
                    Err(cause) => return Err(cause),
                }
                are_new = true;
                let faults_before = faults_of(self.first, task);
                let (group, at) = (self.first, self.call_of(task));
                let woken = Task {
                    group,
                    at,
                    faults_before,
                    is_woken: true,
                };
                self.tasks.insert(task, woken);
                // One that has ended meanwhile is heard of.
                let _ = ptrace::interrupt(task);
            }
            if !are_new {
                return Ok(());
            }
        }
    }

    /// The call that a task is making, as /proc/PID/syscall tells while it waits in it.
    fn call_of(&self, task: u32) -> At {
        let text = fs::read_to_string(format!("/proc/{task}/syscall")).unwrap_or_default();
        let mut words = text.split_whitespace();
        let number = words.next().and_then(|word| word.parse().ok());
        let words = words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16));
        let words: Vec<u64> = words.filter_map(Result::ok).collect();
        match (number, &words[..]) {
            (Some(number), &[a, b, c, d, e, f, _, from]) => {
                let arguments = [a, b, c, d, e, f];
                At::Call(Entered {
                    is_counted: false,
                    ..self.entered(number, false, arguments, from)
                })
            }
            _ => At::Program,
        }
    }

    /// Follows the tasks until none is left or the bell rings; then of a program that was run, until
    /// all are killed.
    pub(super) fn follow(
        &mut self,
        is_to_be_killed: bool,
    ) -> Result<(), (&'static str, io::Error)> {
        let followed = self.follow_all(is_to_be_killed);
        if self.bell != 0 {
            self.shared.ring();
            // It was this thread's only child.
            let _ = crate::os::wait_for(self.bell);
        }
        for (id, task) in std::mem::take(&mut self.tasks) {
            self.tally.faults_of_tasks += task.faults_since(id);
            if let At::Call(call) | At::Broken(call, _) = task.at {
                self.tally.unfinished += u64::from(call.is_counted);
            }
        }
        followed
    }

    fn follow_all(&mut self, is_to_be_killed: bool) -> Result<(), (&'static str, io::Error)> {
        loop {
            if self.tasks.is_empty() {
                // One may be left of which nothing was heard yet.
                self.shared.ring();
            } else if self.bell == 0 {
                self.bell = self.shared.make_bell().map_err(|cause| ("fork", cause))?;
            }
            // Looked at after the bell is there, which is rung after this was set.
            if self.shared.is_stopped() {
                if !is_to_be_killed {
                    return Ok(());
                }
                self.kill_new();
            }
            match ptrace::wait().map_err(|cause| ("wait4", cause))? {
                Event::Nobody => return Ok(()),
                Event::Ended(task, _) if task == self.bell => self.bell = 0,
                Event::Ended(task, status) => self.ended(task, status),
                Event::Stopped(task, signal, event) => {
                    if !self.tasks.contains_key(&task) {
                        self.born(task);
                    }
                    self.stopped(task, signal, event)?;
                }
            }
            self.shared.calls.store(self.tally.entered, Relaxed);
            self.shared.tasks.store(self.tasks.len() as u64, Relaxed);
        }
    }

    /// Kills the processes that were not killed yet.
    fn kill_new(&mut self) {
        for group in self.tasks.values().map(|task| task.group) {
            if self.killed.insert(group) {
                let name = crate::process::name_of(group).unwrap_or_default();
                self.tally.left_running.push(name);
                // One that has just ended is as good.
                let _ = crate::os::kill_process(group);
            }
        }
    }

    /// A task was made by a traced one. The kernel reports both, in any order.
    fn born(&mut self, id: u32) {
        let status = Status::of(id);
        let number = |name| status.as_ref().and_then(|status| status.number(name));
        let group = number("Tgid").unwrap_or(id);
        if group == id {
            self.tally.processes += 1;
            self.killed.remove(&id);
            let heap = number("PPid").and_then(|parent| self.heaps.get(&parent));
            if let Some(&heap) = heap {
                self.heaps.insert(id, heap);
            }
        } else {
            self.tally.threads += 1;
        }
        self.tasks.insert(
            id,
            Task {
                group,
                ..Task::default()
            },
        );
    }

    fn stopped(
        &mut self,
        task: u32,
        signal: i32,
        event: i32,
    ) -> Result<(), (&'static str, io::Error)> {
        let mut passed_on = 0;
        match event {
            0 if signal == libc::SIGTRAP | ptrace::AT_CALL => match ptrace::at_call(task) {
                Ok(AtCall::Entry {
                    table,
                    number,
                    arguments,
                    from,
                }) => {
                    self.entry(task, table, number, arguments, from);
                }
                Ok(AtCall::Exit(result)) => self.exit(task, result),
                Ok(AtCall::Elsewhere) => {}
                // Killed in the stop.
                Err(cause) if cause.raw_os_error() == Some(libc::ESRCH) => {}
                Err(cause) => {
                    return Err((
                        "ptrace(PTRACE_GET_SYSCALL_INFO), which needs Linux 5.3",
                        cause,
                    ));
                }
            },
            0 => {
                passed_on = signal;
                let is_ignored = Status::of(task).is_some_and(|status| status.ignores(signal));
                match is_ignored {
                    true => self.mend(task),
                    false if self.is_started => self.tally.signals += 1,
                    false => {}
                }
            }
            // By clone with its flag, too.
            libc::PTRACE_EVENT_VFORK => self.tally.vforks += 1,
            libc::PTRACE_EVENT_EXEC => self.executed(task),
            libc::PTRACE_EVENT_EXIT => {
                if let Some(ending) = self.tasks.get(&task) {
                    self.tally.faults_of_tasks += ending.faults_since(task);
                }
            }
            libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => {
                let _ = ptrace::listen(task);
                return Ok(());
            }
            libc::PTRACE_EVENT_STOP => {
                let woken = self.tasks.get_mut(&task);
                if woken.is_some_and(|task| std::mem::take(&mut task.is_woken)) {
                    self.mend(task);
                }
            }
            _ => {}
        }
        match ptrace::resume(task, self.is_started, passed_on) {
            Err(cause) if cause.raw_os_error() != Some(libc::ESRCH) => {
                Err(("ptrace(PTRACE_SYSCALL)", cause))
            }
            _ => Ok(()),
        }
    }

    /// A call that ended because the task was woken, by nothing that its program would have noticed
    /// without us, goes on.
    fn mend(&mut self, task: u32) {
        let made = match self.tasks.get(&task).map(|task| &task.at) {
            Some(At::Broken(_, Outcome::Interrupted)) => return,
            Some(At::Broken(call, _) | At::Call(call)) => Some((call.arguments[0], call.from)),
            _ => None,
        };
        // Refused only of one that was killed.
        let _ = ptrace::make_again(task, made);
    }

    fn entered(&self, number: u64, is_foreign: bool, arguments: Arguments, from: u64) -> Entered {
        let known = self.shapes.get(number as usize).copied().flatten();
        let shape = known.filter(|_| !is_foreign);
        let call = Call {
            number: number as u32,
            is_foreign,
            variant: None,
            object: None,
            size: None,
            outcome: Outcome::Ok,
        };
        Entered {
            call,
            shape,
            arguments,
            from,
            is_counted: true,
        }
    }

    fn entry(&mut self, task: u32, table: u32, number: u64, arguments: Arguments, from: u64) {
        let is_foreign = table != NATIVE_ARCH;
        match self.leave(task) {
            At::Broken(call, outcome) => {
                let is_restart = is_restart(number, is_foreign);
                let is_same = number == u64::from(call.call.number) && arguments == call.arguments;
                if is_restart || is_same && from == call.from && is_foreign == call.call.is_foreign
                {
                    return self.put(task, At::Call(call));
                }
                self.settle(call, outcome, 0);
            }
            // The same of one that was begun before the trace, and whose end nobody saw.
            At::Call(call) if !call.is_counted && is_restart(number, is_foreign) => {
                return self.put(task, At::Call(call));
            }
            At::Call(call)
                if !call.is_counted && call.arguments == arguments && call.from == from =>
            {
                return self.put(task, At::Call(call));
            }
            At::Call(call) => self.settle(call, Outcome::NeverReturned, 0),
            At::Program => {}
        }
        self.tally.entered += 1;
        let mut entered = self.entered(number, is_foreign, arguments, from);
        if let Some(shape) = entered.shape {
            let mut told = arguments;
            if number_is(Sysno::CLONE3, &entered.call) {
                // Its flags come first in its structure.
                told[0] = ptrace::word(task, arguments[0]).unwrap_or(0);
            }
            entered.call.variant = shape.variant_of(&told);
            entered.call.object = shape
                .descriptor(&told)
                .and_then(|number| object::object(task, number));
        }
        self.put(task, At::Call(entered));
    }

    fn exit(&mut self, task: u32, result: i64) {
        let At::Call(call) = self.leave(task) else {
            return;
        };
        let error = match result {
            // What it returns is what the interrupted program had in its register.
            _ if number_is(Sysno::RT_SIGRETURN, &call.call) => 0,
            -4095..0 => -result as i32,
            _ => 0,
        };
        match error {
            0 => {
                let bytes = self.bytes(task, &call, result);
                self.settle(call, Outcome::Ok, bytes);
            }
            error if ptrace::RESTARTS.contains(&error) => {
                self.put(task, At::Broken(call, Outcome::Interrupted))
            }
            libc::EINTR => self.put(task, At::Broken(call, Outcome::Failed(error))),
            error => self.settle(call, Outcome::Failed(error), 0),
        }
    }

    /// How many bytes a successful call moved or mapped, and what else follows of it.
    fn bytes(&mut self, task: u32, call: &Entered, result: i64) -> u64 {
        let group = self.tasks.get(&task).map_or(task, |task| task.group);
        if number_is(Sysno::MREMAP, &call.call)
            && let Some(moved) = &self.moved
        {
            let [from, _, length, ..] = call.arguments;
            // Nobody listens when all is over.
            let _ = moved.send(Moved::now(group, from, result.cast_unsigned(), length));
        }
        match call.shape.map_or(Bytes::None, |shape| shape.bytes) {
            Bytes::None => 0,
            Bytes::Moved => result.cast_unsigned(),
            Bytes::Asked(argument) => call.arguments[argument],
            Bytes::Growth => {
                let end = result.cast_unsigned();
                let before = self.heaps.insert(group, end).unwrap_or(end);
                end.saturating_sub(before)
            }
        }
    }

    fn settle(&mut self, entered: Entered, outcome: Outcome, bytes: u64) {
        if !entered.is_counted {
            return;
        }
        let has_size = entered
            .shape
            .is_some_and(|shape| shape.bytes != Bytes::None);
        let size = (has_size && outcome == Outcome::Ok).then(|| size_class(bytes));
        let call = Call {
            outcome,
            size,
            ..entered.call
        };
        let count = self.tally.calls.entry(call).or_default();
        count.calls += 1;
        count.bytes += bytes;
    }

    /// A program was executed: its process is the first task's now, whichever did it, and the others
    /// are no more.
    fn executed(&mut self, task: u32) {
        let former = ptrace::message(task).map_or(task, |former| former as u32);
        if former != task
            && let Some(by) = self.tasks.remove(&former)
            && let Some(replaced) = self.tasks.insert(task, by)
        {
            self.end_in(replaced.at);
        }
        self.heaps.remove(&task);
        if self.is_started {
            self.tally.execs += 1;
        } else {
            self.is_started = true;
            if let Some(first) = self.tasks.get_mut(&task) {
                first.faults_before = faults_of(task, task);
            }
        }
        self.tally
            .lost_privilege
            .extend(object::lost_privilege(task));
    }

    fn ended(&mut self, task: u32, status: i32) {
        let at = self.tasks.remove(&task).map(|task| task.at);
        self.end_in(at.unwrap_or_default());
        self.heaps.remove(&task);
        if task == self.first {
            self.tally.end = Some(ExitStatus::from_raw(status));
            self.shared.has_ended.store(true, Relaxed);
        }
    }

    fn end_in(&mut self, at: At) {
        match at {
            At::Program => {}
            At::Call(call) => self.settle(call, Outcome::NeverReturned, 0),
            At::Broken(call, outcome) => self.settle(call, outcome, 0),
        }
    }

    fn leave(&mut self, task: u32) -> At {
        let task = self.tasks.get_mut(&task);
        task.map(|task| std::mem::take(&mut task.at))
            .unwrap_or_default()
    }

    fn put(&mut self, task: u32, at: At) {
        if let Some(task) = self.tasks.get_mut(&task) {
            task.at = at;
        }
    }
}

fn number_is(call: Sysno, made: &Call) -> bool {
    !made.is_foreign && call.number() == Some(made.number)
}

/// Whether a call is the one by which the kernel goes on with one that was broken off; by the table of `int 0x80`, it is 0.
fn is_restart(number: u64, is_foreign: bool) -> bool {
    let native = Sysno::RESTART_SYSCALL.number().map(u64::from);
    match is_foreign {
        true => number == 0,
        false => native == Some(number),
    }
}

/// Page faults of a task so far, minor and major ones; 0 of one that is not there.
fn faults_of(group: u32, task: u32) -> u64 {
    /// The fields minflt and majflt, counted from the one after the name.
    const MINOR: usize = 7;
    const MAJOR: usize = 9;
    let text = fs::read_to_string(format!("/proc/{group}/task/{task}/stat")).unwrap_or_default();
    let after_name = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let fields: Vec<u64> = after_name
        .split(' ')
        .map(|word| word.parse().unwrap_or(0))
        .collect();
    let field = |number| fields.get(number).copied().unwrap_or(0);
    field(MINOR) + field(MAJOR)
}
