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
use super::task::{At, Entered, Task};
use crate::os::audit::NATIVE_ARCH;
use crate::raw::Sysno;
use crate::trace::{Bytes, Call, Object, Outcome, Shape, Tally, Variant, by_number, size_class};

pub(super) struct Tracer<'a> {
    pub(super) tally: Tally,
    tasks: HashMap<u32, Task>,
    shapes: Vec<Option<&'static Shape>>,
    /// The end of each process's heap, once it is known.
    heaps: HashMap<u32, u64>,
    /// Processes that were made by vfork and are in their parent's memory yet.
    borrowing: HashSet<u32>,
    /// Descriptors that a process has opened and not read yet.
    unread: HashSet<(u32, u32)>,
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
            borrowing: HashSet::new(),
            unread: HashSet::new(),
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
        self.tasks.insert(self.first, Task::of(self.first));
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
                self.tasks.insert(task, Task::running(self.first, task));
                // One that has ended meanwhile is heard of.
                let _ = ptrace::interrupt(task);
            }
            if !are_new {
                return Ok(());
            }
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
        for (id, mut task) in std::mem::take(&mut self.tasks) {
            self.tally.faults_of_tasks += task.new_faults(id);
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
        self.tasks.insert(id, Task::of(group));
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
                    let is_foreign = table != NATIVE_ARCH;
                    self.entry(task, Entered::new(number, is_foreign, arguments, from));
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
            libc::PTRACE_EVENT_VFORK => {
                self.tally.vforks += 1;
                self.borrowing
                    .extend(ptrace::message(task).map(|child| child as u32));
            }
            libc::PTRACE_EVENT_EXEC => self.executed(task),
            libc::PTRACE_EVENT_EXIT => {
                if let Some(ending) = self.tasks.get_mut(&task) {
                    self.tally.faults_of_tasks += ending.new_faults(task);
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

    fn entry(&mut self, task: u32, mut entered: Entered) {
        match self.leave(task) {
            At::Broken(call, _) if entered.continues(&call) => {
                return self.put(task, At::Call(call));
            }
            At::Broken(call, outcome) => self.settle(call, outcome, 0),
            At::Call(call) => self.settle(call, Outcome::NeverReturned, 0),
            At::Program => {}
        }
        self.tally.entered += 1;
        let shape = self.shapes.get(entered.call.number as usize);
        entered.shape = shape
            .copied()
            .flatten()
            .filter(|_| !entered.call.is_foreign);
        if let Some(shape) = entered.shape {
            let mut arguments = entered.arguments;
            if entered.is(Sysno::CLONE3) {
                // Its flags come first in its structure.
                arguments[0] = ptrace::word(task, arguments[0]).unwrap_or(0);
            }
            entered.call.variant = shape.variant_of(&arguments);
            if shape.bytes == Bytes::Resident && !self.borrowing.contains(&task) {
                entered.resident = resident_bytes(task).unwrap_or(0);
            }
            if let Some(number) = shape.descriptor(&arguments) {
                entered.call.object = object::object(task, number);
                let is_read = entered.is(Sysno::READ);
                let was_unread = (is_read || entered.is(Sysno::CLOSE))
                    && self.unread.remove(&(self.group(task), number));
                if is_read && was_unread && entered.call.object == Some(Object::File) {
                    entered.call.variant = Some(Variant::First);
                }
            }
        }
        self.put(task, At::Call(entered));
    }

    fn exit(&mut self, task: u32, result: i64) {
        let At::Call(call) = self.leave(task) else {
            return;
        };
        let error = match result {
            // What it returns is what the interrupted program had in its register.
            _ if call.is(Sysno::RT_SIGRETURN) => 0,
            -4095..0 => -result as i32,
            _ => 0,
        };
        match error {
            0 => {
                let bytes = self.bytes(task, &call, result);
                if [Sysno::OPEN, Sysno::OPENAT, Sysno::OPENAT2]
                    .iter()
                    .any(|open| call.is(*open))
                {
                    self.unread.insert((self.group(task), result as u32));
                }
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
        let group = self.group(task);
        if call.is(Sysno::MREMAP)
            && let Some(moved) = &self.moved
        {
            let [from, _, length, ..] = call.arguments;
            // Nobody listens when all is over.
            let _ = moved.send(Moved::now(group, from, result.cast_unsigned(), length));
        }
        match call.shape.map_or(Bytes::None, |shape| shape.bytes) {
            Bytes::None | Bytes::Resident => 0,
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
        let bytes = bytes.max(entered.resident);
        let has_size = match entered.shape.map_or(Bytes::None, |shape| shape.bytes) {
            Bytes::None => false,
            Bytes::Resident => !matches!(outcome, Outcome::Failed(_)),
            Bytes::Moved | Bytes::Asked(_) | Bytes::Growth => outcome == Outcome::Ok,
        };
        let size = has_size.then(|| size_class(bytes));
        let bytes = if has_size { bytes } else { 0 };
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
        self.borrowing.remove(&task);
        if self.is_started {
            self.tally.execs += 1;
        } else {
            self.is_started = true;
            if let Some(first) = self.tasks.get_mut(&task) {
                // Those of the child that was not the program yet.
                first.new_faults(task);
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
        self.borrowing.remove(&task);
        self.unread.retain(|(process, _)| *process != task);
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

    /// The process of a task.
    fn group(&self, task: u32) -> u32 {
        self.tasks.get(&task).map_or(task, |task| task.group)
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

/// The resident memory of a process, in bytes.
fn resident_bytes(task: u32) -> Option<u64> {
    let sizes = fs::read_to_string(format!("/proc/{task}/statm")).ok()?;
    let pages: u64 = sizes.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
