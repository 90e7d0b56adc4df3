//! Passes facts about the build to the program, which records them in the run document.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

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
    println!(
        "cargo::rustc-env=SYSCOST_COMMIT={}",
        commit().unwrap_or_default()
    );
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SYSCOST_COMMIT");
}

/// The commit: the one that the environment says (a source archive sets it), that cargo wrote into
/// a packed crate, or that this repository is at (no other, which an archive may be unpacked in).
fn commit() -> Option<String> {
    let given = env::var("SYSCOST_COMMIT").ok();
    let packed = || {
        let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
        let (_, rest) = text.split_once("\"sha1\": \"")?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let repository = || {
        let head = Path::new("../../.git/HEAD");
        if !head.exists() {
            return None;
        }
        println!("cargo::rerun-if-changed={}", head.display());
        Some(output("git", &["rev-parse", "HEAD"]))
    };
    let whole = given.or_else(packed).or_else(repository)?;
    // What follows the digits tells of changes since: `-dirty`.
    let (digits, changes) = whole.split_at(whole.find('-').unwrap_or(whole.len()));
    Some(digits.chars().take(12).chain(changes.chars()).collect())
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
