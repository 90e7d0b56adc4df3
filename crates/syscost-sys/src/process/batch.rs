//! The scheduling class for batch work.

use std::marker::PhantomData;

use super::real_time::{Class, class};
use crate::{SystemError, os};

/// While it lives, the thread that entered and the tasks that it starts are of the class
/// SCHED_BATCH: such a task, when woken, does not preempt the running one, which continues until it
/// sleeps.
#[derive(Debug)]
pub struct Batch {
    before: Class,
    _of_its_thread: PhantomData<*const ()>,
}

impl Batch {
    /// Moves the calling thread into the class. Needs no privilege.
    pub fn enter() -> Result<Batch, SystemError> {
        let before = class()?;
        let enter = match before {
            // A class that could not be restored is not left.
            Class::Other(_) => Err(std::io::ErrorKind::InvalidInput.into()),
            _ => os::set_class(Class::Batch),
        };
        enter.map_err(|cause| {
            SystemError::new(
                "sched_setscheduler",
                format!("from {before} to SCHED_BATCH"),
                cause,
            )
        })?;
        Ok(Batch {
            before,
            _of_its_thread: PhantomData,
        })
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // The normal class needs no more than this one.
        let _ = os::set_class(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_is_entered_inherited_and_left() {
        let before = or_skip!(class(), "no classes here");
        let batch = Batch::enter().unwrap();
        let child = os::fork(&mut || i32::from(class().ok() != Some(Class::Batch))).unwrap();
        assert_eq!(os::wait_for(child).unwrap(), 0);
        drop(batch);
        assert_eq!(class().unwrap(), before);
    }
}
