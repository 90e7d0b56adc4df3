//! Tasks started to work with the calling one: threads of this process or processes of their own, pinned, and gone when
//! their maker is, whatever ends it.

mod shared;
mod slot;
mod start;

pub use shared::Shared;
pub use slot::Slot;
pub use start::{Between, Partner, PartnerError};
