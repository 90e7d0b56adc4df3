//! Connections that carry a stream of bytes.
