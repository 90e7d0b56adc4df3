//! Memory that a task and its partners share, be they threads or processes.
#![allow(unsafe_code)] // a value in a mapping

use std::ops::Deref;
use std::sync::Arc;

use crate::{SystemError, os};

/// A value that this process, its threads and processes forked from it share. Cloning makes another
/// handle to the same value.
///
/// A process forked from this one sees the value as long as it lives, even if this one has given up
/// its handles.
#[derive(Debug)]
pub struct Shared<T>(Arc<Mapping<T>>);

#[derive(Debug)]
struct Mapping<T>(*mut T);

// SAFETY: a mapping is owned memory; it gives out shared references only, so what it holds must be
// Sync for others to use it, and Send to be dropped by the owner of the last handle.
unsafe impl<T: Send + Sync> Send for Mapping<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Mapping<T> {}

impl<T: Sync + Send + 'static> Shared<T> {
    /// Puts a value into fresh shared memory, on pages of its own.
    ///
    /// The value must mean the same in every process: atomics and arrays of them, no pointers
    /// (those to memory shared before the fork are the same there, too).
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(value: T) -> Result<Self, SystemError> {
        let bytes = size_of::<T>().max(1);
        let memory = os::share(bytes)
            .map_err(|cause| SystemError::new("mmap", format!("{bytes} shared bytes"), cause))?
            .cast::<T>();
        assert!(memory.is_aligned(), "pages are aligned for any type");
        // SAFETY: fresh memory of this size, aligned, which nothing else refers to yet.
        unsafe { memory.write(value) };
        Ok(Self(Arc::new(Mapping(memory))))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: written by `new`, freed only with the last handle, and only shared references are
        // given out.
        unsafe { &*self.0.0 }
    }
}

impl<T> Drop for Mapping<T> {
    fn drop(&mut self) {
        os::unshare(self.0.cast(), size_of::<T>().max(1));
    }
}
