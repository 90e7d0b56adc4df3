//! The scheduler's class for work that waits for nobody.

use std::marker::PhantomData;

use crate::{SystemError, os};

/// While it lives, the thread that entered and what it starts are of the class SCHED_BATCH: a task of it that is woken does not
/// preempt the one that runs, which goes on until it sleeps.
#[derive(Debug)]
pub struct Batch {
    before: i32,
    _of_its_thread: PhantomData<*const ()>,
}

impl Batch {
    /// Moves the calling thread into the class. Needs no privilege.
    ///
    /// # Errors
    /// When the system refuses or lacks it (outside Linux).
    pub fn enter() -> Result<Batch, SystemError> {
        let error = |cause| SystemError::new("sched_setscheduler", "to SCHED_BATCH", cause);
        let before = os::policy().map_err(error)?;
        os::set_policy(os::BATCH).map_err(error)?;
        Ok(Batch {
            before,
            _of_its_thread: PhantomData,
        })
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // The normal class needs no more than this one.
        let _ = os::set_policy(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_is_entered_inherited_and_left() {
        let Ok(before) = os::policy() else {
            println!("skipped: no classes here");
            return;
        };
        let batch = Batch::enter().unwrap();
        let child = os::fork(&mut || os::policy().unwrap_or(-1)).unwrap();
        assert_eq!(os::wait_for(child).unwrap(), os::BATCH);
        drop(batch);
        assert_eq!(os::policy().unwrap(), before);
    }
}
