//! The facts of this machine, read from `/proc` and `/sys`. What cannot be read stays null.

mod arm;
mod firmware;
mod host;
mod processor;
mod tree;

use std::path::Path;
use std::sync::OnceLock;

use rustix::system::uname;
use serde_json::Value;
use syscost_results::facts::{self, Affects, Varies};
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
    if machine.is_of_windows() {
        // This guest has no firmware that names it.
        machine.hypervisor = Known::Yes("Hyper-V".to_owned());
    }
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
        commit: COMMIT.get().map(|commit| (*commit).to_owned()),
    }
}

/// The commit that this program was built of, if it was said.
static COMMIT: OnceLock<&str> = OnceLock::new();

/// Says before anything is captured which commit this program was built of, which the program's own crate alone knows.
pub fn set_commit(commit: &'static str) {
    COMMIT.get_or_init(|| commit);
}

/// What is changed by the facts that distinguish one machine and system from another.
pub const IDENTITY: &[Affects] = &[Affects::Processor, Affects::Kernel, Affects::Method];

/// What is changed by the facts that have to stay the same for a run to be continued. It notices itself which
/// CPUs it may use, and what it is given of them.
pub(crate) const COSTS: &[Affects] = &[
    Affects::Processor,
    Affects::Frequency,
    Affects::Kernel,
    Affects::Memory,
    Affects::Waking,
    Affects::Clock,
    Affects::Method,
];

/// The first fact that is another one on `now` than on `then`, of those that change this, or whose host
/// it is; `None` if all are the same.
pub fn difference(then: &Machine, now: &Machine, changing: &[Affects]) -> Option<String> {
    let [then, now] = [then, now].map(|machine| {
        let compared = machine.facts().into_iter().filter(|(path, _)| {
            path == "machine.hostname"
                || facts::varies(path) == Varies::Never && changing.contains(&facts::affects(path))
        });
        compared.collect::<Vec<(String, Value)>>()
    });
    let differing = then.iter().find(|fact| !now.contains(fact));
    let (path, _) = differing.or_else(|| now.iter().find(|fact| !then.contains(fact)))?;
    let shown = |facts: &[(String, Value)]| match facts.iter().find(|(one, _)| one == path) {
        None => "unknown".to_owned(),
        Some((_, Value::String(text))) => format!("`{text}`"),
        Some((_, value)) => format!("`{value}`"),
    };
    let (then, now) = (shown(&then), shown(&now));
    Some(format!(
        "its {} was {then}, this one is {now}",
        facts::words(path)
    ))
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
        assert_eq!(difference(&machine, &capture(), COSTS), None);
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
    fn what_changes_costs_cannot_continue_a_run_and_what_the_hour_brings_can() {
        let then = Machine {
            kernel: "Linux 6.1".into(),
            kernel_cmdline: Some("quiet".into()),
            mitigations: [("meltdown".into(), "Mitigation: PTI".into())].into(),
            load1: Some(1.0),
            cpus_allowed: 2,
            ..Machine::default()
        };
        let seen = |change: fn(&mut Machine), changing| {
            let mut now = then.clone();
            change(&mut now);
            difference(&then, &now, changing)
        };
        for (change, expected) in [
            (
                (|now| now.kernel = "Linux 6.2".into()) as fn(&mut Machine),
                "its kernel was `Linux 6.1`, this one is `Linux 6.2`",
            ),
            (
                |now| now.mitigations = [("meltdown".into(), "Vulnerable".into())].into(),
                "its mitigations, meltdown was `Mitigation: PTI`, this one is `Vulnerable`",
            ),
            (
                |now| now.kernel_cmdline = Some("quiet mitigations=off".into()),
                "its kernel's command line, mitigations was unknown, this one is `off`",
            ),
            (
                |now| now.hostname = "another".into(),
                "its host name was ``, this one is `another`",
            ),
        ] {
            assert_eq!(seen(change, IDENTITY).as_deref(), Some(expected));
        }
        let hugepages = |now: &mut Machine| now.transparent_hugepages = Some("never".into());
        assert_eq!(seen(hugepages, IDENTITY), None);
        assert!(seen(hugepages, COSTS).is_some());
        let hour = |now: &mut Machine| (now.load1, now.cpus_allowed) = (Some(9.0), 1);
        assert_eq!(seen(hour, COSTS), None);
    }

    #[test]
    fn a_container_of_gvisor_is_known_by_its_kernel() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/machines/gvisor");
        let topology = Topology::read(&root.join("sys"), &[]);
        let machine = capture_tree(&root, &topology, &[0, 1]);
        assert_eq!(machine.imitation(), Some("gVisor"));
        assert_eq!((machine.cpus_online, machine.cores), (2, None));
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
