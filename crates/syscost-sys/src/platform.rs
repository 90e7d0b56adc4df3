//! The platform that this program runs on.

use crate::{Unsupported, frequency, os};

/// The C library and how it is linked, e.g. `glibc 2.36, dynamic`: both change what malloc, memcpy
/// and threads cost.
pub fn c_library() -> String {
    let linkage = if cfg!(target_feature = "crt-static") {
        "static"
    } else {
        "dynamic"
    };
    format!("{}, {linkage}", name_and_version())
}

#[cfg(target_env = "gnu")]
#[allow(unsafe_code)] // the C library's own call has no safe form
fn name_and_version() -> String {
    // SAFETY: the function takes nothing and returns a constant string.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

#[cfg(not(target_env = "gnu"))]
fn name_and_version() -> String {
    if cfg!(target_env = "musl") {
        "musl"
    } else {
        "system C library"
    }
    .to_owned()
}

/// A function of the C library that another file replaces, which was loaded first (`LD_PRELOAD`, /etc/ld.so.preload).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// Its name.
    pub function: String,
    /// The file that it is in.
    pub file: String,
}

/// The functions that this program takes from libraries and that are in none of the libraries it was linked with; a static program
/// takes none.
pub fn replaced_functions() -> Vec<Replaced> {
    #[cfg(target_feature = "crt-static")]
    let found: [(String, String); 0] = [];
    #[cfg(not(target_feature = "crt-static"))]
    let found = crate::os::replaced();
    let found = found.into_iter();
    found
        .map(|(function, file)| Replaced { function, file })
        .collect()
}

/// Whether the kernel has given this process a vDSO, its own code in user space that answers some
/// calls.
///
/// # Errors
/// `Unsupported` where it has not.
pub fn vdso() -> Result<(), Unsupported> {
    match os::vdso() {
        0 => Err(Unsupported::new(
            "the kernel has given this process no vDSO (vdso=0 on its command line, or an emulator)",
        )),
        _ => Ok(()),
    }
}

/// What [`hypervisor`] calls whoever interprets the instructions: QEMU by its own name, others.
pub const EMULATORS: [&str; 2] = ["QEMU TCG", "an interpreter"];

/// The hypervisor by its own signature, if this machine is virtual and its processor reports it; or that
/// the instructions are interpreted.
pub fn hypervisor() -> Option<String> {
    let interpreter = || frequency::is_interpreted().then(|| EMULATORS[1].to_owned());
    by_signature().or_else(interpreter)
}

/// CPUID leaf 4000_0000h.
#[cfg(target_arch = "x86_64")]
fn by_signature() -> Option<String> {
    use raw_cpuid::{CpuId, Hypervisor};
    let name = match CpuId::new().get_hypervisor_info()?.identify() {
        Hypervisor::KVM => "KVM".to_owned(),
        Hypervisor::Xen => "Xen".to_owned(),
        Hypervisor::VMware => "VMware".to_owned(),
        Hypervisor::HyperV => "Hyper-V".to_owned(),
        // Its own signature is that of its interpreter; as a hypervisor it is KVM, Xen or Hyper-V.
        Hypervisor::QEMU => EMULATORS[0].to_owned(),
        other => format!("{other:?}"),
    };
    Some(name)
}

/// Only x86-64 has a way to ask.
#[cfg(not(target_arch = "x86_64"))]
fn by_signature() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_interpreter_takes_long_for_an_addition_of_doubles() {
        let is_interpreted = frequency::is_interpreted();
        match cfg!(target_arch = "x86_64") {
            true => {
                let is_said = by_signature().as_deref() == Some(EMULATORS[0]);
                assert_eq!(is_interpreted, is_said);
            }
            // QEMU gives programs of another processor no vDSO (before 8.2).
            false => assert!(is_interpreted || vdso().is_ok()),
        }
    }

    #[test]
    fn a_function_of_another_file_is_found_by_its_name() {
        const VARIABLE: &str = "SYSCOST_TEST_REPLACED";
        if std::env::var_os(VARIABLE).is_some() {
            let found: Vec<String> = replaced_functions()
                .into_iter()
                .map(|one| one.function)
                .collect();
            return println!("replaced: {found:?}");
        }
        // Both are the kernel's own code, where the C library finds it.
        let functions = [libc::time as *const u8, libc::gettimeofday as *const u8];
        assert!(
            functions
                .iter()
                .all(|place| !std::hint::black_box(place).is_null())
        );
        assert_eq!(replaced_functions(), []);
        let folder = tempfile::tempdir().unwrap();
        let [source, library] = ["other.c", "other.so"].map(|name| folder.path().join(name));
        std::fs::write(
            &source,
            "const char *gnu_get_libc_version(void) { return \"0\"; }",
        )
        .unwrap();
        let mut compiler = std::process::Command::new("cc");
        let made = compiler
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .status();
        if cfg!(target_feature = "crt-static") || !made.is_ok_and(|status| status.success()) {
            return println!("skipped: a static program, or no compiler");
        }
        let own = std::env::current_exe().unwrap();
        let name = "platform::tests::a_function_of_another_file_is_found_by_its_name";
        let mut again = std::process::Command::new(own);
        again
            .args(["--exact", name, "--nocapture"])
            .env(VARIABLE, "")
            .env("LD_PRELOAD", &library);
        let said = String::from_utf8(again.output().unwrap().stdout).unwrap();
        assert!(
            said.contains(r#"replaced: ["gnu_get_libc_version"]"#),
            "{said}"
        );
    }

    #[test]
    fn name_and_linkage_are_reported() {
        let text = c_library();
        assert!(
            text.ends_with(", static") || text.ends_with(", dynamic"),
            "{text}"
        );
    }
}
