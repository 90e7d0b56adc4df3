//! Memory of a certain NUMA node.

use std::fs;
use std::path::Path;

use super::{Memory, Pages, half_of};
use crate::{Unsupported, cpu, os};

/// Number of pages whose node is checked.
const ASKED: usize = 512;

/// The numbers of the nodes that have memory; only node 0 on a kernel without NUMA.
pub fn nodes() -> Vec<u32> {
    let list = cpu::file_text(Path::new("/sys/devices/system/node/has_memory"));
    let nodes = list.and_then(|text| cpu::parse_list(&text).ok());
    nodes
        .filter(|nodes| !nodes.is_empty())
        .unwrap_or_else(|| vec![0])
}

/// What can be taken on a node according to its meminfo, in bytes: free memory, and the cache of
/// inactive files.
fn free_bytes(meminfo: &str) -> Option<u64> {
    let kib = |name: &str| -> Option<u64> {
        let value = meminfo
            .lines()
            .find_map(|line| Some(line.split_once(name)?.1))?;
        value.trim().strip_suffix(" kB")?.parse().ok()
    };
    Some((kib(" MemFree:")? + kib(" Inactive(file):").unwrap_or(0)) << 10)
}

impl Memory {
    /// As [`Memory::fill`], with memory of this node only.
    ///
    /// # Errors
    /// As [`Memory::fill`], and when there is no such node, it has less than twice as much free, or
    /// this process may not use it.
    pub fn fill_on(bytes: usize, pages: Pages, node: u32) -> Result<Self, Unsupported> {
        let memory = Self::reserve(bytes, pages)?;
        let meminfo = format!("/sys/devices/system/node/node{node}/meminfo");
        let free = fs::read_to_string(meminfo)
            .ok()
            .and_then(|text| free_bytes(&text));
        // Pages of 1 GiB are set aside, and not part of the free memory.
        if let Some(free) = free.filter(|_| pages != Pages::Gigantic) {
            half_of(free, memory.bytes, &format!("free on node {node}"))?;
        }
        os::bind_to_node(memory.start, memory.bytes, node)
            .map_err(|cause| Unsupported::new(format!("mbind to node {node}: {cause}")))?;
        memory.filled()
    }

    /// How many of its pages, evenly spread, were checked for their node, and how many of these are
    /// on this one.
    ///
    /// # Errors
    /// `Unsupported` when the kernel does not report it.
    pub fn pages_on(&self, node: u32) -> Result<(usize, usize), Unsupported> {
        let page = self.pages.bytes()?;
        let pages = self.bytes / page;
        let step = pages.div_ceil(ASKED) * page;
        let asked: Vec<*mut u8> = (0..self.bytes)
            .step_by(step)
            .map(|offset| self.start.wrapping_add(offset))
            .collect();
        let nodes = os::nodes_of(&asked).map_err(|cause| {
            Unsupported::new(format!("move_pages, to ask where pages are: {cause}"))
        })?;
        let there = nodes.iter().filter(|on| **on == node as i32).count();
        Ok((asked.len(), there))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_on_the_node_it_was_bound_to_and_on_no_other() {
        for node in nodes() {
            let memory = or_skip!(Memory::fill_on(1 << 20, Pages::Small, node));
            match memory.pages_on(node) {
                Ok((asked, there)) => {
                    let pages = (1 << 20) / rustix::param::page_size();
                    assert_eq!((asked, there), (pages.min(ASKED), asked));
                    assert_eq!(memory.pages_on(node + 1).unwrap(), (asked, 0));
                }
                Err(reason) => println!("skipped: {reason}"),
            }
        }
    }

    #[test]
    fn what_is_free_on_a_node_is_read() {
        let meminfo = "Node 1 MemTotal:       9000 kB\nNode 1 MemFree:        4000 kB\nNode 1 Inactive(file):  50 kB\n";
        assert_eq!(free_bytes(meminfo), Some(4050 << 10));
        assert_eq!(free_bytes("Node 1 MemFree:   7 kB\n"), Some(7 << 10));
        assert_eq!(free_bytes("Node 1 MemTotal: 7 kB\n"), None);
    }

    #[test]
    fn a_node_that_is_not_there_is_refused() {
        let none = nodes().into_iter().max().unwrap_or(0) + 1;
        let reason = Memory::fill_on(1 << 20, Pages::Small, none)
            .unwrap_err()
            .to_string();
        assert!(
            reason.contains(&format!("node {none}")) || reason.contains("mmap"),
            "{reason}"
        );
    }
}
