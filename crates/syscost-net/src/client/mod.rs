//! The measuring end: a session with a server, and sockets connected to its services.

mod error;
mod opened;
mod session;

pub use error::ClientError;
pub use opened::Opened;
pub use session::Session;
