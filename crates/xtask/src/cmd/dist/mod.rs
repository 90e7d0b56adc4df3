//! `cargo xtask dist`: builds the static release, checks that it is static, and packs it: a Debian
//! package, an archive, the contents of a container image, and the source archive that makes it.

mod archive;
mod licenses;
mod package;
mod source;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::owner::Owner;
use archive::{Files, Packed};
use package::{Texts, VERSION, architecture};
use xtask::cargo::{self, Release};
use xtask::workspace;

/// The compiler that tells no paths, from the root.
const WRAPPER: &str = "scripts/rustc";

/// Arguments of `dist`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Targets to build for, this machine's without any: each has a package and an archive, and all are in the image
    #[arg(value_name = "TRIPLE")]
    targets: Vec<String>,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = fs::canonicalize(workspace::root()).context("looking for the workspace")?;
    let owner = Owner::of_workspace();
    if let Some(missing) = owner.missing() {
        println!("note: {missing}");
    }
    let host = host()?;
    let targets = match &*arguments.targets {
        [] => std::slice::from_ref(&host),
        targets => targets,
    };
    let commit = source::commit(&root)?;
    // A source archive's configuration tells which one it was made of.
    let revision = commit.clone().or_else(|| env::var("SYSCOST_COMMIT").ok());
    let name = format!("syscost-{VERSION}");
    let time = archive::time()?;
    let (sources, crates) = source::files(&root, &name, commit.as_deref())?;
    let with_others = |crates: Vec<_>| {
        anyhow::Ok(
            [licenses::others(&root)?, crates]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>(),
        )
    };
    let crates = with_others(crates)?;
    let texts = |linked: &[PathBuf]| {
        let parts = with_others(licenses::linked(linked)?)?;
        Texts::of(&root, &owner, &parts, &crates)
    };
    let mut files = Files::new();
    let (mut programs, mut all) = (Vec::new(), BTreeSet::new());
    for target in targets {
        let Release { program, linked } = build(&root, target, &host, commit.as_deref())?;
        let bytes = checked(&program, target, &host)?;
        let texts = texts(&linked)?;
        files.extend(packages(&texts, &bytes, target, time)?);
        files.extend(texts.image(&bytes, architecture(target)?, revision.as_deref()));
        programs.push(program);
        all.extend(linked);
    }
    files.extend(texts(&Vec::from_iter(all))?.licenses());
    let sources = archive::tar_gz(&sources, time)?;
    files.insert(
        format!("{name}-source.tar.gz").into(),
        Packed::data(sources),
    );
    archive::add_checksums(&mut files, Path::new(""), Path::new(""));
    // target/TRIPLE/release/syscost
    let target = programs[0].ancestors().nth(3);
    let folder = target.context("the build has no folder")?.join("dist");
    write(&folder, &files)?;
    // The last lines, for scripts.
    for program in programs {
        println!("{}", program.display());
    }
    Ok(())
}

/// The content of a program for this target, which is static and starts, if something here can execute it.
fn checked(program: &Path, target: &str, host: &str) -> Result<Vec<u8>> {
    let path = program.display();
    let bytes = fs::read(program).with_context(|| format!("reading {path}"))?;
    if let Some(loader) = loader(&bytes).with_context(|| format!("reading {path}"))? {
        bail!("{path} is not static: it asks for {loader}; were the flags overridden?");
    }
    let processor = |triple: &str| triple.split('-').next().map(str::to_owned);
    let mut command = Command::new(program);
    if processor(target) != processor(host) {
        let emulator = format!("qemu-{}-static", processor(target).unwrap_or_default());
        command = Command::new(emulator);
        command.arg(program);
    }
    let version = match command.arg("--version").output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let emulator = command.get_program().display();
            format!("{path}, not started as there is no {emulator} here")
        }
        _ => output(&mut command)?,
    };
    println!(
        "{}: {target}, static, {:.1} MB",
        version.trim(),
        bytes.len() as f64 / 1e6
    );
    Ok(bytes)
}

/// Builds the static release of this commit.
fn build(root: &Path, triple: &str, host: &str, commit: Option<&str>) -> Result<Release> {
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        ensure!(
            env::var_os(name).is_none_or(|flags| flags.is_empty()),
            "{name} is set, of which the source archive knows nothing: it would make another program; unset it"
        );
    }
    let flags = cargo::STATIC.join(" ");
    let wrapper = root.join(WRAPPER);
    let linker = (triple != host).then(|| cargo::linker(triple));
    let mut environment = vec![
        ("RUSTFLAGS", flags.as_ref()),
        ("RUSTC_WRAPPER", wrapper.as_os_str()),
        ("CARGO_INCREMENTAL", "0".as_ref()),
    ];
    let linker = linker.as_ref();
    environment.extend(linker.map(|[variable, name]| (&**variable, name.as_ref())));
    environment.extend(commit.map(|commit| ("SYSCOST_COMMIT", commit.as_ref())));
    cargo::release(Some(triple), &environment)
}

/// The Debian package and the archive, by their files' names.
fn packages(texts: &Texts, binary: &[u8], triple: &str, time: u64) -> Result<Files> {
    let architecture = architecture(triple)?;
    let deb = package::deb(texts, binary, architecture, time)?;
    let name = format!("syscost-{VERSION}-{triple}");
    let tar_gz = archive::tar_gz(&texts.archive(&name, binary), time)?;
    Ok(Files::from([
        (
            format!("syscost_{VERSION}_{architecture}.deb").into(),
            Packed::data(deb),
        ),
        (format!("{name}.tar.gz").into(), Packed::data(tar_gz)),
    ]))
}

/// Writes the release files into this folder, and nothing of another release stays there.
fn write(folder: &Path, files: &Files) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    for (name, file) in files {
        let path = folder.join(name);
        let writing = || format!("writing {}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(folder)).with_context(writing)?;
        fs::write(&path, &file.content).with_context(writing)?;
        if file.is_program {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&path, mode).with_context(writing)?;
        }
        println!("{}", path.display());
    }
    Ok(())
}

/// What a command prints on standard output.
fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("starting {name}"))?;
    ensure!(
        output.status.success(),
        "{command:?} ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout).with_context(|| format!("reading what {name} printed"))
}

/// The target triple of this machine.
fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    output(Command::new(rustc).arg("-vV"))?
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
        .context("`rustc -vV` names no host")
}

/// The dynamic loader that a 64-bit little-endian ELF file requests (`PT_INTERP`, System V ABI
/// chapter 5); `None` for a static one.
fn loader(file: &[u8]) -> Result<Option<String>> {
    /// Type of the segment that names the loader.
    const PT_INTERP: u64 = 3;
    const ELF64_LITTLE: &[u8] = b"\x7fELF\x02\x01";
    ensure!(
        file.starts_with(ELF64_LITTLE),
        "it is no 64-bit little-endian ELF file"
    );
    // From the file header: offset, entry size and number of the program headers.
    let (table, length, count) = (
        number(file, 32, 8)?,
        number(file, 54, 2)?,
        number(file, 56, 2)?,
    );
    for index in 0..count {
        let header = table + index * length;
        if number(file, header, 4)? == PT_INTERP {
            let (offset, size) = (number(file, header + 8, 8)?, number(file, header + 32, 8)?);
            let name = bytes(file, offset, size)?;
            return Ok(Some(
                String::from_utf8_lossy(name)
                    .trim_end_matches('\0')
                    .to_owned(),
            ));
        }
    }
    Ok(None)
}

fn number(file: &[u8], offset: u64, size: u64) -> Result<u64> {
    let bytes = bytes(file, offset, size)?;
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn bytes(file: &[u8], offset: u64, size: u64) -> Result<&[u8]> {
    let start = usize::try_from(offset)?;
    let end = start.checked_add(usize::try_from(size)?);
    end.and_then(|end| file.get(start..end))
        .context("it ends before its headers do")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file header and one program header of this type, whose content follows.
    fn elf(kind: u32, content: &[u8]) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01".to_vec();
        file.resize(64, 0);
        file[32] = 64;
        file[54] = 56;
        file[56] = 1;
        file.extend(kind.to_le_bytes());
        file.resize(64 + 56, 0);
        file[64 + 8] = 120;
        file[64 + 32] = content.len() as u8;
        file.extend(content);
        file
    }

    #[test]
    fn a_file_that_asks_for_a_loader_is_dynamic() {
        let dynamic = elf(3, b"/lib64/ld.so\0");
        assert_eq!(loader(&dynamic).unwrap().as_deref(), Some("/lib64/ld.so"));
        assert_eq!(loader(&elf(1, b"code")).unwrap(), None);
        assert!(loader(&dynamic[..100]).is_err());
        assert!(loader(b"#!/bin/sh\n").is_err());
    }

    #[test]
    fn the_host_is_a_triple() {
        assert!(host().unwrap().split('-').count() >= 3);
    }
}
