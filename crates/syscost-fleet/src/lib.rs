//! Many machines: collecting their documents, and which are not like the others.
//!
//! - [`engine`]: how nodes are reached: through Slurm or Ansible, which do all the work there. [`folder`]: the directory of a
//!   collection, and what became of every node.
//! - [`mod@collection`]: finds and reads documents. [`fleet`]: their figures and facts, small.
//! - `deviation`: how far a machine's figure is from those of machines like it.
//! - `judge`: which machines are not like the others of their `cohort`; `reasons`: what is different about them; `drift`: what
//!   changed, and since when. [`report`]: all of it in words.
//! - [`facts`]: what is recorded of a machine. [`baseline`]: what machines of each kind cost, in a file.
//! - [`check`]: whether one machine is as it should be.
//! - [`template`]: the files that other programs need to measure or check machines.

pub mod baseline;
pub mod check;
mod cohort;
pub mod collection;
mod deviation;
mod drift;
pub mod engine;
pub mod facts;
pub mod fleet;
pub mod folder;
mod harmless;
mod judge;
mod node_name;
pub mod program;
mod reasons;
pub mod report;
pub mod template;

pub use node_name::NodeName;

#[cfg(test)]
mod fixture {
    use syscost_results::{Run, document};

    /// The recorded quick run, with its samples.
    pub(crate) fn run() -> Run {
        let document = include_bytes!("../../../fixtures/runs/quick.json");
        document::read(document).expect("a run document")
    }
}
