//! The release files: a Debian package, and an archive for all other systems.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::archive::{Files, Packed, ar, gzip, tar_gz};
use crate::cmd::generate::command_line;
use xtask::workspace;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The first lines of a Debian copyright file (DEP 5).
const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: syscost

Files: *
Copyright: 2026 the syscost authors
License: Apache-2.0 or MIT

License: Apache-2.0
 On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.

License: MIT
";

/// All files of a release except the binary itself, by their path in the workspace.
pub(super) struct Texts {
    /// Man pages and completions, generated from the command line's definition.
    generated: Vec<(PathBuf, String)>,
    /// README.md, CHANGELOG.md and the documentation with its pages about studies and trials.
    documents: Vec<(PathBuf, String)>,
    licenses: [(&'static str, String); 2],
}

impl Texts {
    /// Reads and generates them.
    pub(super) fn of(root: &Path) -> Result<Self> {
        let mut documents = vec![PathBuf::from("README.md"), PathBuf::from("CHANGELOG.md")];
        for folder in ["docs", "docs/lab", "docs/studies"] {
            let reading = || format!("reading {folder}/");
            for entry in fs::read_dir(root.join(folder)).with_context(reading)? {
                let name = entry.with_context(reading)?.file_name();
                let path = Path::new(folder).join(name);
                if path.extension().is_some_and(|ending| ending == "md") {
                    documents.push(path);
                }
            }
        }
        documents.sort();
        let read = |path: PathBuf| Ok((path.clone(), workspace::read(&root.join(path))?));
        let license = |name| Ok::<_, anyhow::Error>((name, workspace::read(&root.join(name))?));
        Ok(Self {
            generated: command_line::files()?.into_iter().collect(),
            documents: documents
                .into_iter()
                .map(read)
                .collect::<Result<Vec<_>>>()?,
            licenses: [license("LICENSE-APACHE")?, license("LICENSE-MIT")?],
        })
    }

    /// The files of the archive, in a directory with this name.
    pub(super) fn archive(&self, folder: &str, binary: &[u8]) -> Files {
        let texts = self.generated.iter().map(|(path, text)| {
            let inner = path.strip_prefix("docs").unwrap_or(path);
            (inner.to_owned(), text)
        });
        let texts = texts.chain(
            self.documents
                .iter()
                .map(|(path, text)| (path.clone(), text)),
        );
        let licenses = self.licenses.iter();
        let licenses = licenses.map(|(name, text)| (PathBuf::from(name), text));
        let mut files: Files = texts
            .chain(licenses)
            .map(|(path, text)| (Path::new(folder).join(path), Packed::data(text.as_str())))
            .collect();
        files.insert(Path::new(folder).join("syscost"), program(binary));
        files
    }

    /// The files of the Debian package, at Debian's standard paths.
    pub(super) fn installed(&self, binary: &[u8]) -> Result<Files> {
        let mut files = Files::new();
        files.insert("usr/bin/syscost".into(), program(binary));
        for (path, text) in &self.generated {
            if let Some((place, is_compressed)) = place(path) {
                let content = match is_compressed {
                    true => gzip(text.as_bytes())?,
                    false => text.clone().into_bytes(),
                };
                files.insert(place, Packed::data(content));
            }
        }
        let doc = Path::new("usr/share/doc/syscost");
        for (path, text) in &self.documents {
            let inner = path.strip_prefix("docs").unwrap_or(path);
            let name = match inner.to_str() {
                Some("CHANGELOG.md") => "changelog",
                Some(name) => name,
                None => bail!("{} has no name", path.display()),
            };
            let content = gzip(text.as_bytes())?;
            files.insert(doc.join(format!("{name}.gz")), Packed::data(content));
        }
        let [_, (_, mit)] = &self.licenses;
        let mit: String = mit
            .lines()
            .map(|line| match line.trim() {
                "" => " .\n".to_owned(),
                line => format!(" {line}\n"),
            })
            .collect();
        let copyright = format!("{COPYRIGHT}{mit}");
        files.insert(doc.join("copyright"), Packed::data(copyright));
        Ok(files)
    }
}

fn program(binary: &[u8]) -> Packed {
    Packed {
        content: binary.to_vec(),
        is_program: true,
    }
}

/// Where Debian's man and shells look for a generated file, and whether it is compressed there;
/// `None` for shells without such a place in Debian.
fn place(path: &Path) -> Option<(PathBuf, bool)> {
    let name = path.file_name()?.to_str()?;
    let is_man = path.extension().is_some_and(|ending| ending == "1");
    let share = Path::new("usr/share");
    let place = match name {
        name if is_man => return Some((share.join("man/man1").join(format!("{name}.gz")), true)),
        "syscost.bash" => share.join("bash-completion/completions/syscost"),
        "_syscost" => share.join("zsh/vendor-completions/_syscost"),
        "syscost.fish" => share.join("fish/vendor_completions.d/syscost.fish"),
        _ => return None,
    };
    Some((place, false))
}

/// The Debian package of installed files.
pub(super) fn deb(files: &Files, architecture: &str, time: u64) -> Result<Vec<u8>> {
    let bytes: usize = files.values().map(|file| file.content.len()).sum();
    let control = format!(
        "Package: syscost
Version: {VERSION}
Section: utils
Priority: optional
Architecture: {architecture}
Maintainer: The syscost authors <syscost@localhost>
Installed-Size: {}
Description: what this computer charges for its primitives
 Measures what clock reads, calls, system calls, signals, tasks, switches,
 messages, locks, memory, the network and file systems cost on this machine.
 Each number is a median over fresh processes, with its uncertainty and with
 evidence: a number whose evidence contradicts its name is withheld.
",
        bytes.div_ceil(1024)
    );
    let control = Files::from([("control".into(), Packed::data(control))]);
    ar(
        &[
            ("debian-binary", b"2.0\n".to_vec()),
            ("control.tar.gz", tar_gz(&control, time)?),
            ("data.tar.gz", tar_gz(files, time)?),
        ],
        time,
    )
}

/// Debian's name for the architecture of a target triple.
pub(super) fn architecture(triple: &str) -> Result<&'static str> {
    match triple.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        Some(_) | None => bail!("Debian's name for the processor of {triple} is not known here"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const BINARY: &[u8] = b"a program";

    fn package() -> Vec<u8> {
        let texts = Texts::of(workspace::root()).unwrap();
        deb(&texts.installed(BINARY).unwrap(), "amd64", 1_767_225_600).unwrap()
    }

    #[test]
    fn the_same_content_makes_the_same_bytes() {
        assert!(package() == package());
        let texts = Texts::of(workspace::root()).unwrap();
        let archive = || tar_gz(&texts.archive("syscost-1", BINARY), 7).unwrap();
        assert!(archive() == archive());
    }

    #[test]
    fn everything_lies_where_debian_looks_for_it() {
        let texts = Texts::of(workspace::root()).unwrap();
        let files = texts.installed(BINARY).unwrap();
        for path in [
            "usr/bin/syscost",
            "usr/share/man/man1/syscost.1.gz",
            "usr/share/man/man1/syscost-run.1.gz",
            "usr/share/man/man1/syscost-history-prune.1.gz",
            "usr/share/bash-completion/completions/syscost",
            "usr/share/zsh/vendor-completions/_syscost",
            "usr/share/fish/vendor_completions.d/syscost.fish",
            "usr/share/doc/syscost/copyright",
            "usr/share/doc/syscost/changelog.gz",
            "usr/share/doc/syscost/README.md.gz",
            "usr/share/doc/syscost/studies.md.gz",
            // The path that docs/studies.md links to.
            "usr/share/doc/syscost/studies/three-costs.md.gz",
        ] {
            assert!(files.contains_key(Path::new(path)), "{path}");
        }
        let archive = texts.archive("syscost-1", BINARY);
        assert!(archive.contains_key(Path::new("syscost-1/docs/studies/three-costs.md")));
        let programs = files.values().filter(|file| file.is_program);
        assert_eq!(programs.count(), 1);
    }

    #[test]
    fn dpkg_reads_the_package() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("syscost.deb");
        fs::write(&path, package()).unwrap();
        let Ok(output) = Command::new("dpkg-deb").arg("--info").arg(&path).output() else {
            println!("skipped: no dpkg-deb here");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{output:?}");
        assert!(text.contains("Package: syscost"), "{text}");
        let listed = Command::new("dpkg-deb")
            .arg("--contents")
            .arg(&path)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(
            text.contains("-rwxr-xr-x root/root") || text.contains("-rwxr-xr-x 0/0"),
            "{text}"
        );
        assert!(text.contains(" usr/bin/syscost"), "{text}");
    }
}
