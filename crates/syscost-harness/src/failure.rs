//! Why a benchmark gave no number.

use serde::{Deserialize, Serialize};
use syscost_net::{ClientError, ServiceError};
use syscost_results::compare::CORE_SHARED;
use syscost_sys::files::stamp::Wrong;
use syscost_sys::partner::PartnerError;
use syscost_sys::process;
use syscost_sys::{SystemError, Unsupported};

/// Why a benchmark gave no number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum Failure {
    /// This machine cannot do it.
    #[error("{0}")]
    Unsupported(String),
    /// The operation or its set-up failed.
    #[error("{0}")]
    Failed(String),
    /// The operation is not what was claimed; the number is withheld.
    #[error("{0}")]
    Refuted(String),
    /// No core was ours when it was due to be measured; a later round may find one.
    #[error("{CORE_SHARED}")]
    Deferred,
    /// The benchmark itself is wrong.
    #[error("this is a defect of the benchmark: it {0}")]
    Broken(String),
}

impl Failure {
    /// The failure of an operation or a set-up, with what was tried.
    pub fn of(tried: &str, cause: impl std::fmt::Display) -> Self {
        Failure::Failed(format!("{tried}: {cause}"))
    }

    /// What did not come in the time that this process waits for it.
    pub fn late(what: impl std::fmt::Display) -> Self {
        let seconds = process::patience().as_secs_f64();
        Failure::Failed(format!("within {seconds} s {what}; {}", process::LONGER))
    }

    /// The last error of the C library, with what was tried.
    pub fn last_os_error(tried: &str) -> Self {
        Self::of(tried, std::io::Error::last_os_error())
    }
}

/// Makes a [`Failure`] of an error that does not say what was tried.
pub trait Tried<T> {
    /// The result; its error becomes the failure of what was `tried`.
    fn tried(self, tried: &str) -> Result<T, Failure>;
}

impl<T, E: std::fmt::Display> Tried<T> for Result<T, E> {
    #[inline(always)]
    fn tried(self, tried: &str) -> Result<T, Failure> {
        self.map_err(|cause| Failure::of(tried, cause))
    }
}

/// Errors that say themselves what was tried.
macro_rules! failed_by {
    ($($error:ty),+) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::Failed(error.to_string())
            }
        })+
    };
}

failed_by!(PartnerError, ServiceError, ClientError);

impl From<SystemError> for Failure {
    fn from(error: SystemError) -> Self {
        match error.is_unsupported() {
            true => Failure::Unsupported(error.to_string()),
            false => Failure::Failed(error.to_string()),
        }
    }
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        Failure::Refuted(wrong.to_string())
    }
}

impl From<Unsupported> for Failure {
    fn from(unsupported: Unsupported) -> Self {
        Failure::Unsupported(unsupported.to_string())
    }
}
