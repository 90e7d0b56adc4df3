//! The facts that may differ from CPU to CPU: a hybrid processor has cores of several kinds.

use std::collections::BTreeSet;

use syscost_results::Machine;
use syscost_results::machine::Cache;
use syscost_sys::topology::{self, CacheKind, Topology};

use super::arm;
use super::tree::Tree;

/// Fields that hold the name of a processor, by architecture: most of them; LoongArch; RISC-V;
/// POWER and SPARC.
const NAMES: [&str; 4] = ["model name", "Model Name", "uarch", "cpu"];

impl Tree<'_> {
    /// Enters what is true of these CPUs, and not of all others of the machine.
    pub(super) fn describe(&self, machine: &mut Machine, topology: &Topology, cpus: &[u32]) {
        let cpuinfo = self.text("proc/cpuinfo").unwrap_or_default();
        let all = Processors::of(&cpuinfo);
        let processors: Vec<Processor<'_>> = cpus.iter().map(|cpu| all.processor(*cpu)).collect();
        let file = |file: &str| {
            let path = |cpu| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{file}");
            joined(cpus.iter().filter_map(|cpu| self.text(&path(*cpu))))
        };
        let model = joined(processors.iter().filter_map(Processor::model));
        machine.cpu_model = model.unwrap_or_else(|| "unknown".to_owned());
        machine.cpu_vendor = joined(processors.iter().filter_map(Processor::vendor));
        machine.cpu_signature = joined(processors.iter().filter_map(Processor::signature));
        let microcode = processors.iter().filter_map(|one| one.field("microcode"));
        machine.microcode = joined(microcode.map(str::to_owned));
        machine.governor = file("scaling_governor");
        machine.frequency_driver = file("scaling_driver");
        let first = cpus.first().and_then(|cpu| topology.cpu(*cpu));
        machine.caches = first.map_or_else(Vec::new, |cpu| cpu.caches.iter().map(cache).collect());
    }
}

/// The different ones of these, in the order of their first appearance.
fn joined(values: impl Iterator<Item = String>) -> Option<String> {
    let mut seen = BTreeSet::new();
    let different: Vec<String> = values.filter(|value| seen.insert(value.clone())).collect();
    (!different.is_empty()).then(|| different.join(", "))
}

fn cache(cache: &topology::Cache) -> Cache {
    Cache {
        level: cache.level,
        kind: match cache.kind {
            CacheKind::Data => "data",
            CacheKind::Instruction => "instruction",
            CacheKind::Unified => "unified",
        }
        .to_owned(),
        size_bytes: cache.size_bytes,
        line_bytes: cache.line_bytes,
        shared_by: Some(cache.shared_cpus.len() as u32).filter(|cpus| *cpus > 0),
    }
}

/// What `/proc/cpuinfo` says: a paragraph for each CPU on most architectures, and what is common to
/// all.
struct Processors<'a> {
    paragraphs: Vec<(u32, &'a str)>,
    common: Vec<&'a str>,
}

impl<'a> Processors<'a> {
    fn of(cpuinfo: &'a str) -> Self {
        let (mut paragraphs, mut common) = (Vec::new(), Vec::new());
        for paragraph in cpuinfo.split("\n\n") {
            match field(paragraph, "processor").and_then(|number| number.parse().ok()) {
                Some(cpu) => paragraphs.push((cpu, paragraph)),
                None => common.push(paragraph),
            }
        }
        Self { paragraphs, common }
    }

    /// What is said of this CPU; of the first, where it has another number in a container.
    fn processor(&self, cpu: u32) -> Processor<'a> {
        let mut all = self.paragraphs.iter();
        let own = all.find(|(number, _)| *number == cpu);
        let own = own.or(self.paragraphs.first());
        let common = self.common.iter().copied();
        Processor {
            texts: own
                .map(|(_, text)| *text)
                .into_iter()
                .chain(common)
                .collect(),
            cpu,
        }
    }
}

/// What `/proc/cpuinfo` says of one CPU.
struct Processor<'a> {
    /// Its own paragraph first.
    texts: Vec<&'a str>,
    cpu: u32,
}

impl<'a> Processor<'a> {
    fn field(&self, name: &str) -> Option<&'a str> {
        self.texts.iter().find_map(|text| field(text, name))
    }

    fn number(&self, name: &str) -> Option<u32> {
        let text = self.field(name)?;
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// The name of its kind. ARM's processors have numbers, and s390's that of their machine.
    fn model(&self) -> Option<String> {
        let arm = self.arm().and_then(|(who, part)| arm::model(who, part));
        let named = || {
            NAMES
                .iter()
                .find_map(|name| self.field(name))
                .map(str::to_owned)
        };
        let numbered = || {
            let (who, part) = self.arm()?;
            let maker = arm::maker(who).map_or_else(|| format!("{who:#04x}"), str::to_owned);
            Some(format!("{maker} part {part:#05x}"))
        };
        let of_machine = || {
            let line = self.field(&format!("processor {}", self.cpu))?;
            Some(format!("machine type {}", line.split_once("machine = ")?.1))
        };
        let arm = arm.map(str::to_owned);
        arm.or_else(named).or_else(numbered).or_else(of_machine)
    }

    /// Implementer and part.
    fn arm(&self) -> Option<(u32, u32)> {
        self.number("CPU implementer").zip(self.number("CPU part"))
    }

    fn vendor(&self) -> Option<String> {
        let arm = || {
            let who = self.number("CPU implementer")?;
            Some(arm::maker(who).map_or_else(|| format!("{who:#04x}"), str::to_owned))
        };
        let named = self.field("vendor_id").map(str::to_owned);
        named.or_else(arm)
    }

    fn signature(&self) -> Option<String> {
        let x86 = ["cpu family", "model", "stepping"].map(|name| self.field(name));
        if let [Some(family), Some(model), Some(stepping)] = x86 {
            return Some(format!("family {family} model {model} stepping {stepping}"));
        }
        self.arm()?;
        let (variant, revision) = self
            .number("CPU variant")
            .zip(self.number("CPU revision"))?;
        Some(format!("r{variant}p{revision}"))
    }
}

/// The value of `name : value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name && !value.trim().is_empty()).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(cpuinfo: &str, cpus: &[u32]) -> Option<String> {
        let all = Processors::of(cpuinfo);
        joined(cpus.iter().filter_map(|cpu| all.processor(*cpu).model()))
    }

    #[test]
    fn each_kind_of_core_is_named() {
        let phone = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd46\n\n\
                     processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd4e\n\n\
                     processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xfff\n\n\
                     Hardware\t: a board\n";
        assert_eq!(models(phone, &[1]).as_deref(), Some("Cortex-X3"));
        assert_eq!(
            models(phone, &[0, 1, 0, 2]).as_deref(),
            Some("Cortex-A510, Cortex-X3, ARM part 0xfff")
        );
        assert_eq!(models(phone, &[]), None);
    }

    #[test]
    fn what_is_said_once_is_true_of_all() {
        let old = "Processor\t: ARMv7 Processor rev 4 (v7l)\nprocessor\t: 0\n\n\
                   processor\t: 1\n\nCPU implementer\t: 0x41\nCPU variant\t: 0x0\n\
                   CPU part\t: 0xc0f\nCPU revision\t: 4\n";
        let second = Processors::of(old).processor(1);
        assert_eq!(second.model().as_deref(), Some("Cortex-A15"));
        assert_eq!(second.vendor().as_deref(), Some("ARM"));
        assert_eq!(second.signature().as_deref(), Some("r0p4"));
        let mainframe = "vendor_id       : IBM/S390\n\
                         processor 1: version = 00,  identification = 279F25,  machine = 2817\n";
        assert_eq!(
            models(mainframe, &[1]).as_deref(),
            Some("machine type 2817")
        );
        assert_eq!(models("isa\t: rv64imafdc\n", &[0]), None);
    }
}
