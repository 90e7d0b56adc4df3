//! The scheduler's class for work that waits for nobody.

use std::marker::PhantomData;

use super::real_time::{Class, class};
use crate::{SystemError, os};

/// While it lives, the thread that entered and what it starts are of the class SCHED_BATCH: a task of it that is woken does not
/// preempt the one that runs, which goes on until it sleeps.
#[derive(Debug)]
pub struct Batch {
    before: Class,
    _of_its_thread: PhantomData<*const ()>,
}

impl Batch {
    /// Moves the calling thread into the class. Needs no privilege.
    ///
    /// # Errors
    /// When the system refuses or lacks it (outside Linux).
    pub fn enter() -> Result<Batch, SystemError> {
        let before = class()?;
        let enter = match before {
            // One that could not be gone back to is not left.
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
        let Ok(before) = class() else {
            println!("skipped: no classes here");
            return;
        };
        let batch = Batch::enter().unwrap();
        let child = os::fork(&mut || i32::from(class().ok() != Some(Class::Batch))).unwrap();
        assert_eq!(os::wait_for(child).unwrap(), 0);
        drop(batch);
        assert_eq!(class().unwrap(), before);
    }
}
