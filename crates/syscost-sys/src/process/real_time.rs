//! The real-time class of the scheduler: entered on purpose, bounded, and left again.

use std::fmt;

use crate::{SystemError, os};

/// How the scheduler treats a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The default class (SCHED_OTHER).
    Normal,
    /// Like the default class, but a task that wakes up preempts no other (SCHED_BATCH).
    Batch,
    /// Runs before all other tasks until it sleeps (SCHED_FIFO), at this priority from 1 to 99.
    Fifo(u8),
    /// Another policy, by its number.
    Other(i32),
}

/// Policies that nothing here enters, by number (sched(7)).
const NAMED: [(i32, &str); 3] = [(2, "SCHED_RR"), (5, "SCHED_IDLE"), (6, "SCHED_DEADLINE")];

impl Class {
    /// Whether it is one of those that go before all ordinary tasks: SCHED_FIFO, SCHED_RR and
    /// SCHED_DEADLINE. The kernel wakes their tasks without timer slack.
    pub fn is_real_time(self) -> bool {
        matches!(self, Class::Fifo(_) | Class::Other(2 | 6))
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Normal => f.write_str("SCHED_OTHER"),
            Class::Batch => f.write_str("SCHED_BATCH"),
            Class::Fifo(priority) => write!(f, "SCHED_FIFO {priority}"),
            Class::Other(policy) => match NAMED.iter().find(|(number, _)| number == policy) {
                Some((_, name)) => f.write_str(name),
                None => write!(f, "policy {policy}"),
            },
        }
    }
}

/// The class of the calling thread.
///
/// # Errors
/// When the system does not report it.
pub fn class() -> Result<Class, SystemError> {
    os::class().map_err(|cause| SystemError::new("sched_getscheduler", "of this thread", cause))
}

/// How the scheduler treats a thread beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduling {
    /// Its class.
    pub class: Class,
    /// Its nice value, from -20 (first) to 19 (last).
    pub nice: i32,
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, nice {}", self.class, self.nice)
    }
}

/// How the scheduler treats the calling thread.
///
/// # Errors
/// When the system does not report it.
pub fn scheduling() -> Result<Scheduling, SystemError> {
    let error = |cause| SystemError::new("getpriority", "of this thread", cause);
    Ok(Scheduling {
        class: class()?,
        nice: os::niceness().map_err(error)?,
    })
}

/// While it lives, the thread that entered is in class [`Class::Fifo`]; afterwards it is in the
/// normal one again.
///
/// A thread that never sleeps in this class keeps its processor from all other tasks, so this
/// process is ended by SIGXCPU when one of its real-time threads runs for a fifth of a second
/// without sleeping. What it forks is in the normal class.
#[derive(Debug)]
pub struct RealTime {
    limit: Option<u64>,
    _of_its_thread: std::marker::PhantomData<*const ()>,
}

/// Longest time that a thread may run without sleeping, in us.
const LONGEST_RUN_US: u64 = 200_000;

impl RealTime {
    /// Moves the calling thread, of the normal class, into the real-time class at this priority,
    /// from 1 to 99.
    ///
    /// # Errors
    /// When the thread is in another class, or the system does not permit it: it needs
    /// CAP_SYS_NICE, or an RLIMIT_RTPRIO of that priority.
    pub fn enter(priority: u8) -> Result<RealTime, SystemError> {
        let wanted = Class::Fifo(priority);
        let error =
            |operation| move |cause| SystemError::new(operation, format!("to {wanted}"), cause);
        let before = class()?;
        if before != Class::Normal {
            let cause = std::io::Error::other(format!("this thread is {before}"));
            return Err(error("sched_setscheduler")(cause));
        }
        let limit = os::limit_real_time(Some(LONGEST_RUN_US)).map_err(error("setrlimit"))?;
        // From here on the limit is restored in any case.
        let entered = RealTime {
            limit,
            _of_its_thread: std::marker::PhantomData,
        };
        os::set_class(wanted).map_err(error("sched_setscheduler"))?;
        Ok(entered)
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        // Going back needs no privilege, and the limit was accepted before.
        let _ = os::set_class(Class::Normal);
        let _ = os::limit_real_time(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_never_sleeps_is_ended() {
        const SIGXCPU: i32 = 24;
        // Tried in a child, so that only the child is killed.
        let child = os::fork(&mut || match RealTime::enter(1) {
            Ok(_real_time) => loop {
                std::hint::spin_loop();
            },
            Err(_) => 0,
        });
        match child.map(|child| os::wait_for(child).unwrap()) {
            Ok(0) | Err(_) => println!("skipped: no real-time class here"),
            Ok(ended) => assert_eq!(ended, 128 + SIGXCPU),
        }
    }

    #[test]
    fn a_policy_is_known_by_its_name() {
        for (class, name) in [
            (Class::Other(5), "SCHED_IDLE, nice -3"),
            (Class::Other(9), "policy 9, nice -3"),
            (Class::Fifo(4), "SCHED_FIFO 4, nice -3"),
        ] {
            assert_eq!(Scheduling { class, nice: -3 }.to_string(), name);
        }
    }

    #[test]
    fn the_class_is_entered_and_left() {
        let before = or_skip!(class(), "no classes here");
        // Twice, so that the value returned is the one that will be restored.
        let limit = os::limit_real_time(None).and_then(|_| os::limit_real_time(None));
        let limit = limit.unwrap();
        match RealTime::enter(3) {
            Ok(real_time) => {
                assert_eq!(class().unwrap(), Class::Fifo(3));
                assert_eq!(
                    os::limit_real_time(Some(LONGEST_RUN_US)).unwrap(),
                    Some(LONGEST_RUN_US)
                );
                drop(real_time);
            }
            Err(error) => {
                println!("skipped: {error}");
                assert!(error.to_string().contains("SCHED_FIFO 3"));
            }
        }
        assert_eq!(class().unwrap(), before);
        assert_eq!(os::limit_real_time(None).unwrap(), limit);
    }
}
