//! Echoes of the kernel at the other end.
