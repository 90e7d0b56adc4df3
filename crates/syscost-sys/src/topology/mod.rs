//! Which processors share a core, a cache, a package or a memory node, from /sys/devices/system.

mod pretended;
mod read;
mod relation;

use std::collections::BTreeSet;

pub(crate) use pretended::allowed as pretended_cpus;
pub use pretended::pretending;
pub use relation::Relation;

/// The processors of a machine that are online.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// By number.
    pub cpus: Vec<Cpu>,
    /// The memory nodes, those without processors too; empty on a kernel without NUMA.
    pub nodes: Vec<u32>,
}

/// One logical processor. What the system does not report is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Its number, as in every list of processors.
    pub cpu: u32,
    /// Its package (socket), unique within the machine.
    pub package: Option<u32>,
    /// Its memory node.
    pub node: Option<u32>,
    /// The other processors of the same core, by number; empty without SMT.
    pub smt_siblings: Option<Vec<u32>>,
    /// Its caches, the nearest first; empty where a hypervisor does not report them.
    pub caches: Vec<Cache>,
}

/// One cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Its size in bytes; `None` where the system does not report it.
    pub size_bytes: Option<u64>,
    /// The length of a line in bytes; `None` where the system does not report it.
    pub line_bytes: Option<u32>,
    /// The processors that share it, by number; empty where the system does not report them.
    pub shared_cpus: Vec<u32>,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Data and instructions.
    Unified,
}

impl Topology {
    /// The processor of this number, if it is online.
    pub fn cpu(&self, number: u32) -> Option<&Cpu> {
        self.cpus.iter().find(|cpu| cpu.cpu == number)
    }

    /// How many packages (sockets) there are; `None` where that of a processor is not known.
    pub fn packages(&self) -> Option<usize> {
        self.count(|cpu| cpu.package)
    }

    /// How many cores there are, SMT siblings counted once; `None` where those of a processor are
    /// not known.
    pub fn cores(&self) -> Option<usize> {
        self.count(|cpu| {
            let siblings = cpu.smt_siblings.as_ref()?.iter();
            siblings.chain([&cpu.cpu]).min().copied()
        })
    }

    fn count(&self, key: impl Fn(&Cpu) -> Option<u32>) -> Option<usize> {
        let keys: Option<BTreeSet<u32>> = self.cpus.iter().map(key).collect();
        keys.map(|keys| keys.len()).filter(|count| *count > 0)
    }
}

impl Cpu {
    /// The data or unified cache of this level.
    pub fn data_cache(&self, level: u32) -> Option<&Cache> {
        self.caches
            .iter()
            .find(|cache| cache.level == level && cache.kind != CacheKind::Instruction)
    }

    /// The data or unified cache farthest from the core.
    pub fn last_level_cache(&self) -> Option<&Cache> {
        self.caches
            .iter()
            .filter(|cache| cache.kind != CacheKind::Instruction)
            .max_by_key(|cache| cache.level)
    }
}
