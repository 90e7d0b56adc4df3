//! `cargo xtask dist`: builds the static release, checks that it is static, and packs it: a Debian
//! package, an archive, and the contents of a container image.

mod archive;
mod package;

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use package::Texts;
use xtask::{cargo, workspace};

const STATIC: &str = "-C target-feature=+crt-static";

/// Runs the chore.
pub(crate) fn run() -> Result<()> {
    let flags = match env::var("RUSTFLAGS") {
        Ok(own) if !own.is_empty() => format!("{own} {STATIC}"),
        _ => STATIC.to_owned(),
    };
    let triple = host()?;
    let program = cargo::release(&["--target", &triple], Some(&flags))?;
    let path = program.display();
    let bytes = fs::read(&program).with_context(|| format!("reading {path}"))?;
    if let Some(loader) = loader(&bytes).with_context(|| format!("reading {path}"))? {
        bail!("{path} is not static: it asks for {loader}; was `{STATIC}` overridden?");
    }
    let output = Command::new(&program)
        .arg("--version")
        .output()
        .with_context(|| format!("starting {path}"))?;
    ensure!(
        output.status.success(),
        "`{path} --version` ended with {}",
        output.status
    );
    let version = String::from_utf8_lossy(&output.stdout);
    println!(
        "{}: static, {:.1} MB",
        version.trim(),
        bytes.len() as f64 / 1e6
    );
    for file in pack(&program, &bytes, &triple)? {
        println!("{}", file.display());
    }
    // The last line, for scripts.
    println!("{path}");
    Ok(())
}

/// Writes the release files next to the build's directory, and returns their paths.
fn pack(built: &Path, binary: &[u8], triple: &str) -> Result<Vec<PathBuf>> {
    // target/TRIPLE/release/syscost
    let target = built.ancestors().nth(3);
    let folder = target.context("the build has no folder")?.join("dist");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let texts = Texts::of(workspace::root())?;
    let time = archive::time()?;
    let version = env!("CARGO_PKG_VERSION");
    let architecture = package::architecture(triple)?;
    let deb = package::deb(&texts.installed(binary)?, architecture, time)?;
    let name = format!("syscost-{version}-{triple}");
    let tar_gz = archive::tar_gz(&texts.archive(&name, binary), time)?;
    let files = [
        (format!("syscost_{version}_{architecture}.deb"), &deb[..]),
        (format!("{name}.tar.gz"), &tar_gz[..]),
        // The build context of the image.
        ("image/syscost".to_owned(), binary),
    ];
    let mut paths = Vec::new();
    for (name, content) in files {
        let path = folder.join(name);
        let writing = || format!("writing {}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(&folder)).with_context(writing)?;
        fs::write(&path, content).with_context(writing)?;
        paths.push(path);
    }
    let image = &paths[paths.len() - 1];
    fs::set_permissions(image, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("making {} a program", image.display()))?;
    Ok(paths)
}

/// The target triple of this machine.
fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("-vV")
        .output()
        .context("starting rustc")?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
        .context("`rustc -vV` names no host")
}

/// The dynamic loader that a 64-bit little-endian ELF file requests (`PT_INTERP`, System V ABI
/// chapter 5); `None` for a static one.
fn loader(file: &[u8]) -> Result<Option<String>> {
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
