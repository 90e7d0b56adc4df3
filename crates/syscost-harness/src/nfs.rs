//! The NFS server that is measured against without a mount, where one was given: `syscost run --nfs`.
//!
//! The coordinator resolves it and asks for its ports once, before anything is measured.

use std::sync::OnceLock;

use syscost_net::nfs::Export;
use syscost_sys::Unsupported;

/// The environment variable that holds the located export: a numeric address, both ports and the path.
pub const EXPORT: &str = "SYSCOST_NFS";

/// The coordinator's own server: its environment is the user's shell's, not a worker's.
static OWN: OnceLock<String> = OnceLock::new();

/// Gives this process a server, by the value of [`EXPORT`]; later calls have no effect. The
/// coordinator lists rows by it.
pub fn give(export: &str) {
    OWN.get_or_init(|| export.to_owned());
}

/// The server that this process was given.
///
/// # Errors
/// When there is none; the error says how to give one.
pub fn given() -> Result<Export, Unsupported> {
    let own = OWN.get().cloned();
    let Some(text) = own.or_else(|| std::env::var(EXPORT).ok()) else {
        return Err(Unsupported::new(
            "no NFS server was given: --nfs nfs://HOST/EXPORT, which needs no mount",
        ));
    };
    match text.parse::<Export>() {
        Ok(export) if is_located(&text) => Ok(export),
        Ok(_) | Err(_) => Err(Unsupported::new(format!(
            "{EXPORT} is not what `syscost run --nfs` sets"
        ))),
    }
}

/// Whether this is a value for [`EXPORT`].
pub(crate) fn is_located(text: &str) -> bool {
    text.parse::<Export>()
        .is_ok_and(|export| export.addresses().is_some() && export.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_coordinator_sets_is_taken() {
        assert!(is_located("nfs://127.0.0.1:2049:635/srv/e") && is_located("nfs://[::1]:1:2/"));
        for other in [
            "",
            "nfs://127.0.0.1/e",
            "nfs://127.0.0.1:2049/e",
            "nfs://localhost:2049:635/e",
            "nfs://127.0.0.1:02049:635/e",
        ] {
            assert!(!is_located(other), "{other}");
        }
    }
}
