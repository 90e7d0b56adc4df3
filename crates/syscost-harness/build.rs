//! Passes facts about the build to the program, which records them in the run document.

use std::env;
use std::process::Command;

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    println!("cargo::rustc-env=SYSCOST_TARGET={}", variable("TARGET"));
    let profile = if variable("DEBUG_ASSERTIONS").is_empty() && variable("OPT_LEVEL") != "0" {
        "release"
    } else {
        "debug"
    };
    println!("cargo::rustc-env=SYSCOST_PROFILE={profile}");
    println!(
        "cargo::rustc-env=SYSCOST_RUSTC={}",
        output(&variable("RUSTC"), &["--version"])
    );
    println!("cargo::rerun-if-changed=build.rs");
}

fn output(program: &str, arguments: &[&str]) -> String {
    Command::new(program)
        .args(arguments)
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}
