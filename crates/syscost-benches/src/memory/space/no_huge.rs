//! Disabling transparent huge pages.
#![allow(unsafe_code)] // prctl

/// Keeps the kernel from giving this process huge pages until it is dropped, whatever the machine's setting.
pub(crate) struct NoHugePages(());

impl NoHugePages {
    /// A kernel without huge pages does not have this setting, nor need it.
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
    // SAFETY: changes a setting of this process.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, disabled, zero, zero, zero) };
}
