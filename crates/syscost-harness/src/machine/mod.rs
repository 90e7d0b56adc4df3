//! The facts of this machine, read from `/proc` and `/sys`. What cannot be read stays null.

mod arm;
mod firmware;
mod host;
mod processor;
mod tree;

use std::path::Path;

use rustix::system::uname;
use syscost_results::machine::Build;
use syscost_results::{Known, Machine};
use syscost_sys::topology::Topology;
use syscost_sys::{cpu, platform, process};

use tree::Tree;

/// Reads the facts of this machine; those that may differ from CPU to CPU, of all that this process
/// may use.
pub fn capture() -> Machine {
    let allowed = cpu::allowed().unwrap_or_default();
    let mut machine = capture_tree(Path::new("/"), Topology::here(), &allowed);
    if machine.hostname.is_empty() {
        // A /proc may show processes only.
        machine.hostname = uname().nodename().to_string_lossy().into_owned();
    }
    machine.kernel = format!("Linux {}", uname().release().to_string_lossy());
    machine.libc = platform::c_library();
    machine.scheduling = process::scheduling().ok().map(|own| own.to_string());
    if let Some(name) = platform::hypervisor() {
        machine.hypervisor = Known::Yes(name);
    }
    machine
}

/// Restricts the facts that may differ from CPU to CPU to those of these, which measure.
pub fn describe(machine: &mut Machine, cpus: &[u32]) {
    Tree::new(Path::new("/")).describe(machine, Topology::here(), cpus);
}

/// Reads the facts below a root folder: `/`, or a recorded machine, of which `allowed` may be used.
pub fn capture_tree(root: &Path, topology: &Topology, allowed: &[u32]) -> Machine {
    let tree = Tree::new(root);
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let memory = |key: &str| tree.keyed("proc/meminfo", key).map(|kib| kib * 1024);
    let cpus = topology.cpus.len();
    let version = tree.text("proc/version").unwrap_or_default();
    let (quota, memory_limit) = tree.cgroup_limits();
    let mut machine = Machine {
        hostname: tree.text("proc/sys/kernel/hostname").unwrap_or_default(),
        arch: env!("SYSCOST_TARGET")
            .split('-')
            .next()
            .unwrap_or_default()
            .to_owned(),
        cpus_online: cpus as u32,
        cpus_allowed: allowed.len() as u32,
        cores: topology.cores().map(|cores| cores as u32),
        sockets: topology.packages().map(|packages| packages as u32),
        smt: topology.cores().map(|cores| cores < cpus),
        numa_nodes: Some(topology.nodes.len() as u32).filter(|nodes| *nodes > 0),
        memory_bytes: memory("MemTotal:"),
        swap_bytes: memory("SwapTotal:"),
        kernel: format!(
            "Linux {}",
            tree.text("proc/sys/kernel/osrelease").unwrap_or_default()
        ),
        kernel_version: Some(version).filter(|text| !text.is_empty()),
        kernel_cmdline: tree.text("proc/cmdline"),
        distribution: ["etc/os-release", "usr/lib/os-release"]
            .iter()
            .find_map(|path| tree.assignment(path, "PRETTY_NAME")),
        hypervisor: tree.hypervisor(&cpuinfo),
        container: tree.container(),
        mitigations: tree.folder("sys/devices/system/cpu/vulnerabilities"),
        turbo: tree.turbo(),
        idle_driver: tree.text("sys/devices/system/cpu/cpuidle/current_driver"),
        idle_governor: tree
            .text("sys/devices/system/cpu/cpuidle/current_governor")
            // Its name where it cannot be changed.
            .or_else(|| tree.text("sys/devices/system/cpu/cpuidle/current_governor_ro")),
        guest_halt_poll_ns: tree.number("sys/module/haltpoll/parameters/guest_halt_poll_ns"),
        clocksource: tree.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        transparent_hugepages: tree.choice("sys/kernel/mm/transparent_hugepage/enabled"),
        overcommit_memory: tree.number("proc/sys/vm/overcommit_memory"),
        aslr: tree.number("proc/sys/kernel/randomize_va_space"),
        perf_event_paranoid: tree.number("proc/sys/kernel/perf_event_paranoid"),
        cgroup_cpu_quota: quota,
        cgroup_memory_bytes: memory_limit,
        load1: tree.first_word("proc/loadavg"),
        cpu_pressure_avg10: tree.pressure("proc/pressure/cpu"),
        libc: String::new(),
        build: build(),
        // Entered below.
        ..Machine::default()
    };
    tree.describe_firmware(&mut machine);
    tree.describe(&mut machine, topology, allowed);
    machine
}

/// How this program was built.
pub fn build() -> Build {
    Build {
        target: env!("SYSCOST_TARGET").to_owned(),
        rustc: env!("SYSCOST_RUSTC").to_owned(),
        profile: env!("SYSCOST_PROFILE").to_owned(),
        commit: Some(env!("SYSCOST_COMMIT").to_owned()).filter(|commit| !commit.is_empty()),
    }
}

/// Why rounds measured on `then` cannot be continued on `now`, or `None` if they can.
pub fn difference(then: &Machine, now: &Machine) -> Option<String> {
    let build = |machine: &Machine| {
        format!(
            "{} {}",
            machine.build.profile,
            machine.build.commit.as_deref().unwrap_or("")
        )
    };
    let builds = (build(then), build(now));
    let facts = [
        ("build of syscost", &builds.0, &builds.1),
        ("host", &then.hostname, &now.hostname),
        ("CPU", &then.cpu_model, &now.cpu_model),
        ("kernel", &then.kernel, &now.kernel),
        ("C library", &then.libc, &now.libc),
    ];
    facts
        .into_iter()
        .find(|(_, a, b)| a != b)
        .map(|(what, a, b)| format!("its {what} was `{a}`, this one is `{b}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_kernel_and_cpus() {
        let machine = capture();
        assert!(machine.kernel.len() > "Linux ".len());
        assert!(machine.cpus_online >= 1);
        assert!(machine.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert_eq!(difference(&machine, &machine), None);
    }

    #[test]
    fn how_idle_cpus_wait_is_read() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("has a parent")).expect("make the folder");
            std::fs::write(path, text).expect("write the file");
        };
        write(
            "sys/devices/system/cpu/cpuidle/current_driver",
            "haltpoll\n",
        );
        write(
            "sys/devices/system/cpu/cpuidle/current_governor_ro",
            "haltpoll\n",
        );
        write("sys/module/haltpoll/parameters/guest_halt_poll_ns", "0\n");
        assert_eq!(
            capture_tree(root.path(), &Topology::default(), &[])
                .idle()
                .as_deref(),
            Some("driver haltpoll, governor haltpoll, no polling by the guest")
        );
    }

    #[test]
    fn another_kernel_cannot_continue_a_run() {
        let then = Machine {
            kernel: "Linux 6.1".into(),
            ..Machine::default()
        };
        let now = Machine {
            kernel: "Linux 6.2".into(),
            ..Machine::default()
        };
        assert_eq!(
            difference(&then, &now).as_deref(),
            Some("its kernel was `Linux 6.1`, this one is `Linux 6.2`")
        );
    }

    #[test]
    fn an_empty_tree_yields_nulls_not_guesses() {
        let empty = tempfile::tempdir().expect("a temporary folder");
        let machine = capture_tree(empty.path(), &Topology::default(), &[]);
        assert_eq!(machine.numa_nodes, None);
        assert_eq!(machine.cores, None);
        assert_eq!(machine.governor, None);
        assert_eq!(machine.memory_bytes, None);
        assert_eq!(machine.hypervisor, Known::Unknown);
        assert_eq!(machine.container, Known::Unknown);
        assert!(machine.mitigations.is_empty());
    }
}
