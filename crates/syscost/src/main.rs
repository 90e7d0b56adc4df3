//! The binary; all code is in the library of the same name.

use std::process::ExitCode;

fn main() -> ExitCode {
    syscost::main().into()
}
