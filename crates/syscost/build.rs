//! Passes the commit to the program, which records it in the run document: here, in the crate that is compiled
//! last, since what is compiled after each commit is compiled often.

use std::process::Command;
use std::{env, fs};

fn main() {
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
    let whole = given.or_else(packed).or_else(repository)?;
    // What follows the digits tells of changes since: `-dirty`.
    let (digits, changes) = whole.split_at(whole.find('-').unwrap_or(whole.len()));
    Some(digits.chars().take(12).chain(changes.chars()).collect())
}

fn packed() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

fn repository() -> Option<String> {
    if !fs::exists("../../.git").ok()? {
        return None;
    }
    // Each commit and each checkout is noted there; HEAD itself stays what it is while its branch moves.
    let noted = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={noted}");
    // What the program is made of.
    let own = ["..", "../../Cargo.toml", "../../Cargo.lock"];
    own.iter()
        .for_each(|path| println!("cargo::rerun-if-changed={path}"));
    let commit = git(&["rev-parse", "HEAD"])?;
    let status = [
        "--no-optional-locks",
        "status",
        "--porcelain",
        "--untracked-files=no",
    ];
    let changed = git(&[&status[..], &own].concat())?;
    Some(match changed.is_empty() {
        true => commit,
        false => format!("{commit}-dirty"),
    })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
