//! Tasks started to work with the calling one: threads of this process or processes of their own,
//! pinned, and ended when their creator ends, for whatever reason.

mod shared;
mod slot;
mod start;

pub use shared::Shared;
pub use slot::Slot;
pub use start::{Between, Partner, PartnerError};
