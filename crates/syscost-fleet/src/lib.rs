//! Many machines: collecting their documents, tables of them, and which are not like the others.
//!
//! - [`folder`]: the directory of a collection, and what became of every node.
//! - [`engine`]: how nodes are reached: through Slurm or Ansible, which do all the work there.

pub mod engine;
pub mod folder;
mod node_name;

pub use node_name::NodeName;
