//! Without transparent huge pages.
#![allow(unsafe_code)] // prctl

/// Keeps the kernel from giving this process huge pages, whatever the machine's setting, until it is dropped.
pub(crate) struct NoHugePages(());

impl NoHugePages {
    /// A kernel without huge pages knows no such setting, and needs none.
    pub(crate) fn in_this_process() -> Self {
        set(1);
        Self(())
    }
}

impl Drop for NoHugePages {
    fn drop(&mut self) {
        set(0);
    }
}

fn set(disabled: libc::c_ulong) {
    let zero: libc::c_ulong = 0;
    // SAFETY: a setting of this process.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, disabled, zero, zero, zero) };
}
