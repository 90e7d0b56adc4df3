//! Refuses what cannot be measured in one line, which hundreds of errors of the compiler would bury.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of_target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let (os, arch) = (of_target("OS"), of_target("ARCH"));
    if os != "linux" || !["x86_64", "aarch64"].contains(&arch.as_str()) {
        println!(
            "cargo::error=syscost measures Linux on x86-64 and aarch64 only, and this is {os} on {arch}: build it in a \
             Linux virtual machine or container (WSL 2 on Windows)"
        );
    }
}
