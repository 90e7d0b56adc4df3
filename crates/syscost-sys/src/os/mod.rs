//! What the operating system provides, one set of functions per system. The modules of the crate
//! above use only these names, and hold no `cfg` themselves.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod no_perf;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(crate) use no_perf::PerfCounter;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;
