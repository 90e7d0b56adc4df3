//! The parts of the machine's set-up and load that change what is measured.

use syscost_results::{Known, Machine};

use super::{EMULATOR, Finding, Level, MAX_PRESSURE_PERCENT, NOT_REPORTED, finding, unknown};

/// The consequence where it is not known how often the core changes its frequency.
const BY_CYCLES: &str = "compare core cycles rather than ns with other machines";

/// The findings on its set-up.
pub(super) fn of(machine: &Machine) -> Vec<Finding> {
    vec![
        kernel(machine),
        match machine.clocksource.as_deref() {
            None => unknown("clocksource", NOT_REPORTED, "clock reads may enter the kernel"),
            Some(name) => clocksource(name),
        },
        match &machine.governor {
            None => unknown("governor", "a virtual machine, or no cpufreq", BY_CYCLES),
            Some(name) => finding(
                "governor",
                // Several names if the CPUs differ.
                (name != "performance").then_some((
                    Level::Warning,
                    "cpupower frequency-set -g performance, if you may, and measure again",
                )),
                name.clone(),
            ),
        },
        match machine.turbo {
            None => unknown("turbo", NOT_REPORTED, BY_CYCLES),
            Some(false) => finding("turbo", None, "off".to_owned()),
            Some(true) => finding(
                "turbo",
                Some((
                    Level::Note,
                    "the frequency depends on temperature and other cores; core cycles are shown beside ns",
                )),
                "on".to_owned(),
            ),
        },
        idle(machine),
        smt(machine),
        hypervisor(machine),
        match machine.transparent_hugepages.as_deref() {
            None => unknown(
                "transparent_hugepages",
                NOT_REPORTED,
                "the kernel may have none; rows that need huge pages say whether they got them",
            ),
            Some(setting) => finding(
                "transparent_hugepages",
                (setting == "always").then_some((
                    Level::Note,
                    "large buffers may get huge pages unasked; benchmarks that care ask for the size they want",
                )),
                setting.to_owned(),
            ),
        },
        match machine.cgroup_cpu_quota {
            Known::Unknown => unknown(
                "cgroup_quota",
                "not all control groups above this process are seen",
                "one of them may take the CPU away",
            ),
            Known::No => finding("cgroup_quota", None, "none".to_owned()),
            Known::Yes(quota) => finding(
                "cgroup_quota",
                if quota < 1.0 {
                    Some((
                        Level::Warning,
                        "the control group throttles even one busy CPU; raise its quota (cpu.max, or cpu.cfs_quota_us)",
                    ))
                } else if quota < f64::from(machine.cpus_allowed) {
                    Some((
                        Level::Note,
                        "rows that keep more CPUs busy may be throttled; raise it (cpu.max, or cpu.cfs_quota_us)",
                    ))
                } else {
                    None
                },
                format!("the time of {quota} of {} CPUs", machine.cpus_allowed),
            ),
        },
        match machine.perf_event_paranoid {
            None => unknown("perf", "kernel.perf_event_paranoid is not there", NO_PERF),
            Some(level) => finding(
                "perf",
                (level > 1).then_some((Level::Note, NO_PERF)),
                format!("kernel.perf_event_paranoid = {level}"),
            ),
        },
    ]
}

/// What perf events are for.
const NO_PERF: &str = "not needed; root, or CAP_PERFMON and a readable /sys/kernel/tracing, adds a second witness of system calls";

fn kernel(machine: &Machine) -> Finding {
    const CODE: &str = "kernel";
    let advice = "system calls, memory and files cost what it does with them, which is not what Linux does: compare \
                  only with runs inside";
    match (machine.imitation(), &machine.kernel_version) {
        (Some(name), _) => finding(
            CODE,
            Some((Level::Bad, advice)),
            format!("{name}, which imitates Linux"),
        ),
        (None, Some(_)) => finding(CODE, None, machine.kernel.clone()),
        (None, None) => unknown(CODE, NOT_REPORTED, "it may be one that imitates Linux"),
    }
}

fn hypervisor(machine: &Machine) -> Finding {
    const CODE: &str = "hypervisor";
    let name = match &machine.hypervisor {
        Known::Unknown => {
            return unknown(
                CODE,
                "neither processor nor firmware tells whether this machine is virtual",
                "a host's other guests may be part of what is measured",
            );
        }
        Known::No => return finding(CODE, None, "none: bare metal".to_owned()),
        Known::Yes(name) => name,
    };
    match machine.is_emulated() {
        Some(true) => finding(
            EMULATOR,
            Some((
                Level::Bad,
                "its instructions are interpreted: no cost is a processor's; measure on a machine, or a guest of KVM",
            )),
            format!("the processor is emulated ({name})"),
        ),
        _ => finding(
            CODE,
            Some((
                Level::Warning,
                "the host's other guests are part of what is measured; see `syscost doctor`, Noise and Shared cores",
            )),
            match machine.is_of_windows() {
                true => format!("virtual machine of Windows ({name}, WSL 2)"),
                false => format!("virtual machine ({name})"),
            },
        ),
    }
}

fn clocksource(name: &str) -> Finding {
    let (bad, how) = match name {
        "tsc" | "arch_sys_counter" => (None, ""),
        // Both scale the processor's counter by a page that the hypervisor shares.
        "kvm-clock" | "hyperv_clocksource_tsc_page" => (
            None,
            ", the hypervisor's, which programs read without entering it",
        ),
        "hyperv_clocksource_msr" | "xen" => (
            Some((
                Level::Warning,
                "clock reads may enter the kernel or the hypervisor; the host decides which clocks it offers",
            )),
            ", the hypervisor's",
        ),
        _ => (
            Some((
                Level::Warning,
                "clock reads may enter the kernel; dmesg may say why it does not use the processor's counter",
            )),
            "",
        ),
    };
    finding(
        "clocksource",
        bad,
        format!("the kernel keeps time by {name}{how}"),
    )
}

/// What an idle CPU does. Of a virtual machine's CPU, the host decides how long it takes to wake.
fn idle(machine: &Machine) -> Finding {
    match machine.idle() {
        None => unknown("idle", NOT_REPORTED, "wake-ups may take longer after long sleeps"),
        Some(text) => finding(
            "idle",
            machine.hypervisor.what().map(|_| {
                (
                    Level::Note,
                    "how fast an idle CPU wakes is up to the host, which may poll for a while first; rows that sleep \
                     tell two states apart",
                )
            }),
            text,
        ),
    }
}

fn smt(machine: &Machine) -> Finding {
    let seen = match machine.smt {
        None => {
            return unknown(
                "smt",
                NOT_REPORTED,
                "a second hardware thread of a core may run something else; see the shared cores below",
            );
        }
        Some(true) => {
            let advice =
                "a busy sibling halves a core; leave the machine idle, or pick a CPU with --cpus";
            let seen = "cores are shared by hardware threads".to_owned();
            return finding("smt", Some((Level::Note, advice)), seen);
        }
        Some(false) if machine.hypervisor != Known::No => {
            "no two CPUs are said to share a core, which a virtual machine need not know"
        }
        Some(false) => "no two CPUs share a core",
    };
    finding("smt", None, seen.to_owned())
}

/// The findings on its load.
pub(super) fn load(machine: &Machine) -> Vec<Finding> {
    const WAIT: &str = "wait until other programs are done, or see `top` for who runs";
    let cpus = machine.cpus_online;
    vec![
        match machine.load1 {
            None => unknown("load", NOT_REPORTED, WAIT),
            Some(load) => finding(
                "load",
                (load > f64::from(cpus) * 0.5).then_some((
                    Level::Warning,
                    "other programs compete for the CPUs; wait until they are done",
                )),
                format!(
                    "load {load:.2} on {cpus} CPU{}",
                    if cpus == 1 { "" } else { "s" }
                ),
            ),
        },
        match machine.cpu_pressure_avg10 {
            None => unknown("cpu_pressure", NOT_REPORTED, WAIT),
            Some(percent) => finding(
                "cpu_pressure",
                (percent > MAX_PRESSURE_PERCENT).then_some((
                    Level::Warning,
                    "other programs keep the CPUs busy; wait until they are done",
                )),
                format!("some task waited for a CPU {percent:.1} % of the last 10 s"),
            ),
        },
    ]
}
