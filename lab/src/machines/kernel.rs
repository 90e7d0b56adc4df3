//! The kernels that machines boot: of a package, or built of one with the source.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use glob::glob;

use super::list::{Arch, Machine};
use super::packages::{Packages, run};

/// What a kernel that is built has, beside the smallest configuration.
const CONFIGURATION: &str = include_str!("kernel.config");

/// The kernel of this machine.
pub(super) fn of(machine: &Machine, packages: &Packages) -> Result<PathBuf> {
    let [suite, package] = &machine.kernel;
    let folder = packages.unpacked(suite, machine.arch, package)?;
    if let Some(archive) = first(&folder, "usr/src/linux-source-*.tar.xz")? {
        let built = folder.join(format!("kernel-{:016x}", hash(&configuration(machine))));
        if !built.exists() {
            let tree = folder.join("tree");
            let image = build(machine, &archive, &tree).context("building a kernel")?;
            fs::rename(&image, &built).with_context(|| format!("naming {}", built.display()))?;
            fs::remove_dir_all(&tree).with_context(|| format!("removing {}", tree.display()))?;
        }
        return Ok(built);
    }
    // Where it is has changed with Debian 14.
    for place in ["boot/vmlinuz-*", "usr/lib/modules/*/vmlinuz"] {
        if let Some(kernel) = first(&folder, place)? {
            return Ok(kernel);
        }
    }
    bail!("{} has no kernel", folder.display())
}

/// The first file of this folder that fits a pattern.
fn first(folder: &Path, pattern: &str) -> Result<Option<PathBuf>> {
    let pattern = folder.join(pattern).display().to_string();
    Ok(glob(&pattern)?.flatten().next())
}

fn configuration(machine: &Machine) -> String {
    format!("{CONFIGURATION}CONFIG_ARM64_{}K_PAGES=y\n", machine.pages)
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Builds the kernel of an archived source for an Arm machine, with pages of its size, in this folder.
fn build(machine: &Machine, archive: &Path, tree: &Path) -> Result<PathBuf> {
    if machine.arch != Arch::Arm {
        bail!("only those for Arm have been built");
    }
    let _ = fs::remove_dir_all(tree);
    fs::create_dir(tree).with_context(|| format!("making {}", tree.display()))?;
    eprintln!("building the kernel for {}: it takes minutes", machine.name);
    run(Command::new("tar")
        .arg("--extract")
        .args(["--strip-components", "1", "--file"])
        .arg(archive)
        .current_dir(tree))?;
    let make = |targets: &[&str]| {
        let mut make = Command::new("make");
        make.args(["-s", "ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-"]);
        run(make.args(targets).current_dir(tree))
    };
    make(&["tinyconfig"])?;
    let path = tree.join(".config");
    let read = || fs::read_to_string(&path).context("reading a configuration");
    let wanted = configuration(machine);
    fs::write(&path, read()? + &wanted).context("writing a configuration")?;
    make(&["olddefconfig"])?;
    // What depends on something else is left out in silence.
    let made = read()?;
    let is_missing = |line: &&str| !made.lines().any(|one| one == *line);
    let missing: Vec<&str> = wanted.lines().filter(is_missing).collect();
    ensure!(
        missing.is_empty(),
        "this kernel has not: {}",
        missing.join(" ")
    );
    let cpus = thread::available_parallelism().map_or(1, Into::into);
    make(&["-j", &cpus.to_string(), "Image"])?;
    Ok(tree.join("arch/arm64/boot/Image"))
}
