//! The platform that this program runs on.

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

/// The hypervisor's own signature (CPUID leaf 4000_0000h), if this machine is virtual and its
/// processor reports it.
#[cfg(target_arch = "x86_64")]
pub fn hypervisor() -> Option<String> {
    use raw_cpuid::{CpuId, Hypervisor};
    let name = match CpuId::new().get_hypervisor_info()?.identify() {
        Hypervisor::KVM => "KVM".to_owned(),
        Hypervisor::Xen => "Xen".to_owned(),
        Hypervisor::VMware => "VMware".to_owned(),
        Hypervisor::HyperV => "Hyper-V".to_owned(),
        // Its own signature is that of its interpreter; as a hypervisor it is KVM, Xen or Hyper-V.
        Hypervisor::QEMU => "QEMU TCG".to_owned(),
        other => format!("{other:?}"),
    };
    Some(name)
}

/// The hypervisor's own signature: only x86-64 has a way to ask.
#[cfg(not(target_arch = "x86_64"))]
pub fn hypervisor() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_linkage_are_reported() {
        let text = c_library();
        assert!(
            text.ends_with(", static") || text.ends_with(", dynamic"),
            "{text}"
        );
    }
}
