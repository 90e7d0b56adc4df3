//! The facts of the measured machine: whatever could explain different numbers elsewhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Known;

/// The facts of the measured machine. A fact that could not be read is null or absent, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Machine {
    /// Host name.
    pub hostname: String,
    /// Architecture, e.g. `x86_64`.
    pub arch: String,
    /// The measuring CPU's own name; several names if CPUs of several kinds measured.
    pub cpu_model: String,
    /// Vendor id, e.g. `GenuineIntel`.
    pub cpu_vendor: Option<String>,
    /// Family, model and stepping as the kernel prints them; variant and revision of an ARM CPU.
    pub cpu_signature: Option<String>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// Logical CPUs online.
    pub cpus_online: u32,
    /// Logical CPUs this process may use.
    pub cpus_allowed: u32,
    /// Scheduling class and nice value of this process, e.g. `SCHED_OTHER, nice 0`.
    pub scheduling: Option<String>,
    /// Physical cores.
    pub cores: Option<u32>,
    /// Sockets.
    pub sockets: Option<u32>,
    /// Whether two logical CPUs share a core.
    pub smt: Option<bool>,
    /// NUMA nodes, those without CPUs too.
    pub numa_nodes: Option<u32>,
    /// Caches of the CPU that measured, as the kernel tells them; a virtual machine may lie.
    pub caches: Vec<Cache>,
    /// Maker and product, e.g. `Amazon EC2 m5.large`: on a rented machine its instance type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Firmware: maker, version and date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// The memory modules that are plugged in, in the order of their slots, as the firmware
    /// describes them; empty where it does not, as in most virtual machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_modules: Vec<MemoryModule>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Swap in bytes.
    pub swap_bytes: Option<u64>,
    /// Operating system's kernel and release, e.g. `Linux 6.18.44`.
    pub kernel: String,
    /// The kernel's build line.
    pub kernel_version: Option<String>,
    /// The kernel's command line.
    pub kernel_cmdline: Option<String>,
    /// Distribution.
    pub distribution: Option<String>,
    /// Who runs this machine, if it is virtual, e.g. `KVM`; `none` on bare metal, null where nothing
    /// tells whether it is.
    pub hypervisor: Known<String>,
    /// Container engine, if the process is in one; `none` if it is in none, null where nothing tells.
    pub container: Known<String>,
    /// Each known CPU weakness and what the kernel does about it.
    pub mitigations: BTreeMap<String, String>,
    /// Frequency governor of the measuring CPU.
    pub governor: Option<String>,
    /// Frequency driver.
    pub frequency_driver: Option<String>,
    /// Whether the CPU may exceed its nominal frequency.
    pub turbo: Option<bool>,
    /// Idle driver; `none` where the kernel only halts a CPU that is idle.
    pub idle_driver: Option<String>,
    /// Idle governor, which chooses among the driver's states.
    pub idle_governor: Option<String>,
    /// How long the `haltpoll` governor of a virtual machine lets an idle CPU poll, at most, in ns.
    pub guest_halt_poll_ns: Option<u64>,
    /// The kernel's own clock source.
    pub clocksource: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_hugepages: Option<String>,
    /// Overcommit mode.
    pub overcommit_memory: Option<u32>,
    /// Address space layout randomisation mode.
    pub aslr: Option<u32>,
    /// `kernel.perf_event_paranoid`.
    pub perf_event_paranoid: Option<i32>,
    /// CPU quota of the control group, in CPUs; `none` where every group above it was seen, too.
    pub cgroup_cpu_quota: Known<f64>,
    /// Memory limit of the control group, in bytes; `none` as of the quota.
    pub cgroup_memory_bytes: Known<u64>,
    /// Load average over one minute when the run began.
    pub load1: Option<f64>,
    /// Share of the last ten seconds in which some task waited for a CPU, in percent.
    pub cpu_pressure_avg10: Option<f64>,
    /// C library and how it is linked, e.g. `glibc 2.36, static`.
    pub libc: String,
    /// The compiler and flags this program was built with.
    pub build: Build,
}

impl Machine {
    /// What stays the same for one machine: host name, architecture, processor and hypervisor, but
    /// not the kernel and settings.
    pub fn identity(&self) -> [&str; 5] {
        [
            &self.hostname,
            &self.arch,
            &self.cpu_model,
            self.cpu_signature.as_deref().unwrap_or(""),
            self.hypervisor.name().unwrap_or(""),
        ]
    }

    /// What an idle CPU does, which decides how long it takes to wake: `driver intel_idle, governor
    /// menu`. `None` where the driver is not known.
    pub fn idle(&self) -> Option<String> {
        let driver = self.idle_driver.as_deref()?;
        // Without a driver there is nothing to choose from, and no governor asks for polling.
        let governor = self.idle_governor.as_deref().filter(|_| driver != "none");
        let mut text = format!("driver {driver}");
        text.extend(governor.map(|name| format!(", governor {name}")));
        let poll = self
            .guest_halt_poll_ns
            .filter(|_| governor == Some("haltpoll"));
        text.extend(poll.map(|ns| match ns {
            0 => ", no polling by the guest".to_owned(),
            _ => format!(", polling by the guest up to {} µs", ns as f64 / 1e3),
        }));
        Some(text)
    }

    /// Whether its instructions are interpreted, so that no cost is a processor's; `None` where the
    /// hypervisor is not known.
    pub fn is_emulated(&self) -> Option<bool> {
        match &self.hypervisor {
            Known::Yes(name) => Some(EMULATORS.contains(&name.as_str())),
            Known::No => Some(false),
            Known::Unknown => None,
        }
    }

    /// What answers system calls in the place of Linux, as its build line tells, so that no cost is Linux's.
    pub fn imitation(&self) -> Option<&'static str> {
        let line = self.kernel_version.as_deref()?;
        let mut known = IMITATIONS.iter();
        let named = known.find(|(mark, _)| line.contains(mark));
        named.map(|(_, name)| *name)
    }

    /// Whether it is the guest that Windows has for programs of Linux (WSL 2), as its kernel's build line tells.
    pub fn is_of_windows(&self) -> bool {
        let line = self.kernel_version.as_deref();
        line.is_some_and(|line| line.contains("-microsoft-standard"))
    }

    /// Whether both are the same machine; a machine without a name matches none.
    pub fn is_same_as(&self, other: &Machine) -> bool {
        !self.hostname.is_empty() && self.identity() == other.identity()
    }
}

/// What interprets a processor's instructions, as machines name it: QEMU's Tiny Code Generator by its own
/// name, and any other.
pub const EMULATORS: [&str; 2] = ["QEMU TCG", "an interpreter"];

/// Marks in the build lines of kernels that imitate Linux. gVisor has had the date of Linux 4.4 since 2018,
/// and its name only later.
const IMITATIONS: [(&str, &str); 3] = [
    ("-gvisor", "gVisor"),
    ("Sun Jan 10 15:06:54 PST 2016", "gVisor"),
    ("Microsoft@Microsoft.com", "WSL 1"),
];

/// One memory module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryModule {
    /// Its slot, e.g. `DIMM_A1`.
    pub slot: String,
    /// Kind, e.g. `DDR4`.
    pub kind: Option<String>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Rate at which it is run, in millions of transfers per second.
    pub transfers_m_per_s: Option<u32>,
}

/// One cache level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cache {
    /// Level, from 1.
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Size in bytes; null where the system does not report it.
    #[serde(default, deserialize_with = "reported")]
    pub size_bytes: Option<u64>,
    /// Line size in bytes; null where the system does not report it.
    #[serde(default, deserialize_with = "reported")]
    pub line_bytes: Option<u32>,
    /// Logical CPUs that share it.
    pub shared_by: Option<u32>,
}

/// Older documents have 0 for what was not reported.
fn reported<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default + PartialEq,
{
    let found = Option::<T>::deserialize(deserializer)?;
    Ok(found.filter(|number| *number != T::default()))
}

/// How this program was built.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Build {
    /// Target triple.
    pub target: String,
    /// Compiler version.
    pub rustc: String,
    /// `release` or `debug`.
    pub profile: String,
    /// Commit, if known.
    pub commit: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_cpu_is_described_by_what_has_an_effect() {
        let idle = |driver: &str, governor: &str, poll| {
            let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            let machine = Machine {
                idle_driver: some(driver),
                idle_governor: some(governor),
                guest_halt_poll_ns: poll,
                ..Machine::default()
            };
            machine.idle()
        };
        let text = |driver, governor, poll| idle(driver, governor, poll).expect("known");
        assert_eq!(text("none", "menu", Some(200_000)), "driver none");
        assert_eq!(
            text("intel_idle", "menu", Some(7)),
            "driver intel_idle, governor menu"
        );
        assert_eq!(
            text("haltpoll", "haltpoll", Some(200_000)),
            "driver haltpoll, governor haltpoll, polling by the guest up to 200 µs"
        );
        assert_eq!(
            text("haltpoll", "haltpoll", Some(0)),
            "driver haltpoll, governor haltpoll, no polling by the guest"
        );
        assert_eq!(idle("", "menu", None), None);
    }
}
