//! Many machines: collecting their documents, tables of them, and which are not like the others.
//!
//! - [`folder`]: the directory of a collection, and what became of every node.
//! - [`engine`]: how nodes are reached: through Slurm or Ansible, which do all the work there.
//! - [`mod@net`]: the network between every pair of nodes; which links of it are slow, [`slow_links`].

pub mod engine;
pub mod folder;
pub mod net;
mod node_name;
pub mod slow_links;
pub mod tournament;

pub use node_name::NodeName;
