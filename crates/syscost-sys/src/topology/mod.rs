//! Which processors share a core, a cache, a package or a memory node, from /sys/devices/system.

mod read;
mod relation;

pub use relation::Relation;

/// The processors of a machine that are online.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// By number.
    pub cpus: Vec<Cpu>,
}

/// One logical processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// Its number, as in every list of processors.
    pub cpu: u32,
    /// Its core's number, unique within the package.
    pub core: u32,
    /// Its package (socket).
    pub package: u32,
    /// Its memory node; 0 on a machine without any.
    pub node: u32,
    /// The other processors of the same core, by number; empty without SMT.
    pub smt_siblings: Vec<u32>,
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
    /// Its size in bytes; 0 where the system does not report it.
    pub size_bytes: u64,
    /// The length of a line in bytes; 0 where the system does not report it.
    pub line_bytes: u32,
    /// The processors that share it, by number.
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

    /// How many packages (sockets) there are.
    pub fn packages(&self) -> usize {
        self.count(|cpu| cpu.package)
    }

    /// How many cores there are, SMT siblings counted once.
    pub fn cores(&self) -> usize {
        self.count(|cpu| {
            cpu.smt_siblings
                .first()
                .map_or(cpu.cpu, |&first| first.min(cpu.cpu))
        })
    }

    /// How many memory nodes have processors.
    pub fn nodes(&self) -> usize {
        self.count(|cpu| cpu.node)
    }

    fn count(&self, key: impl Fn(&Cpu) -> u32) -> usize {
        self.cpus
            .iter()
            .map(key)
            .collect::<std::collections::BTreeSet<_>>()
            .len()
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
