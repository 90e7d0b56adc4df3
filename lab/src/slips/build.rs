//! The copy of the sources with slips, and the worker that is built of it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xtask::{cargo, workspace};

use super::list::{self, Slip};

/// The environment variable with the number of the slip that a worker makes.
pub(super) const VARIABLE: &str = "SYSCOST_SLIP";

/// The end of each crate's library: whether the worker makes this slip.
const CHOSEN: &str = r#"
pub(crate) fn slip(number: u32) -> bool {
    static CHOSEN: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
        let number = std::env::var("SYSCOST_SLIP").ok();
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    });
    *CHOSEN == number
}
"#;

/// A program that is nothing but a worker, so that little is built.
const WORKER: &str = r#"
fn main() -> std::io::Result<()> {
    syscost_sys::process::survive_failed_writes();
    syscost_sys::process::reset_signals();
    syscost_sys::process::reset_settings();
    match std::env::args().nth(2) {
        Some(_) => syscost_harness::worker::print_about("0"),
        None => syscost_harness::worker::run(&syscost_benches::CATALOGUE),
    }
}
"#;

/// Builds the worker with these slips, in `target/slips`.
pub(super) fn worker(slips: &[Slip]) -> Result<PathBuf> {
    let copy = workspace::root().join("target/slips");
    copy_sources(workspace::root(), &copy, slips)?;
    let status = cargo::command()
        .args(["build", "--package", "syscost-benches", "--bin", "worker"])
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", copy.join("target"))
        .status()
        .context("starting cargo")?;
    ensure!(status.success(), "the copy with slips cannot be built");
    Ok(copy.join("target/debug/worker"))
}

fn copy_sources(from: &Path, to: &Path, slips: &[Slip]) -> Result<()> {
    // Slips may leave code unused, and have parentheses that are not needed.
    let lints = "[workspace.lints.rust]\n";
    let manifest = read(&from.join("Cargo.toml"))?
        .replace("= \"deny\"", "= \"allow\"")
        .replace(lints, &format!("{lints}warnings = \"allow\"\n"))
        .replace("\"lab\"", "");
    write(&to.join("Cargo.toml"), &manifest)?;
    write(&to.join("Cargo.lock"), &read(&from.join("Cargo.lock"))?)?;
    copy_folder(
        &from.join("crates"),
        &to.join("crates"),
        &mut |path, text| {
            let path = path.strip_prefix(from.join("crates")).unwrap_or(path);
            let slipped = list::with_slips(slips, path, text)?;
            let mut text = slipped.unwrap_or_else(|| text.to_owned());
            if path.ends_with("src/lib.rs") {
                text += CHOSEN;
            }
            Ok(text)
        },
    )?;
    write(&to.join("crates/syscost-benches/src/bin/worker.rs"), WORKER)
}

/// Copies a folder, its Rust files as `changed` makes them.
fn copy_folder(
    from: &Path,
    to: &Path,
    changed: &mut dyn FnMut(&Path, &str) -> Result<String>,
) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("making {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let path = entry.context("reading a folder")?.path();
        let copy = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &copy, changed)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            write(&copy, &changed(&path, &read(&path)?)?)?;
        } else {
            let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            write_bytes(&copy, &bytes)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_bytes(path, text.as_bytes())
}

/// Writes a file unless it has these contents already, so that cargo builds no more than is new.
fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|known| known == bytes) {
        return Ok(());
    }
    let writing = || format!("writing {}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).with_context(writing)?;
    fs::write(path, bytes).with_context(writing)
}
