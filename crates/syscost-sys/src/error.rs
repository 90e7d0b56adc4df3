//! The two errors of this crate: something that cannot work here, and a call that failed.

use std::borrow::Cow;
use std::io;

/// The reason why something does not exist or cannot be used on this machine: another processor or
/// system, a kernel too old or built without it, a missing privilege.
///
/// The text is a whole phrase for the reader (`unsupported: <text>`), with what to do where
/// something helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub Cow<'static, str>);

impl Unsupported {
    /// Makes the error from its reason.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self(reason.into())
    }
}

/// A request that the system refused: what was tried, on what, and the system's answer.
#[derive(Debug, thiserror::Error)]
#[error("{operation} {on}: {cause}")]
pub struct SystemError {
    /// The call, as the manual names it (`sched_setaffinity`).
    pub operation: &'static str,
    /// What it was applied to (`cpus 0-3`, `/proc/self/io`).
    pub on: String,
    /// The system's answer.
    pub cause: io::Error,
}

impl SystemError {
    /// Makes the error; `cause` is anything that turns into an [`io::Error`].
    pub fn new(
        operation: &'static str,
        on: impl Into<String>,
        cause: impl Into<io::Error>,
    ) -> Self {
        Self {
            operation,
            on: on.into(),
            cause: cause.into(),
        }
    }

    /// Whether its cause is an [`Unsupported`].
    pub fn is_unsupported(&self) -> bool {
        let cause = self.cause.get_ref();
        cause.is_some_and(|cause| cause.is::<Unsupported>())
    }
}

impl From<SystemError> for Unsupported {
    fn from(error: SystemError) -> Self {
        Self::new(error.to_string())
    }
}

/// Lets an [`Unsupported`] be the cause of a [`SystemError`].
impl From<Unsupported> for io::Error {
    fn from(reason: Unsupported) -> Self {
        io::Error::new(io::ErrorKind::Unsupported, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_says_what_on_what_and_why() {
        let error = SystemError::new("open", "/proc/self/io", io::Error::from_raw_os_error(13));
        let text = Unsupported::from(error).to_string();
        assert!(
            text.starts_with("open /proc/self/io: ") && text.contains("os error 13"),
            "{text}"
        );
    }
}
